// Short rows that lie apart by the schedule that many of them have.

func.func @of_three(%x: tensor<1003x7x3xf32>) -> tensor<7x1003x3xf32> {
  %r = fusion.kernel @of_three ins(%x : tensor<1003x7x3xf32>) -> (tensor<7x1003x3xf32>) attributes {
      schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 32>, #fusion.axis<grid, tile = 4, vector = 4>], warps = 8>} {
  ^bb0(%a: tensor<1003x7x3xf32>):
    %e = tensor.empty() : tensor<7x1003x3xf32>
    %t = linalg.transpose ins(%a : tensor<1003x7x3xf32>) outs(%e : tensor<7x1003x3xf32>) permutation = [1, 0, 2]
    fusion.yield %t : tensor<7x1003x3xf32>
  }
  return %r : tensor<7x1003x3xf32>
}

func.func @of_five(%x: tensor<301x37x5xi8>) -> tensor<37x301x5xi8> {
  %r = fusion.kernel @of_five ins(%x : tensor<301x37x5xi8>) -> (tensor<37x301x5xi8>) attributes {
      schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 32>, #fusion.axis<grid, tile = 8, vector = 8>], warps = 8>} {
  ^bb0(%a: tensor<301x37x5xi8>):
    %e = tensor.empty() : tensor<37x301x5xi8>
    %t = linalg.transpose ins(%a : tensor<301x37x5xi8>) outs(%e : tensor<37x301x5xi8>) permutation = [1, 0, 2]
    fusion.yield %t : tensor<37x301x5xi8>
  }
  return %r : tensor<37x301x5xi8>
}
