// Windows of padded images, of which there are none.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @pool(%x: tensor<0x3x1x9xf32>) -> tensor<0x3x1x3xf32> {
    %z = arith.constant 0.0 : f32
    %p = tensor.pad %x low[0, 0, 0, 2] high[0, 0, 0, 2] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %z : f32
    } : tensor<0x3x1x9xf32> to tensor<0x3x1x13xf32>
    %e = tensor.empty() : tensor<0x3x1x3xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<0x3x1x3xf32>) -> tensor<0x3x1x3xf32>
    %w = tensor.empty() : tensor<1x6xf32>
    %r = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<[1, 3]> : vector<2xi64>} ins(%p, %w : tensor<0x3x1x13xf32>, tensor<1x6xf32>) outs(%f : tensor<0x3x1x3xf32>) -> tensor<0x3x1x3xf32>
    return %r : tensor<0x3x1x3xf32>
  }
}
