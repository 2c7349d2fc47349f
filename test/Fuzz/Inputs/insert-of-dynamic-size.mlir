// fuzz: --seed=0 --dim=arg0.0=4 --dim=arg1.0=4 --dim=arg1.1=4
// outcome: verified
// A slice of a size that another argument has.
func.func @main(%n: tensor<?x1xf32>, %x: tensor<?x?x1xi32>) -> (tensor<?x?x1xi32>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %n, %c0 : tensor<?x1xf32>
  %v = tensor.insert_slice %x into %x[0, 0, 0] [%d, %d, 1] [1, 1, 1] : tensor<?x?x1xi32> into tensor<?x?x1xi32>
  return %v : tensor<?x?x1xi32>
}
