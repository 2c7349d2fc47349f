// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-split-epilogue,fusion-tile-specialize-warps,fusion-tile-overlap-products,canonicalize,cse))' --remarks-filter='fusion.*' --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Three groups have a turn of the loop each. A stage has rows for every group,
// and the columns once: 128 and, in a second part, 32 of 64 that are copied, so
// that one instruction reads both. All groups wait at the same positions and
// release them. Of the residual's ring a group has every third position.

// CHECK-LABEL: fusion_tile.program @rows
// CHECK-SAME: extra_warps = 12
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[RING:.*]] = fusion_tile.make_ring groups 3 : <2, [!fusion_tile.buffer<64x64xbf16, {{.*}}>, !fusion_tile.buffer<64x64xbf16, {{.*}}>, !fusion_tile.buffer<64x64xbf16, {{.*}}>, !fusion_tile.buffer<128x64xbf16, {{.*}}>, !fusion_tile.buffer<64x64xbf16,
// CHECK-DAG: %[[SIDE:.*]] = fusion_tile.make_ring : <6, [!fusion_tile.buffer<64x64xbf16
// CHECK: fusion_tile.specialize {groups = 3 : i64, registers = array<i64: 24, 160>} consumer {
// CHECK:   %[[OUT0:.*]] = fusion_tile.alloc : <64x64xbf16
// CHECK:   %[[OUT1:.*]] = fusion_tile.alloc : <64x64xbf16
// CHECK:   %[[G:.*]] = fusion_tile.group_number
// CHECK:   scf.for {{.*}} iter_args(%[[P:.*]] = %[[C0]], %[[Q:.*]] = %[[G]])
// CHECK:     arith.muli %[[G]],
// CHECK-NOT: fusion_tile.acquire
// CHECK:     scf.for {{.*}} iter_args({{.*}}, %[[PK:.*]] = %[[P]])
// CHECK:       %[[B:.*]]:5 = fusion_tile.wait %[[RING]][%[[PK]]]
// CHECK:       %[[A:.*]] = fusion_tile.group_buffer %[[B]]#0, %[[B]]#1, %[[B]]#2
// CHECK:       fusion_tile.mma_async %[[A]], %[[B]]#3, {{.*}} -> tensor<64x128xf32>
// CHECK:       fusion_tile.mma_async %[[A]], %[[B]]#4, {{.*}} -> tensor<64x32xf32>
// CHECK:       fusion_tile.mma_wait
// CHECK-NOT:   pending
// CHECK:       fusion_tile.release %[[RING]][%[[PK]]]
// CHECK:     fusion_tile.wait %[[SIDE]][%[[Q]]]
// CHECK:     %[[Q2:.*]] = arith.addi %[[Q]], %[[C3]]
// CHECK:     fusion_tile.async_store {{.*}} through %[[OUT0]]
// CHECK:     fusion_tile.wait %[[SIDE]][%[[Q2]]]
// CHECK:     fusion_tile.async_store {{.*}} through %[[OUT1]]
// CHECK: } producer {
// CHECK:   scf.for {{.*}} iter_args(%[[P:.*]] = %[[C0]])
// CHECK-DAG: %[[ROW:.*]] = arith.muli %{{.*}}, %c192
// CHECK-DAG: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c160
// CHECK-DAG: %[[ROW1:.*]] = arith.addi %[[ROW]], %c64
// CHECK-DAG: %[[ROW2:.*]] = arith.addi %[[ROW]], %c128
// CHECK-DAG: %[[PART:.*]] = arith.addi %[[COLUMN]], %c128
// CHECK:     scf.for %[[K:.*]] = {{.*}} iter_args(%[[PK:.*]] = %[[P]])
// CHECK:       %[[S:.*]]:5 = fusion_tile.acquire %[[RING]][%[[PK]]]
// CHECK:       fusion_tile.async_load %{{.*}}[%[[ROW]], %[[K]]] into %[[S]]#0
// CHECK:       fusion_tile.async_load %{{.*}}[%[[ROW1]], %[[K]]] into %[[S]]#1
// CHECK:       fusion_tile.async_load %{{.*}}[%[[ROW2]], %[[K]]] into %[[S]]#2
// CHECK:       fusion_tile.async_load %{{.*}}[%[[K]], %[[COLUMN]]] into %[[S]]#3
// CHECK:       fusion_tile.async_load %{{.*}}[%[[K]], %[[PART]]] into %[[S]]#4
// CHECK: } producer {
// CHECK:   scf.for {{.*}} iter_args(%[[Q:.*]] = %[[C0]])
// CHECK:     fusion_tile.acquire %[[SIDE]][%[[Q]]]
// CHECK:     %[[Q1:.*]] = arith.addi %[[Q]], %[[C1]]
// CHECK:     fusion_tile.acquire %[[SIDE]][%[[Q1]]]
// CHECK:     fusion_tile.acquire %[[SIDE]]
// CHECK:     fusion_tile.acquire %[[SIDE]]
// CHECK:     fusion_tile.acquire %[[SIDE]]
// CHECK:     fusion_tile.acquire %[[SIDE]]
// CHECK-NOT: fusion_tile.acquire
// REMARK-NOT: FUS
fusion_tile.program @rows(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 2, columns = 64, groups = 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c132 = arith.constant 132 : index
  %c160 = arith.constant 160 : index
  %c192 = arith.constant 192 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (2304, 1000)>} : !llvm.ptr<1> to !fusion_tile.view<2304x1000xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (1000, 640)>} : !llvm.ptr<1> to !fusion_tile.view<1000x640xbf16>
  %r = fusion_tile.view %pr[] {shape = affine_map<() -> (2304, 640)>} : !llvm.ptr<1> to !fusion_tile.view<2304x640xbf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (2304, 640)>} : !llvm.ptr<1> to !fusion_tile.view<2304x640xbf16>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x128xf32>
  %init2 = fusion_tile.splat %zero : f32 -> tensor<64x32xf32>
  %id = gpu.block_id x
  scf.for %t = %id to %c64 step %c132 {
    scf.for %g = %c0 to %c3 step %c1 {
      %tm = arith.divui %t, %c4 : index
      %tn = arith.remui %t, %c4 : index
      %whole = arith.muli %tm, %c192 : index
      %own = arith.muli %g, %c64 : index
      %om = arith.addi %whole, %own : index
      %on = arith.muli %tn, %c160 : index
      %on2 = arith.addi %on, %c128 : index
      %sum:2 = scf.for %k = %c0 to %c1000 step %c64 iter_args(%acc = %init, %acc2 = %init2) -> (tensor<64x128xf32>, tensor<64x32xf32>) {
        %ka = fusion_tile.load %a[#tile] (%om, %k) checked [false, true] : !fusion_tile.view<2304x1000xbf16> -> tensor<64x64xbf16>
        %kb = fusion_tile.load %b[affine_map<(d0, d1)[s0, s1] -> (d1 + s0, d0 + s1)>] (%k, %on) checked [true, false] : !fusion_tile.view<1000x640xbf16> -> tensor<128x64xbf16>
        %d = fusion_tile.dot %ka, %kb, %acc : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
        %kc = fusion_tile.load %b[affine_map<(d0, d1)[s0, s1] -> (d1 + s0, d0 + s1)>] (%k, %on2) checked [true, false] : !fusion_tile.view<1000x640xbf16> -> tensor<32x64xbf16>
        %d2 = fusion_tile.dot %ka, %kc, %acc2 : tensor<64x64xbf16>, tensor<32x64xbf16> -> tensor<64x32xf32>
        scf.yield %d, %d2 : tensor<64x128xf32>, tensor<64x32xf32>
      }
      %res = fusion_tile.load %r[#tile] (%om, %on) checked [false, false] : !fusion_tile.view<2304x640xbf16> -> tensor<64x128xbf16>
      %rf = arith.extf %res : tensor<64x128xbf16> to tensor<64x128xf32>
      %s = arith.addf %sum#0, %rf : tensor<64x128xf32>
      %o = arith.truncf %s : tensor<64x128xf32> to tensor<64x128xbf16>
      fusion_tile.store %o, %y[#tile] (%om, %on) checked [false, false] : tensor<64x128xbf16>, !fusion_tile.view<2304x640xbf16>
      %o2 = arith.truncf %sum#1 : tensor<64x32xf32> to tensor<64x32xbf16>
      fusion_tile.store %o2, %y[#tile] (%om, %on2) checked [false, false] : tensor<64x32xbf16>, !fusion_tile.view<2304x640xbf16>
    } {fusion_tile.row_groups}
  }
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Groups whose contractions differ cannot read the same stages: one group takes
// the turns one after the other.

// REMARK: FUS-3217: one group of warps walks the tiles: those that have rows of a tile differ in what they contract
// CHECK-LABEL: fusion_tile.program @lengths
// CHECK-NOT: fusion_tile.group_number
// CHECK: fusion_tile.specialize consumer
// CHECK: scf.for
// CHECK: scf.for
fusion_tile.program @lengths(%pa: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 2, groups = 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (192, 256)>} : !llvm.ptr<1> to !fusion_tile.view<192x256xf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (192, 64)>} : !llvm.ptr<1> to !fusion_tile.view<192x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %t = %c0 to %c3 step %c1 {
    %om = arith.muli %t, %c64 : index
    %next = arith.addi %t, %c1 : index
    %end = arith.muli %next, %c64 : index
    %r = scf.for %k = %c0 to %end step %c64 iter_args(%p = %init) -> (tensor<64x64xf32>) {
      %ka = fusion_tile.load %a[#tile] (%om, %k) checked [false, false] : !fusion_tile.view<192x256xf16> -> tensor<64x64xf16>
      %d = fusion_tile.dot %ka, %ka, %p : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    fusion_tile.store %r, %y[#tile] (%om, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<192x64xf32>
  } {fusion_tile.row_groups}
  fusion_tile.return
}
