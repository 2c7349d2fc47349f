// A window of one element in f16: the sum of its product and of what was there
// is rounded once.

// RUN: fusion-run %s --target=sm_90 --random --seed=546 --verify --dim=arg0.2=5 --dim=arg1.1=5 --dim=arg2.2=5
// RUN: fusion-run %s --target=sm_80 --random --seed=7 --verify --dim=arg0.2=1003 --dim=arg1.1=1003 --dim=arg2.2=1003

func.func @channels(%x: tensor<2x5x?xf16> {fusion.dims = ["_", "_", "m"]}, %w: tensor<1x?xf16> {fusion.dims = ["_", "m"]}, %initial: tensor<2x5x?xf16> {fusion.dims = ["_", "_", "m"]}) -> tensor<2x5x?xf16> {
  %y = linalg.depthwise_conv_1d_nwc_wc {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>} ins(%x, %w : tensor<2x5x?xf16>, tensor<1x?xf16>) outs(%initial : tensor<2x5x?xf16>) -> tensor<2x5x?xf16>
  return %y : tensor<2x5x?xf16>
}
