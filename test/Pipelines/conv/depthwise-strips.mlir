// Neighbouring places of a thread share what their windows read: a strip of
// seven rows and several columns reads each element of the image once. The last
// strips of a row and the last channels lie outside.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s --check-prefix=SCHEDULE

// SCHEDULE: #fusion.schedule<reduction, axes = [
// SCHEDULE-SAME: strip = 7>
// SCHEDULE-SAME: strip = {{[2-8]}}>
// SCHEDULE-SAME: vector = {{[248]}}>

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @strips(%x: tensor<8x28x27x200xf16>, %w: tensor<3x3x200xf16>, %b: tensor<200xf32>) -> tensor<8x28x27x200xf16> {
    %z16 = arith.constant 0.0 : f16
    %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %z16 : f16
    } : tensor<8x28x27x200xf16> to tensor<8x30x29x200xf16>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x28x27x200xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x28x27x200xf32>) -> tensor<8x28x27x200xf32>
    %c = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<8x30x29x200xf16>, tensor<3x3x200xf16>) outs(%f : tensor<8x28x27x200xf32>) -> tensor<8x28x27x200xf32>
    %bb = linalg.broadcast ins(%b : tensor<200xf32>) outs(%e : tensor<8x28x27x200xf32>) dimensions = [0, 1, 2]
    %a = arith.addf %c, %bb : tensor<8x28x27x200xf32>
    %y = arith.truncf %a : tensor<8x28x27x200xf32> to tensor<8x28x27x200xf16>
    return %y : tensor<8x28x27x200xf16>
  }
}
