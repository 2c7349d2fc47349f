// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @activations
func.func @activations(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  // CHECK: fusion.relu %{{.*}} : tensor<?x8xbf16>
  %0 = fusion.relu %x : tensor<?x8xbf16>
  // CHECK: fusion.relu6 %{{.*}} : tensor<?x8xbf16>
  %1 = fusion.relu6 %0 : tensor<?x8xbf16>
  // CHECK: fusion.sigmoid %{{.*}} : tensor<?x8xbf16>
  %2 = fusion.sigmoid %1 : tensor<?x8xbf16>
  // CHECK: fusion.log_sigmoid %{{.*}} : tensor<?x8xbf16>
  %3 = fusion.log_sigmoid %2 : tensor<?x8xbf16>
  // CHECK: fusion.silu %{{.*}} : tensor<?x8xbf16>
  %4 = fusion.silu %3 : tensor<?x8xbf16>
  // CHECK: fusion.mish %{{.*}} : tensor<?x8xbf16>
  %5 = fusion.mish %4 : tensor<?x8xbf16>
  // CHECK: fusion.hard_swish %{{.*}} : tensor<?x8xbf16>
  %6 = fusion.hard_swish %5 : tensor<?x8xbf16>
  // CHECK: fusion.hard_sigmoid %{{.*}} {alpha = 2.000000e-01 : f64} : tensor<?x8xbf16>
  %7 = fusion.hard_sigmoid %6 {alpha = 0.2 : f64} : tensor<?x8xbf16>
  // CHECK: fusion.gelu %{{.*}} : tensor<?x8xbf16>
  %8 = fusion.gelu %7 : tensor<?x8xbf16>
  // CHECK: fusion.gelu tanh %{{.*}} : tensor<?x8xbf16>
  %9 = fusion.gelu tanh %8 : tensor<?x8xbf16>
  // CHECK: fusion.softplus %{{.*}} {beta = 2.000000e+00 : f64} : tensor<?x8xbf16>
  %10 = fusion.softplus %9 {beta = 2.0 : f64} : tensor<?x8xbf16>
  // CHECK: fusion.elu %{{.*}} : tensor<?x8xbf16>
  %11 = fusion.elu %10 : tensor<?x8xbf16>
  // CHECK: fusion.selu %{{.*}} : tensor<?x8xbf16>
  %12 = fusion.selu %11 : tensor<?x8xbf16>
  // CHECK: fusion.leaky_relu %{{.*}} {slope = 2.000000e-01 : f64} : tensor<?x8xbf16>
  %13 = fusion.leaky_relu %12 {slope = 0.2 : f64} : tensor<?x8xbf16>
  return %13 : tensor<?x8xbf16>
}

// CHECK-LABEL: func.func @pointwise
func.func @pointwise(%x: tensor<2x4x?x8xf16>, %c: tensor<?x4xf32>,
                     %cb: tensor<2x?x4xf32>, %seed: i64)
    -> tensor<2x4x?x8xf16> {
  // CHECK: fusion.rope %{{.*}}, %{{.*}}, %{{.*}} seq_axis(2) : tensor<2x4x?x8xf16>, tensor<?x4xf32>, tensor<?x4xf32>
  %0 = fusion.rope %x, %c, %c seq_axis(2)
      : tensor<2x4x?x8xf16>, tensor<?x4xf32>, tensor<?x4xf32>
  // CHECK: fusion.rope interleaved %{{.*}}, %{{.*}}, %{{.*}} seq_axis(2) : tensor<2x4x?x8xf16>, tensor<2x?x4xf32>, tensor<2x?x4xf32>
  %1 = fusion.rope interleaved %0, %cb, %cb seq_axis(2)
      : tensor<2x4x?x8xf16>, tensor<2x?x4xf32>, tensor<2x?x4xf32>
  // CHECK: fusion.dropout %{{.*}}, %{{.*}} probability(1.000000e-01) op_id(7) : tensor<2x4x?x8xf16>
  %2 = fusion.dropout %1, %seed probability(0.1) op_id(7) : tensor<2x4x?x8xf16>
  return %2 : tensor<2x4x?x8xf16>
}

// CHECK-LABEL: func.func @norms
func.func @norms(%x: tensor<?x8x4xf16>, %s: tensor<8x4xf32>, %c: tensor<8xf32>)
    -> (tensor<?x8x4xf16>, tensor<8xf32>) {
  // CHECK: fusion.softmax %{{.*}} axis(1) : tensor<?x8x4xf16>
  %0 = fusion.softmax %x axis(1) : tensor<?x8x4xf16>
  // CHECK: fusion.log_softmax %{{.*}} axis(2) : tensor<?x8x4xf16>
  %1 = fusion.log_softmax %0 axis(2) : tensor<?x8x4xf16>
  // CHECK: fusion.layer_norm %{{.*}} scale(%{{.*}}) bias(%{{.*}}) axis(1) eps(1.000000e-05) : (tensor<?x8x4xf16>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<?x8x4xf16>
  %2 = fusion.layer_norm %1 scale(%s) bias(%s) axis(1) eps(1.0e-5)
      : (tensor<?x8x4xf16>, tensor<8x4xf32>, tensor<8x4xf32>)
      -> tensor<?x8x4xf16>
  // CHECK: fusion.rms_norm %{{.*}} scale(%{{.*}}) axis(1) eps(1.000000e-05) : (tensor<?x8x4xf16>, tensor<8x4xf32>) -> tensor<?x8x4xf16>
  %3 = fusion.rms_norm %2 scale(%s) axis(1) eps(1.0e-5)
      : (tensor<?x8x4xf16>, tensor<8x4xf32>) -> tensor<?x8x4xf16>
  // CHECK: fusion.group_norm %{{.*}} bias(%{{.*}}) groups(2) eps(1.000000e-05) : (tensor<?x8x4xf16>, tensor<8xf32>) -> tensor<?x8x4xf16>
  %4 = fusion.group_norm %3 bias(%c) groups(2) eps(1.0e-5)
      : (tensor<?x8x4xf16>, tensor<8xf32>) -> tensor<?x8x4xf16>
  // CHECK: fusion.instance_norm %{{.*}} eps(1.000000e-05) : (tensor<?x8x4xf16>) -> tensor<?x8x4xf16>
  %5 = fusion.instance_norm %4 eps(1.0e-5)
      : (tensor<?x8x4xf16>) -> tensor<?x8x4xf16>
  // CHECK: fusion.batch_norm %{{.*}}, %{{.*}}, %{{.*}} scale(%{{.*}}) channel_axis(1) eps(1.000000e-05) : (tensor<?x8x4xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8x4xf16>
  %6 = fusion.batch_norm %5, %c, %c scale(%c) channel_axis(1) eps(1.0e-5)
      : (tensor<?x8x4xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
      -> tensor<?x8x4xf16>
  // CHECK: fusion.batch_norm_training %{{.*}} channel_axis(1) eps(1.000000e-05) : (tensor<?x8x4xf16>) -> (tensor<?x8x4xf16>, tensor<8xf32>, tensor<8xf32>)
  %y, %mean, %variance = fusion.batch_norm_training %6 channel_axis(1) eps(1.0e-5)
      : (tensor<?x8x4xf16>) -> (tensor<?x8x4xf16>, tensor<8xf32>, tensor<8xf32>)
  return %y, %mean : tensor<?x8x4xf16>, tensor<8xf32>
}

// CHECK-LABEL: func.func @losses
func.func @losses(%x: tensor<?x10x4xbf16>, %t: tensor<?x4xi64>,
                  %h: tensor<?x8xf32>, %w: tensor<10x8xf32>, %b: tensor<10xf32>,
                  %u: tensor<?xi32>)
    -> (tensor<bf16>, tensor<?x4xbf16>, tensor<?xf32>) {
  // CHECK: fusion.cross_entropy mean %{{.*}}, %{{.*}} axis(1) {ignore_index = -100 : i64, label_smoothing = 1.000000e-01 : f64} : (tensor<?x10x4xbf16>, tensor<?x4xi64>) -> tensor<bf16>
  %0 = fusion.cross_entropy mean %x, %t axis(1)
      {ignore_index = -100 : i64, label_smoothing = 0.1 : f64}
      : (tensor<?x10x4xbf16>, tensor<?x4xi64>) -> tensor<bf16>
  // CHECK: fusion.cross_entropy none %{{.*}}, %{{.*}} axis(1) : (tensor<?x10x4xbf16>, tensor<?x4xi64>) -> tensor<?x4xbf16>
  %1 = fusion.cross_entropy none %x, %t axis(1)
      : (tensor<?x10x4xbf16>, tensor<?x4xi64>) -> tensor<?x4xbf16>
  // CHECK: fusion.linear_cross_entropy none %{{.*}}, %{{.*}}, %{{.*}} bias(%{{.*}}) : (tensor<?x8xf32>, tensor<10x8xf32>, tensor<?xi32>, tensor<10xf32>) -> tensor<?xf32>
  %2 = fusion.linear_cross_entropy none %h, %w, %u bias(%b)
      : (tensor<?x8xf32>, tensor<10x8xf32>, tensor<?xi32>, tensor<10xf32>)
      -> tensor<?xf32>
  return %0, %1, %2 : tensor<bf16>, tensor<?x4xbf16>, tensor<?xf32>
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<2x8x?x64xbf16>, %k: tensor<2x2x?x64xbf16>,
                     %v: tensor<2x2x?x32xbf16>, %m: tensor<1x?x?xi1>,
                     %b: tensor<8x?x?xf32>, %seed: i64)
    -> tensor<2x8x?x32xbf16> {
  // CHECK: fusion.attention %{{.*}}, %{{.*}}, %{{.*}} mask(%{{.*}}) bias(%{{.*}}) seed(%{{.*}}) causal(bottom_right)
  // CHECK-SAME: dropout = 1.000000e-01 : f64, op_id = 3 : i64, scale = 1.250000e-01 : f64
  // CHECK-SAME: : (tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x32xbf16>, tensor<1x?x?xi1>, tensor<8x?x?xf32>, i64) -> tensor<2x8x?x32xbf16>
  // CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index):
  // CHECK-NEXT: fusion.yield %[[S]] : f32
  %0 = fusion.attention %q, %k, %v mask(%m) bias(%b) seed(%seed)
      causal(bottom_right)
      {dropout = 0.1 : f64, op_id = 3 : i64, scale = 0.125 : f64}
      : (tensor<2x8x?x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x32xbf16>,
         tensor<1x?x?xi1>, tensor<8x?x?xf32>, i64) -> tensor<2x8x?x32xbf16> {
  ^bb0(%s: f32, %batch: index, %h: index, %i: index, %j: index):
    fusion.yield %s : f32
  }
  return %0 : tensor<2x8x?x32xbf16>
}

// CHECK-LABEL: func.func @quantization
func.func @quantization(%x: tensor<8x?xf32>, %s: tensor<8xf32>,
                        %z: tensor<8xi8>, %p: tensor<8x64xi8>,
                        %g: tensor<8x4xf16>, %one: tensor<f32>)
    -> (tensor<8x?xf32>, tensor<8x128xf16>, tensor<8x?xf8E4M3FN>) {
  // CHECK: fusion.quantize uint8 %{{.*}} scale(%{{.*}}) zero_point(%{{.*}}) {axis = 0 : i64} : (tensor<8x?xf32>, tensor<8xf32>, tensor<8xi8>) -> tensor<8x?xi8>
  %0 = fusion.quantize uint8 %x scale(%s) zero_point(%z) {axis = 0 : i64}
      : (tensor<8x?xf32>, tensor<8xf32>, tensor<8xi8>) -> tensor<8x?xi8>
  // CHECK: fusion.dequantize uint8 %{{.*}} scale(%{{.*}}) zero_point(%{{.*}}) {axis = 0 : i64}
  %1 = fusion.dequantize uint8 %0 scale(%s) zero_point(%z) {axis = 0 : i64}
      : (tensor<8x?xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<8x?xf32>
  // CHECK: fusion.dequantize int4 %{{.*}} scale(%{{.*}}) {axis = 1 : i64, group_size = 32 : i64} : (tensor<8x64xi8>, tensor<8x4xf16>) -> tensor<8x128xf16>
  %2 = fusion.dequantize int4 %p scale(%g) {axis = 1 : i64, group_size = 32 : i64}
      : (tensor<8x64xi8>, tensor<8x4xf16>) -> tensor<8x128xf16>
  // CHECK: fusion.quantize float8 %{{.*}} scale(%{{.*}}) : (tensor<8x?xf32>, tensor<f32>) -> tensor<8x?xf8E4M3FN>
  %3 = fusion.quantize float8 %x scale(%one)
      : (tensor<8x?xf32>, tensor<f32>) -> tensor<8x?xf8E4M3FN>
  return %1, %2, %3 : tensor<8x?xf32>, tensor<8x128xf16>, tensor<8x?xf8E4M3FN>
}

// CHECK-LABEL: func.func @windows
func.func @windows(%x: tensor<?x4x9x9xf16>, %w: tensor<8x2x3x3xf16>,
                   %b: tensor<8xf32>, %i: tensor<1x5x4xi8>,
                   %f: tensor<6x3x4xi8>, %wt: tensor<4x8x2x2xf16>)
    -> (tensor<?x8x5x5xf16>, tensor<1x3x6xi32>, tensor<?x8x18x18xf16>,
        tensor<?x4x4x4xf16>) {
  // CHECK: fusion.conv nchw %{{.*}}, %{{.*}} bias(%{{.*}}) {groups = 2 : i64, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<?x4x9x9xf16>, tensor<8x2x3x3xf16>, tensor<8xf32>) -> tensor<?x8x5x5xf16>
  %0 = fusion.conv nchw %x, %w bias(%b)
      {groups = 2 : i64, padding = array<i64: 1, 1, 1, 1>,
       strides = array<i64: 2, 2>}
      : (tensor<?x4x9x9xf16>, tensor<8x2x3x3xf16>, tensor<8xf32>)
      -> tensor<?x8x5x5xf16>
  // CHECK: fusion.conv nhwc %{{.*}}, %{{.*}} : (tensor<1x5x4xi8>, tensor<6x3x4xi8>) -> tensor<1x3x6xi32>
  %1 = fusion.conv nhwc %i, %f
      : (tensor<1x5x4xi8>, tensor<6x3x4xi8>) -> tensor<1x3x6xi32>
  // CHECK: fusion.conv nchw transposed %{{.*}}, %{{.*}} {strides = array<i64: 2, 2>} : (tensor<?x4x9x9xf16>, tensor<4x8x2x2xf16>) -> tensor<?x8x18x18xf16>
  %2 = fusion.conv nchw transposed %x, %wt {strides = array<i64: 2, 2>}
      : (tensor<?x4x9x9xf16>, tensor<4x8x2x2xf16>) -> tensor<?x8x18x18xf16>
  // CHECK: fusion.pool max nchw %{{.*}} window [3, 3] {strides = array<i64: 2, 2>} : (tensor<?x4x9x9xf16>) -> tensor<?x4x4x4xf16>
  %3 = fusion.pool max nchw %x window [3, 3] {strides = array<i64: 2, 2>}
      : (tensor<?x4x9x9xf16>) -> tensor<?x4x4x4xf16>
  // CHECK: fusion.pool avg nchw %{{.*}} window [3, 3] {count_include_pad, strides = array<i64: 2, 2>} : (tensor<?x4x9x9xf16>) -> tensor<?x4x4x4xf16>
  %4 = fusion.pool avg nchw %x window [3, 3]
      {count_include_pad, strides = array<i64: 2, 2>}
      : (tensor<?x4x9x9xf16>) -> tensor<?x4x4x4xf16>
  return %0, %1, %2, %4 : tensor<?x8x5x5xf16>, tensor<1x3x6xi32>,
      tensor<?x8x18x18xf16>, tensor<?x4x4x4xf16>
}

// CHECK-LABEL: func.func @indices
func.func @indices(%x: tensor<?x8xf32>, %i: tensor<3x?xi64>, %zero: f32,
                   %one: f32) -> (tensor<3x?x8xf32>, tensor<?x8xf32>) {
  // CHECK: fusion.gather %{{.*}}, %{{.*}} axis(0) : (tensor<?x8xf32>, tensor<3x?xi64>) -> tensor<3x?x8xf32>
  %0 = fusion.gather %x, %i axis(0)
      : (tensor<?x8xf32>, tensor<3x?xi64>) -> tensor<3x?x8xf32>
  // CHECK: fusion.scan exclusive reverse ins(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>) inits(%{{.*}}, %{{.*}} : f32, f32) axis(0) -> tensor<?x8xf32>, tensor<?x8xf32> {
  // CHECK-NEXT: ^bb0(%[[A1:.*]]: f32, %[[B1:.*]]: f32, %[[A2:.*]]: f32, %[[B2:.*]]: f32):
  %1:2 = fusion.scan exclusive reverse
      ins(%x, %x : tensor<?x8xf32>, tensor<?x8xf32>)
      inits(%one, %zero : f32, f32) axis(0)
      -> tensor<?x8xf32>, tensor<?x8xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %a = arith.mulf %a1, %a2 : f32
    %c = arith.mulf %a2, %b1 : f32
    %b = arith.addf %c, %b2 : f32
    fusion.yield %a, %b : f32, f32
  }
  return %0, %1#1 : tensor<3x?x8xf32>, tensor<?x8xf32>
}
