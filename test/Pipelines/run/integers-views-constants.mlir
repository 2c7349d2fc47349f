// Integers, reshapes, a returned argument and a constant tensor.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify

func.func @misc(%x: tensor<6x8xi32>, %y: tensor<48xi8>) -> (tensor<48xi32>, tensor<6x8xi1>, tensor<6x8xi32>, tensor<2x3xf32>) {
  %c = tensor.collapse_shape %x [[0,1]] : tensor<6x8xi32> into tensor<48xi32>
  %w = arith.extsi %y : tensor<48xi8> to tensor<48xi32>
  %s = arith.addi %c, %w : tensor<48xi32>
  %k = arith.constant dense<3> : tensor<6x8xi32>
  %g = arith.cmpi sgt, %x, %k : tensor<6x8xi32>
  %cst = arith.constant dense<[[1.0,2.0,3.0],[4.0,5.0,6.0]]> : tensor<2x3xf32>
  %q = arith.addf %cst, %cst : tensor<2x3xf32>
  return %s, %g, %x, %q : tensor<48xi32>, tensor<6x8xi1>, tensor<6x8xi32>, tensor<2x3xf32>
}
