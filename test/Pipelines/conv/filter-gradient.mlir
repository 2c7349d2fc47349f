// The gradient of a filter: pixels, which are no multiple of a chunk, are what is
// contracted, beside zeros around the images.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-run %s --device=emulator --random --seed=2 --asynchrony=early --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.tensor_map %{{.*}} {element_strides = array<i64: 1, 1, 1, 1>, im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, -1]>}
// CHECK: fusion_tile.specialize

#x = affine_map<(k, r, s, c, n, p, q) -> (n, p + r, q + s, c)>
#dy = affine_map<(k, r, s, c, n, p, q) -> (n, p, q, k)>
#w = affine_map<(k, r, s, c, n, p, q) -> (k, r, s, c)>

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @main(%x: tensor<3x13x11x64xbf16>, %dy: tensor<3x13x11x64xbf16>) -> tensor<64x3x3x64xbf16> {
    %z = arith.constant 0.0 : bf16
    %zf = arith.constant 0.0 : f32
    %xp = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %z : bf16
    } : tensor<3x13x11x64xbf16> to tensor<3x15x13x64xbf16>
    %e = tensor.empty() : tensor<64x3x3x64xf32>
    %f = linalg.fill ins(%zf : f32) outs(%e : tensor<64x3x3x64xf32>) -> tensor<64x3x3x64xf32>
    %dw = linalg.generic {indexing_maps = [#x, #dy, #w], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%xp, %dy : tensor<3x15x13x64xbf16>, tensor<3x13x11x64xbf16>) outs(%f : tensor<64x3x3x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %aw = arith.extf %a : bf16 to f32
      %bw = arith.extf %b : bf16 to f32
      %m = arith.mulf %aw, %bw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<64x3x3x64xf32>
    %t = arith.truncf %dw : tensor<64x3x3x64xf32> to tensor<64x3x3x64xbf16>
    return %t : tensor<64x3x3x64xbf16>
  }
}
