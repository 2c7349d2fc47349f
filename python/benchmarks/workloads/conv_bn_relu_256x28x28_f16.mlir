// 3x3 convolution 256 -> 256, batch normalisation (inference), relu; NHWC.
func.func @conv_bn_relu(%x: tensor<128x28x28x256xf16>, %w: tensor<3x3x256x256xf16>,
                        %mean: tensor<256xf32>, %var: tensor<256xf32>,
                        %gamma: tensor<256xf32>, %beta: tensor<256xf32>)
    -> tensor<128x28x28x256xf16> {
  %pad = arith.constant 0.0 : f16
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %v: index, %c: index):
    tensor.yield %pad : f16
  } : tensor<128x28x28x256xf16> to tensor<128x30x30x256xf16>
  %zero = arith.constant 0.0 : f32
  %acc_empty = tensor.empty() : tensor<128x28x28x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%acc_empty : tensor<128x28x28x256xf32>)
      -> tensor<128x28x28x256xf32>
  %conv = linalg.conv_2d_nhwc_hwcf
      {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%padded, %w : tensor<128x30x30x256xf16>, tensor<3x3x256x256xf16>)
      outs(%init : tensor<128x28x28x256xf32>) -> tensor<128x28x28x256xf32>
  %rounded = arith.truncf %conv : tensor<128x28x28x256xf32> to tensor<128x28x28x256xf16>
  %wide = arith.extf %rounded : tensor<128x28x28x256xf16> to tensor<128x28x28x256xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<256xf32>
  %zeros = arith.constant dense<0.0> : tensor<128x28x28x256xf16>
  %guarded = arith.addf %var, %eps : tensor<256xf32>
  %inverse = math.rsqrt %guarded : tensor<256xf32>
  %scale = arith.mulf %inverse, %gamma : tensor<256xf32>
  %offset = arith.mulf %mean, %scale : tensor<256xf32>
  %shift = arith.subf %beta, %offset : tensor<256xf32>
  %scales = linalg.broadcast ins(%scale : tensor<256xf32>)
      outs(%acc_empty : tensor<128x28x28x256xf32>) dimensions = [0, 1, 2]
  %shifts = linalg.broadcast ins(%shift : tensor<256xf32>)
      outs(%acc_empty : tensor<128x28x28x256xf32>) dimensions = [0, 1, 2]
  %scaled = arith.mulf %wide, %scales : tensor<128x28x28x256xf32>
  %shifted = arith.addf %scaled, %shifts : tensor<128x28x28x256xf32>
  %normal = arith.truncf %shifted : tensor<128x28x28x256xf32> to tensor<128x28x28x256xf16>
  %out = arith.maximumf %normal, %zeros : tensor<128x28x28x256xf16>
  return %out : tensor<128x28x28x256xf16>
}
