// fuzz: --seed=0
// outcome: verified
// x xor x of booleans folds to false.
#m = affine_map<(i) -> (i)>
func.func @main(%x: tensor<39xi1>) -> tensor<39xi1> {
  %e = tensor.empty() : tensor<39xi1>
  %r = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%x, %x : tensor<39xi1>, tensor<39xi1>) outs(%e : tensor<39xi1>) {
  ^bb0(%a: i1, %b: i1, %o: i1):
    %c = arith.xori %a, %b : i1
    linalg.yield %c : i1
  } -> tensor<39xi1>
  return %r : tensor<39xi1>
}
