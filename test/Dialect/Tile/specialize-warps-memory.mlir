// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-specialize-warps))' --remarks-filter='fusion.*' 2>%t.all | FileCheck %s --check-prefix=ALL
// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-specialize-warps{shared-memory-limit-bytes=101000}))' --remarks-filter='fusion.*' 2>%t.less | FileCheck %s --check-prefix=LESS
// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-set-target{target=sm_86},fusion_tile.program(fusion-tile-specialize-warps))' | FileCheck %s --check-prefix=LESS
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.less
// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-specialize-warps{shared-memory-limit-bytes=35000}))' | FileCheck %s --check-prefix=PLAIN
// RUN: not fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-specialize-warps{shared-memory-limit-bytes=30000}))' 2>&1 | FileCheck %s --check-prefix=ERROR

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Stages, then staging, then rings beside the contraction's give way. A stage
// has 16 KiB, a tile of the result and of the residual 16 KiB.

// ALL: fusion_tile.make_ring : <6,
// ALL: fusion_tile.make_ring : <2,
// ALL: fusion_tile.alloc
// REMARK: FUS-3215: 6 stages do not fit shared memory; the ring has 3
// LESS: fusion_tile.make_ring : <3,
// LESS: fusion_tile.make_ring : <2,
// LESS: fusion_tile.async_store
// PLAIN: fusion_tile.make_ring : <2,
// PLAIN-NOT: fusion_tile.make_ring
// PLAIN: fusion_tile.specialize
// PLAIN: fusion_tile.load {{.*}} -> tensor<64x64xf32>
// PLAIN: fusion_tile.store
// ERROR: error: FUS-3216: a ring of two stages, 32800 bytes, exceeds the 30000 bytes of shared memory of a block; its largest buffer is the 64x64xf16 tile loaded here: choose a smaller tile in the schedule
fusion_tile.program @tight(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 6>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xf16>
  %r = fusion_tile.view %pr[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<64x256xf16> -> tensor<64x64xf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<64x256xf16> -> tensor<64x64xf16>
    %d = fusion_tile.dot %ka, %kb, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %res = fusion_tile.load %r[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x64xf32> -> tensor<64x64xf32>
  %o = arith.addf %sum, %res : tensor<64x64xf32>
  fusion_tile.store %o, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}
