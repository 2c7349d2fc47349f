// A transpose of three dimensions, none a multiple of a tile.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify

func.func @t3(%x: tensor<5x33x20xf32>) -> tensor<20x5x33xf32> {
  %e = tensor.empty() : tensor<20x5x33xf32>
  %t = linalg.transpose ins(%x : tensor<5x33x20xf32>) outs(%e : tensor<20x5x33xf32>) permutation = [2, 0, 1]
  %r = arith.addf %t, %t : tensor<20x5x33xf32>
  return %r : tensor<20x5x33xf32>
}
