// The gradient of a filter of one pixel for images of 7x7, of which no tensor copy
// takes a row: channels of both factors come last.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-run %s --device=emulator --random --seed=2 --asynchrony=early --verify
// RUN: fusion-opt %s --fusion-to-schedule | FileCheck %s

// CHECK-DAG: fusion.kernel @transpose{{.*}}-> (tensor<16x49x64xbf16>)
// CHECK-DAG: fusion.kernel @transpose{{.*}}-> (tensor<16x49x128xbf16>)
// CHECK: fusion.kernel @matmul{{.*}}#fusion.mma<wgmma

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @main(%x: tensor<16x64x7x7xbf16>, %y: tensor<16x128x7x7xbf16>) -> tensor<64x128xbf16> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x128xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(c, k, n, p, q) -> (n, c, p, q)>, affine_map<(c, k, n, p, q) -> (n, k, p, q)>, affine_map<(c, k, n, p, q) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %y : tensor<16x64x7x7xbf16>, tensor<16x128x7x7xbf16>) outs(%f : tensor<64x128xf32>) {
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %aw = arith.extf %a : bf16 to f32
      %bw = arith.extf %b : bf16 to f32
      %m = arith.mulf %aw, %bw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<64x128xf32>
    %t = arith.truncf %g : tensor<64x128xf32> to tensor<64x128xbf16>
    return %t : tensor<64x128xbf16>
  }
}
