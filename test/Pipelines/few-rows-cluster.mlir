// REQUIRES: fusion-compile, fusion-run
// RUN: fusion-compile %s --target=sm_90a --compile-to=schedule -o %t.own.mlir
// RUN: sed -E 's/axes = \[.*\], warps = [0-9]+, mma = #fusion.mma<mma_sync[^>]*>/axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 16>, #fusion.axis<loop, tile = 256, warps = 8>], warps = 8, mma = #fusion.mma<mma_sync, stages = 2, split = 2>/' %t.own.mlir > %t.mlir
// RUN: grep 'stages = 2, split = 2' %t.mlir
// RUN: fusion-compile %t.mlir --target=sm_90a -o %t.pkg
// RUN: fusion-run %t.pkg --device=emulator --random --verify --asynchrony=late --reference=%s
// RUN: fusion-run %t.pkg --device=emulator --random --verify --asynchrony=early --reference=%s

// A cluster shares the depth of tiles that have fewer elements than a block has
// threads: several hold the same element, and one of them sends it.

func.func @main(%x: tensor<8x1024xbf16>, %w: tensor<32x1024xbf16>) -> tensor<8x32xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<8x1024xbf16>, tensor<32x1024xbf16>) outs(%f : tensor<8x32xf32>) -> tensor<8x32xf32>
  %y = arith.truncf %p : tensor<8x32xf32> to tensor<8x32xbf16>
  return %y : tensor<8x32xbf16>
}
