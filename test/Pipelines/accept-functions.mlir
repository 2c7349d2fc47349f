// RUN: fusion-opt %s --fusion-to-schedule=partial 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARKS --input-file=%t.err
// RUN: fusion-opt %s --fusion-accept-functions=pipeline=fusion-to-schedule 2>/dev/null | FileCheck %s
// RUN: fusion-opt %s --fusion-to-ptx=partial 2>/dev/null | FileCheck %s --check-prefix=PTX
// RUN: not fusion-opt %s --fusion-to-schedule 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: not fusion-opt %s '--fusion-accept-functions=pipeline=no-such-pass' 2>&1 | FileCheck %s --check-prefix=PIPELINE

// Functions that are refused, by the input phase or by planning, stay as they
// were; the others are compiled, and so is what stands between.

// REMARKS: remark: FUS-1012: 'scf.for' is not supported; use linalg, tensor,
// REMARKS: note: 'loop' is not compiled
// REMARKS: remark: FUS-1007: argument #0 of 'complex' has type tensor<4xcomplex<f32>> with elements of complex<f32>; use elements of
// REMARKS: note: 'complex' is not compiled
// REMARKS: remark: {{.*}}FUS-2005: returns a value of type 'index'; functions return tensors
// REMARKS: note: 'size' is not compiled
// REMARKS-NOT: {{remark|error}}

// STRICT: error: FUS-1012: 'llvm.func' cannot stand in a program's module
// PIPELINE: FUS-1001: 'no-such-pass' is no pipeline of modules: {{.*}}'no-such-pass' does not refer to a registered pass

// CHECK: module attributes {fusion.target = #fusion.target<chip = "sm_90a">}

// Called by one that is refused and by one that is not.
// CHECK: func.func private @shared(
// CHECK: fusion.kernel @exp
func.func private @shared(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = math.exp %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}

// CHECK-NOT: @inlined
func.func private @inlined(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = math.tanh %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}

// CHECK-LABEL: func.func @good(
// CHECK: fusion.kernel @{{.*}}schedule
// PTX-LABEL: func.func @good(
// PTX: fusion.kernel @{{.*}}program = @
func.func @good(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = call @shared(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = call @inlined(%0) : (tensor<64xf32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// CHECK-LABEL: func.func @loop(
// CHECK: scf.for
// CHECK: func.call @shared
// PTX-LABEL: func.func @loop(
// PTX: scf.for
func.func @loop(%x: tensor<64xf32>, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<64xf32> {
    %b = func.call @shared(%a) : (tensor<64xf32>) -> tensor<64xf32>
    scf.yield %b : tensor<64xf32>
  }
  return %y : tensor<64xf32>
}

// CHECK-LABEL: func.func @complex(
// CHECK-NEXT: return
func.func @complex(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  return %x : tensor<4xcomplex<f32>>
}

// CHECK-LABEL: func.func @size(
// CHECK: math.exp
func.func @size(%x: tensor<?xf32>) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %0 = math.exp %x : tensor<?xf32>
  return %0, %d : tensor<?xf32>, index
}

// CHECK: llvm.func @outside
llvm.func @outside()

// PTX: gpu.module @{{.*}}fusion_tile.ptx
