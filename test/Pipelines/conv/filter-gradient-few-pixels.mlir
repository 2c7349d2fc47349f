// Channels come first, and there are more images than pixels: chunks are of the
// pixels, which lie side by side, and not of the longer dimension.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-run %s --device=emulator --random --seed=2 --asynchrony=early --verify
// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s

// CHECK: axes = [{{.*}}#fusion.axis<loop, tile = 1>, #fusion.axis<loop, tile = 32>], {{.*}}#fusion.mma<wgmma

#x = affine_map<(k, c, n, p) -> (n, c, p)>
#dy = affine_map<(k, c, n, p) -> (n, k, p)>
#w = affine_map<(k, c, n, p) -> (k, c)>

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @main(%x: tensor<400x136x24xf16>, %dy: tensor<400x72x24xf16>) -> tensor<72x136xf32> {
    %zf = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<72x136xf32>
    %f = linalg.fill ins(%zf : f32) outs(%e : tensor<72x136xf32>) -> tensor<72x136xf32>
    %dw = linalg.generic {indexing_maps = [#x, #dy, #w], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %dy : tensor<400x136x24xf16>, tensor<400x72x24xf16>) outs(%f : tensor<72x136xf32>) {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %aw = arith.extf %a : f16 to f32
      %bw = arith.extf %b : f16 to f32
      %m = arith.mulf %aw, %bw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<72x136xf32>
    return %dw : tensor<72x136xf32>
  }
}
