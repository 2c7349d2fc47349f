// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-split-epilogue,fusion-tile-specialize-warps,fusion-tile-overlap-products,canonicalize,cse))' --remarks-filter='fusion.*' --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Two groups: every second tile is one's own, and so are the positions of 16
// stages. The turn is taken before the contraction and passed when its last
// stage has been waited for. Of the residual's ring each group has every second
// stage: its producer keeps one position for each.
// Buffers of the result stand in the consumer: one for each group.

// CHECK-LABEL: fusion_tile.program @turns
// CHECK-SAME: extra_warps = 8
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C15:.*]] = arith.constant 15 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[C132:.*]] = arith.constant 132 : index
// CHECK-DAG: %[[C264:.*]] = arith.constant 264 : index
// CHECK-DAG: %[[BLOCK:.*]] = gpu.block_id
// CHECK-DAG: %[[RING:.*]] = fusion_tile.make_ring : <3, [!fusion_tile.buffer<128x64xbf16
// CHECK-DAG: %[[SIDE:.*]] = fusion_tile.make_ring : <4, [!fusion_tile.buffer<128x64xbf16
// CHECK-DAG: %[[TURNS:.*]] = fusion_tile.make_ring : <2, []>
// CHECK: fusion_tile.specialize {groups = 2 : i64, registers = array<i64: 40, 232>} consumer {
// CHECK:   %[[OUT0:.*]] = fusion_tile.alloc
// CHECK:   %[[OUT1:.*]] = fusion_tile.alloc
// CHECK:   %[[G:.*]] = fusion_tile.group_number
// CHECK:   %[[SKIP:.*]] = arith.muli %[[G]], %[[C132]]
// CHECK:   %[[FIRST:.*]] = arith.addi %[[BLOCK]], %[[SKIP]]
// CHECK:   %[[BEGIN:.*]] = arith.muli %[[G]], %[[C16]]
// CHECK:   scf.for {{.*}} = %[[FIRST]] to %{{.*}} step %[[C264]] iter_args(%[[T:.*]] = %[[G]], %[[P:.*]] = %[[BEGIN]], %[[Q:.*]] = %[[G]])
// CHECK:     %[[END:.*]] = arith.addi %[[P]], %[[C15]]
// CHECK:     %[[BEFORE:.*]] = arith.addi %[[T]], %[[C1]]
// CHECK:     fusion_tile.acquire %[[TURNS]][%[[BEFORE]]] : <2, []>{{$}}
// CHECK:     %[[SUM:.*]]:2 = scf.for {{.*}} iter_args({{.*}}, %[[PK:.*]] = %[[P]])
// CHECK:       fusion_tile.wait %[[RING]][%[[PK]]]
// CHECK-NEXT:  %[[LAST:.*]] = arith.cmpi eq, %[[PK]], %[[END]]
// CHECK-NEXT:  scf.if %[[LAST]] {
// CHECK-NEXT:    fusion_tile.release %[[TURNS]][%[[T]]]
// CHECK-NEXT:  }
// CHECK-NEXT:  fusion_tile.mma_async
// CHECK:       fusion_tile.mma_wait {{.*}}pending = 1
// CHECK:     fusion_tile.mma_wait %[[SUM]]#0
// CHECK:     fusion_tile.release %[[RING]]
// CHECK:     fusion_tile.wait %[[SIDE]][%[[Q]]]
// CHECK:     %[[Q2:.*]] = arith.addi %[[Q]], %[[C2]]
// CHECK:     fusion_tile.async_store {{.*}} through %[[OUT0]]
// CHECK:     fusion_tile.wait %[[SIDE]][%[[Q2]]]
// CHECK:     fusion_tile.async_store {{.*}} through %[[OUT1]]
// CHECK:     %[[NEXT:.*]] = arith.addi %[[SUM]]#1, %[[C16]]
// CHECK:     %[[NT:.*]] = arith.addi %[[T]], %[[C2]]
// CHECK:     scf.yield %[[NT]], %[[NEXT]],
// CHECK: } producer {
// CHECK:   scf.for {{.*}} = %[[BLOCK]] {{.*}} step %[[C132]] iter_args(%[[P:.*]] = %[[C0]])
// CHECK-NOT: fusion_tile.group_number
// CHECK: } producer {
// CHECK:   scf.for {{.*}} = %[[BLOCK]] {{.*}} step %[[C132]] iter_args(%[[OTHER:.*]] = %[[C1]], %[[OWN:.*]] = %[[C0]])
// CHECK:     fusion_tile.acquire %[[SIDE]][%[[OWN]]]
// CHECK:     %[[OWN2:.*]] = arith.addi %[[OWN]], %[[C2]]
// CHECK:     fusion_tile.acquire %[[SIDE]][%[[OWN2]]]
// CHECK:     %[[OWN4:.*]] = arith.addi %[[OWN]],
// CHECK:     scf.yield %[[OWN4]], %[[OTHER]]
// REMARK-NOT: FUS
fusion_tile.program @turns(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 3, columns = 64, groups = 2>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c132 = arith.constant 132 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (2048, 1000)>} : !llvm.ptr<1> to !fusion_tile.view<2048x1000xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (512, 1000)>} : !llvm.ptr<1> to !fusion_tile.view<512x1000xbf16>
  %r = fusion_tile.view %pr[] {shape = affine_map<() -> (2048, 512)>} : !llvm.ptr<1> to !fusion_tile.view<2048x512xbf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (2048, 512)>} : !llvm.ptr<1> to !fusion_tile.view<2048x512xbf16>
  %init = fusion_tile.splat %zero : f32 -> tensor<128x128xf32>
  %id = gpu.block_id x
  scf.for %t = %id to %c64 step %c132 {
    %tm = arith.divui %t, %c4 : index
    %tn = arith.remui %t, %c4 : index
    %om = arith.muli %tm, %c128 : index
    %on = arith.muli %tn, %c128 : index
    %sum = scf.for %k = %c0 to %c1000 step %c64 iter_args(%acc = %init) -> (tensor<128x128xf32>) {
      %ka = fusion_tile.load %a[#tile] (%om, %k) checked [false, true] : !fusion_tile.view<2048x1000xbf16> -> tensor<128x64xbf16>
      %kb = fusion_tile.load %b[#tile] (%on, %k) checked [false, true] : !fusion_tile.view<512x1000xbf16> -> tensor<128x64xbf16>
      %d = fusion_tile.dot %ka, %kb, %acc : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
      scf.yield %d : tensor<128x128xf32>
    }
    %res = fusion_tile.load %r[#tile] (%om, %on) checked [false, false] : !fusion_tile.view<2048x512xbf16> -> tensor<128x128xbf16>
    %rf = arith.extf %res : tensor<128x128xbf16> to tensor<128x128xf32>
    %s = arith.addf %sum, %rf : tensor<128x128xf32>
    %o = arith.truncf %s : tensor<128x128xf32> to tensor<128x128xbf16>
    fusion_tile.store %o, %y[#tile] (%om, %on) checked [false, false] : tensor<128x128xbf16>, !fusion_tile.view<2048x512xbf16>
  }
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// A block with one tile; tiles whose contractions differ in length.

// REMARK: FUS-3217: one group of warps walks the tiles: a block has one tile only
// REMARK: FUS-3217: one group of warps walks the tiles: tiles differ in the length of their contraction
// CHECK-LABEL: fusion_tile.program @one
// CHECK-NOT: fusion_tile.group_number
// CHECK: fusion_tile.specialize consumer
// CHECK-LABEL: fusion_tile.program @lengths
// CHECK-NOT: fusion_tile.group_number
// CHECK: fusion_tile.specialize consumer
fusion_tile.program @one(%pa: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 2, groups = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %k = %c0 to %c256 step %c64 iter_args(%p = %init) -> (tensor<64x64xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<64x256xf16> -> tensor<64x64xf16>
    %d = fusion_tile.dot %ka, %ka, %p : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  fusion_tile.store %r, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @lengths(%pa: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 2, groups = 2>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (256, 256)>} : !llvm.ptr<1> to !fusion_tile.view<256x256xf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (256, 64)>} : !llvm.ptr<1> to !fusion_tile.view<256x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %t = %c0 to %c4 step %c1 {
    %om = arith.muli %t, %c64 : index
    %next = arith.addi %t, %c1 : index
    %end = arith.muli %next, %c64 : index
    %r = scf.for %k = %c0 to %end step %c64 iter_args(%p = %init) -> (tensor<64x64xf32>) {
      %ka = fusion_tile.load %a[#tile] (%om, %k) checked [false, false] : !fusion_tile.view<256x256xf16> -> tensor<64x64xf16>
      %d = fusion_tile.dot %ka, %ka, %p : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    fusion_tile.store %r, %y[#tile] (%om, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<256x64xf32>
  }
  fusion_tile.return
}
