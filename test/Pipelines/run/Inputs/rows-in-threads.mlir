// Joined rows by the schedule that many of them have: each thread has its own.

func.func @short_rows(%x: tensor<1501x3xf16>, %y: tensor<1501x3xf16>) -> tensor<1501x6xf16> {
  %r = fusion.kernel @short_rows ins(%x, %y : tensor<1501x3xf16>, tensor<1501x3xf16>) -> (tensor<1501x6xf16>) attributes {
      schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 256>, #fusion.axis<grid, tile = 8, vector = 8>], warps = 8>} {
  ^bb0(%a: tensor<1501x3xf16>, %b: tensor<1501x3xf16>):
    %c = tensor.concat dim(1) %b, %a : (tensor<1501x3xf16>, tensor<1501x3xf16>) -> tensor<1501x6xf16>
    fusion.yield %c : tensor<1501x6xf16>
  }
  return %r : tensor<1501x6xf16>
}

func.func @narrow_rows(%x: tensor<1501x5xi8>, %y: tensor<1501x2xi8>) -> tensor<1501x7xi8> {
  %r = fusion.kernel @narrow_rows ins(%x, %y : tensor<1501x5xi8>, tensor<1501x2xi8>) -> (tensor<1501x7xi8>) attributes {
      schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 256>, #fusion.axis<grid, tile = 8, vector = 8>], warps = 8>} {
  ^bb0(%a: tensor<1501x5xi8>, %b: tensor<1501x2xi8>):
    %c = tensor.concat dim(1) %a, %b : (tensor<1501x5xi8>, tensor<1501x2xi8>) -> tensor<1501x7xi8>
    fusion.yield %c : tensor<1501x7xi8>
  }
  return %r : tensor<1501x7xi8>
}
