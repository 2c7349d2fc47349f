// What is joined, padded or cut out is reshaped, then permuted: one kernel each.

// RUN: fusion-run %s --entry=joined --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=padded --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=cut --device=emulator --random --verify | FileCheck %s
// CHECK: {{^}}verified

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s --check-prefix=PLAN
// PLAN-COUNT-3: kernels_after = 1 : i64

func.func @joined(%x: tensor<3x5x3x11x40xf16>, %y: tensor<3x2x3x11x40xf16>) -> tensor<3x440x3x7xf16> {
  %c = tensor.concat dim(1) %y, %x : (tensor<3x2x3x11x40xf16>, tensor<3x5x3x11x40xf16>) -> tensor<3x7x3x11x40xf16>
  %v = tensor.collapse_shape %c [[0], [1], [2], [3, 4]] : tensor<3x7x3x11x40xf16> into tensor<3x7x3x440xf16>
  %e = tensor.empty() : tensor<3x440x3x7xf16>
  %t = linalg.transpose ins(%v : tensor<3x7x3x440xf16>) outs(%e : tensor<3x440x3x7xf16>) permutation = [0, 3, 2, 1]
  return %t : tensor<3x440x3x7xf16>
}

func.func @padded(%x: tensor<5x7x13xf32>) -> tensor<91x8xf32> {
  %z = arith.constant 2.0 : f32
  %p = tensor.pad %x low[1, 0, 0] high[2, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %z : f32
  } : tensor<5x7x13xf32> to tensor<8x7x13xf32>
  %v = tensor.collapse_shape %p [[0], [1, 2]] : tensor<8x7x13xf32> into tensor<8x91xf32>
  %e = tensor.empty() : tensor<91x8xf32>
  %t = linalg.transpose ins(%v : tensor<8x91xf32>) outs(%e : tensor<91x8xf32>) permutation = [1, 0]
  return %t : tensor<91x8xf32>
}

func.func @cut(%x: tensor<9x6x17x5xbf16>) -> tensor<85x4x6xbf16> {
  %c = tensor.extract_slice %x[3, 0, 0, 0] [4, 6, 17, 5] [1, 1, 1, 1] : tensor<9x6x17x5xbf16> to tensor<4x6x17x5xbf16>
  %v = tensor.collapse_shape %c [[0], [1], [2, 3]] : tensor<4x6x17x5xbf16> into tensor<4x6x85xbf16>
  %e = tensor.empty() : tensor<85x4x6xbf16>
  %t = linalg.transpose ins(%v : tensor<4x6x85xbf16>) outs(%e : tensor<85x4x6xbf16>) permutation = [2, 0, 1]
  return %t : tensor<85x4x6xbf16>
}
