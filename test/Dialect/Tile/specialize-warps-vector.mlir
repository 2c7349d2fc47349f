// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-specialize-warps{shared-memory-limit-bytes=231000},cse,fusion-tile-assign-layouts,cse,fusion-tile-lower-exchanges,fusion-tile-allocate-shared-memory))' | FileCheck %s --check-prefix=LESS
// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-specialize-warps{shared-memory-limit-bytes=231500},cse,fusion-tile-assign-layouts,cse,fusion-tile-lower-exchanges,fusion-tile-allocate-shared-memory))' | FileCheck %s --check-prefix=ALL

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#vector = affine_map<(d0) -> (d0)>

// A vector of factors goes through shared memory to the threads that want it:
// the ring leaves room for it.

// LESS: shared_bytes = 190464
// LESS: fusion_tile.make_ring at {{.*}}<3,
// LESS: fusion_tile.alloc {{.*}} : <256xf32,
// ALL: shared_bytes = 231424
// ALL: fusion_tile.make_ring at {{.*}}<4,
// ALL: fusion_tile.alloc {{.*}} : <256xf32,
fusion_tile.program @vector(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 8, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (256, 512)>} : !llvm.ptr<1> to !fusion_tile.view<256x512xf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (64, 512)>} : !llvm.ptr<1> to !fusion_tile.view<64x512xf16>
  %r = fusion_tile.view %pr[] {shape = affine_map<() -> (256)>} : !llvm.ptr<1> to !fusion_tile.view<256xf32>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (256, 64)>} : !llvm.ptr<1> to !fusion_tile.view<256x64xf32>
  %init = arith.constant dense<0.0> : tensor<256x64xf32>
  %sum = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %init) -> (tensor<256x64xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<256x512xf16> -> tensor<256x64xf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<64x512xf16> -> tensor<64x64xf16>
    %d = fusion_tile.dot %ka, %kb, %acc : tensor<256x64xf16>, tensor<64x64xf16> -> tensor<256x64xf32>
    scf.yield %d : tensor<256x64xf32>
  }
  %factors = fusion_tile.load %r[#vector] () checked [false] : !fusion_tile.view<256xf32> -> tensor<256xf32>
  %all = fusion_tile.broadcast %factors dims [0] : tensor<256xf32> -> tensor<256x64xf32>
  %o = arith.mulf %sum, %all : tensor<256x64xf32>
  fusion_tile.store %o, %y[#tile] (%c0, %c0) checked [false, false] : tensor<256x64xf32>, !fusion_tile.view<256x64xf32>
  fusion_tile.return
}
