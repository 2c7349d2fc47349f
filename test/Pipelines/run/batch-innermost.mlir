// A batch lies innermost in both factors: kernels of their own put the depth
// there, which copies find side by side then.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s

// CHECK: fusion.kernel @transpose{{.*}}-> (tensor<1024x512xf16>)
// CHECK: fusion.kernel @transpose{{.*}}-> (tensor<1024x512xf16>)
// CHECK: fusion.kernel @matmul
// CHECK: #fusion.mma<wgmma

#x = affine_map<(b, m, n, k) -> (k, m, b)>
#y = affine_map<(b, m, n, k) -> (k, n, b)>
#r = affine_map<(b, m, n, k) -> (b, m, n)>

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @main(%x: tensor<512x128x8xf16>, %y: tensor<512x128x8xf16>) -> tensor<8x128x128xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x128x128xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x128x128xf32>) -> tensor<8x128x128xf32>
    %g = linalg.generic {indexing_maps = [#x, #y, #r], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x128x8xf16>, tensor<512x128x8xf16>) outs(%f : tensor<8x128x128xf32>) {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %aw = arith.extf %a : f16 to f32
      %bw = arith.extf %b : f16 to f32
      %m = arith.mulf %aw, %bw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<8x128x128xf32>
    return %g : tensor<8x128x128xf32>
  }
}
