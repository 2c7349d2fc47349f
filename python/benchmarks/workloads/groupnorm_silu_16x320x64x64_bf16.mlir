// Group normalisation over 32 groups of 10 channels, then silu; NCHW, f32 inside.
func.func @groupnorm_silu(%x: tensor<16x320x64x64xbf16>, %gamma: tensor<320xbf16>,
                          %beta: tensor<320xbf16>) -> tensor<16x320x64x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : tensor<16x32x10x4096xf32>
  %count = arith.constant dense<40960.0> : tensor<16x32xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<16x32xf32>
  %empty = tensor.empty() : tensor<16x32x10x4096xf32>
  %stat = tensor.empty() : tensor<16x32xf32>
  %groups = tensor.expand_shape %x [[0], [1, 2], [3], [4]] output_shape [16, 32, 10, 64, 64]
      : tensor<16x320x64x64xbf16> into tensor<16x32x10x64x64xbf16>
  %rows = tensor.collapse_shape %groups [[0], [1], [2], [3, 4]]
      : tensor<16x32x10x64x64xbf16> into tensor<16x32x10x4096xbf16>
  %wide = arith.extf %rows : tensor<16x32x10x4096xbf16> to tensor<16x32x10x4096xf32>
  %init = linalg.fill ins(%zero : f32) outs(%stat : tensor<16x32xf32>)
      -> tensor<16x32xf32>
  %sum = linalg.reduce { arith.addf } ins(%wide : tensor<16x32x10x4096xf32>)
      outs(%init : tensor<16x32xf32>) dimensions = [2, 3]
  %mean = arith.divf %sum, %count : tensor<16x32xf32>
  %means = linalg.broadcast ins(%mean : tensor<16x32xf32>)
      outs(%empty : tensor<16x32x10x4096xf32>) dimensions = [2, 3]
  %centred = arith.subf %wide, %means : tensor<16x32x10x4096xf32>
  %square = arith.mulf %centred, %centred : tensor<16x32x10x4096xf32>
  %squares = linalg.reduce { arith.addf } ins(%square : tensor<16x32x10x4096xf32>)
      outs(%init : tensor<16x32xf32>) dimensions = [2, 3]
  %var = arith.divf %squares, %count : tensor<16x32xf32>
  %guarded = arith.addf %var, %eps : tensor<16x32xf32>
  %inverse = math.rsqrt %guarded : tensor<16x32xf32>
  %inverses = linalg.broadcast ins(%inverse : tensor<16x32xf32>)
      outs(%empty : tensor<16x32x10x4096xf32>) dimensions = [2, 3]
  %group_gamma = tensor.expand_shape %gamma [[0, 1]] output_shape [32, 10]
      : tensor<320xbf16> into tensor<32x10xbf16>
  %group_beta = tensor.expand_shape %beta [[0, 1]] output_shape [32, 10]
      : tensor<320xbf16> into tensor<32x10xbf16>
  %wide_gamma = arith.extf %group_gamma : tensor<32x10xbf16> to tensor<32x10xf32>
  %wide_beta = arith.extf %group_beta : tensor<32x10xbf16> to tensor<32x10xf32>
  %gammas = linalg.broadcast ins(%wide_gamma : tensor<32x10xf32>)
      outs(%empty : tensor<16x32x10x4096xf32>) dimensions = [0, 3]
  %betas = linalg.broadcast ins(%wide_beta : tensor<32x10xf32>)
      outs(%empty : tensor<16x32x10x4096xf32>) dimensions = [0, 3]
  %normal = arith.mulf %centred, %inverses : tensor<16x32x10x4096xf32>
  %scaled = arith.mulf %normal, %gammas : tensor<16x32x10x4096xf32>
  %shifted = arith.addf %scaled, %betas : tensor<16x32x10x4096xf32>
  %rounded = arith.truncf %shifted : tensor<16x32x10x4096xf32> to tensor<16x32x10x4096xbf16>
  %value = arith.extf %rounded : tensor<16x32x10x4096xbf16> to tensor<16x32x10x4096xf32>
  %negative = arith.negf %value : tensor<16x32x10x4096xf32>
  %exp = math.exp %negative : tensor<16x32x10x4096xf32>
  %denominator = arith.addf %exp, %one : tensor<16x32x10x4096xf32>
  %silu = arith.divf %value, %denominator : tensor<16x32x10x4096xf32>
  %y = arith.truncf %silu : tensor<16x32x10x4096xf32> to tensor<16x32x10x4096xbf16>
  %y_groups = tensor.expand_shape %y [[0], [1], [2], [3, 4]] output_shape [16, 32, 10, 64, 64]
      : tensor<16x32x10x4096xbf16> into tensor<16x32x10x64x64xbf16>
  %out = tensor.collapse_shape %y_groups [[0], [1, 2], [3], [4]]
      : tensor<16x32x10x64x64xbf16> into tensor<16x320x64x64xbf16>
  return %out : tensor<16x320x64x64xbf16>
}
