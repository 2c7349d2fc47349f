// fuzz: --seed=290 --target=sm_89 --asynchrony=early
// outcome: verified
// There is no chunk of a dimension of size 0 that blocks could share.
func.func @main(%arg0: tensor<?x0xi1>) -> tensor<i1> {
  %false = arith.constant false
  %0 = tensor.empty() : tensor<i1>
  %1 = linalg.fill ins(%false : i1) outs(%0 : tensor<i1>) -> tensor<i1>
  %reduced = linalg.reduce { arith.ori } ins(%arg0 : tensor<?x0xi1>) outs(%1 : tensor<i1>) dimensions = [0, 1]
  return %reduced : tensor<i1>
}
