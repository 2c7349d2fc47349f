// A matmul of dynamic rows, none a multiple of a tile.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify \
// RUN:   --dim=m=1
// RUN: fusion-run %s --device=emulator --random --seed=1 --verify \
// RUN:   --dim=m=65

func.func @mm(%a: tensor<?x96xf32> {fusion.dims=["m","_"]}, %b: tensor<96x70xf32>) -> tensor<?x70xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x96xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x70xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x70xf32>) -> tensor<?x70xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x96xf32>, tensor<96x70xf32>) outs(%f : tensor<?x70xf32>) -> tensor<?x70xf32>
  return %r : tensor<?x70xf32>
}
