// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --split-input-file --verify-diagnostics

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{FUS-3100: kernel has no schedule; run the schedule phase first}}
  %r = fusion.kernel @k ins(%x : tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{FUS-3113: schedule has 2 axes, the kernel has 1 iteration dimensions}}
  %r = fusion.kernel @k ins(%x : tensor<8xf32>) -> (tensor<8xf32>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 8>], warps = 1>} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<100xf32>) -> tensor<100xf32> {
  // expected-error @below {{FUS-3102: dimension 0 is scheduled to live in one tile of 64 elements, which does not hold it}}
  %r = fusion.kernel @k ins(%x : tensor<100xf32>) -> (tensor<100xf32>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<full, tile = 64>], warps = 1>} {
  ^bb0(%a: tensor<100xf32>):
    fusion.yield %a : tensor<100xf32>
  }
  return %r : tensor<100xf32>
}

// -----

func.func @main(%x: tensor<64x256xf32>) -> tensor<64x4xf32> {
  // expected-error @below {{FUS-3119: a tile of 32 elements along dimension 1 holds no whole granules of 64, which the kernel reduces}}
  %r = fusion.kernel @k ins(%x : tensor<64x256xf32>) -> (tensor<64x4xf32>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 4>, #fusion.axis<grid, tile = 32>], warps = 1>} {
  ^bb0(%a: tensor<64x256xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x4xf32>) -> tensor<64x4xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j floordiv 64)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<64x256xf32>) outs(%f : tensor<64x4xf32>) {
    ^bb1(%u: f32, %o: f32):
      %q = arith.addf %o, %u : f32
      linalg.yield %q : f32
    } -> tensor<64x4xf32>
    fusion.yield %s : tensor<64x4xf32>
  }
  return %r : tensor<64x4xf32>
}

// -----

func.func @main(%x: tensor<64x256xf32>) -> tensor<64x4xf32> {
  %r = fusion.kernel @k ins(%x : tensor<64x256xf32>) -> (tensor<64x4xf32>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 4>, #fusion.axis<grid, tile = 64>], warps = 1>} {
  ^bb0(%a: tensor<64x256xf32>):
    %zero = arith.constant 1.0 : f32
    %e = tensor.empty() : tensor<64x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x4xf32>) -> tensor<64x4xf32>
    // expected-error @below {{FUS-3120: a reduction in granules has no tile form}}
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j floordiv 64)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<64x256xf32>) outs(%f : tensor<64x4xf32>) {
    ^bb1(%u: f32, %o: f32):
      %q = arith.addf %o, %u : f32
      linalg.yield %q : f32
    } -> tensor<64x4xf32>
    fusion.yield %s : tensor<64x4xf32>
  }
  return %r : tensor<64x4xf32>
}

// -----

// A row and a column: each block along one would write the other.
func.func @main(%x: tensor<128xf32>, %y: tensor<64xf32>) -> (tensor<128xf32>, tensor<64xf32>) {
  // expected-error @below {{FUS-3126: result #1 lacks the kernel's iteration dimension 0, which another result has; compute results of different shapes in kernels of their own}}
  %r:2 = fusion.kernel @k ins(%x, %y : tensor<128xf32>, tensor<64xf32>) -> (tensor<128xf32>, tensor<64xf32>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 32>], warps = 1>} {
  ^bb0(%a: tensor<128xf32>, %b: tensor<64xf32>):
    %e = tensor.empty() : tensor<128xf32>
    %f = tensor.empty() : tensor<64xf32>
    %0 = linalg.exp ins(%a : tensor<128xf32>) outs(%e : tensor<128xf32>) -> tensor<128xf32>
    %1 = linalg.exp ins(%b : tensor<64xf32>) outs(%f : tensor<64xf32>) -> tensor<64xf32>
    fusion.yield %0, %1 : tensor<128xf32>, tensor<64xf32>
  }
  return %r#0, %r#1 : tensor<128xf32>, tensor<64xf32>
}
