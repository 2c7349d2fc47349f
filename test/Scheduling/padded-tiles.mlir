// Tiles that have all of a dimension, and more: what lies past its end in
// registers of its own is no code, and has no price.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select | FileCheck %s
// RUN: fusion-compile %s --target=sm_90a --compile-to=ptx -o - | FileCheck %s --check-prefix=PTX

// A tile of 512 x 32 for 371 rows: each of eight warps has every eighth row, so
// that 47 of 64 registers are computed. One kernel masks and normalises.
// CHECK-LABEL: func.func @masked_columns
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: axes = [#fusion.axis<full, tile = 512>, #fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 32, vector = 8>], warps = 8
// PTX-COUNT-47: ex2.approx
// PTX-NOT: ex2.approx
func.func @masked_columns(%x: tensor<371x10x10509xbf16>, %mask: tensor<10509xi1>) -> tensor<371x10x10509xbf16> {
  %scale = arith.constant dense<1.250000000e-01> : tensor<371x10x10509xbf16>
  %scaled = arith.mulf %x, %scale : tensor<371x10x10509xbf16>
  %e = tensor.empty() : tensor<371x10x10509xi1>
  %all = linalg.broadcast ins(%mask : tensor<10509xi1>) outs(%e : tensor<371x10x10509xi1>) dimensions = [0, 1]
  %low = arith.constant dense<-1.0e+04> : tensor<371x10x10509xbf16>
  %masked = arith.select %all, %scaled, %low : tensor<371x10x10509xi1>, tensor<371x10x10509xbf16>
  %y = fusion.softmax %masked axis(0) : tensor<371x10x10509xbf16>
  return %y : tensor<371x10x10509xbf16>
}
