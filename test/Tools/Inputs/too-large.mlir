func.func @f(%a: tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32> {
  %r = math.absf %a : tensor<4294967296x4294967296xf32>
  return %r : tensor<4294967296x4294967296xf32>
}
