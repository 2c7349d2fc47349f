// Gradients of filters of few channels: parts for each image and row, in f32
// and bf16, with strides, and the sums of them.

// RUN: fusion-run %s --entry=channels_first --device=emulator --random --seed=1 --verify
// RUN: fusion-run %s --entry=strides --device=emulator --random --seed=2 --verify
// RUN: fusion-opt %s --fusion-to-plan | FileCheck %s

#x = affine_map<(c, k, r, s, n, p, q) -> (n, c, p + r, q + s)>
#x2 = affine_map<(c, k, r, s, n, p, q) -> (n, c, p * 2 + r, q * 2 + s)>
#dy = affine_map<(c, k, r, s, n, p, q) -> (n, k, p, q)>
#w = affine_map<(c, k, r, s, n, p, q) -> (c, k, r, s)>

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  // CHECK-LABEL: func.func @channels_first
  // CHECK: fusion.kernel {{.*}}-> (tensor<2x3x3x3x41x5xf32>)
  // CHECK: fusion.kernel @sum
  func.func @channels_first(%x: tensor<3x2x43x35xf32>, %dy: tensor<3x5x41x33xf32>) -> tensor<2x5x3x3xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x5x3x3xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x5x3x3xf32>) -> tensor<2x5x3x3xf32>
    %g = linalg.generic {indexing_maps = [#x, #dy, #w], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %dy : tensor<3x2x43x35xf32>, tensor<3x5x41x33xf32>) outs(%f : tensor<2x5x3x3xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x5x3x3xf32>
    return %g : tensor<2x5x3x3xf32>
  }

  // CHECK-LABEL: func.func @strides
  // CHECK: fusion.kernel {{.*}}-> (tensor<2x3x3x3x41x5xf32>)
  // CHECK: fusion.kernel @sum
  func.func @strides(%x: tensor<3x2x83x67xbf16>, %dy: tensor<3x5x41x33xbf16>) -> tensor<2x5x3x3xbf16> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x5x3x3xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x5x3x3xf32>) -> tensor<2x5x3x3xf32>
    %g = linalg.generic {indexing_maps = [#x2, #dy, #w], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %dy : tensor<3x2x83x67xbf16>, tensor<3x5x41x33xbf16>) outs(%f : tensor<2x5x3x3xf32>) {
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %aw = arith.extf %a : bf16 to f32
      %bw = arith.extf %b : bf16 to f32
      %m = arith.mulf %aw, %bw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x5x3x3xf32>
    %t = arith.truncf %g : tensor<2x5x3x3xf32> to tensor<2x5x3x3xbf16>
    return %t : tensor<2x5x3x3xbf16>
  }
}
