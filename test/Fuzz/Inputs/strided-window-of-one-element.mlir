// fuzz: --seed=701 --target=sm_80 --asynchrony=early
// outcome: verified
// Windows of one element whose results are one along two dimensions: the loops of
// these stand in the windows' coordinates.
func.func @main(%arg0: tensor<2x2x1x2xf16>) -> tensor<2x2x1x1xf16> {
  %0 = fusion.pool max nchw %arg0 window [1, 1] {padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<2x2x1x2xf16>) -> tensor<2x2x1x1xf16>
  return %0 : tensor<2x2x1x1xf16>
}
