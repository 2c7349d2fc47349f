// RUN: fusion-opt %s --pass-pipeline="builtin.module(tile.program(tile-pipeline-loads,cse))" --split-input-file | FileCheck %s

// Three stages: two chunks ahead of the loop, the third started in the first
// iteration, behind the barrier, into the stage that was read last.

#l = #tile.layout<"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[1,0],[2,0],[4,0],[8,0]], warp=[], shape=[16,16]}">
#f = #tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">
#g = #tile.layout<"{reg=[[0,1],[0,8],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">
#c = #tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">

// CHECK-LABEL: tile.program @pipelined
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[STEP:.*]] = arith.constant 16 : index
// CHECK: %[[BUFFER:.*]] = tile.alloc stages 3 : <16x16xbf16, #tile.shared_layout<"{bytes=2, align=128, offsets={{\[\[}}32,64,144,256],[2,4,8,16]]}">>
// CHECK: %[[FIRST:.*]] = arith.addi %[[ZERO]], %[[STEP]]
// CHECK: %[[S0:.*]] = tile.stage %[[BUFFER]][%[[ZERO]]]
// CHECK: tile.copy_start %{{.*}} (%[[FIRST]]) checked [false, true] into %[[S0]] by <"{reg={{\[\[}}0,1],[0,2],[0,4]], lane={{\[\[}}0,8],[1,0],{{.*}}}"> :
// CHECK: tile.copy_commit
// CHECK: tile.copy_start {{.*}}}"> :
// CHECK: tile.copy_commit
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[READ:.*]] = %[[ZERO]])
// CHECK-NEXT: tile.copy_wait 1
// CHECK-NEXT: tile.barrier
// CHECK: %[[WRITE:.*]] = arith.select
// CHECK: %[[AHEAD:.*]] = arith.addi %[[K]]
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[AHEAD]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[AHEAD]], %[[STEP]]
// CHECK: %[[T:.*]] = tile.stage %[[BUFFER]][%[[WRITE]]]
// CHECK: tile.copy_start %{{.*}} (%[[NEXT]]) {{.*}} into %[[T]] {{.*}} when %[[IN]]
// CHECK: tile.copy_commit
// CHECK: %[[R:.*]] = tile.stage %[[BUFFER]][%[[READ]]]
// CHECK-DAG: tile.local_load %[[R]] {{.*}}reg={{\[\[}}0,1],[8,0],[0,8]]
// CHECK-DAG: tile.local_load %[[R]] {{.*}}reg={{\[\[}}0,1],[0,8],[8,0]]
// CHECK-NOT: tile.load
// CHECK: tile.dot
tile.program @pipelined(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %acc = arith.constant dense<0.0> : tensor<16x16xf32, #c>
  %v = tile.view %p[] : !llvm.ptr<1> to !tile.view<16x80xbf16>
  %o = tile.view %q[] : !llvm.ptr<1> to !tile.view<16x16xf32>
  %r = scf.for %k = %c0 to %c64 step %c16 iter_args(%s = %acc) -> (tensor<16x16xf32, #c>) {
    %n = arith.addi %k, %c16 : index
    %x = tile.load %v[affine_map<(i, k)[s] -> (i, k + s)>] (%n) checked [false, true] : !tile.view<16x80xbf16> -> tensor<16x16xbf16, #l>
    %a = tile.convert_layout %x : tensor<16x16xbf16, #l> -> tensor<16x16xbf16, #f>
    %b = tile.convert_layout %x : tensor<16x16xbf16, #l> -> tensor<16x16xbf16, #g>
    %d = tile.dot %a, %b, %s : tensor<16x16xbf16, #f>, tensor<16x16xbf16, #g> -> tensor<16x16xf32, #c>
    scf.yield %d : tensor<16x16xf32, #c>
  }
  tile.store %r, %o[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x16xf32, #c>, !tile.view<16x16xf32>
  tile.return
}

// -----

// Rows of an odd length cannot be copied 4 bytes at a time: loaded one
// iteration ahead, the last iteration repeating its own load. In an outer loop
// the first copies wait for the readers of the last.

#l = #tile.layout<"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[1,0],[2,0],[4,0],[8,0]], warp=[], shape=[16,16]}">
#f = #tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">

// CHECK-LABEL: tile.program @mixed
// CHECK: scf.for
// CHECK: %[[FIRST:.*]] = tile.load
// CHECK: tile.barrier
// CHECK: tile.copy_start
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%{{.*}}, %[[X:.*]] = %[[FIRST]],
// CHECK: tile.copy_wait 0
// CHECK: tile.barrier
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]]
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[NEXT]]
// CHECK: %[[CLAMPED:.*]] = arith.select %[[IN]], %[[NEXT]], %[[K]]
// CHECK: %[[AHEAD:.*]] = tile.load %{{.*}} (%[[CLAMPED]])
// CHECK: tile.convert_layout %[[X]]
// CHECK: tile.dot
// CHECK: scf.yield %{{.*}}, %[[AHEAD]], %{{.*}}
tile.program @mixed(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %acc = arith.constant dense<0.0> : tensor<16x16xf32, #f>
  %v = tile.view %p[] : !llvm.ptr<1> to !tile.view<16x63xbf16>
  %w = tile.view %p[] : !llvm.ptr<1> to !tile.view<16x64xbf16>
  %o = tile.view %q[] : !llvm.ptr<1> to !tile.view<16x16xf32>
  scf.for %t = %c0 to %c64 step %c16 {
    %r = scf.for %k = %c0 to %c64 step %c16 iter_args(%s = %acc) -> (tensor<16x16xf32, #f>) {
      %x = tile.load %v[affine_map<(i, k)[s] -> (i, k + s)>] (%k) checked [false, true] : !tile.view<16x63xbf16> -> tensor<16x16xbf16, #l>
      %y = tile.load %w[affine_map<(i, k)[s] -> (i, k + s)>] (%k) checked [false, false] : !tile.view<16x64xbf16> -> tensor<16x16xbf16, #l>
      %a = tile.convert_layout %x : tensor<16x16xbf16, #l> -> tensor<16x16xbf16, #f>
      %b = tile.convert_layout %y : tensor<16x16xbf16, #l> -> tensor<16x16xbf16, #f>
      %d = tile.dot %a, %b, %s : tensor<16x16xbf16, #f>, tensor<16x16xbf16, #f> -> tensor<16x16xf32, #f>
      scf.yield %d : tensor<16x16xf32, #f>
    }
    tile.store %r, %o[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x16xf32, #f>, !tile.view<16x16xf32>
  }
  tile.return
}

// -----

// Left alone: a load that no product needs, one whose place the loop carries, a
// gather; and everything in programs with one stage.

#f = #tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">

// CHECK-LABEL: tile.program @left_alone
// CHECK-NOT: tile.copy_start
// CHECK: scf.for
// CHECK-COUNT-3: tile.load
// CHECK: tile.dot
// CHECK-NOT: tile.load
tile.program @left_alone(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %acc = arith.constant dense<0.0> : tensor<16x16xf32, #f>
  %rows = tile.index affine_map<(i, k) -> (15 - i)> () : tensor<16x16xindex, #f>
  %w = tile.view %p[] : !llvm.ptr<1> to !tile.view<16x64xbf16>
  %o = tile.view %q[] : !llvm.ptr<1> to !tile.view<16x16xf32>
  %r:2 = scf.for %k = %c0 to %c64 step %c16 iter_args(%s = %acc, %at = %c0) -> (tensor<16x16xf32, #f>, index) {
    %n = tile.load %o[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !tile.view<16x16xf32> -> tensor<16x16xf32, #f>
    %x = tile.load %w[affine_map<(i, k)[s] -> (i, k + s)>] (%at) checked [false, false] : !tile.view<16x64xbf16> -> tensor<16x16xbf16, #f>
    %y = tile.load %w[affine_map<(i, k)[s, g] -> (g, k + s)>] (%k) gather(%rows : tensor<16x16xindex, #f>) checked [false, false] : !tile.view<16x64xbf16> -> tensor<16x16xbf16, #f>
    %d = tile.dot %x, %y, %s : tensor<16x16xbf16, #f>, tensor<16x16xbf16, #f> -> tensor<16x16xf32, #f>
    %e = arith.addf %d, %n : tensor<16x16xf32, #f>
    %next = arith.addi %at, %c16 : index
    scf.yield %e, %next : tensor<16x16xf32, #f>, index
  }
  tile.store %r#0, %o[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x16xf32, #f>, !tile.view<16x16xf32>
  tile.return
}

// CHECK-LABEL: tile.program @one_stage
// CHECK-NOT: tile.copy_start
tile.program @one_stage(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %acc = arith.constant dense<0.0> : tensor<16x16xf32, #f>
  %w = tile.view %p[] : !llvm.ptr<1> to !tile.view<16x64xbf16>
  %o = tile.view %q[] : !llvm.ptr<1> to !tile.view<16x16xf32>
  %r = scf.for %k = %c0 to %c64 step %c16 iter_args(%s = %acc) -> (tensor<16x16xf32, #f>) {
    %x = tile.load %w[affine_map<(i, k)[s] -> (i, k + s)>] (%k) checked [false, false] : !tile.view<16x64xbf16> -> tensor<16x16xbf16, #f>
    %d = tile.dot %x, %x, %s : tensor<16x16xbf16, #f>, tensor<16x16xbf16, #f> -> tensor<16x16xf32, #f>
    scf.yield %d : tensor<16x16xf32, #f>
  }
  tile.store %r, %o[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x16xf32, #f>, !tile.view<16x16xf32>
  tile.return
}

// -----

// Warps that share the depth copy what they read themselves: the barrier is a
// warp's. The smaller operand, which comes from L2, is cut into pieces.

// CHECK-LABEL: tile.program @own_copies
// CHECK: scf.for
// CHECK: tile.copy_wait 1
// CHECK-NEXT: tile.barrier within_warp
// CHECK: tile.copy_start {{.*}} by <"{{.*}} warp={{\[\[}}0,32]], shape=[16,64]}">
// CHECK: tile.copy_start {{.*}} by <"{{.*}} warp={{\[\[}}0,32]], shape=[8,64]}">

#c = #tile.layout<"{reg=[[0,0,1],[0,8,0]], lane=[[0,0,2],[0,0,4],[0,1,0],[0,2,0],[0,4,0]], warp=[[1,0,0]], shape=[2,16,8]}">
#f = #tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#g = #tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[8,64]}">
tile.program @own_copies(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync, stages = 3>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  %a = tile.view %p[] : !llvm.ptr<1> to !tile.view<4096x128xbf16>
  %b = tile.view %q[] : !llvm.ptr<1> to !tile.view<8x4096xbf16>
  %v = tile.view %o[] : !llvm.ptr<1> to !tile.view<2x16x8xf32>
  %r = scf.for %k = %c0 to %end step %step iter_args(%s = %acc) -> tensor<2x16x8xf32, #c> {
    %x = tile.load %a[affine_map<(i, j)[k] -> (j + k, i)>] (%k) checked [false, false] : !tile.view<4096x128xbf16> -> tensor<16x64xbf16, #f>
    %y = tile.load %b[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !tile.view<8x4096xbf16> -> tensor<8x64xbf16, #g>
    %d = tile.dot %x, %y, %s : tensor<16x64xbf16, #f>, tensor<8x64xbf16, #g> -> tensor<2x16x8xf32, #c>
    scf.yield %d : tensor<2x16x8xf32, #c>
  }
  tile.store %r, %v[affine_map<(p, i, j) -> (p, i, j)>] () checked [false, false, false] : tensor<2x16x8xf32, #c>, !tile.view<2x16x8xf32>
  tile.return
}

// -----

// Rows of the larger operand would be cut: the block copies them whole.

// CHECK-LABEL: tile.program @whole_rows
// CHECK: scf.for
// CHECK: tile.copy_wait 1
// CHECK-NEXT: tile.barrier{{$}}
// CHECK: tile.copy_start {{.*}} lane={{\[\[}}0,8],[0,16],[0,32],[1,0],[2,0]], warp={{\[\[}}4,0]], shape=[16,64]}">

#c = #tile.layout<"{reg=[[0,0,1],[0,8,0]], lane=[[0,0,2],[0,0,4],[0,1,0],[0,2,0],[0,4,0]], warp=[[1,0,0]], shape=[2,16,8]}">
#f = #tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#g = #tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[8,64]}">
tile.program @whole_rows(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync, stages = 3>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  %a = tile.view %p[] : !llvm.ptr<1> to !tile.view<128x4096xbf16>
  %b = tile.view %q[] : !llvm.ptr<1> to !tile.view<8x4096xbf16>
  %v = tile.view %o[] : !llvm.ptr<1> to !tile.view<2x16x8xf32>
  %r = scf.for %k = %c0 to %end step %step iter_args(%s = %acc) -> tensor<2x16x8xf32, #c> {
    %x = tile.load %a[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !tile.view<128x4096xbf16> -> tensor<16x64xbf16, #f>
    %y = tile.load %b[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !tile.view<8x4096xbf16> -> tensor<8x64xbf16, #g>
    %d = tile.dot %x, %y, %s : tensor<16x64xbf16, #f>, tensor<8x64xbf16, #g> -> tensor<2x16x8xf32, #c>
    scf.yield %d : tensor<2x16x8xf32, #c>
  }
  tile.store %r, %v[affine_map<(p, i, j) -> (p, i, j)>] () checked [false, false, false] : tensor<2x16x8xf32, #c>, !tile.view<2x16x8xf32>
  tile.return
}

// -----

// What is unpacked, where waits at barriers in memory suspend: each stage has
// barriers of its own, warps say that they have read one before they multiply,
// and fill it again behind the products.

// CHECK-LABEL: tile.program @own_barriers
// CHECK: %[[RING:.*]] = tile.make_ring by_threads : <3, []>
// CHECK: tile.copy_start
// CHECK: tile.barrier{{$}}
// CHECK-NEXT: tile.copy_arrive %[[RING]][%c0]
// CHECK-NOT: tile.barrier
// CHECK-COUNT-2: tile.copy_arrive %[[RING]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %[[STAGE:.*]] = %c0, %[[TURN:.*]] = %c0)
// CHECK-NEXT: tile.wait %[[RING]][%[[TURN]]] : <3, []>{{$}}
// CHECK-NEXT: tile.stage %{{.*}}[%[[STAGE]]]
// CHECK-NEXT: tile.local_load
// CHECK-NEXT: tile.stage %{{.*}}[%[[STAGE]]]
// CHECK-NEXT: tile.local_load
// CHECK-NEXT: tile.release %[[RING]][%[[TURN]]]
// CHECK-NEXT: arith.negf
// CHECK-NEXT: tile.dot
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[TURN]], %c3
// CHECK-NEXT: tile.acquire %[[RING]][%[[NEXT]]] : <3, []>{{$}}
// CHECK: tile.copy_start {{.*}} when
// CHECK: tile.copy_start {{.*}} when
// CHECK: tile.copy_arrive %[[RING]][%[[NEXT]]]
// CHECK-NOT: tile.copy_wait
// CHECK: scf.yield

#c = #tile.layout<"{reg=[[0,0,1],[0,8,0]], lane=[[0,0,2],[0,0,4],[0,1,0],[0,2,0],[0,4,0]], warp=[[1,0,0]], shape=[2,16,8]}">
#f = #tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#g = #tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[8,64]}">
tile.program @own_barriers(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync, stages = 3, mbarriers = true>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  %a = tile.view %p[] : !llvm.ptr<1> to !tile.view<128x4096xbf16>
  %b = tile.view %q[] : !llvm.ptr<1> to !tile.view<8x4096xbf16>
  %v = tile.view %o[] : !llvm.ptr<1> to !tile.view<2x16x8xf32>
  %r = scf.for %k = %c0 to %end step %step iter_args(%s = %acc) -> tensor<2x16x8xf32, #c> {
    %x = tile.load %a[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !tile.view<128x4096xbf16> -> tensor<16x64xbf16, #f>
    %y = tile.load %b[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !tile.view<8x4096xbf16> -> tensor<8x64xbf16, #g>
    %n = arith.negf %x : tensor<16x64xbf16, #f>
    %d = tile.dot %n, %y, %s : tensor<16x64xbf16, #f>, tensor<8x64xbf16, #g> -> tensor<2x16x8xf32, #c>
    scf.yield %d : tensor<2x16x8xf32, #c>
  }
  tile.store %r, %v[affine_map<(p, i, j) -> (p, i, j)>] () checked [false, false, false] : tensor<2x16x8xf32, #c>, !tile.view<2x16x8xf32>
  tile.return
}

// -----

// Where nothing is unpacked, one barrier of the block an iteration is enough.

// CHECK-LABEL: tile.program @not_unpacked
// CHECK-NOT: tile.make_ring
// CHECK: scf.for
// CHECK: tile.copy_wait 1
// CHECK-NEXT: tile.barrier{{$}}

#c = #tile.layout<"{reg=[[0,0,1],[0,8,0]], lane=[[0,0,2],[0,0,4],[0,1,0],[0,2,0],[0,4,0]], warp=[[1,0,0]], shape=[2,16,8]}">
#f = #tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#g = #tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[8,64]}">
tile.program @not_unpacked(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync, stages = 3, mbarriers = true>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  %a = tile.view %p[] : !llvm.ptr<1> to !tile.view<128x4096xbf16>
  %b = tile.view %q[] : !llvm.ptr<1> to !tile.view<8x4096xbf16>
  %v = tile.view %o[] : !llvm.ptr<1> to !tile.view<2x16x8xf32>
  %r = scf.for %k = %c0 to %end step %step iter_args(%s = %acc) -> tensor<2x16x8xf32, #c> {
    %x = tile.load %a[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !tile.view<128x4096xbf16> -> tensor<16x64xbf16, #f>
    %y = tile.load %b[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !tile.view<8x4096xbf16> -> tensor<8x64xbf16, #g>
    %d = tile.dot %x, %y, %s : tensor<16x64xbf16, #f>, tensor<8x64xbf16, #g> -> tensor<2x16x8xf32, #c>
    scf.yield %d : tensor<2x16x8xf32, #c>
  }
  tile.store %r, %v[affine_map<(p, i, j) -> (p, i, j)>] () checked [false, false, false] : tensor<2x16x8xf32, #c>, !tile.view<2x16x8xf32>
  tile.return
}
