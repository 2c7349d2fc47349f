// The gradient of a filter is a product that contracts images and pixels, which
// one walk runs through; its columns are channels at each element of the filter.

// RUN: fusion-opt %s --fusion-to-schedule=target=sm_90a | FileCheck %s
// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --remarks-filter='fusion.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// As importers write it of channels-last tensors, a convolution by gradients:
// both factors are read where they are, and no result is permuted.
// CHECK-LABEL: func.func @channels_last
// CHECK: fusion.kernel @pad_conv
// CHECK-SAME: ins(%arg0, %arg1 :
// CHECK-SAME: -> (tensor<64x3x3x64xbf16>)
// CHECK-SAME: axes = [#fusion.axis<grid, tile = {{[0-9]+}}>, #fusion.axis<merged, tile = 1>, #fusion.axis<merged, tile = 1>, #fusion.axis<grid, tile = {{[0-9]+}}>, #fusion.axis<merged, tile = 1>, #fusion.axis<merged, tile = 1>, #fusion.axis<loop, tile = 64>,
// CHECK-SAME: #fusion.mma<wgmma
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @channels_last(%x: tensor<64x56x56x64xbf16>, %dy: tensor<64x56x56x64xbf16>) -> tensor<64x3x3x64xbf16> {
  %zero = arith.constant 0.0 : bf16
  %zf = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64x56x56xbf16>
  %xt = linalg.transpose ins(%x : tensor<64x56x56x64xbf16>) outs(%e : tensor<64x64x56x56xbf16>) permutation = [3, 0, 1, 2]
  %dyt = linalg.transpose ins(%dy : tensor<64x56x56x64xbf16>) outs(%e : tensor<64x64x56x56xbf16>) permutation = [3, 0, 1, 2]
  %p = tensor.pad %xt low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : bf16
  } : tensor<64x64x56x56xbf16> to tensor<64x64x58x58xbf16>
  %s = tensor.empty() : tensor<64x64x3x3xf32>
  %f = linalg.fill ins(%zf : f32) outs(%s : tensor<64x64x3x3xf32>) -> tensor<64x64x3x3xf32>
  %g = linalg.conv_2d_nchw_fchw ins(%p, %dyt : tensor<64x64x58x58xbf16>, tensor<64x64x56x56xbf16>) outs(%f : tensor<64x64x3x3xf32>) -> tensor<64x64x3x3xf32>
  %t = arith.truncf %g : tensor<64x64x3x3xf32> to tensor<64x64x3x3xbf16>
  %r = tensor.empty() : tensor<64x3x3x64xbf16>
  %w = linalg.transpose ins(%t : tensor<64x64x3x3xbf16>) outs(%r : tensor<64x3x3x64xbf16>) permutation = [1, 2, 3, 0]
  return %w : tensor<64x3x3x64xbf16>
}

// Of tensors with channels first both factors are permuted by kernels of their
// own, and so is the small result. Strides of the convolution are those of the
// gradients' places here.
// REMARK: Passed{{.*}}channels-last{{.*}}Function=channels_first
// CHECK-LABEL: func.func @channels_first
// CHECK-DAG: fusion.kernel @transpose{{.*}} -> (tensor<64x3249x64xf16>)
// CHECK-DAG: fusion.kernel @transpose{{.*}} -> (tensor<64x784x128xf16>)
// CHECK: fusion.kernel @{{.*}}conv{{.*}}-> (tensor<128x3x3x64xf16>)
// CHECK-SAME: #fusion.axis<loop, tile = 64>
// CHECK-SAME: #fusion.mma<wgmma
// CHECK: fusion.kernel @transpose{{.*}}-> (tensor<128x64x9xf16>)
// CHECK: return
func.func @channels_first(%x: tensor<64x64x57x57xf16>, %dy: tensor<64x128x28x28xf16>) -> tensor<128x64x3x3xf16> {
  %zf = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64x57x57xf16>
  %xt = linalg.transpose ins(%x : tensor<64x64x57x57xf16>) outs(%e : tensor<64x64x57x57xf16>) permutation = [1, 0, 2, 3]
  %ed = tensor.empty() : tensor<128x64x28x28xf16>
  %dyt = linalg.transpose ins(%dy : tensor<64x128x28x28xf16>) outs(%ed : tensor<128x64x28x28xf16>) permutation = [1, 0, 2, 3]
  %s = tensor.empty() : tensor<64x128x3x3xf32>
  %f = linalg.fill ins(%zf : f32) outs(%s : tensor<64x128x3x3xf32>) -> tensor<64x128x3x3xf32>
  %g = linalg.conv_2d_nchw_fchw {dilations = dense<2> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%xt, %dyt : tensor<64x64x57x57xf16>, tensor<128x64x28x28xf16>) outs(%f : tensor<64x128x3x3xf32>) -> tensor<64x128x3x3xf32>
  %t = arith.truncf %g : tensor<64x128x3x3xf32> to tensor<64x128x3x3xf16>
  %r = tensor.empty() : tensor<128x64x3x3xf16>
  %w = linalg.transpose ins(%t : tensor<64x128x3x3xf16>) outs(%r : tensor<128x64x3x3xf16>) permutation = [1, 0, 2, 3]
  return %w : tensor<128x64x3x3xf16>
}

// Lines of memory with channels of two elements of the filter are no one copy,
// and images of any number are not laid out anew.
// CHECK-LABEL: func.func @few_channels
// CHECK-NOT: #fusion.mma<wgmma
// CHECK: return
#x = affine_map<(k, r, s, c, n, p, q) -> (n, p + r, q + s, c)>
#dy = affine_map<(k, r, s, c, n, p, q) -> (n, p, q, k)>
#w = affine_map<(k, r, s, c, n, p, q) -> (k, r, s, c)>
func.func @few_channels(%x: tensor<?x34x34x24xf16>, %dy: tensor<?x32x32x64xf16>) -> tensor<64x3x3x24xf32> {
  %zf = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x3x3x24xf32>
  %f = linalg.fill ins(%zf : f32) outs(%e : tensor<64x3x3x24xf32>) -> tensor<64x3x3x24xf32>
  %g = linalg.generic {indexing_maps = [#x, #dy, #w], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %dy : tensor<?x34x34x24xf16>, tensor<?x32x32x64xf16>) outs(%f : tensor<64x3x3x24xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<64x3x3x24xf32>
  return %g : tensor<64x3x3x24xf32>
}

// Features that are no multiple of 16 bytes are padded by a kernel of their own;
// their filters are cut out of the result.
// CHECK-LABEL: func.func @odd_features
// CHECK: fusion.kernel @pad{{.*}} -> (tensor<1230080xf16>)
// CHECK: fusion.kernel @conv{{.*}} -> (tensor<40x3x3x64xf32>)
// CHECK-SAME: #fusion.mma<wgmma
// CHECK: fusion.kernel @slice{{.*}} -> (tensor<22464xf32>)
// CHECK: return
func.func @odd_features(%x: tensor<8x64x64x64xf16>, %dy: tensor<8x62x62x39xf16>) -> tensor<39x3x3x64xf32> {
  %zf = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<39x3x3x64xf32>
  %f = linalg.fill ins(%zf : f32) outs(%e : tensor<39x3x3x64xf32>) -> tensor<39x3x3x64xf32>
  %g = linalg.generic {indexing_maps = [#x, #dy, #w], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %dy : tensor<8x64x64x64xf16>, tensor<8x62x62x39xf16>) outs(%f : tensor<39x3x3x64xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %m = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<39x3x3x64xf32>
  return %g : tensor<39x3x3x64xf32>
}
