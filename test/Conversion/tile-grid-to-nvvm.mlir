// Tiles that blocks of the grid hand to each other: memory of the launch comes
// as parameters behind those of the program, before tensor maps.

// RUN: fusion-opt %s --split-input-file --fusion-convert-tile-to-nvvm --verify-diagnostics | FileCheck %s

#l = #tile.layout<"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[8,0]], shape=[16,32]}">

// CHECK-LABEL: llvm.func @exchange
// CHECK-SAME: (%{{.*}}: !llvm.ptr<1>, %[[SIGNALS:[^:]*]]: !llvm.ptr<1>, %[[SLOTS:[^:]*]]: !llvm.ptr<1>)
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
