// fuzz: --seed=239 --target=sm_89 --dim=arg7.1=17
// outcome: verified
// A number beside windows has no place in memory that they slide along.
func.func @main(%x0: tensor<17xf16>, %x1: tensor<2x4x12x18xbf16>, %x2: tensor<3x2x3x6xbf16>, %x3: tensor<3xf32>, %x4: tensor<5xf16>, %x5: tensor<4x4xbf16>, %x6: tensor<4xi64>, %x7: tensor<1x?x4x7x4xf32> {fusion.dims = ["_", "m", "_", "_", "_"]}) -> (tensor<4x4xbf16>, tensor<1x?x3x7x2xf32>, tensor<4xbf16>, tensor<7xf16>, tensor<2x4x11x3xbf16>) {
  %v1 = fusion.layer_norm %x0 scale(%x0) bias(%x0) axis(0) eps(1.0e-5) : (tensor<17xf16>, tensor<17xf16>, tensor<17xf16>) -> tensor<17xf16>
  %v2 = tosa.reduce_sum %x0 {axis = 0 : i32} : (tensor<17xf16>) -> tensor<1xf16>
  %v3 = fusion.conv nhwc %x1, %x2 bias(%x3) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 1, 0, 1>, groups = 3 : i64} : (tensor<2x4x12x18xbf16>, tensor<3x2x3x6xbf16>, tensor<3xf32>) -> tensor<2x4x11x3xbf16>
  %c6 = arith.constant -1000.0 : f16
  %e7 = tensor.empty() : tensor<7xf16>
  %f8 = linalg.fill ins(%c6 : f16) outs(%e7 : tensor<7xf16>) -> tensor<7xf16>
  %r9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 * 2 + d1 * 1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%v1, %x4 : tensor<17xf16>, tensor<5xf16>) outs(%f8 : tensor<7xf16>) {
  ^bb0(%a: f16, %w: f16, %o: f16):
    %s4 = arith.addf %a, %w : f16
    %s5 = arith.maximumf %o, %s4 : f16
    linalg.yield %s5 : f16
  } -> tensor<7xf16>
  %v10 = arith.constant dense<4> : tensor<4xi64>
  %v11 = arith.remui %x6, %v10 : tensor<4xi64>
  %v12 = fusion.cross_entropy none %x5, %v11 axis(1) : (tensor<4x4xbf16>, tensor<4xi64>) -> tensor<4xbf16>
  %v13 = fusion.pool avg nchw %x7 window [2, 2, 3] {strides = array<i64: 1, 1, 2>, padding = array<i64: 0, 0, 0, 1, 0, 1>} : (tensor<1x?x4x7x4xf32>) -> tensor<1x?x3x7x2xf32>
  %v14 = fusion.selu %x5 : tensor<4x4xbf16>
  return %v14, %v13, %v12, %r9, %v3 : tensor<4x4xbf16>, tensor<1x?x3x7x2xf32>, tensor<4xbf16>, tensor<7xf16>, tensor<2x4x11x3xbf16>
}
