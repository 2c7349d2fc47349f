// Batch normalisation with the statistics of the batch, then relu; NCHW.
func.func @batchnorm_relu(%x: tensor<64x256x56x56xf32>, %gamma: tensor<256xf32>,
                          %beta: tensor<256xf32>) -> tensor<64x256x56x56xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64x256x56x56xf32>
  %count = arith.constant dense<200704.0> : tensor<256xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<256xf32>
  %empty = tensor.empty() : tensor<64x256x56x56xf32>
  %channel = tensor.empty() : tensor<256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%channel : tensor<256xf32>)
      -> tensor<256xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<64x256x56x56xf32>)
      outs(%init : tensor<256xf32>) dimensions = [0, 2, 3]
  %mean = arith.divf %sum, %count : tensor<256xf32>
  %means = linalg.broadcast ins(%mean : tensor<256xf32>)
      outs(%empty : tensor<64x256x56x56xf32>) dimensions = [0, 2, 3]
  %centred = arith.subf %x, %means : tensor<64x256x56x56xf32>
  %square = arith.mulf %centred, %centred : tensor<64x256x56x56xf32>
  %squares = linalg.reduce { arith.addf } ins(%square : tensor<64x256x56x56xf32>)
      outs(%init : tensor<256xf32>) dimensions = [0, 2, 3]
  %var = arith.divf %squares, %count : tensor<256xf32>
  %guarded = arith.addf %var, %eps : tensor<256xf32>
  %inverse = math.rsqrt %guarded : tensor<256xf32>
  %scale = arith.mulf %inverse, %gamma : tensor<256xf32>
  %scales = linalg.broadcast ins(%scale : tensor<256xf32>)
      outs(%empty : tensor<64x256x56x56xf32>) dimensions = [0, 2, 3]
  %betas = linalg.broadcast ins(%beta : tensor<256xf32>)
      outs(%empty : tensor<64x256x56x56xf32>) dimensions = [0, 2, 3]
  %scaled = arith.mulf %centred, %scales : tensor<64x256x56x56xf32>
  %shifted = arith.addf %scaled, %betas : tensor<64x256x56x56xf32>
  %out = arith.maximumf %shifted, %zeros : tensor<64x256x56x56xf32>
  return %out : tensor<64x256x56x56xf32>
}
