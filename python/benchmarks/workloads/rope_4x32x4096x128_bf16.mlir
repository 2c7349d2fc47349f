// x * cos + rotate_half(x) * sin, cos and sin over (sequence, feature).
#bhsd = affine_map<(b, h, s, d) -> (b, h, s, d)>
#sd = affine_map<(b, h, s, d) -> (s, d)>

func.func @rope(%x: tensor<4x32x4096x128xbf16>, %cos: tensor<4096x128xbf16>,
                %sin: tensor<4096x128xbf16>) -> tensor<4x32x4096x128xbf16> {
  %first = tensor.extract_slice %x[0, 0, 0, 0] [4, 32, 4096, 64] [1, 1, 1, 1]
      : tensor<4x32x4096x128xbf16> to tensor<4x32x4096x64xbf16>
  %second = tensor.extract_slice %x[0, 0, 0, 64] [4, 32, 4096, 64] [1, 1, 1, 1]
      : tensor<4x32x4096x128xbf16> to tensor<4x32x4096x64xbf16>
  %negated = arith.negf %second : tensor<4x32x4096x64xbf16>
  %rotated = tensor.concat dim(3) %negated, %first
      : (tensor<4x32x4096x64xbf16>, tensor<4x32x4096x64xbf16>)
      -> tensor<4x32x4096x128xbf16>
  %empty = tensor.empty() : tensor<4x32x4096x128xbf16>
  %out = linalg.generic
      {indexing_maps = [#bhsd, #bhsd, #sd, #sd, #bhsd],
       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %rotated, %cos, %sin
          : tensor<4x32x4096x128xbf16>, tensor<4x32x4096x128xbf16>,
            tensor<4096x128xbf16>, tensor<4096x128xbf16>)
      outs(%empty : tensor<4x32x4096x128xbf16>) {
  ^bb0(%v: bf16, %r: bf16, %c: bf16, %s: bf16, %o: bf16):
    %vc = arith.mulf %v, %c : bf16
    %rs = arith.mulf %r, %s : bf16
    %sum = arith.addf %vc, %rs : bf16
    linalg.yield %sum : bf16
  } -> tensor<4x32x4096x128xbf16>
  return %out : tensor<4x32x4096x128xbf16>
}
