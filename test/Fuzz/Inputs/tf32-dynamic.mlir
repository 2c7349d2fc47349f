// fuzz: --seed=0 --dim=arg1.0=5
// outcome: verified
// Products in tf32 of a dynamic size.
func.func @main(%x: tensor<8x7xf32>, %y: tensor<?x7xf32>) -> tensor<8x?xf32> attributes {fusion.tf32} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?x7xf32>
  %e = tensor.empty(%n) : tensor<8x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x?xf32>) -> tensor<8x?xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %y : tensor<8x7xf32>, tensor<?x7xf32>) outs(%f : tensor<8x?xf32>) -> tensor<8x?xf32>
  return %r : tensor<8x?xf32>
}
