// The factors of a normalisation, from four vectors of columns, are computed in
// parts by the lanes that hold the same columns, and shuffled to their places.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: math.rsqrt {{.*}} : tensor<[[N:[0-9]+]]xf32,
// CHECK: fusion_tile.convert_layout {{.*}} : tensor<[[N]]xf32, {{.*}} -> tensor<[[N]]xf32,
// CHECK: fusion_tile.broadcast

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @batch_norm(%x: tensor<8x28x28x64xf16>, %w: tensor<64x1x1x64xf16>, %mean: tensor<64xf32>, %variance: tensor<64xf32>, %gamma: tensor<64xf32>, %beta: tensor<64xf32>) -> tensor<8x28x28x64xf16> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x28x28x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x28x28x64xf32>) -> tensor<8x28x28x64xf32>
    %c = linalg.conv_2d_nhwc_fhwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<8x28x28x64xf16>, tensor<64x1x1x64xf16>) outs(%f : tensor<8x28x28x64xf32>) -> tensor<8x28x28x64xf32>
    %square = arith.mulf %variance, %variance : tensor<64xf32>
    %eps = arith.constant dense<1.0e-05> : tensor<64xf32>
    %shifted = arith.addf %square, %eps : tensor<64xf32>
    %r = math.rsqrt %shifted : tensor<64xf32>
    %scale = arith.mulf %r, %gamma : tensor<64xf32>
    %part = arith.mulf %mean, %scale : tensor<64xf32>
    %shift = arith.subf %beta, %part : tensor<64xf32>
    %bs = linalg.broadcast ins(%scale : tensor<64xf32>) outs(%e : tensor<8x28x28x64xf32>) dimensions = [0, 1, 2]
    %bt = linalg.broadcast ins(%shift : tensor<64xf32>) outs(%e : tensor<8x28x28x64xf32>) dimensions = [0, 1, 2]
    %n = arith.mulf %c, %bs : tensor<8x28x28x64xf32>
    %a = arith.addf %n, %bt : tensor<8x28x28x64xf32>
    %y = arith.truncf %a : tensor<8x28x28x64xf32> to tensor<8x28x28x64xf16>
    return %y : tensor<8x28x28x64xf16>
  }
}
