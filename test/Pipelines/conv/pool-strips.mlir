// Padded windows of a larger image: threads take strips of places, and what is
// outside the image is smaller than all of it.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s

// CHECK: fusion.kernel {{.*}} #fusion.schedule<reduction, {{.*}} strip = {{[2-8]}}>

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @pool_strips(%x: tensor<8x57x56x64xf16>) -> tensor<8x29x28x64xf16> {
    %n = arith.constant 0xFC00 : f16
    %q = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %n : f16
    } : tensor<8x57x56x64xf16> to tensor<8x59x58x64xf16>
    %e = tensor.empty() : tensor<8x29x28x64xf16>
    %f = linalg.fill ins(%n : f16) outs(%e : tensor<8x29x28x64xf16>) -> tensor<8x29x28x64xf16>
    %w = tensor.empty() : tensor<3x3xf16>
    %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%q, %w : tensor<8x59x58x64xf16>, tensor<3x3xf16>) outs(%f : tensor<8x29x28x64xf16>) -> tensor<8x29x28x64xf16>
    return %y : tensor<8x29x28x64xf16>
  }
}
