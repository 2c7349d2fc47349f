// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-pipeline-loads,cse))" --split-input-file | FileCheck %s

// Three stages: two chunks ahead of the loop, the third started in the first
// iteration, behind the barrier, into the stage that was read last.

#l = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[1,0],[2,0],[4,0],[8,0]], warp=[], shape=[16,16]}">
#f = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">
#g = #fusion_tile.layout<"{reg=[[0,1],[0,8],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">
#c = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">

// CHECK-LABEL: fusion_tile.program @pipelined
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[STEP:.*]] = arith.constant 16 : index
// CHECK: %[[BUFFER:.*]] = fusion_tile.alloc stages 3 : <16x16xbf16, #fusion_tile.shared_layout<"{bytes=2, align=128, offsets={{\[\[}}32,64,144,256],[2,4,8,16]]}">>
// CHECK: %[[FIRST:.*]] = arith.addi %[[ZERO]], %[[STEP]]
// CHECK: %[[S0:.*]] = fusion_tile.stage %[[BUFFER]][%[[ZERO]]]
// CHECK: fusion_tile.copy_start %{{.*}} (%[[FIRST]]) checked [false, true] into %[[S0]] by <"{reg={{\[\[}}0,1],[0,2],[0,4]], lane={{\[\[}}0,8],[1,0],{{.*}}}"> :
// CHECK: fusion_tile.copy_commit
// CHECK: fusion_tile.copy_start {{.*}}}"> :
// CHECK: fusion_tile.copy_commit
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[READ:.*]] = %[[ZERO]])
// CHECK-NEXT: fusion_tile.copy_wait 1
// CHECK-NEXT: fusion_tile.barrier
// CHECK: %[[WRITE:.*]] = arith.select
// CHECK: %[[AHEAD:.*]] = arith.addi %[[K]]
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[AHEAD]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[AHEAD]], %[[STEP]]
// CHECK: %[[T:.*]] = fusion_tile.stage %[[BUFFER]][%[[WRITE]]]
// CHECK: fusion_tile.copy_start %{{.*}} (%[[NEXT]]) {{.*}} into %[[T]] {{.*}} when %[[IN]]
// CHECK: fusion_tile.copy_commit
// CHECK: %[[R:.*]] = fusion_tile.stage %[[BUFFER]][%[[READ]]]
// CHECK-DAG: fusion_tile.local_load %[[R]] {{.*}}reg={{\[\[}}0,1],[8,0],[0,8]]
// CHECK-DAG: fusion_tile.local_load %[[R]] {{.*}}reg={{\[\[}}0,1],[0,8],[8,0]]
// CHECK-NOT: fusion_tile.load
// CHECK: fusion_tile.dot
fusion_tile.program @pipelined(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %acc = arith.constant dense<0.0> : tensor<16x16xf32, #c>
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x80xbf16>
  %o = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<16x16xf32>
  %r = scf.for %k = %c0 to %c64 step %c16 iter_args(%s = %acc) -> (tensor<16x16xf32, #c>) {
    %n = arith.addi %k, %c16 : index
    %x = fusion_tile.load %v[affine_map<(i, k)[s] -> (i, k + s)>] (%n) checked [false, true] : !fusion_tile.view<16x80xbf16> -> tensor<16x16xbf16, #l>
    %a = fusion_tile.convert_layout %x : tensor<16x16xbf16, #l> -> tensor<16x16xbf16, #f>
    %b = fusion_tile.convert_layout %x : tensor<16x16xbf16, #l> -> tensor<16x16xbf16, #g>
    %d = fusion_tile.dot %a, %b, %s : tensor<16x16xbf16, #f>, tensor<16x16xbf16, #g> -> tensor<16x16xf32, #c>
    scf.yield %d : tensor<16x16xf32, #c>
  }
  fusion_tile.store %r, %o[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x16xf32, #c>, !fusion_tile.view<16x16xf32>
  fusion_tile.return
}

// -----

// Rows of an odd length cannot be copied 4 bytes at a time: loaded one
// iteration ahead, the last iteration repeating its own load. In an outer loop
// the first copies wait for the readers of the last.

#l = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[1,0],[2,0],[4,0],[8,0]], warp=[], shape=[16,16]}">
#f = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">

// CHECK-LABEL: fusion_tile.program @mixed
// CHECK: scf.for
// CHECK: %[[FIRST:.*]] = fusion_tile.load
// CHECK: fusion_tile.barrier
// CHECK: fusion_tile.copy_start
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%{{.*}}, %[[X:.*]] = %[[FIRST]],
// CHECK: fusion_tile.copy_wait 0
// CHECK: fusion_tile.barrier
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]]
// CHECK: %[[IN:.*]] = arith.cmpi slt, %[[NEXT]]
// CHECK: %[[CLAMPED:.*]] = arith.select %[[IN]], %[[NEXT]], %[[K]]
// CHECK: %[[AHEAD:.*]] = fusion_tile.load %{{.*}} (%[[CLAMPED]])
// CHECK: fusion_tile.convert_layout %[[X]]
// CHECK: fusion_tile.dot
// CHECK: scf.yield %{{.*}}, %[[AHEAD]], %{{.*}}
fusion_tile.program @mixed(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %acc = arith.constant dense<0.0> : tensor<16x16xf32, #f>
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x63xbf16>
  %w = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x64xbf16>
  %o = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<16x16xf32>
  scf.for %t = %c0 to %c64 step %c16 {
    %r = scf.for %k = %c0 to %c64 step %c16 iter_args(%s = %acc) -> (tensor<16x16xf32, #f>) {
      %x = fusion_tile.load %v[affine_map<(i, k)[s] -> (i, k + s)>] (%k) checked [false, true] : !fusion_tile.view<16x63xbf16> -> tensor<16x16xbf16, #l>
      %y = fusion_tile.load %w[affine_map<(i, k)[s] -> (i, k + s)>] (%k) checked [false, false] : !fusion_tile.view<16x64xbf16> -> tensor<16x16xbf16, #l>
      %a = fusion_tile.convert_layout %x : tensor<16x16xbf16, #l> -> tensor<16x16xbf16, #f>
      %b = fusion_tile.convert_layout %y : tensor<16x16xbf16, #l> -> tensor<16x16xbf16, #f>
      %d = fusion_tile.dot %a, %b, %s : tensor<16x16xbf16, #f>, tensor<16x16xbf16, #f> -> tensor<16x16xf32, #f>
      scf.yield %d : tensor<16x16xf32, #f>
    }
    fusion_tile.store %r, %o[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x16xf32, #f>, !fusion_tile.view<16x16xf32>
  }
  fusion_tile.return
}

// -----

// Left alone: a load that no product needs, one whose place the loop carries, a
// gather; and everything in programs with one stage.

#f = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">

// CHECK-LABEL: fusion_tile.program @left_alone
// CHECK-NOT: fusion_tile.copy_start
// CHECK: scf.for
// CHECK-COUNT-3: fusion_tile.load
// CHECK: fusion_tile.dot
// CHECK-NOT: fusion_tile.load
fusion_tile.program @left_alone(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %acc = arith.constant dense<0.0> : tensor<16x16xf32, #f>
  %rows = fusion_tile.index affine_map<(i, k) -> (15 - i)> () : tensor<16x16xindex, #f>
  %w = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x64xbf16>
  %o = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<16x16xf32>
  %r:2 = scf.for %k = %c0 to %c64 step %c16 iter_args(%s = %acc, %at = %c0) -> (tensor<16x16xf32, #f>, index) {
    %n = fusion_tile.load %o[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !fusion_tile.view<16x16xf32> -> tensor<16x16xf32, #f>
    %x = fusion_tile.load %w[affine_map<(i, k)[s] -> (i, k + s)>] (%at) checked [false, false] : !fusion_tile.view<16x64xbf16> -> tensor<16x16xbf16, #f>
    %y = fusion_tile.load %w[affine_map<(i, k)[s, g] -> (g, k + s)>] (%k) gather(%rows : tensor<16x16xindex, #f>) checked [false, false] : !fusion_tile.view<16x64xbf16> -> tensor<16x16xbf16, #f>
    %d = fusion_tile.dot %x, %y, %s : tensor<16x16xbf16, #f>, tensor<16x16xbf16, #f> -> tensor<16x16xf32, #f>
    %e = arith.addf %d, %n : tensor<16x16xf32, #f>
    %next = arith.addi %at, %c16 : index
    scf.yield %e, %next : tensor<16x16xf32, #f>, index
  }
  fusion_tile.store %r#0, %o[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x16xf32, #f>, !fusion_tile.view<16x16xf32>
  fusion_tile.return
}

// CHECK-LABEL: fusion_tile.program @one_stage
// CHECK-NOT: fusion_tile.copy_start
fusion_tile.program @one_stage(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %acc = arith.constant dense<0.0> : tensor<16x16xf32, #f>
  %w = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x64xbf16>
  %o = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<16x16xf32>
  %r = scf.for %k = %c0 to %c64 step %c16 iter_args(%s = %acc) -> (tensor<16x16xf32, #f>) {
    %x = fusion_tile.load %w[affine_map<(i, k)[s] -> (i, k + s)>] (%k) checked [false, false] : !fusion_tile.view<16x64xbf16> -> tensor<16x16xbf16, #f>
    %d = fusion_tile.dot %x, %x, %s : tensor<16x16xbf16, #f>, tensor<16x16xbf16, #f> -> tensor<16x16xf32, #f>
    scf.yield %d : tensor<16x16xf32, #f>
  }
  fusion_tile.store %r, %o[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x16xf32, #f>, !fusion_tile.view<16x16xf32>
  fusion_tile.return
}

// -----

// Warps that share the depth copy what they read themselves: the barrier is a
// warp's. The smaller operand, which comes from L2, is cut into pieces.

// CHECK-LABEL: fusion_tile.program @own_copies
// CHECK: scf.for
// CHECK: fusion_tile.copy_wait 1
// CHECK-NEXT: fusion_tile.barrier within_warp
// CHECK: fusion_tile.copy_start {{.*}} by <"{{.*}} warp={{\[\[}}0,32]], shape=[16,64]}">
// CHECK: fusion_tile.copy_start {{.*}} by <"{{.*}} warp={{\[\[}}0,32]], shape=[8,64]}">

#c = #fusion_tile.layout<"{reg=[[0,0,1],[0,8,0]], lane=[[0,0,2],[0,0,4],[0,1,0],[0,2,0],[0,4,0]], warp=[[1,0,0]], shape=[2,16,8]}">
#f = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#g = #fusion_tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[8,64]}">
fusion_tile.program @own_copies(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  %a = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<4096x128xbf16>
  %b = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<8x4096xbf16>
  %v = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<2x16x8xf32>
  %r = scf.for %k = %c0 to %end step %step iter_args(%s = %acc) -> tensor<2x16x8xf32, #c> {
    %x = fusion_tile.load %a[affine_map<(i, j)[k] -> (j + k, i)>] (%k) checked [false, false] : !fusion_tile.view<4096x128xbf16> -> tensor<16x64xbf16, #f>
    %y = fusion_tile.load %b[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !fusion_tile.view<8x4096xbf16> -> tensor<8x64xbf16, #g>
    %d = fusion_tile.dot %x, %y, %s : tensor<16x64xbf16, #f>, tensor<8x64xbf16, #g> -> tensor<2x16x8xf32, #c>
    scf.yield %d : tensor<2x16x8xf32, #c>
  }
  fusion_tile.store %r, %v[affine_map<(p, i, j) -> (p, i, j)>] () checked [false, false, false] : tensor<2x16x8xf32, #c>, !fusion_tile.view<2x16x8xf32>
  fusion_tile.return
}

// -----

// Rows of the larger operand would be cut: the block copies them whole.

// CHECK-LABEL: fusion_tile.program @whole_rows
// CHECK: scf.for
// CHECK: fusion_tile.copy_wait 1
// CHECK-NEXT: fusion_tile.barrier{{$}}
// CHECK: fusion_tile.copy_start {{.*}} lane={{\[\[}}0,8],[0,16],[0,32],[1,0],[2,0]], warp={{\[\[}}4,0]], shape=[16,64]}">

#c = #fusion_tile.layout<"{reg=[[0,0,1],[0,8,0]], lane=[[0,0,2],[0,0,4],[0,1,0],[0,2,0],[0,4,0]], warp=[[1,0,0]], shape=[2,16,8]}">
#f = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#g = #fusion_tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[8,64]}">
fusion_tile.program @whole_rows(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  %a = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<128x4096xbf16>
  %b = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<8x4096xbf16>
  %v = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<2x16x8xf32>
  %r = scf.for %k = %c0 to %end step %step iter_args(%s = %acc) -> tensor<2x16x8xf32, #c> {
    %x = fusion_tile.load %a[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !fusion_tile.view<128x4096xbf16> -> tensor<16x64xbf16, #f>
    %y = fusion_tile.load %b[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !fusion_tile.view<8x4096xbf16> -> tensor<8x64xbf16, #g>
    %d = fusion_tile.dot %x, %y, %s : tensor<16x64xbf16, #f>, tensor<8x64xbf16, #g> -> tensor<2x16x8xf32, #c>
    scf.yield %d : tensor<2x16x8xf32, #c>
  }
  fusion_tile.store %r, %v[affine_map<(p, i, j) -> (p, i, j)>] () checked [false, false, false] : tensor<2x16x8xf32, #c>, !fusion_tile.view<2x16x8xf32>
  fusion_tile.return
}

// -----

// What is unpacked, where waits at barriers in memory suspend: each stage has
// barriers of its own, warps say that they have read one before they multiply,
// and fill it again behind the products.

// CHECK-LABEL: fusion_tile.program @own_barriers
// CHECK: %[[RING:.*]] = fusion_tile.make_ring by_threads : <3, []>
// CHECK: fusion_tile.copy_start
// CHECK: fusion_tile.barrier{{$}}
// CHECK-NEXT: fusion_tile.copy_arrive %[[RING]][%c0]
// CHECK-NOT: fusion_tile.barrier
// CHECK-COUNT-2: fusion_tile.copy_arrive %[[RING]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %[[STAGE:.*]] = %c0, %[[TURN:.*]] = %c0)
// CHECK-NEXT: fusion_tile.wait %[[RING]][%[[TURN]]] : <3, []>{{$}}
// CHECK-NEXT: fusion_tile.stage %{{.*}}[%[[STAGE]]]
// CHECK-NEXT: fusion_tile.local_load
// CHECK-NEXT: fusion_tile.stage %{{.*}}[%[[STAGE]]]
// CHECK-NEXT: fusion_tile.local_load
// CHECK-NEXT: fusion_tile.release %[[RING]][%[[TURN]]]
// CHECK-NEXT: arith.negf
// CHECK-NEXT: fusion_tile.dot
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[TURN]], %c3
// CHECK-NEXT: fusion_tile.acquire %[[RING]][%[[NEXT]]] : <3, []>{{$}}
// CHECK: fusion_tile.copy_start {{.*}} when
// CHECK: fusion_tile.copy_start {{.*}} when
// CHECK: fusion_tile.copy_arrive %[[RING]][%[[NEXT]]]
// CHECK-NOT: fusion_tile.copy_wait
// CHECK: scf.yield

#c = #fusion_tile.layout<"{reg=[[0,0,1],[0,8,0]], lane=[[0,0,2],[0,0,4],[0,1,0],[0,2,0],[0,4,0]], warp=[[1,0,0]], shape=[2,16,8]}">
#f = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#g = #fusion_tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[8,64]}">
fusion_tile.program @own_barriers(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3, mbarriers = true>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  %a = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<128x4096xbf16>
  %b = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<8x4096xbf16>
  %v = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<2x16x8xf32>
  %r = scf.for %k = %c0 to %end step %step iter_args(%s = %acc) -> tensor<2x16x8xf32, #c> {
    %x = fusion_tile.load %a[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !fusion_tile.view<128x4096xbf16> -> tensor<16x64xbf16, #f>
    %y = fusion_tile.load %b[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !fusion_tile.view<8x4096xbf16> -> tensor<8x64xbf16, #g>
    %n = arith.negf %x : tensor<16x64xbf16, #f>
    %d = fusion_tile.dot %n, %y, %s : tensor<16x64xbf16, #f>, tensor<8x64xbf16, #g> -> tensor<2x16x8xf32, #c>
    scf.yield %d : tensor<2x16x8xf32, #c>
  }
  fusion_tile.store %r, %v[affine_map<(p, i, j) -> (p, i, j)>] () checked [false, false, false] : tensor<2x16x8xf32, #c>, !fusion_tile.view<2x16x8xf32>
  fusion_tile.return
}

// -----

// Where nothing is unpacked, one barrier of the block an iteration is enough.

// CHECK-LABEL: fusion_tile.program @not_unpacked
// CHECK-NOT: fusion_tile.make_ring
// CHECK: scf.for
// CHECK: fusion_tile.copy_wait 1
// CHECK-NEXT: fusion_tile.barrier{{$}}

#c = #fusion_tile.layout<"{reg=[[0,0,1],[0,8,0]], lane=[[0,0,2],[0,0,4],[0,1,0],[0,2,0],[0,4,0]], warp=[[1,0,0]], shape=[2,16,8]}">
#f = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#g = #fusion_tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[8,64]}">
fusion_tile.program @not_unpacked(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3, mbarriers = true>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  %a = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<128x4096xbf16>
  %b = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<8x4096xbf16>
  %v = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<2x16x8xf32>
  %r = scf.for %k = %c0 to %end step %step iter_args(%s = %acc) -> tensor<2x16x8xf32, #c> {
    %x = fusion_tile.load %a[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !fusion_tile.view<128x4096xbf16> -> tensor<16x64xbf16, #f>
    %y = fusion_tile.load %b[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !fusion_tile.view<8x4096xbf16> -> tensor<8x64xbf16, #g>
    %d = fusion_tile.dot %x, %y, %s : tensor<16x64xbf16, #f>, tensor<8x64xbf16, #g> -> tensor<2x16x8xf32, #c>
    scf.yield %d : tensor<2x16x8xf32, #c>
  }
  fusion_tile.store %r, %v[affine_map<(p, i, j) -> (p, i, j)>] () checked [false, false, false] : tensor<2x16x8xf32, #c>, !fusion_tile.view<2x16x8xf32>
  fusion_tile.return
}
