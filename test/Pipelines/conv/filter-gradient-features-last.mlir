// The gradient of a filter whose features are last: windows lie along the rows
// of tiles, whose numbers the grid bounds.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, -1]>
// CHECK: fusion_tile.specialize

#x = affine_map<(k, r, s, c, n, p, q) -> (n, p + r, q + s, c)>
#dy = affine_map<(k, r, s, c, n, p, q) -> (n, p, q, k)>
#w = affine_map<(k, r, s, c, n, p, q) -> (r, s, c, k)>

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @main(%x: tensor<2x10x12x64xf16>, %dy: tensor<2x10x12x64xf16>) -> tensor<3x3x64x64xf16> {
    %z = arith.constant 0.0 : f16
    %zf = arith.constant 0.0 : f32
    %xp = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %z : f16
    } : tensor<2x10x12x64xf16> to tensor<2x12x14x64xf16>
    %e = tensor.empty() : tensor<3x3x64x64xf32>
    %f = linalg.fill ins(%zf : f32) outs(%e : tensor<3x3x64x64xf32>) -> tensor<3x3x64x64xf32>
    %dw = linalg.generic {indexing_maps = [#x, #dy, #w], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%xp, %dy : tensor<2x12x14x64xf16>, tensor<2x10x12x64xf16>) outs(%f : tensor<3x3x64x64xf32>) {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %aw = arith.extf %a : f16 to f32
      %bw = arith.extf %b : f16 to f32
      %m = arith.mulf %aw, %bw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<3x3x64x64xf32>
    %t = arith.truncf %dw : tensor<3x3x64x64xf32> to tensor<3x3x64x64xf16>
    return %t : tensor<3x3x64x64xf16>
  }
}
