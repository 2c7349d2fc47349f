// fuzz: --seed=428 --target=sm_90a
// outcome: verified
// Granules of 16 do not go on in the next row of 30 places.
func.func @main(%x: tensor<1x8x64x8xf16>, %w: tensor<8x3x3x8xf16>) -> tensor<6x8xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x6x30x8xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x6x30x8xf16>) -> tensor<1x6x30x8xf16>
  %y = linalg.conv_2d_nhwc_fhwc {dilations = dense<[1, 2]> : vector<2xi64>, strides = dense<[1, 2]> : vector<2xi64>} ins(%x, %w : tensor<1x8x64x8xf16>, tensor<8x3x3x8xf16>) outs(%f : tensor<1x6x30x8xf16>) -> tensor<1x6x30x8xf16>
  %large = arith.constant 1000.0 : f16
  %e2 = tensor.empty() : tensor<6x8xf16>
  %f2 = linalg.fill ins(%large : f16) outs(%e2 : tensor<6x8xf16>) -> tensor<6x8xf16>
  %r = linalg.reduce {arith.minimumf} ins(%y : tensor<1x6x30x8xf16>) outs(%f2 : tensor<6x8xf16>) dimensions = [0, 2]
  return %r : tensor<6x8xf16>
}
