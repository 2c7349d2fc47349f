// A module of which one function is planned, through upstream's bufferization,
// its lowering and its runner, on the emulator.
// REQUIRES: mlir-runner

// RUN: fusion-opt %s --fusion-to-plan=partial 2>/dev/null | fusion-opt --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" -o %t.mlir
// RUN: FileCheck %s --check-prefix=MEMORY --input-file=%t.mlir
// RUN: fusion-opt %t.mlir --fusion-to-host | mlir-opt --buffer-deallocation-pipeline --convert-bufferization-to-memref %lower_host | %run_host -e main --shared-libs=%runtime | FileCheck %s
// RUN: fusion-opt %t.mlir --fusion-to-host=form=gpu | mlir-opt --convert-scf-to-cf --gpu-to-llvm %lower_host | %run_host -e main --shared-libs=%mgpu | FileCheck %s

func.func private @printF32(f32)
func.func private @printNewline()

// MEMORY-LABEL: func.func @layer(
// MEMORY-SAME: memref<?x128xf32>
// MEMORY: fusion.buffer_kernel
// MEMORY-LABEL: func.func @write(
// MEMORY: fusion.buffer_kernel @insert ins(%{{.*}}, %[[C:.*]] : memref<1x2xf32>, memref<4x2xf32>) outs(%[[C]] : memref<4x2xf32>)
// MEMORY: memref.copy
func.func @layer(%x: tensor<?x128xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x128xf32>
  %d = arith.addf %x, %x : tensor<?x128xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce { arith.addf } ins(%d : tensor<?x128xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  return %s : tensor<?xf32>
}

// Written in place, where the caller reads the argument afterwards.
func.func @write(%x: tensor<4x2xf32> {fusion.overwritten_by = 0}, %v: tensor<1x2xf32>) -> tensor<4x2xf32> {
  %0 = tensor.insert_slice %v into %x[2, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// 2 * 0.5 * 128; 7 where it is written and 1 where it was; then 1 in what was
// passed.
// CHECK: 128
// CHECK: 7
// CHECK: 1
// CHECK: 1
func.func @main() {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %rows = arith.constant 33 : index
  %last = arith.constant 32 : index
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %seven = arith.constant 7.0 : f32
  %x = tensor.splat %half[%rows] : tensor<?x128xf32>
  %s = call @layer(%x) : (tensor<?x128xf32>) -> tensor<?xf32>
  %a = tensor.extract %s[%last] : tensor<?xf32>
  func.call @printF32(%a) : (f32) -> ()
  func.call @printNewline() : () -> ()
  %y = tensor.splat %one : tensor<4x2xf32>
  %v = tensor.splat %seven : tensor<1x2xf32>
  %w = call @write(%y, %v) : (tensor<4x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  %b = tensor.extract %w[%c2, %c0] : tensor<4x2xf32>
  func.call @printF32(%b) : (f32) -> ()
  func.call @printNewline() : () -> ()
  %c = tensor.extract %w[%c0, %c0] : tensor<4x2xf32>
  func.call @printF32(%c) : (f32) -> ()
  func.call @printNewline() : () -> ()
  %d = tensor.extract %y[%c2, %c0] : tensor<4x2xf32>
  func.call @printF32(%d) : (f32) -> ()
  func.call @printNewline() : () -> ()
  return
}
