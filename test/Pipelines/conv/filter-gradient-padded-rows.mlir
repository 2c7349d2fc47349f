// Two rows that are folded are four, so that pixels are whole lines; of the
// filter five of six rows are cut out.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-plan | FileCheck %s

// CHECK: fusion.kernel @pad{{.*}}x4x6x8xbf16>)
// CHECK: fusion.kernel @conv{{.*}}-> (tensor<64x3x192xf32>)

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @main(%x: tensor<8x65x66x5xbf16>, %dy: tensor<8x33x33x64xbf16>) -> (tensor<64x5x5x5xbf16>) {
    %0 = tensor.empty() : tensor<5x8x65x66xbf16>
    %1 = linalg.transpose ins(%x : tensor<8x65x66x5xbf16>) outs(%0 : tensor<5x8x65x66xbf16>) permutation = [3, 0, 1, 2]
    %2 = arith.constant 0.0 : bf16
    %3 = tensor.pad %1 low[0, 0, 2, 2] high[0, 0, 2, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %2 : bf16
    } : tensor<5x8x65x66xbf16> to tensor<5x8x69x69xbf16>
    %4 = tensor.empty() : tensor<64x8x33x33xbf16>
    %5 = linalg.transpose ins(%dy : tensor<8x33x33x64xbf16>) outs(%4 : tensor<64x8x33x33xbf16>) permutation = [3, 0, 1, 2]
    %6 = arith.constant 0.0 : f32
    %7 = tensor.empty() : tensor<5x64x5x5xf32>
    %8 = linalg.fill ins(%6 : f32) outs(%7 : tensor<5x64x5x5xf32>) -> tensor<5x64x5x5xf32>
    %9 = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<2> : tensor<2xi64>} ins(%3, %5 : tensor<5x8x69x69xbf16>, tensor<64x8x33x33xbf16>) outs(%8 : tensor<5x64x5x5xf32>) -> tensor<5x64x5x5xf32>
    %10 = arith.truncf %9 : tensor<5x64x5x5xf32> to tensor<5x64x5x5xbf16>
    %11 = tensor.empty() : tensor<64x5x5x5xbf16>
    %12 = linalg.transpose ins(%10 : tensor<5x64x5x5xbf16>) outs(%11 : tensor<64x5x5x5xbf16>) permutation = [1, 2, 3, 0]
    return %12 : tensor<64x5x5x5xbf16>
  }
}
