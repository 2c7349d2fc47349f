// fuzz: --seed=0
// outcome: verified
// Sizes as tosa.const_shape has them.
func.func @main(%x: tensor<4x8xf32>) -> tensor<2x3xf32> {
  %s = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %n = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.slice %x, %s, %n : (tensor<4x8xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
