// With fast numerics the inverse root of a norm is applied to the product.

// RUN: fusion-run %s --target=sm_80 --device=emulator --numerics=fast --random --seed=1 --verify | FileCheck %s
// CHECK: launches: 2,
// CHECK: verified

func.func @norm(%x: tensor<64x128xbf16>, %w: tensor<128x96xbf16>) -> tensor<64x96xbf16> {
  %n = fusion.rms_norm %x axis(1) eps(1.0e-6) : (tensor<64x128xbf16>) -> tensor<64x128xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %m = linalg.matmul ins(%n, %w : tensor<64x128xbf16>, tensor<128x96xbf16>) outs(%f : tensor<64x96xf32>) -> tensor<64x96xf32>
  %o = arith.truncf %m : tensor<64x96xf32> to tensor<64x96xbf16>
  return %o : tensor<64x96xbf16>
}
