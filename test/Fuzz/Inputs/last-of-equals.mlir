// fuzz: --seed=3 --target=sm_90a
// outcome: verified
// The last of the greatest among few different numbers, of which each thread,
// lane and warp has some.
func.func @main(%x: tensor<3x700xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %three = arith.constant 3 : i32
  %least = arith.constant -1 : i32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3xi32>
  %key0 = linalg.fill ins(%least : i32) outs(%e : tensor<3xi32>) -> tensor<3xi32>
  %at0 = linalg.fill ins(%zero : i32) outs(%e : tensor<3xi32>) -> tensor<3xi32>
  %key, %at = linalg.generic {
      indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>,
                       affine_map<(r, c) -> (r)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x700xi32>) outs(%key0, %at0 : tensor<3xi32>, tensor<3xi32>) {
  ^bb0(%in: i32, %best: i32, %place: i32):
    %k = arith.andi %in, %three : i32
    %c = linalg.index 1 : index
    %i = arith.index_cast %c : index to i32
    %later = arith.cmpi sge, %k, %best : i32
    %newKey = arith.select %later, %k, %best : i32
    %newAt = arith.select %later, %i, %place : i32
    linalg.yield %newKey, %newAt : i32, i32
  } -> (tensor<3xi32>, tensor<3xi32>)
  return %key, %at : tensor<3xi32>, tensor<3xi32>
}
