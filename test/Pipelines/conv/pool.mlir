// The largest of a window: no neighbour needs another thread, every element is
// read as a vector of channels.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.program
// CHECK-NOT: scf.for
// CHECK-NOT: fusion_tile.reduce
// CHECK: arith.maximumf {{.*}} : tensor<
// CHECK-NOT: scf.for
// CHECK-NOT: fusion_tile.reduce
// CHECK: fusion_tile.store

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @pool(%x: tensor<2x15x15x48xf16>) -> tensor<2x7x7x48xf16> {
    %n = arith.constant 0xFC00 : f16
    %e = tensor.empty() : tensor<2x7x7x48xf16>
    %f = linalg.fill ins(%n : f16) outs(%e : tensor<2x7x7x48xf16>) -> tensor<2x7x7x48xf16>
    %w = tensor.empty() : tensor<3x3xf16>
    %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<2x15x15x48xf16>, tensor<3x3xf16>) outs(%f : tensor<2x7x7x48xf16>) -> tensor<2x7x7x48xf16>
    return %y : tensor<2x7x7x48xf16>
  }
}
