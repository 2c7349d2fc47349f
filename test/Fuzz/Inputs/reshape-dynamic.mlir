// fuzz: --seed=0 --dim=arg0.0=5
// outcome: verified
// A reshape to sizes that are computed.
func.func @main(%x: tensor<?x32xf32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x32xf32>
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %s = tensor.from_elements %d, %c4, %c8 : tensor<3xindex>
  %r = tensor.reshape %x(%s) : (tensor<?x32xf32>, tensor<3xindex>) -> tensor<?x4x8xf32>
  return %r : tensor<?x4x8xf32>
}
