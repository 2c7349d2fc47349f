// A thread walks down the image, two rows of results at a time: it keeps the
// rows that the next windows have too and loads the others a step ahead. The
// last walks, the last strips of a row and the last channels lie outside; the
// windows of the second kernel leave rows out, and the largest of a window must
// not be what is outside.

// DEFINE: %{axes} = #fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 2, strip = 2, steps = 3>, #fusion.axis<grid, tile = 2, strip = 4>, #fusion.axis<grid, tile = 16, vector = 2>, #fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 1>, #fusion.axis<loop, tile = 1>
// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a > %t.chosen
// RUN: sed 's/schedule<reduction, axes = .*, warps = [0-9]*>/schedule<reduction, axes = [%{axes}], warps = 1>/' %t.chosen > %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: fusion-compile %t.mlir --target=sm_90a -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%s --device=emulator --random --seed=1 --verify

// CHECK-COUNT-3: strip = 2, steps = 3

func.func @steps(%x: tensor<2x15x11x40xf16>, %w: tensor<5x5x40xf16>, %v: tensor<3x3x40xf16>) -> (tensor<2x15x11x40xf16>, tensor<2x15x11x40xf16>, tensor<2x15x11x40xf16>) {
  %z16 = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 2, 2, 0] high[0, 2, 2, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z16 : f16
  } : tensor<2x15x11x40xf16> to tensor<2x19x15x40xf16>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x15x11x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x15x11x40xf32>) -> tensor<2x15x11x40xf32>
  %c = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<2x19x15x40xf16>, tensor<5x5x40xf16>) outs(%f : tensor<2x15x11x40xf32>) -> tensor<2x15x11x40xf32>
  %y = arith.truncf %c : tensor<2x15x11x40xf32> to tensor<2x15x11x40xf16>
  %d = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<1> : tensor<2xi64>, dilations = dense<2> : tensor<2xi64>} ins(%p, %v : tensor<2x19x15x40xf16>, tensor<3x3x40xf16>) outs(%f : tensor<2x15x11x40xf32>) -> tensor<2x15x11x40xf32>
  %u = arith.truncf %d : tensor<2x15x11x40xf32> to tensor<2x15x11x40xf16>
  %n = arith.constant 0xFC00 : f16
  %q = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %n : f16
  } : tensor<2x15x11x40xf16> to tensor<2x17x13x40xf16>
  %g = tensor.empty() : tensor<2x15x11x40xf16>
  %h = linalg.fill ins(%n : f16) outs(%g : tensor<2x15x11x40xf16>) -> tensor<2x15x11x40xf16>
  %o = tensor.empty() : tensor<3x3xf16>
  %m = linalg.pooling_nhwc_max {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%q, %o : tensor<2x17x13x40xf16>, tensor<3x3xf16>) outs(%h : tensor<2x15x11x40xf16>) -> tensor<2x15x11x40xf16>
  return %y, %u, %m : tensor<2x15x11x40xf16>, tensor<2x15x11x40xf16>, tensor<2x15x11x40xf16>
}
