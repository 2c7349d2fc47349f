// Windows of five in steps of two, one of which begins before the image.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.tensor_map %{{.*}} {element_strides = array<i64: 1, 2, 2, 1>, im2col = #fusion_tile.im2col<lower = [-2, -2], upper =

#x = affine_map<(k, r, s, c, n, p, q) -> (n, p * 2 + r, q * 2 + s, c)>
#dy = affine_map<(k, r, s, c, n, p, q) -> (n, p, q, k)>
#w = affine_map<(k, r, s, c, n, p, q) -> (k, r, s, c)>

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @main(%x: tensor<4x15x13x64xf16>, %dy: tensor<4x8x7x256xf16>) -> tensor<256x5x5x64xf16> {
    %z = arith.constant 0.0 : f16
    %zf = arith.constant 0.0 : f32
    %xp = tensor.pad %x low[0, 2, 2, 0] high[0, 2, 2, 0] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %z : f16
    } : tensor<4x15x13x64xf16> to tensor<4x19x17x64xf16>
    %e = tensor.empty() : tensor<256x5x5x64xf32>
    %f = linalg.fill ins(%zf : f32) outs(%e : tensor<256x5x5x64xf32>) -> tensor<256x5x5x64xf32>
    %dw = linalg.generic {indexing_maps = [#x, #dy, #w], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%xp, %dy : tensor<4x19x17x64xf16>, tensor<4x8x7x256xf16>) outs(%f : tensor<256x5x5x64xf32>) {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %aw = arith.extf %a : f16 to f32
      %bw = arith.extf %b : f16 to f32
      %m = arith.mulf %aw, %bw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<256x5x5x64xf32>
    %t = arith.truncf %dw : tensor<256x5x5x64xf32> to tensor<256x5x5x64xf16>
    return %t : tensor<256x5x5x64xf16>
  }
}
