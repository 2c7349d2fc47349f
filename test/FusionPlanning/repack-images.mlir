// RUN: fusion-opt %s --fusion-to-plan | FileCheck %s
// RUN: fusion-opt %s --fusion-to-plan --remarks-filter='fusion.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Images of few channels: what a window reads of a row becomes channels. Rows
// that windows step over are folded, two into one.

// REMARK: Passed{{.*}}repack-operand{{.*}}Function=three
// CHECK-LABEL: func @three
// CHECK-DAG: fusion.kernel {{.*}} ins(%arg0{{.*}} -> (tensor<32x115x112x2x8x4xf16>)
// CHECK-DAG: fusion.kernel {{.*}} ins(%arg1{{.*}} -> (tensor<16384xf16>)
// CHECK: tensor.collapse_shape {{.*}} into tensor<32x115x112x64xf16>
// CHECK: fusion.kernel @{{.*}}conv
func.func @three(%x: tensor<32x224x224x3xf16>, %w: tensor<64x7x7x3xf16>) -> tensor<32x112x112x64xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 3, 3, 0] high[0, 3, 3, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %none : f16
  } : tensor<32x224x224x3xf16> to tensor<32x230x230x3xf16>
  %e = tensor.empty() : tensor<32x112x112x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x112x112x64xf32>) -> tensor<32x112x112x64xf32>
  %m = linalg.conv_2d_nhwc_fhwc {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%p, %w : tensor<32x230x230x3xf16>, tensor<64x7x7x3xf16>) outs(%f : tensor<32x112x112x64xf32>) -> tensor<32x112x112x64xf32>
  return %m : tensor<32x112x112x64xf32>
}

// Of more channels only zeros are added.
// CHECK-LABEL: func @thirteen
// CHECK-DAG: fusion.kernel {{.*}} : tensor<131072x13xf16>) -> (tensor<131072x16xf16>)
// CHECK-DAG: fusion.kernel {{.*}} : tensor<1152x13xf16>) -> (tensor<18432xf16>)
func.func @thirteen(%x: tensor<32x64x64x13xf16>, %w: tensor<128x3x3x13xf16>) -> tensor<32x62x62x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x62x62x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x62x62x128xf32>) -> tensor<32x62x62x128xf32>
  %m = linalg.conv_2d_nhwc_fhwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<32x64x64x13xf16>, tensor<128x3x3x13xf16>) outs(%f : tensor<32x62x62x128xf32>) -> tensor<32x62x62x128xf32>
  return %m : tensor<32x62x62x128xf32>
}

// Windows that fit a line are unfolded whole: the product is one of matrices.
// CHECK-LABEL: func @whole
// CHECK-DAG: fusion.kernel {{.*}} ins(%arg0{{.*}} -> (tensor<16x64x64x3x4x4xf16>)
// CHECK-DAG: fusion.kernel {{.*}} : tensor<960x12xf16>) -> (tensor<15360xf16>)
// CHECK: tensor.collapse_shape {{.*}} into tensor<16x64x64x48xf16>
func.func @whole(%x: tensor<16x64x64x4xf16>, %w: tensor<320x3x3x4xf16>) -> tensor<16x64x64x320xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %none : f16
  } : tensor<16x64x64x4xf16> to tensor<16x66x66x4xf16>
  %e = tensor.empty() : tensor<16x64x64x320xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x64x64x320xf32>) -> tensor<16x64x64x320xf32>
  %m = linalg.conv_2d_nhwc_fhwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%p, %w : tensor<16x66x66x4xf16>, tensor<320x3x3x4xf16>) outs(%f : tensor<16x64x64x320xf32>) -> tensor<16x64x64x320xf32>
  return %m : tensor<16x64x64x320xf32>
}
