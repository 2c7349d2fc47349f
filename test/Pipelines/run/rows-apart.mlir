// Short rows that lie beside others in the operand than in the result, none of
// the sizes a multiple of a tile.

// RUN: fusion-run %s --entry=of_four --device=emulator --random --verify | FileCheck %s
// RUN: fusion-compile %S/Inputs/rows-apart.mlir --target=sm_90a -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%s --entry=of_three --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=of_five --device=emulator --random --verify | FileCheck %s
// CHECK: {{^}}verified

// RUN: fusion-compile %s --target=sm_90a --compile-to=schedule -o - | FileCheck %s --check-prefix=TILE
// TILE-LABEL: func.func @of_four
// TILE: axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 4, vector = 4>]

func.func @of_four(%x: tensor<3x5001x7x4xbf16>) -> tensor<7x3x5001x4xbf16> {
  %e = tensor.empty() : tensor<7x3x5001x4xbf16>
  %t = linalg.transpose ins(%x : tensor<3x5001x7x4xbf16>) outs(%e : tensor<7x3x5001x4xbf16>) permutation = [2, 0, 1, 3]
  return %t : tensor<7x3x5001x4xbf16>
}

func.func @of_three(%x: tensor<1003x7x3xf32>) -> tensor<7x1003x3xf32> {
  %e = tensor.empty() : tensor<7x1003x3xf32>
  %t = linalg.transpose ins(%x : tensor<1003x7x3xf32>) outs(%e : tensor<7x1003x3xf32>) permutation = [1, 0, 2]
  return %t : tensor<7x1003x3xf32>
}

func.func @of_five(%x: tensor<301x37x5xi8>) -> tensor<37x301x5xi8> {
  %e = tensor.empty() : tensor<37x301x5xi8>
  %t = linalg.transpose ins(%x : tensor<301x37x5xi8>) outs(%e : tensor<37x301x5xi8>) permutation = [1, 0, 2]
  return %t : tensor<37x301x5xi8>
}
