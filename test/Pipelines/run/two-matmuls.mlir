// Two kernels with an intermediate in the workspace.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify

func.func @two(%a: tensor<20x30xf32>, %b: tensor<30x40xf32>, %c: tensor<40x50xf32>) -> tensor<20x50xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
  %r = linalg.matmul ins(%a, %b : tensor<20x30xf32>, tensor<30x40xf32>) outs(%f : tensor<20x40xf32>) -> tensor<20x40xf32>
  %t = math.tanh %r : tensor<20x40xf32>
  %e2 = tensor.empty() : tensor<20x50xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<20x50xf32>) -> tensor<20x50xf32>
  %r2 = linalg.matmul ins(%t, %c : tensor<20x40xf32>, tensor<40x50xf32>) outs(%f2 : tensor<20x50xf32>) -> tensor<20x50xf32>
  return %r2 : tensor<20x50xf32>
}
