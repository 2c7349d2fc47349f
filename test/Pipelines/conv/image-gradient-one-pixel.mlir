// The gradient of images of 7x7 pixels, of which no tensor copy takes a row: channels
// come last. The filter is looked up turned around, as importers write it.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-run %s --device=emulator --random --seed=2 --asynchrony=early --verify
// RUN: fusion-opt %s --fusion-to-schedule | FileCheck %s

// CHECK: fusion.kernel @transpose{{.*}}-> (tensor<16x49x192xbf16>)
// CHECK: fusion.kernel @matmul_transpose{{.*}}#fusion.mma<wgmma

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @main(%x: tensor<16x192x7x7xbf16>, %w: tensor<192x256x1x1xbf16>) -> tensor<16x256x7x7xbf16> {
    %c0 = arith.constant 0 : index
    %we = tensor.empty() : tensor<256x192x1x1xbf16>
    %turned = linalg.generic {indexing_maps = [affine_map<(k, c, r, s) -> (k, c, r, s)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%we : tensor<256x192x1x1xbf16>) {
    ^bb0(%o: bf16):
      %k = linalg.index 0 : index
      %c = linalg.index 1 : index
      %element = tensor.extract %w[%c, %k, %c0, %c0] : tensor<192x256x1x1xbf16>
      linalg.yield %element : bf16
    } -> tensor<256x192x1x1xbf16>
    %y = tensor.collapse_shape %turned [[0], [1, 2, 3]] : tensor<256x192x1x1xbf16> into tensor<256x192xbf16>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x256x7x7xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x256x7x7xf32>) -> tensor<16x256x7x7xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(n, k, p, q, c) -> (n, c, p, q)>, affine_map<(n, k, p, q, c) -> (k, c)>, affine_map<(n, k, p, q, c) -> (n, k, p, q)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%x, %y : tensor<16x192x7x7xbf16>, tensor<256x192xbf16>) outs(%f : tensor<16x256x7x7xf32>) {
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %aw = arith.extf %a : bf16 to f32
      %bw = arith.extf %b : bf16 to f32
      %m = arith.mulf %aw, %bw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<16x256x7x7xf32>
    %t = arith.truncf %g : tensor<16x256x7x7xf32> to tensor<16x256x7x7xbf16>
    return %t : tensor<16x256x7x7xbf16>
  }
}
