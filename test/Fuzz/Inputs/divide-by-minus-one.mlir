// fuzz: --seed=0
// outcome: verified
// An unsigned quotient by the largest number, of elements that are exchanged.
func.func @main(%x: tensor<1x2x2xi32>) -> tensor<1x2x2xi8> {
  %e = tensor.empty() : tensor<1x2x2xi32>
  %t = linalg.transpose ins(%x : tensor<1x2x2xi32>) outs(%e : tensor<1x2x2xi32>) permutation = [0, 2, 1]
  %m = linalg.max ins(%t, %x : tensor<1x2x2xi32>, tensor<1x2x2xi32>) outs(%e : tensor<1x2x2xi32>) -> tensor<1x2x2xi32>
  %e8 = tensor.empty() : tensor<1x2x2xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k, j)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%m, %m : tensor<1x2x2xi32>, tensor<1x2x2xi32>) outs(%e8 : tensor<1x2x2xi8>) {
  ^bb0(%a: i32, %b: i32, %o: i8):
    %d = arith.subi %a, %b : i32
    %most = arith.constant -1 : i32
    %q = arith.divui %d, %most : i32
    %s = arith.trunci %q : i32 to i8
    linalg.yield %s : i8
  } -> tensor<1x2x2xi8>
  return %r : tensor<1x2x2xi8>
}
