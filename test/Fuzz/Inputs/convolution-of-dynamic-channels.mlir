// fuzz: --seed=961 --target=sm_120 --dim=arg0.1=3 --dim=arg1.0=3 --dim=arg1.1=3
// outcome: verified
// Tensor cores of a chip with mbarriers, and no factor that is a tile of a load.
func.func @main(%x: tensor<1x?x4x7x7xbf16>, %w: tensor<?x?x3x3x2xbf16>) -> tensor<1x?x1x3x3xbf16> {
  %zero = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %n = tensor.dim %w, %c0 : tensor<?x?x3x3x2xbf16>
  %e = tensor.empty(%n) : tensor<1x?x1x3x3xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<1x?x1x3x3xbf16>) -> tensor<1x?x1x3x3xbf16>
  %r = linalg.conv_3d_ncdhw_fcdhw {dilations = dense<1> : vector<3xi64>, strides = dense<2> : vector<3xi64>} ins(%x, %w : tensor<1x?x4x7x7xbf16>, tensor<?x?x3x3x2xbf16>) outs(%f : tensor<1x?x1x3x3xbf16>) -> tensor<1x?x1x3x3xbf16>
  return %r : tensor<1x?x1x3x3xbf16>
}
