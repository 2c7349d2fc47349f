// The reference evaluates what it once refused: slices of one element with a
// stride along a dimension that is dropped, and shapes of TOSA.

// RUN: fusion-run %s --entry=columns --random --device=emulator --verify | FileCheck %s
// RUN: fusion-run %s --entry=rows --random --device=emulator --verify | FileCheck %s
// RUN: fusion-run %s --entry=shape --random --device=emulator --verify | FileCheck %s
// CHECK: {{^}}verified

func.func @columns(%x: tensor<1x1xi32>) -> tensor<1xi32> {
  %a = tensor.extract_slice %x[0, 0] [1, 1] [1, 2] : tensor<1x1xi32> to tensor<1xi32>
  %b = arith.addi %a, %a : tensor<1xi32>
  return %b : tensor<1xi32>
}

func.func @rows(%x: tensor<1x1xi32>) -> tensor<1xi32> {
  %a = tensor.extract_slice %x[0, 0] [1, 1] [2, 1] : tensor<1x1xi32> to tensor<1xi32>
  %b = arith.addi %a, %a : tensor<1xi32>
  return %b : tensor<1xi32>
}

func.func @shape(%x: tensor<2x6xf32>) -> tensor<4x3xf32> {
  %s = tosa.const_shape {values = dense<[4, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.reshape %x, %s : (tensor<2x6xf32>, !tosa.shape<2>) -> tensor<4x3xf32>
  %y = tosa.tanh %r : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
