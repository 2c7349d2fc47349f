// The gradient of a filter of one pixel as a sum of parts, each of some images.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-run %s --device=emulator --random --seed=2 --asynchrony=early --verify
// RUN: fusion-opt %s --fusion-to-schedule | FileCheck %s

// CHECK: fusion.kernel @matmul{{.*}}-> (tensor<48x64x64xf32>)
// CHECK-SAME: #fusion.mma<wgmma
// CHECK: fusion.kernel @sum

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @main(%x: tensor<48x64x256xbf16>, %y: tensor<48x64x256xbf16>) -> tensor<64x64xbf16> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(c, k, n, p) -> (n, c, p)>, affine_map<(c, k, n, p) -> (n, k, p)>, affine_map<(c, k, n, p) -> (c, k)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %y : tensor<48x64x256xbf16>, tensor<48x64x256xbf16>) outs(%f : tensor<64x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %aw = arith.extf %a : bf16 to f32
      %bw = arith.extf %b : bf16 to f32
      %m = arith.mulf %aw, %bw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    %t = arith.truncf %g : tensor<64x64xf32> to tensor<64x64xbf16>
    return %t : tensor<64x64xbf16>
  }
}
