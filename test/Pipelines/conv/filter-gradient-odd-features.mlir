// Features and channels that are no multiple of 16 bytes: the gradients are
// padded with zeros, and what they give is cut away.

// RUN: fusion-run %s --entry=features --device=emulator --random --seed=1 --verify
// RUN: fusion-run %s --entry=both --device=emulator --random --seed=2 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK-COUNT-2: fusion_tile.specialize

#x = affine_map<(k, r, s, c, n, p, q) -> (n, p + r, q + s, c)>
#dy = affine_map<(k, r, s, c, n, p, q) -> (n, p, q, k)>
#w = affine_map<(k, r, s, c, n, p, q) -> (k, r, s, c)>

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @features(%x: tensor<2x18x18x64xf16>, %dy: tensor<2x16x16x61xf16>) -> tensor<61x3x3x64xf32> {
    %zf = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<61x3x3x64xf32>
    %f = linalg.fill ins(%zf : f32) outs(%e : tensor<61x3x3x64xf32>) -> tensor<61x3x3x64xf32>
    %g = linalg.generic {indexing_maps = [#x, #dy, #w], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %dy : tensor<2x18x18x64xf16>, tensor<2x16x16x61xf16>) outs(%f : tensor<61x3x3x64xf32>) {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %aw = arith.extf %a : f16 to f32
      %bw = arith.extf %b : f16 to f32
      %m = arith.mulf %aw, %bw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<61x3x3x64xf32>
    return %g : tensor<61x3x3x64xf32>
  }

  func.func @both(%x: tensor<4x66x34x20xf16>, %dy: tensor<4x64x32x61xf16>) -> tensor<61x3x3x20xf32> {
    %zf = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<61x3x3x20xf32>
    %f = linalg.fill ins(%zf : f32) outs(%e : tensor<61x3x3x20xf32>) -> tensor<61x3x3x20xf32>
    %g = linalg.generic {indexing_maps = [#x, #dy, #w], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %dy : tensor<4x66x34x20xf16>, tensor<4x64x32x61xf16>) outs(%f : tensor<61x3x3x20xf32>) {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %aw = arith.extf %a : f16 to f32
      %bw = arith.extf %b : f16 to f32
      %m = arith.mulf %aw, %bw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<61x3x3x20xf32>
    return %g : tensor<61x3x3x20xf32>
  }
}
