// Columns of a tile are channels at two elements of the filter, copied one by one.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.specialize
// CHECK: fusion_tile.async_load {{.*}} offset[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] into {{.*}} along 0

#x = affine_map<(k, r, s, c, n, p, q) -> (n, p + r, q + s, c)>
#dy = affine_map<(k, r, s, c, n, p, q) -> (n, p, q, k)>
#w = affine_map<(k, r, s, c, n, p, q) -> (k, r, s, c)>

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @main(%x: tensor<2x8x8x512xf16>, %dy: tensor<2x8x8x512xf16>) -> tensor<512x3x3x512xf16> {
    %z = arith.constant 0.0 : f16
    %zf = arith.constant 0.0 : f32
    %xp = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %z : f16
    } : tensor<2x8x8x512xf16> to tensor<2x10x10x512xf16>
    %e = tensor.empty() : tensor<512x3x3x512xf32>
    %f = linalg.fill ins(%zf : f32) outs(%e : tensor<512x3x3x512xf32>) -> tensor<512x3x3x512xf32>
    %dw = linalg.generic {indexing_maps = [#x, #dy, #w], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%xp, %dy : tensor<2x10x10x512xf16>, tensor<2x8x8x512xf16>) outs(%f : tensor<512x3x3x512xf32>) {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %aw = arith.extf %a : f16 to f32
      %bw = arith.extf %b : f16 to f32
      %m = arith.mulf %aw, %bw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<512x3x3x512xf32>
    %t = arith.truncf %dw : tensor<512x3x3x512xf32> to tensor<512x3x3x512xf16>
    return %t : tensor<512x3x3x512xf16>
  }
}
