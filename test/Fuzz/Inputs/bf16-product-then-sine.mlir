// fuzz: --seed=0
// outcome: verified
// A rounding that the program declares, before a function that magnifies it.
#m = affine_map<(i) -> (i)>
func.func @main(%x: tensor<3000xbf16>) -> tensor<3000xbf16> {
  %e = tensor.empty() : tensor<3000xbf16>
  %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%x : tensor<3000xbf16>) outs(%e : tensor<3000xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %k = arith.constant -1.25 : bf16
    %p = arith.mulf %a, %k : bf16
    %s = math.sin %p : bf16
    linalg.yield %s : bf16
  } -> tensor<3000xbf16>
  return %r : tensor<3000xbf16>
}
