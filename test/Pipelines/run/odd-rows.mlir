// A permuted result whose rows begin at odd addresses, all rows of a tile at the
// same ones modulo 16 bytes: tiles begin before the row, where a vector does, and
// both what is read along one dimension and what is stored along another moves 16
// bytes an instruction. What pads the single element of a dimension is no place
// that loads have to be aligned for.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s --check-prefix=SAME
// SAME: {{^}}verified

// RUN: fusion-compile %s --target=sm_90a --compile-to=tile -o - | FileCheck %s
// CHECK: %[[LEAD:.*]] = arith.andi %{{.*}}, %c7 : index
// CHECK: %[[BEGIN:.*]] = arith.subi %{{.*}}, %[[LEAD]] : index
// CHECK: tile.load {{.*}} (%{{.*}}, %{{.*}}, %[[BEGIN]], %{{.*}}, %{{.*}}) {{.*}} -> tensor<{{[0-9x]+}}xf16, #tile.layout<"{reg={{\[\[}}1,0],[2,0],[4,0]],
// CHECK: tile.store {{.*}} (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[BEGIN]]) checked [false, false, false, false, true] : tensor<{{[0-9x]+}}xf16, #tile.layout<"{reg={{\[\[}}0,1],[0,2],[0,4]],
func.func @odd_rows(%x: tensor<3x2x46x64x1xf16>) -> tensor<64x2x4x3x51xf16> {
  %z = arith.constant 1.5 : f16
  %p = tensor.pad %x low[0, 0, 2, 0, 0] high[0, 0, 3, 0, 3] {
  ^bb0(%i: index, %j: index, %k: index, %l: index, %m: index):
    tensor.yield %z : f16
  } : tensor<3x2x46x64x1xf16> to tensor<3x2x51x64x4xf16>
  %e = tensor.empty() : tensor<64x2x4x3x51xf16>
  %r = linalg.transpose ins(%p : tensor<3x2x51x64x4xf16>) outs(%e : tensor<64x2x4x3x51xf16>) permutation = [3, 1, 4, 0, 2]
  return %r : tensor<64x2x4x3x51xf16>
}
