// fuzz: --target=sm_90a
// outcome: compiles
// The residual of a product's epilogue is returned as well.
func.func @main(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16>, %x: tensor<1024x1024xbf16>, %w: tensor<1024x1024xbf16>) -> (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) {
  %h = arith.addf %a, %b : tensor<1024x1024xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %p = linalg.matmul ins(%x, %w : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %t = arith.truncf %p : tensor<1024x1024xf32> to tensor<1024x1024xbf16>
  %y = arith.addf %t, %h : tensor<1024x1024xbf16>
  return %h, %y : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>
}
