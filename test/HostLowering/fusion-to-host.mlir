// RUN: fusion-opt %s --fusion-to-host | FileCheck %s --check-prefixes=CHECK,RUNTIME
// RUN: fusion-opt %s --fusion-to-host="form=gpu target=sm_80" | FileCheck %s --check-prefixes=CHECK,GPU

// RUNTIME-DAG: llvm.func @fusionRtCallPackage(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i32, i32) -> i32
// RUNTIME-DAG: llvm.mlir.global internal constant @fusion_entry_add("add\00")
// RUNTIME-DAG: llvm.mlir.global internal constant @fusion_package("FUSNPKG
// One of each kernel.
// GPU: module attributes {gpu.container_module}
// GPU: gpu.binary @fusion_kernels_0  [#gpu.object<#nvvm.target<chip = "sm_80">, assembly = "{{.*}}.entry add
// GPU-NOT: gpu.binary

// All else is as it was.
// CHECK-LABEL: func.func @other(
// CHECK: call @add(
// CHECK: memref.alloc() : memref<4xcomplex<f32>>
// CHECK: llvm.call @extern()
llvm.func @extern()
func.func @other(%x: tensor<?xf32>, %s: i1) -> (tensor<?xf32>, memref<4xcomplex<f32>>) {
  %y = call @add(%x, %x, %s) : (tensor<?xf32>, tensor<?xf32>, i1) -> tensor<?xf32>
  %m = memref.alloc() : memref<4xcomplex<f32>>
  llvm.call @extern() : () -> ()
  return %y, %m : tensor<?xf32>, memref<4xcomplex<f32>>
}

// CHECK-LABEL: func.func private @add(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>, %[[S:.*]]: i1) -> tensor<?xf32> {
// CHECK-DAG: %[[XB:.*]] = bufferization.to_buffer %[[X]] read_only : tensor<?xf32> to memref<?xf32>
// CHECK-DAG: %[[YB:.*]] = bufferization.to_buffer %[[Y]] read_only
// CHECK: %[[M:.*]] = memref.dim %[[XB]]
// CHECK: %[[OUT:.*]] = memref.alloc(%[[M]]) {alignment = 64 : i64} : memref<?xf32>

// An i1 is passed as a byte.
// RUNTIME: arith.extui %[[S]] : i1 to i8
// RUNTIME: %[[STATUS:.*]] = llvm.call @fusionRtCallPackage
// RUNTIME: %[[FINE:.*]] = arith.cmpi eq, %[[STATUS]]
// RUNTIME: cf.assert %[[FINE]], "the kernels of 'add' were not launched"

// Sizes are checked; no launch has a grid without blocks.
// GPU: %[[OTHER:.*]] = memref.dim %[[YB]]
// GPU: %[[SAME:.*]] = arith.cmpi eq, %[[OTHER]], %[[M]]
// GPU: cf.assert %[[SAME]], "'add': sizes of inputs do not agree"
// GPU: gpu.wait async
// GPU: gpu.alloc async
// GPU: gpu.memcpy async
// GPU: scf.if
// GPU-NEXT: gpu.launch_func  @fusion_kernels_0::@add
// GPU: gpu.memcpy async [%{{.*}}] %[[OUT]]
// GPU: gpu.dealloc async

// CHECK: bufferization.to_tensor %[[OUT]] restrict writable
// CHECK-NEXT: return
func.func private @add(%x: tensor<?xf32>, %y: tensor<?xf32>, %s: i1) -> tensor<?xf32> attributes {fusion.offload} {
  %z = func.call @callee(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %r = arith.select %s, %z, %x : tensor<?xf32>
  return %r : tensor<?xf32>
}

// What is called is compiled with it, and stays for others.
// CHECK-LABEL: func.func private @callee(
// CHECK: arith.addf
func.func private @callee(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = arith.addf %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}
