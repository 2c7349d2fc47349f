// RUN: split-file %s %t
// RUN: not fusion-compile %t/cast.mlir -o %t/x.fpk 2>&1 | FileCheck %t/cast.mlir
// RUN: not fusion-compile %t/slice.mlir -o %t/x.fpk 2>&1 | FileCheck %t/slice.mlir
// RUN: fusion-compile %t/fits.mlir -o %t/x.fpk

// Sizes that are wrong whatever the inputs are, of programs without a dynamic
// size in their arguments.

//--- cast.mlir
// CHECK: cast.mlir:4:8: error: FUS-1020: dimension 1 of tensor.cast does not fit, whatever the inputs are
func.func @main(%x: tensor<6x4xf32>) -> tensor<6x2xf32> {
  %a = tensor.cast %x : tensor<6x4xf32> to tensor<6x?xf32>
  %b = tensor.cast %a : tensor<6x?xf32> to tensor<6x2xf32>
  %e = tensor.empty() : tensor<6x2xf32>
  %r = linalg.exp ins(%b : tensor<6x2xf32>) outs(%e : tensor<6x2xf32>) -> tensor<6x2xf32>
  return %r : tensor<6x2xf32>
}

//--- slice.mlir
// CHECK: error: FUS-1020: dimension 0 of tensor.extract_slice does not fit, whatever the inputs are
func.func @main(%x: tensor<6xf32>) -> tensor<2xf32> {
  %minus = arith.constant -1 : index
  %s = tensor.extract_slice %x[%minus] [2] [1] : tensor<6xf32> to tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.exp ins(%s : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

//--- fits.mlir
func.func @main(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %a = tensor.cast %x : tensor<6x4xf32> to tensor<6x?xf32>
  %b = tensor.cast %a : tensor<6x?xf32> to tensor<6x4xf32>
  %e = tensor.empty() : tensor<6x4xf32>
  %r = linalg.exp ins(%b : tensor<6x4xf32>) outs(%e : tensor<6x4xf32>) -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}
