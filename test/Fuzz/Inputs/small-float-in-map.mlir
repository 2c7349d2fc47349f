// fuzz: --seed=0
// outcome: verified
// 8-bit floats compared in the body of a map.
func.func @main(%x: tensor<5xf8E5M2>) -> tensor<5xi1> {
  %e = tensor.empty() : tensor<5xi1>
  %r = linalg.map ins(%x : tensor<5xf8E5M2>) outs(%e : tensor<5xi1>) (%a: f8E5M2, %o: i1) {
    %b = arith.extf %a : f8E5M2 to f16
    %c = arith.cmpf oeq, %b, %b : f16
    linalg.yield %c : i1
  }
  return %r : tensor<5xi1>
}
