func.func @f(%a: tensor<4xf80>) -> tensor<4xf80> {
  return %a : tensor<4xf80>
}
