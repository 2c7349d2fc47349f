// One channel at a time: threads hold vectors of channels and walk the window,
// one element after the other, written out. Products of f16 are exact in f32: a sum
// may be one instruction with its product.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.program
// CHECK-NOT: scf.for
// CHECK-NOT: fusion_tile.reduce
// CHECK: fusion_tile.load {{.*}} : <2x14x14x96xf16> -> tensor<{{[0-9x]+}}xf16
// CHECK: arith.mulf {{.*}} fastmath<contract> : tensor<
// CHECK: arith.addf {{.*}} fastmath<contract> : tensor<
// CHECK-NOT: scf.for
// CHECK-NOT: fusion_tile.reduce
// CHECK: fusion_tile.store

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @depthwise(%x: tensor<2x14x14x96xf16>, %w: tensor<5x5x96xf16>, %b: tensor<96xf32>) -> tensor<2x7x7x96xf16> {
    %z16 = arith.constant 0.0 : f16
    %p = tensor.pad %x low[0, 2, 2, 0] high[0, 2, 2, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %z16 : f16
    } : tensor<2x14x14x96xf16> to tensor<2x18x18x96xf16>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x7x7x96xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x7x7x96xf32>) -> tensor<2x7x7x96xf32>
    %c = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<2x18x18x96xf16>, tensor<5x5x96xf16>) outs(%f : tensor<2x7x7x96xf32>) -> tensor<2x7x7x96xf32>
    %bb = linalg.broadcast ins(%b : tensor<96xf32>) outs(%e : tensor<2x7x7x96xf32>) dimensions = [0, 1, 2]
    %a = arith.addf %c, %bb : tensor<2x7x7x96xf32>
    %y = arith.truncf %a : tensor<2x7x7x96xf32> to tensor<2x7x7x96xf16>
    return %y : tensor<2x7x7x96xf16>
  }
}
