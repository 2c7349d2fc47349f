// fuzz: --seed=0
// outcome: refused FUS-2006
// fusion.never asks for two kernels, fusion.max_kernels for one.
func.func @main(%x: tensor<8x12xf32>, %y: tensor<8x12xf32>) -> tensor<8x12xf32> attributes {fusion.max_kernels = 1 : i64} {
  %a = math.exp %x {fusion.never} : tensor<8x12xf32>
  %b = arith.mulf %a, %y : tensor<8x12xf32>
  return %b : tensor<8x12xf32>
}
