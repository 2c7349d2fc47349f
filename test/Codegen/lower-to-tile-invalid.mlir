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
