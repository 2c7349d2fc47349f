// Images whose channels do not lie side by side are permuted where that pays.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s
// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --remarks-filter='fusion.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The image, the filter and the result are permuted by kernels of their own.
// REMARK: Passed{{.*}}channels-last{{.*}}Function=f16
// CHECK-LABEL: func.func @f16
// CHECK-DAG: fusion.kernel @transpose{{.*}} ins(%{{.*}}-> (tensor<128x16384x64xf16>)
// CHECK-DAG: fusion.kernel @transpose{{.*}} -> (tensor<128x9x64xf16>)
// CHECK: fusion.kernel @conv
// CHECK-SAME: -> (tensor<128x126x126x128xf16>)
// CHECK: fusion.kernel @transpose
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @f16(%x: tensor<128x64x128x128xf16>, %w: tensor<128x64x3x3xf16>) -> tensor<128x128x126x126xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<128x128x126x126xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<128x128x126x126xf16>) -> tensor<128x128x126x126xf16>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w : tensor<128x64x128x128xf16>, tensor<128x64x3x3xf16>) outs(%f : tensor<128x128x126x126xf16>) -> tensor<128x128x126x126xf16>
  return %c : tensor<128x128x126x126xf16>
}

// REMARK: Passed{{.*}}channels-last{{.*}}Function=bf16
// CHECK-LABEL: func.func @bf16
// CHECK: fusion.kernel @conv{{.*}}-> (tensor<64x54x54x256xbf16>)
func.func @bf16(%x: tensor<64x256x56x56xbf16>, %w: tensor<256x256x3x3xbf16>) -> tensor<64x256x54x54xbf16> {
  %y = fusion.conv nchw %x, %w : (tensor<64x256x56x56xbf16>, tensor<256x256x3x3xbf16>) -> tensor<64x256x54x54xbf16>
  return %y : tensor<64x256x54x54xbf16>
}

// The parts that prices are taken of know what the function allows.
// REMARK: Passed{{.*}}channels-last{{.*}}Function=tf32
// CHECK-LABEL: func.func @tf32
// CHECK: fusion.kernel @conv{{.*}}-> (tensor<64x54x54x256xf32>)
func.func @tf32(%x: tensor<64x256x56x56xf32>, %w: tensor<256x256x3x3xf32>) -> tensor<64x256x54x54xf32> attributes {fusion.tf32} {
  %y = fusion.conv nchw %x, %w : (tensor<64x256x56x56xf32>, tensor<256x256x3x3xf32>) -> tensor<64x256x54x54xf32>
  return %y : tensor<64x256x54x54xf32>
}

// Single warps copy neighbouring channels; they store the result in any order.
// REMARK: Passed{{.*}}channels-last{{.*}}Function=f32
// CHECK-LABEL: func.func @f32
// CHECK: fusion.kernel @conv_transpose{{.*}}-> (tensor<64x256x54x54xf32>)
func.func @f32(%x: tensor<64x256x56x56xf32>, %w: tensor<256x256x3x3xf32>) -> tensor<64x256x54x54xf32> {
  %y = fusion.conv nchw %x, %w : (tensor<64x256x56x56xf32>, tensor<256x256x3x3xf32>) -> tensor<64x256x54x54xf32>
  return %y : tensor<64x256x54x54xf32>
}

// Of few products the permutations cost more than they gain.
// REMARK: Missed{{.*}}not-profitable{{.*}}Function=small{{.*}}channels last
// CHECK-LABEL: func.func @small
// CHECK: fusion.kernel @conv
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @small(%x: tensor<2x16x9x9xf16>, %w: tensor<24x16x3x3xf16>) -> tensor<2x24x7x7xf16> {
  %y = fusion.conv nchw %x, %w : (tensor<2x16x9x9xf16>, tensor<24x16x3x3xf16>) -> tensor<2x24x7x7xf16>
  return %y : tensor<2x24x7x7xf16>
}

// Between two convolutions nothing is permuted: the bias and the maximum are of
// the first one's kernel, the zeros around its result of the second's.
// CHECK-LABEL: func.func @chain
// CHECK: %[[A:.*]] = fusion.kernel @pad_conv_add_relu{{.*}}-> (tensor<32x56x56x64xf16>)
// CHECK: fusion.kernel @pad_conv{{.*}} ins(%[[A]]
// CHECK: fusion.kernel @{{.*}}transpose{{.*}}-> (tensor<32x64x{{.*}}xf16>)
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @chain(%x: tensor<32x64x56x56xf16>, %v: tensor<64x64x3x3xf16>, %b: tensor<64xf16>, %w: tensor<64x64x3x3xf16>) -> tensor<32x64x56x56xf16> {
  %zero = arith.constant dense<0.0> : tensor<32x64x56x56xf16>
  %y = fusion.conv nchw %x, %v bias(%b) {padding = array<i64: 1, 1, 1, 1>} : (tensor<32x64x56x56xf16>, tensor<64x64x3x3xf16>, tensor<64xf16>) -> tensor<32x64x56x56xf16>
  %r = arith.maximumf %y, %zero : tensor<32x64x56x56xf16>
  %c = fusion.conv nchw %r, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<32x64x56x56xf16>, tensor<64x64x3x3xf16>) -> tensor<32x64x56x56xf16>
  return %c : tensor<32x64x56x56xf16>
}

// What is priced is what will run: copies of windows count places of images one
// after the other, which a result with channels first does not.
// CHECK-LABEL: func.func @permuted_result
// CHECK: fusion.kernel @conv{{.*}}-> (tensor<128x126x126x128xf16>)
// CHECK: fusion.kernel @transpose
func.func @permuted_result(%x: tensor<128x128x128x64xf16>, %w: tensor<128x3x3x64xf16>) -> tensor<128x128x126x126xf16> {
  %y = fusion.conv nhwc %x, %w : (tensor<128x128x128x64xf16>, tensor<128x3x3x64xf16>) -> tensor<128x126x126x128xf16>
  %e = tensor.empty() : tensor<128x128x126x126xf16>
  %r = linalg.transpose ins(%y : tensor<128x126x126x128xf16>) outs(%e : tensor<128x128x126x126xf16>) permutation = [0, 3, 1, 2]
  return %r : tensor<128x128x126x126xf16>
}

// Products of images whose rows are no whole copies, a convolution of one pixel
// and the gradient of its filter, are those of images with channels last: the
// contracted dimension, or the one that the result keeps, comes last, and images
// and pixels are one axis. The first one's result follows.
// REMARK: Passed{{.*}}channels-last{{.*}}Function=one_pixel
// CHECK-LABEL: func.func @one_pixel
// CHECK: fusion.kernel @transpose{{.*}}-> (tensor<128x49x512xbf16>)
// CHECK: fusion.kernel @matmul{{.*}}-> (tensor<128x7x7x2048xbf16>)
// CHECK: fusion.kernel @transpose{{.*}}-> (tensor<128x2048x49xbf16>)
// CHECK-NOT: fusion.kernel
// CHECK: return
#pixel_x = affine_map<(n, k, p, q, c) -> (n, c, p, q)>
#pixel_w = affine_map<(n, k, p, q, c) -> (k, c)>
#pixel_y = affine_map<(n, k, p, q, c) -> (n, k, p, q)>
func.func @one_pixel(%x: tensor<128x512x7x7xbf16>, %w: tensor<2048x512xbf16>) -> tensor<128x2048x7x7xbf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x2048x7x7xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x2048x7x7xf32>) -> tensor<128x2048x7x7xf32>
  %y = linalg.generic {indexing_maps = [#pixel_x, #pixel_w, #pixel_y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x512x7x7xbf16>, tensor<2048x512xbf16>) outs(%f : tensor<128x2048x7x7xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<128x2048x7x7xf32>
  %t = arith.truncf %y : tensor<128x2048x7x7xf32> to tensor<128x2048x7x7xbf16>
  return %t : tensor<128x2048x7x7xbf16>
}

// REMARK: Passed{{.*}}channels-last{{.*}}Function=filter_of_one_pixel
// CHECK-LABEL: func.func @filter_of_one_pixel
// CHECK-DAG: fusion.kernel @transpose{{.*}}-> (tensor<128x49x512xbf16>)
// CHECK-DAG: fusion.kernel @transpose{{.*}}-> (tensor<128x49x2048xbf16>)
// CHECK: fusion.kernel @matmul{{.*}}-> (tensor<512x2048xbf16>)
// CHECK-NOT: fusion.kernel
// CHECK: return
#factor_x = affine_map<(c, k, n, p) -> (n, c, p)>
#factor_y = affine_map<(c, k, n, p) -> (n, k, p)>
#filter = affine_map<(c, k, n, p) -> (c, k)>
func.func @filter_of_one_pixel(%x: tensor<128x512x49xbf16>, %dy: tensor<128x2048x49xbf16>) -> tensor<512x2048xbf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x2048xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x2048xf32>) -> tensor<512x2048xf32>
  %g = linalg.generic {indexing_maps = [#factor_x, #factor_y, #filter], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %dy : tensor<128x512x49xbf16>, tensor<128x2048x49xbf16>) outs(%f : tensor<512x2048xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<512x2048xf32>
  %t = arith.truncf %g : tensor<512x2048xf32> to tensor<512x2048xbf16>
  return %t : tensor<512x2048xbf16>
}

// Rows of 64 pixels are whole ones, of which a walk through images and pixels
// takes chunks.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: fusion.kernel @transpose
// CHECK: fusion.kernel @matmul
// CHECK: return
func.func @apart(%x: tensor<128x512x64xbf16>, %dy: tensor<128x1024x64xbf16>) -> tensor<512x1024xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x1024xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %g = linalg.generic {indexing_maps = [#factor_x, #factor_y, #filter], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %dy : tensor<128x512x64xbf16>, tensor<128x1024x64xbf16>) outs(%f : tensor<512x1024xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<512x1024xf32>
  return %g : tensor<512x1024xf32>
}

// With both all is well.
// CHECK-LABEL: func.func @whole_rows
// CHECK-NOT: fusion.kernel @transpose
// CHECK: return
func.func @whole_rows(%x: tensor<128x512x8x8xbf16>, %w: tensor<1024x512xbf16>) -> tensor<128x1024x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x1024x8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x1024x8x8xf32>) -> tensor<128x1024x8x8xf32>
  %y = linalg.generic {indexing_maps = [#pixel_x, #pixel_w, #pixel_y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x512x8x8xbf16>, tensor<1024x512xbf16>) outs(%f : tensor<128x1024x8x8xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<128x1024x8x8xf32>
  return %y : tensor<128x1024x8x8xf32>
}

// Channels of 40 bytes would be no whole rows either.
// CHECK-LABEL: func.func @odd_channels
// CHECK-NOT: 7x7x20xbf16>)
// CHECK-NOT: 49x20xbf16>)
// CHECK: return
func.func @odd_channels(%x: tensor<128x20x7x7xbf16>, %w: tensor<1024x20xbf16>) -> tensor<128x1024x7x7xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x1024x7x7xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x1024x7x7xf32>) -> tensor<128x1024x7x7xf32>
  %y = linalg.generic {indexing_maps = [#pixel_x, #pixel_w, #pixel_y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x20x7x7xbf16>, tensor<1024x20xbf16>) outs(%f : tensor<128x1024x7x7xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<128x1024x7x7xf32>
  return %y : tensor<128x1024x7x7xf32>
}
