// fuzz: --seed=0 --target=sm_90a
// outcome: verified
// fusion.must on an op of math whose result a product reads.
func.func @main(%x: tensor<70x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<70x64xbf16> {
  %a = math.exp %x {fusion.must} : tensor<70x64xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<70x64xf32>) -> tensor<70x64xf32>
  %p = linalg.matmul ins(%a, %w : tensor<70x64xbf16>, tensor<64x64xbf16>) outs(%f : tensor<70x64xf32>) -> tensor<70x64xf32>
  %r = arith.truncf %p : tensor<70x64xf32> to tensor<70x64xbf16>
  return %r : tensor<70x64xbf16>
}
