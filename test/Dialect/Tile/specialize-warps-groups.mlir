// RUN: fusion-opt %s --pass-pipeline='builtin.module(tile.program(tile-split-epilogue,tile-specialize-warps,tile-overlap-products,canonicalize,cse))' --remarks-filter='fusion.*' --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Two groups: every second tile is one's own, and so are the positions of 16
// stages. The turn is taken before the contraction and passed when its last
// stage has been waited for. Of the residual's ring each group has every second
// stage: its producer keeps one position for each.
// Buffers of the result stand in the consumer: one for each group.

// CHECK-LABEL: tile.program @turns
// CHECK-SAME: extra_warps = 8
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C15:.*]] = arith.constant 15 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[C132:.*]] = arith.constant 132 : index
// CHECK-DAG: %[[C264:.*]] = arith.constant 264 : index
// CHECK-DAG: %[[BLOCK:.*]] = gpu.block_id
// CHECK-DAG: %[[RING:.*]] = tile.make_ring : <3, [!tile.buffer<128x64xbf16
// CHECK-DAG: %[[SIDE:.*]] = tile.make_ring : <4, [!tile.buffer<128x64xbf16
// CHECK-DAG: %[[TURNS:.*]] = tile.make_ring : <2, []>
// CHECK: tile.specialize {groups = 2 : i64, registers = array<i64: 40, 232>} consumer {
// CHECK:   %[[OUT0:.*]] = tile.alloc
// CHECK:   %[[OUT1:.*]] = tile.alloc
// CHECK:   %[[G:.*]] = tile.group_number
// CHECK:   %[[SKIP:.*]] = arith.muli %[[G]], %[[C132]]
// CHECK:   %[[FIRST:.*]] = arith.addi %[[BLOCK]], %[[SKIP]]
// CHECK:   %[[BEGIN:.*]] = arith.muli %[[G]], %[[C16]]
// CHECK:   scf.for {{.*}} = %[[FIRST]] to %{{.*}} step %[[C264]] iter_args(%[[T:.*]] = %[[G]], %[[P:.*]] = %[[BEGIN]], %[[Q:.*]] = %[[G]])
// CHECK:     %[[END:.*]] = arith.addi %[[P]], %[[C15]]
// CHECK:     %[[BEFORE:.*]] = arith.addi %[[T]], %[[C1]]
// CHECK:     tile.acquire %[[TURNS]][%[[BEFORE]]] : <2, []>{{$}}
// CHECK:     %[[SUM:.*]]:2 = scf.for {{.*}} iter_args({{.*}}, %[[PK:.*]] = %[[P]])
// CHECK:       tile.wait %[[RING]][%[[PK]]]
// CHECK-NEXT:  %[[LAST:.*]] = arith.cmpi eq, %[[PK]], %[[END]]
// CHECK-NEXT:  scf.if %[[LAST]] {
// CHECK-NEXT:    tile.release %[[TURNS]][%[[T]]]
// CHECK-NEXT:  }
// CHECK-NEXT:  tile.mma_async
// CHECK:       tile.mma_wait {{.*}}pending = 1
// CHECK:     tile.mma_wait %[[SUM]]#0
// CHECK:     tile.release %[[RING]]
// CHECK:     tile.wait %[[SIDE]][%[[Q]]]
// CHECK:     %[[Q2:.*]] = arith.addi %[[Q]], %[[C2]]
// CHECK:     tile.async_store {{.*}} through %[[OUT0]]
// CHECK:     tile.wait %[[SIDE]][%[[Q2]]]
// CHECK:     tile.async_store {{.*}} through %[[OUT1]]
// CHECK:     %[[NEXT:.*]] = arith.addi %[[SUM]]#1, %[[C16]]
// CHECK:     %[[NT:.*]] = arith.addi %[[T]], %[[C2]]
// CHECK:     scf.yield %[[NT]], %[[NEXT]],
// CHECK: } producer {
// CHECK:   scf.for {{.*}} = %[[BLOCK]] {{.*}} step %[[C132]] iter_args(%[[P:.*]] = %[[C0]])
// CHECK-NOT: tile.group_number
// CHECK: } producer {
// CHECK:   scf.for {{.*}} = %[[BLOCK]] {{.*}} step %[[C132]] iter_args(%[[OTHER:.*]] = %[[C1]], %[[OWN:.*]] = %[[C0]])
// CHECK:     tile.acquire %[[SIDE]][%[[OWN]]]
// CHECK:     %[[OWN2:.*]] = arith.addi %[[OWN]], %[[C2]]
// CHECK:     tile.acquire %[[SIDE]][%[[OWN2]]]
// CHECK:     %[[OWN4:.*]] = arith.addi %[[OWN]],
// CHECK:     scf.yield %[[OWN4]], %[[OTHER]]
// REMARK-NOT: FUS
tile.program @turns(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #tile.pipeline<wgmma, stages = 3, columns = 64, groups = 2>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c132 = arith.constant 132 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.view %pa[] {shape = affine_map<() -> (2048, 1000)>} : !llvm.ptr<1> to !tile.view<2048x1000xbf16>
  %b = tile.view %pb[] {shape = affine_map<() -> (512, 1000)>} : !llvm.ptr<1> to !tile.view<512x1000xbf16>
  %r = tile.view %pr[] {shape = affine_map<() -> (2048, 512)>} : !llvm.ptr<1> to !tile.view<2048x512xbf16>
  %y = tile.view %py[] {shape = affine_map<() -> (2048, 512)>} : !llvm.ptr<1> to !tile.view<2048x512xbf16>
  %init = tile.splat %zero : f32 -> tensor<128x128xf32>
  %id = gpu.block_id x
  scf.for %t = %id to %c64 step %c132 {
    %tm = arith.divui %t, %c4 : index
    %tn = arith.remui %t, %c4 : index
    %om = arith.muli %tm, %c128 : index
    %on = arith.muli %tn, %c128 : index
    %sum = scf.for %k = %c0 to %c1000 step %c64 iter_args(%acc = %init) -> (tensor<128x128xf32>) {
      %ka = tile.load %a[#tile] (%om, %k) checked [false, true] : !tile.view<2048x1000xbf16> -> tensor<128x64xbf16>
      %kb = tile.load %b[#tile] (%on, %k) checked [false, true] : !tile.view<512x1000xbf16> -> tensor<128x64xbf16>
      %d = tile.dot %ka, %kb, %acc : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
      scf.yield %d : tensor<128x128xf32>
    }
    %res = tile.load %r[#tile] (%om, %on) checked [false, false] : !tile.view<2048x512xbf16> -> tensor<128x128xbf16>
    %rf = arith.extf %res : tensor<128x128xbf16> to tensor<128x128xf32>
    %s = arith.addf %sum, %rf : tensor<128x128xf32>
    %o = arith.truncf %s : tensor<128x128xf32> to tensor<128x128xbf16>
    tile.store %o, %y[#tile] (%om, %on) checked [false, false] : tensor<128x128xbf16>, !tile.view<2048x512xbf16>
  }
  tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// A block with one tile; tiles whose contractions differ in length.

// REMARK: FUS-3217: one group of warps walks the tiles: a block has one tile only
// REMARK: FUS-3217: one group of warps walks the tiles: tiles differ in the length of their contraction
// CHECK-LABEL: tile.program @one
// CHECK-NOT: tile.group_number
// CHECK: tile.specialize consumer
// CHECK-LABEL: tile.program @lengths
// CHECK-NOT: tile.group_number
// CHECK: tile.specialize consumer
tile.program @one(%pa: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #tile.pipeline<wgmma, stages = 2, groups = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !tile.view<64x256xf16>
  %y = tile.view %py[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %k = %c0 to %c256 step %c64 iter_args(%p = %init) -> (tensor<64x64xf32>) {
    %ka = tile.load %a[#tile] (%c0, %k) checked [false, false] : !tile.view<64x256xf16> -> tensor<64x64xf16>
    %d = tile.dot %ka, %ka, %p : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %r, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}
tile.program @lengths(%pa: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #tile.pipeline<wgmma, stages = 2, groups = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %a = tile.view %pa[] {shape = affine_map<() -> (256, 256)>} : !llvm.ptr<1> to !tile.view<256x256xf16>
  %y = tile.view %py[] {shape = affine_map<() -> (256, 64)>} : !llvm.ptr<1> to !tile.view<256x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %t = %c0 to %c4 step %c1 {
    %om = arith.muli %t, %c64 : index
    %next = arith.addi %t, %c1 : index
    %end = arith.muli %next, %c64 : index
    %r = scf.for %k = %c0 to %end step %c64 iter_args(%p = %init) -> (tensor<64x64xf32>) {
      %ka = tile.load %a[#tile] (%om, %k) checked [false, false] : !tile.view<256x256xf16> -> tensor<64x64xf16>
      %d = tile.dot %ka, %ka, %p : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    tile.store %r, %y[#tile] (%om, %c0) checked [false, false] : tensor<64x64xf32>, !tile.view<256x64xf32>
  }
  tile.return
}
