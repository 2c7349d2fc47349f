// Tiles that blocks of the grid hand to each other: memory of the launch comes
// as parameters behind those of the program, before tensor maps.

// RUN: fusion-opt %s --split-input-file --fusion-convert-tile-to-nvvm --verify-diagnostics | FileCheck %s

#l = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[8,0]], shape=[16,32]}">

// CHECK-LABEL: llvm.func @exchange
// CHECK-SAME: (%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[SIGNALS:[^:]*]]: !llvm.ptr<1>, %[[SLOTS:[^:]*]]: !llvm.ptr<1>)
// CHECK-SAME: fusion_tile.scratches = [{bytes = 32 : i64, signals = true}, {bytes = 8192 : i64, signals = false}]
// A slot has 2048 bytes; threads have 16 of each 1024.
// CHECK: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[SLOT:.*]] = arith.muli %[[BLOCK]], %{{.*}}
// CHECK: %[[PLACE:.*]] = arith.addi %[[SLOT]],
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[SLOTS]][%[[PLACE]]]
// CHECK: %[[SIGNAL:.*]] = llvm.getelementptr %[[SIGNALS]]
// CHECK: llvm.getelementptr %[[FIRST]][0]
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK: llvm.getelementptr %[[FIRST]][1024]
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK-NEXT: st.release.gpu.global.u32 [$0], 1;{{.*}} %[[SIGNAL]]
// CHECK: ld.acquire.gpu.global.u32 word, [$0];
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK-NEXT: st.relaxed.gpu.global.u32 [$0], 0;
fusion_tile.program @exchange(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %signals = fusion_tile.scratch 32 signals : !llvm.ptr<1>
  %slots = fusion_tile.scratch 8192 : !llvm.ptr<1>
  %i = gpu.block_id x
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x32xf32>
  %t = fusion_tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<16x32xf32> -> tensor<16x32xf32, #l>
  fusion_tile.publish %t to %slots signals %signals[%i] : !llvm.ptr<1>, tensor<16x32xf32, #l>
  %s = fusion_tile.collect %t from %slots signals %signals[%i] : !llvm.ptr<1>, tensor<16x32xf32, #l>
  fusion_tile.store %s, %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x32xf32, #l>, !fusion_tile.view<16x32xf32>
  fusion_tile.return
}

// -----

// Elements that several threads have would take more than the tile's bytes.

#twice = #fusion_tile.layout<"{reg=[[1],[2]], lane=[[4],[8],[16],[32],[64]], warp=[[0]], shape=[128]}">

fusion_tile.program @twice(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %signals = fusion_tile.scratch 32 signals : !llvm.ptr<1>
  %slots = fusion_tile.scratch 8192 : !llvm.ptr<1>
  %i = gpu.block_id x
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<128xf32>
  %t = fusion_tile.load %x[affine_map<(i) -> (i)>] () checked [false] : !fusion_tile.view<128xf32> -> tensor<128xf32, #twice>
  // expected-error @below {{FUS-3324: threads hold 1024 bytes of tiles that have 512}}
  fusion_tile.publish %t to %slots signals %signals[%i] : !llvm.ptr<1>, tensor<128xf32, #twice>
  fusion_tile.return
}

// -----

// Two blocks, each with 8 of a thread's 16 elements. A slot has 4096 bytes, a
// part of it 2048, of which a thread has 16 of each 1024.

#whole = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4],[0,32]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[8,0]], shape=[16,64]}">
#part = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[8,0]], shape=[16,32]}">

// CHECK-LABEL: llvm.func @reduce
// CHECK-SAME: (%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[SIGNALS:[^:]*]]: !llvm.ptr<1>, %[[SLOTS:[^:]*]]: !llvm.ptr<1>)
// CHECK-SAME: fusion_tile.together = 2
// CHECK: %[[THREAD:.*]] = llvm.getelementptr %[[SLOTS]]
// CHECK: %[[OWN:.*]] = llvm.getelementptr %[[THREAD]]
// What the other block finishes is written, the own part stays.
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[RANK:.*]], %{{.*}} : i32
// CHECK: %[[GIVES:.*]] = arith.cmpi ne, %[[RANK]], %{{.*}} : i32
// CHECK: scf.if %[[GIVES]] {
// CHECK: llvm.getelementptr %[[OWN]][0]
// CHECK: llvm.getelementptr %[[OWN]][1024]
// CHECK: %[[OTHER:.*]] = arith.cmpi ne, %[[RANK]], %{{.*}} : i32
// CHECK: scf.if %[[OTHER]] {
// CHECK: llvm.getelementptr %[[OWN]][2048]
// CHECK: llvm.getelementptr %[[OWN]][3072]
// CHECK: nvvm.bar.warp.sync
// CHECK: arith.cmpi ult, %{{.*}}, %{{.*}} : i32
// CHECK: arith.cmpi ne, %{{.*}}, %[[RANK]] : i32
// CHECK: scf.if
// CHECK-NEXT: red.release.gpu.global.add.u32 [$0], 1;
// CHECK: ld.acquire.gpu.global.u32 word, [$0];{{.*}}setp.ne.u32 waits, word, $1;
// CHECK: %[[SHARE:.*]] = llvm.getelementptr %[[THREAD]]
// CHECK: arith.select %[[FIRST]],
// CHECK: llvm.getelementptr %[[SHARE]][0]
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: arith.addf
// CHECK: llvm.getelementptr %[[SHARE]][1024]
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK-NEXT: st.relaxed.gpu.global.u32 [$0], 0;
fusion_tile.program @reduce(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, together = 2 : i64} {
  %signals = fusion_tile.scratch 32 signals : !llvm.ptr<1>
  %slots = fusion_tile.scratch 16384 : !llvm.ptr<1>
  %i = gpu.block_id x
  %c2 = arith.constant 2 : index
  %r = arith.remui %i, %c2 : index
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x64xf32>
  %t = fusion_tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<16x64xf32> -> tensor<16x64xf32, #whole>
  %s = fusion_tile.grid_reduce %t through %slots signals %signals[%i, %r] along 1 : !llvm.ptr<1>, tensor<16x64xf32, #whole> -> tensor<16x32xf32, #part>
  fusion_tile.store %s, %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x32xf32, #part>, !fusion_tile.view<16x64xf32>
  fusion_tile.return
}

// -----

// Warps that have a part each have all of no part.

#columns = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4],[8,0]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#half = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[8,0]], shape=[16,32]}">

fusion_tile.program @warps(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, together = 2 : i64} {
  %signals = fusion_tile.scratch 32 signals : !llvm.ptr<1>
  %slots = fusion_tile.scratch 16384 : !llvm.ptr<1>
  %i = gpu.block_id x
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x64xf32>
  %t = fusion_tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<16x64xf32> -> tensor<16x64xf32, #columns>
  // expected-error @below {{FUS-3325: a part of tile 0 is not made of registers of its threads}}
  %s = fusion_tile.grid_reduce %t through %slots signals %signals[%i, %i] along 1 : !llvm.ptr<1>, tensor<16x64xf32, #columns> -> tensor<16x32xf32, #half>
  fusion_tile.store %s, %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x32xf32, #half>, !fusion_tile.view<16x64xf32>
  fusion_tile.return
}

// -----

// Two blocks: of rows, of which four lanes have the same, each has what both have;
// of the tile its half. A slot has 256 bytes of each thread's rows, and 4096 of
// tiles behind them.

#rows = #fusion_tile.layout<"{reg=[], lane=[[0],[0],[1],[2],[4]], warp=[[8]], shape=[16]}">
#bothrows = #fusion_tile.layout<"{reg=[[0,1]], lane=[[0,0],[0,0],[1,0],[2,0],[4,0]], warp=[[8,0]], shape=[16,2]}">
#whole = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4],[0,32]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[8,0]], shape=[16,64]}">
#bothparts = #fusion_tile.layout<"{reg=[[0,1,0],[0,2,0],[0,4,0],[0,0,1]], lane=[[0,8,0],[0,16,0],[1,0,0],[2,0,0],[4,0,0]], warp=[[8,0,0]], shape=[16,32,2]}">

// CHECK-LABEL: llvm.func @gather
// CHECK-SAME: fusion_tile.together = 2
// All is written, the own part as well.
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: red.release.gpu.global.add.u32 [$0], 1;
// CHECK: ld.acquire.gpu.global.u32 word, [$0];
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// The part of the block's rank, of both slots.
// CHECK: arith.remui
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: st.relaxed.gpu.global.u32 [$0], 0;
fusion_tile.program @gather(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, grid = affine_map<() -> (4)>, together = 2 : i64} {
  %signals = fusion_tile.scratch 32 signals : !llvm.ptr<1>
  %slots = fusion_tile.scratch 17408 : !llvm.ptr<1>
  %i = gpu.block_id x
  %c2 = arith.constant 2 : index
  %r = arith.remui %i, %c2 : index
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x64xf32>
  %y = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16xf32>
  %m = fusion_tile.load %y[affine_map<(i) -> (i)>] () checked [false] : !fusion_tile.view<16xf32> -> tensor<16xf32, #rows>
  %t = fusion_tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<16x64xf32> -> tensor<16x64xf32, #whole>
  %s:2 = fusion_tile.grid_gather %m, %t through %slots signals %signals[%i, %r] along [-1, 1] : !llvm.ptr<1>, tensor<16xf32, #rows>, tensor<16x64xf32, #whole> -> tensor<16x2xf32, #bothrows>, tensor<16x32x2xf32, #bothparts>
  fusion_tile.store %s#0, %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x2xf32, #bothrows>, !fusion_tile.view<16x64xf32>
  fusion_tile.store %s#1, %x[affine_map<(i, j, k) -> (i, j + 32 * k)>] () checked [false, false] : tensor<16x32x2xf32, #bothparts>, !fusion_tile.view<16x64xf32>
  fusion_tile.return
}

// -----

#rows = #fusion_tile.layout<"{reg=[], lane=[[0],[0],[1],[2],[4]], warp=[[8]], shape=[16]}">
#bothrows = #fusion_tile.layout<"{reg=[[0,1]], lane=[[0,0],[0,0],[1,0],[2,0],[4,0]], warp=[[8,0]], shape=[16,2]}">

fusion_tile.program @small(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, grid = affine_map<() -> (4)>, together = 2 : i64} {
  %signals = fusion_tile.scratch 32 signals : !llvm.ptr<1>
  %slots = fusion_tile.scratch 512 : !llvm.ptr<1>
  %i = gpu.block_id x
  %y = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16xf32>
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x2xf32>
  %m = fusion_tile.load %y[affine_map<(i) -> (i)>] () checked [false] : !fusion_tile.view<16xf32> -> tensor<16xf32, #rows>
  // expected-error @below {{FUS-3324: threads hold 256 bytes, more than slots have}}
  %s = fusion_tile.grid_gather %m through %slots signals %signals[%i, %i] along [-1] : !llvm.ptr<1>, tensor<16xf32, #rows> -> tensor<16x2xf32, #bothrows>
  fusion_tile.store %s, %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x2xf32, #bothrows>, !fusion_tile.view<16x2xf32>
  fusion_tile.return
}

// -----

#columns = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4],[8,0]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#parts = #fusion_tile.layout<"{reg=[[0,1,0],[0,2,0],[0,4,0],[0,0,1]], lane=[[0,8,0],[0,16,0],[1,0,0],[2,0,0],[4,0,0]], warp=[[8,0,0]], shape=[16,32,2]}">

fusion_tile.program @warps_gather(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, grid = affine_map<() -> (4)>, together = 2 : i64} {
  %signals = fusion_tile.scratch 32 signals : !llvm.ptr<1>
  %slots = fusion_tile.scratch 16384 : !llvm.ptr<1>
  %i = gpu.block_id x
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x64xf32>
  %t = fusion_tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<16x64xf32> -> tensor<16x64xf32, #columns>
  // expected-error @below {{FUS-3325: a part of tile 0 is not made of registers of its threads}}
  %s = fusion_tile.grid_gather %t through %slots signals %signals[%i, %i] along [1] : !llvm.ptr<1>, tensor<16x64xf32, #columns> -> tensor<16x32x2xf32, #parts>
  fusion_tile.store %s, %x[affine_map<(i, j, k) -> (i, j + 32 * k)>] () checked [false, false] : tensor<16x32x2xf32, #parts>, !fusion_tile.view<16x64xf32>
  fusion_tile.return
}
