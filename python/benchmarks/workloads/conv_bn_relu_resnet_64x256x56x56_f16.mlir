// 3x3 convolution 64 -> 64, batch normalisation (inference), relu; NHWC.
func.func @conv_bn_relu(%x: tensor<64x56x56x64xf16>, %w: tensor<3x3x64x64xf16>,
                        %mean: tensor<64xf32>, %var: tensor<64xf32>,
                        %gamma: tensor<64xf32>, %beta: tensor<64xf32>)
    -> tensor<64x56x56x64xf16> {
  %pad = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %v: index, %c: index):
    tensor.yield %pad : f16
  } : tensor<64x56x56x64xf16> to tensor<64x58x58x64xf16>
  %zero = arith.constant 0.0 : f32
  %acc_empty = tensor.empty() : tensor<64x56x56x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%acc_empty : tensor<64x56x56x64xf32>)
      -> tensor<64x56x56x64xf32>
  %conv = linalg.conv_2d_nhwc_hwcf
      {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%padded, %w : tensor<64x58x58x64xf16>, tensor<3x3x64x64xf16>)
      outs(%init : tensor<64x56x56x64xf32>) -> tensor<64x56x56x64xf32>
  %rounded = arith.truncf %conv : tensor<64x56x56x64xf32> to tensor<64x56x56x64xf16>
  %wide = arith.extf %rounded : tensor<64x56x56x64xf16> to tensor<64x56x56x64xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x56x56x64xf16>
  %guarded = arith.addf %var, %eps : tensor<64xf32>
  %inverse = math.rsqrt %guarded : tensor<64xf32>
  %scale = arith.mulf %inverse, %gamma : tensor<64xf32>
  %offset = arith.mulf %mean, %scale : tensor<64xf32>
  %shift = arith.subf %beta, %offset : tensor<64xf32>
  %scales = linalg.broadcast ins(%scale : tensor<64xf32>)
      outs(%acc_empty : tensor<64x56x56x64xf32>) dimensions = [0, 1, 2]
  %shifts = linalg.broadcast ins(%shift : tensor<64xf32>)
      outs(%acc_empty : tensor<64x56x56x64xf32>) dimensions = [0, 1, 2]
  %scaled = arith.mulf %wide, %scales : tensor<64x56x56x64xf32>
  %shifted = arith.addf %scaled, %shifts : tensor<64x56x56x64xf32>
  %normal = arith.truncf %shifted : tensor<64x56x56x64xf32> to tensor<64x56x56x64xf16>
  %out = arith.maximumf %normal, %zeros : tensor<64x56x56x64xf16>
  return %out : tensor<64x56x56x64xf16>
}
