// fuzz: --seed=672 --target=sm_89 --asynchrony=early
// outcome: verified
// Threads with one wide integer each would have been given two by an exchange
// that no chip has the shared memory for.
func.func @main(%arg0: tensor<17x13x2x13xi64>, %arg1: tensor<13xi8>) -> tensor<i64> {
  %c0_i64 = arith.constant 0 : i64
  %0 = tensor.empty() : tensor<i64>
  %1 = linalg.fill ins(%c0_i64 : i64) outs(%0 : tensor<i64>) -> tensor<i64>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> ()>], iterator_types = ["reduction", "reduction", "reduction", "reduction"]} ins(%arg0, %arg1 : tensor<17x13x2x13xi64>, tensor<13xi8>) outs(%1 : tensor<i64>) {
  ^bb0(%in: i64, %in_0: i8, %out: i64):
    %3 = arith.cmpi ule, %in, %in : i64
    %4 = arith.addi %in, %out : i64
    linalg.yield %4 : i64
  } -> tensor<i64>
  return %2 : tensor<i64>
}
