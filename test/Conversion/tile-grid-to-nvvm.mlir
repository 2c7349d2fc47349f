// Tiles that blocks of the grid hand to each other: memory of the launch comes
// as parameters behind those of the program, before tensor maps.

// RUN: fusion-opt %s --split-input-file --fusion-convert-tile-to-nvvm --verify-diagnostics | FileCheck %s

#l = #tile.layout<"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[8,0]], shape=[16,32]}">

// CHECK-LABEL: llvm.func @exchange
// CHECK-SAME: (%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[SIGNALS:[^:]*]]: !llvm.ptr<1>, %[[SLOTS:[^:]*]]: !llvm.ptr<1>)
// CHECK-SAME: tile.scratches = [{bytes = 32 : i64, signals = true}, {bytes = 8192 : i64, signals = false}]
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
tile.program @exchange(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %signals = tile.scratch 32 signals : !llvm.ptr<1>
  %slots = tile.scratch 8192 : !llvm.ptr<1>
  %i = gpu.block_id x
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<16x32xf32>
  %t = tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !tile.view<16x32xf32> -> tensor<16x32xf32, #l>
  tile.publish %t to %slots signals %signals[%i] : !llvm.ptr<1>, tensor<16x32xf32, #l>
  %s = tile.collect %t from %slots signals %signals[%i] : !llvm.ptr<1>, tensor<16x32xf32, #l>
  tile.store %s, %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x32xf32, #l>, !tile.view<16x32xf32>
  tile.return
}

// -----

// Elements that several threads have would take more than the tile's bytes.

#twice = #tile.layout<"{reg=[[1],[2]], lane=[[4],[8],[16],[32],[64]], warp=[[0]], shape=[128]}">

tile.program @twice(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %signals = tile.scratch 32 signals : !llvm.ptr<1>
  %slots = tile.scratch 8192 : !llvm.ptr<1>
  %i = gpu.block_id x
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<128xf32>
  %t = tile.load %x[affine_map<(i) -> (i)>] () checked [false] : !tile.view<128xf32> -> tensor<128xf32, #twice>
  // expected-error @below {{FUS-3324: threads hold 1024 bytes of tiles that have 512}}
  tile.publish %t to %slots signals %signals[%i] : !llvm.ptr<1>, tensor<128xf32, #twice>
  tile.return
}

// -----

// Two blocks, each with 8 of a thread's 16 elements. A slot has 4096 bytes, a
// part of it 2048, of which a thread has 16 of each 1024.

#whole = #tile.layout<"{reg=[[0,1],[0,2],[0,4],[0,32]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[8,0]], shape=[16,64]}">
#part = #tile.layout<"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[8,0]], shape=[16,32]}">

// CHECK-LABEL: llvm.func @reduce
// CHECK-SAME: (%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[SIGNALS:[^:]*]]: !llvm.ptr<1>, %[[SLOTS:[^:]*]]: !llvm.ptr<1>)
// CHECK-SAME: tile.together = 2
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
tile.program @reduce(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, together = 2 : i64} {
  %signals = tile.scratch 32 signals : !llvm.ptr<1>
  %slots = tile.scratch 16384 : !llvm.ptr<1>
  %i = gpu.block_id x
  %c2 = arith.constant 2 : index
  %r = arith.remui %i, %c2 : index
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<16x64xf32>
  %t = tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !tile.view<16x64xf32> -> tensor<16x64xf32, #whole>
  %s = tile.grid_reduce %t through %slots signals %signals[%i, %r] along 1 : !llvm.ptr<1>, tensor<16x64xf32, #whole> -> tensor<16x32xf32, #part>
  tile.store %s, %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x32xf32, #part>, !tile.view<16x64xf32>
  tile.return
}

// -----

// Warps that have a part each have all of no part.

#columns = #tile.layout<"{reg=[[0,1],[0,2],[0,4],[8,0]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#half = #tile.layout<"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[8,0]], shape=[16,32]}">

tile.program @warps(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, together = 2 : i64} {
  %signals = tile.scratch 32 signals : !llvm.ptr<1>
  %slots = tile.scratch 16384 : !llvm.ptr<1>
  %i = gpu.block_id x
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<16x64xf32>
  %t = tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !tile.view<16x64xf32> -> tensor<16x64xf32, #columns>
  // expected-error @below {{FUS-3325: a part of tile 0 is not made of registers of its threads}}
  %s = tile.grid_reduce %t through %slots signals %signals[%i, %i] along 1 : !llvm.ptr<1>, tensor<16x64xf32, #columns> -> tensor<16x32xf32, #half>
  tile.store %s, %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x32xf32, #half>, !tile.view<16x64xf32>
  tile.return
}
