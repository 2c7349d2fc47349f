// The gradient of a filter of one pixel, as importers write it: a convolution
// of the images, permuted, by the gradients, with windows as large as both. It
// is a product of matrices, whose images are read where they are.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-plan | FileCheck %s

// CHECK: fusion.kernel
// CHECK-NOT: fusion.kernel

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @gradient(%x: tensor<3x32x8x8xbf16>, %dy: tensor<3x16x8x8xbf16>) -> tensor<16x32x1x1xbf16> {
    %zero = arith.constant 0.0 : f32
    %xe = tensor.empty() : tensor<32x3x8x8xbf16>
    %xt = linalg.transpose ins(%x : tensor<3x32x8x8xbf16>) outs(%xe : tensor<32x3x8x8xbf16>) permutation = [1, 0, 2, 3]
    %de = tensor.empty() : tensor<16x3x8x8xbf16>
    %dt = linalg.transpose ins(%dy : tensor<3x16x8x8xbf16>) outs(%de : tensor<16x3x8x8xbf16>) permutation = [1, 0, 2, 3]
    %e = tensor.empty() : tensor<32x16x1x1xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x16x1x1xf32>) -> tensor<32x16x1x1xf32>
    %c = linalg.conv_2d_nchw_fchw ins(%xt, %dt : tensor<32x3x8x8xbf16>, tensor<16x3x8x8xbf16>) outs(%f : tensor<32x16x1x1xf32>) -> tensor<32x16x1x1xf32>
    %te = tensor.empty() : tensor<32x16x1x1xbf16>
    %t = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%c : tensor<32x16x1x1xf32>) outs(%te : tensor<32x16x1x1xbf16>) {
    ^bb0(%a: f32, %o: bf16):
      %0 = arith.truncf %a : f32 to bf16
      linalg.yield %0 : bf16
    } -> tensor<32x16x1x1xbf16>
    %oe = tensor.empty() : tensor<16x32x1x1xbf16>
    %o = linalg.transpose ins(%t : tensor<32x16x1x1xbf16>) outs(%oe : tensor<16x32x1x1xbf16>) permutation = [1, 0, 2, 3]
    return %o : tensor<16x32x1x1xbf16>
  }
}
