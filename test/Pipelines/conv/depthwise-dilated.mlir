// Windows with holes, steps of their own in each direction, and padding that
// differs on all sides.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @dilated(%x: tensor<2x17x19x40xf16>, %w: tensor<3x5x40xf16>, %b: tensor<40xf32>) -> tensor<2x9x15x40xf16> {
    %z16 = arith.constant 0.0 : f16
    %p = tensor.pad %x low[0, 0, 3, 0] high[0, 2, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %z16 : f16
    } : tensor<2x17x19x40xf16> to tensor<2x19x23x40xf16>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x9x15x40xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x9x15x40xf32>) -> tensor<2x9x15x40xf32>
    %c = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>} ins(%p, %w : tensor<2x19x23x40xf16>, tensor<3x5x40xf16>) outs(%f : tensor<2x9x15x40xf32>) -> tensor<2x9x15x40xf32>
    %bb = linalg.broadcast ins(%b : tensor<40xf32>) outs(%e : tensor<2x9x15x40xf32>) dimensions = [0, 1, 2]
    %a = arith.addf %c, %bb : tensor<2x9x15x40xf32>
    %y = arith.truncf %a : tensor<2x9x15x40xf32> to tensor<2x9x15x40xf16>
    return %y : tensor<2x9x15x40xf16>
  }
}
