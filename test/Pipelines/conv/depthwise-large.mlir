// A window of 49 elements, written out for few places.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @large(%x: tensor<2x15x14x24xf16>, %w: tensor<7x7x24xf16>, %b: tensor<24xf32>) -> tensor<2x15x14x24xf16> {
    %z16 = arith.constant 0.0 : f16
    %p = tensor.pad %x low[0, 3, 3, 0] high[0, 3, 3, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %z16 : f16
    } : tensor<2x15x14x24xf16> to tensor<2x21x20x24xf16>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x15x14x24xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x15x14x24xf32>) -> tensor<2x15x14x24xf32>
    %c = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<2x21x20x24xf16>, tensor<7x7x24xf16>) outs(%f : tensor<2x15x14x24xf32>) -> tensor<2x15x14x24xf32>
    %bb = linalg.broadcast ins(%b : tensor<24xf32>) outs(%e : tensor<2x15x14x24xf32>) dimensions = [0, 1, 2]
    %a = arith.addf %c, %bb : tensor<2x15x14x24xf32>
    %y = arith.truncf %a : tensor<2x15x14x24xf32> to tensor<2x15x14x24xf16>
    return %y : tensor<2x15x14x24xf16>
  }
}
