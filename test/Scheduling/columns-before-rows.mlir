// The columns of this convolution, its channels, are the axis before that of
// rows. Blocks share no tiles of several parts of them.

// RUN: fusion-compile %s --target=sm_90a --compile-to=schedule -o - | FileCheck %s --check-prefix=SCHEDULE
// RUN: fusion-compile %s --target=sm_90a --compile-to=ptx -o - | FileCheck %s

// SCHEDULE: fusion.kernel @matmul
// SCHEDULE-SAME: mma = #fusion.mma<wgmma
// SCHEDULE-NOT: multicast
// CHECK: wgmma.mma_async

func.func @main(%x: tensor<4x640x32x32xbf16>, %w: tensor<640x640x1x1xbf16>) -> tensor<4x640x32x32xbf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x640x32x32xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<4x640x32x32xf32>) -> tensor<4x640x32x32xf32>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w : tensor<4x640x32x32xbf16>, tensor<640x640x1x1xbf16>) outs(%i : tensor<4x640x32x32xf32>) -> tensor<4x640x32x32xf32>
  %o = tensor.empty() : tensor<4x640x32x32xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(a,b,c,d) -> (a,b,c,d)>, affine_map<(a,b,c,d) -> (a,b,c,d)>], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%c : tensor<4x640x32x32xf32>) outs(%o : tensor<4x640x32x32xbf16>) {
  ^bb0(%p: f32, %q: bf16):
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x640x32x32xbf16>
  return %r : tensor<4x640x32x32xbf16>
}
