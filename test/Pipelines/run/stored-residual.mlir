// A residual that is added to a product and a result itself: one kernel, whose
// epilogue goes by chunks of columns, stores both.

// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify | FileCheck %s
// CHECK: launches: 1,
// CHECK: verified

func.func @residual(%a: tensor<512x4096xbf16>, %b: tensor<512x4096xbf16>, %x: tensor<512x64xbf16>, %w: tensor<64x4096xbf16>) -> (tensor<512x4096xbf16>, tensor<512x4096xbf16>) {
  %h = arith.addf %a, %b : tensor<512x4096xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  %p = linalg.matmul ins(%x, %w : tensor<512x64xbf16>, tensor<64x4096xbf16>) outs(%z : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  %t = arith.truncf %p : tensor<512x4096xf32> to tensor<512x4096xbf16>
  %y = arith.addf %t, %h : tensor<512x4096xbf16>
  return %h, %y : tensor<512x4096xbf16>, tensor<512x4096xbf16>
}
