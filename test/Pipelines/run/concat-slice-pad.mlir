// Concatenation, strided slices and padding, three results.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify

func.func @cat(%x: tensor<5x33xf32>, %y: tensor<7x33xf32>) -> (tensor<12x33xf32>, tensor<4x10xf32>, tensor<9x35xf32>) {
  %c = tensor.concat dim(0) %x, %y : (tensor<5x33xf32>, tensor<7x33xf32>) -> tensor<12x33xf32>
  %d = arith.mulf %c, %c : tensor<12x33xf32>
  %s = tensor.extract_slice %d[1, 3] [4, 10] [2, 3] : tensor<12x33xf32> to tensor<4x10xf32>
  %z = arith.constant 1.5 : f32
  %p = tensor.pad %y low[1, 0] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<7x33xf32> to tensor<9x35xf32>
  %q = arith.addf %p, %p : tensor<9x35xf32>
  return %d, %s, %q : tensor<12x33xf32>, tensor<4x10xf32>, tensor<9x35xf32>
}
