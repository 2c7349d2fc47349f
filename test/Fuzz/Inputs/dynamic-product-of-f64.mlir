// fuzz: --seed=4 --target=sm_120 --dim=arg0.1=17 --dim=arg1.2=5
// outcome: verified
// A batch of f64 products of dynamic sizes, where a block has little memory.
func.func @main(%x: tensor<3x?x3xf64>, %y: tensor<3x3x?xf64>) -> tensor<3x?x?xf64> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %x, %c1 : tensor<3x?x3xf64>
  %n = tensor.dim %y, %c2 : tensor<3x3x?xf64>
  %e = tensor.empty(%m, %n) : tensor<3x?x?xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<3x?x?xf64>) -> tensor<3x?x?xf64>
  %r = linalg.batch_matmul ins(%x, %y : tensor<3x?x3xf64>, tensor<3x3x?xf64>) outs(%f : tensor<3x?x?xf64>) -> tensor<3x?x?xf64>
  return %r : tensor<3x?x?xf64>
}
