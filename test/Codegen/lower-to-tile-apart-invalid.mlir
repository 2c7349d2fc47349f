// Schedules that let blocks exchange sums through global memory where they
// cannot.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --split-input-file --verify-diagnostics

func.func @dynamic(%a: tensor<?x256xbf16>, %b: tensor<256x256xbf16>, %i: tensor<?x256xf32>) -> tensor<?x256xf32> {
  // expected-error @below {{FUS-3123: the blocks of a 'split' exchange their sums through global memory ('apart'), but sizes are not known at compile time}}
  %r = fusion.kernel @dynamic ins(%a, %b, %i : tensor<?x256xbf16>, tensor<256x256xbf16>, tensor<?x256xf32>) -> (tensor<?x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 128>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4, split = 2, apart = 1>>} {
  ^bb0(%x: tensor<?x256xbf16>, %w: tensor<256x256xbf16>, %f: tensor<?x256xf32>):
    %p = linalg.matmul ins(%x, %w : tensor<?x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<?x256xf32>) -> tensor<?x256xf32>
    fusion.yield %p : tensor<?x256xf32>
  }
  return %r : tensor<?x256xf32>
}

// -----

func.func @signals(%a: tensor<4194304x256xbf16>, %b: tensor<256x256xbf16>, %i: tensor<4194304x256xf32>) -> tensor<4194304x256xf32> {
  // expected-error @below {{FUS-3123: the blocks of a 'split' exchange their sums through global memory ('apart'), but there are too many of them to signal to each other}}
  %r = fusion.kernel @signals ins(%a, %b, %i : tensor<4194304x256xbf16>, tensor<256x256xbf16>, tensor<4194304x256xf32>) -> (tensor<4194304x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 128>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4, split = 2, apart = 1>>} {
  ^bb0(%x: tensor<4194304x256xbf16>, %w: tensor<256x256xbf16>, %f: tensor<4194304x256xf32>):
    %p = linalg.matmul ins(%x, %w : tensor<4194304x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<4194304x256xf32>) -> tensor<4194304x256xf32>
    fusion.yield %p : tensor<4194304x256xf32>
  }
  return %r : tensor<4194304x256xf32>
}
