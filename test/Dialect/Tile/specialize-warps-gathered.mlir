// RUN: fusion-opt %s --fusion-tile-specialize-warps --cse --canonicalize --remarks-filter='fusion.*' --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// Rows that a table places are copied in pieces, each at coordinates that the
// producer loads.

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Pieces of 16 rows: four entries a step.
// REMARK-NOT: Function=pieces
// CHECK-DAG: #[[FIRST:.*]] = affine_map<()[s0] -> (s0 floordiv 16)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<()[s0] -> (s0 floordiv 16 + 3)>
// CHECK-LABEL: fusion_tile.program @pieces
// CHECK: %[[TABLE:[^ ]*]] = fusion_tile.view %arg1
// CHECK: fusion_tile.specialize
// CHECK-NOT: fusion_tile.load %[[TABLE]]
// CHECK: producer
// CHECK: scf.for %[[I:[^ ]*]] =
// CHECK: %[[E0:[^ ]*]] = fusion_tile.load %[[TABLE]][#[[FIRST]]] (%[[I]]) checked [true]
// CHECK: %[[P0:[^ ]*]] = arith.index_cast %[[E0]] : i32 to index
// CHECK: %[[E3:[^ ]*]] = fusion_tile.load %[[TABLE]][#[[LAST]]] (%[[I]]) checked [true]
// CHECK: %[[P3:[^ ]*]] = arith.index_cast %[[E3]] : i32 to index
// CHECK: fusion_tile.acquire
// CHECK: fusion_tile.async_load %{{.*}}[%[[P0]], %[[R:[^,]*]], %{{[^,]*}}, %{{.*}}, %[[P3]], %[[R]], %{{[^,]*}}] into {{.*}} dims [1, 2] along 0 : <1x16x64xf16, b128>
fusion_tile.program @pieces(%pa: !llvm.ptr<1>, %pt: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 512)>} : !llvm.ptr<1> to !fusion_tile.view<64x512xf16>
  %t = fusion_tile.view %pt[] {shape = affine_map<() -> (32)>} : !llvm.ptr<1> to !fusion_tile.view<32xi32>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (20, 16, 64)>} : !llvm.ptr<1> to !fusion_tile.view<20x16x64xf16>
  %c = fusion_tile.view %pc[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %c512 step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %x = fusion_tile.load %a[#tile] (%c0, %i) checked [false, false] : !fusion_tile.view<64x512xf16> -> tensor<64x64xf16>
    %e = fusion_tile.load %t[affine_map<(d0)[s0] -> (d0 + s0 floordiv 16)>] (%i) checked [true] : !fusion_tile.view<32xi32> -> tensor<4xi32>
    %r = fusion_tile.repeat %e along 0 : tensor<4xi32> -> tensor<64xi32>
    %n = arith.index_cast %r : tensor<64xi32> to tensor<64xindex>
    %p = fusion_tile.broadcast %n dims [0] : tensor<64xindex> -> tensor<64x64xindex>
    %y = fusion_tile.load %b[affine_map<(d0, d1)[s0, s1] -> (s1, (d0 + s0) mod 16, d1)>] (%i) gather(%p : tensor<64x64xindex>) checked [true, false, false] : !fusion_tile.view<20x16x64xf16> -> tensor<64x64xf16>
    %d = fusion_tile.dot %x, %y, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  fusion_tile.store %sum, %c[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Behind the last row, which ends a piece, zeros are multiplied: nothing is
// there.
// REMARK-NOT: Function=ends
// CHECK-LABEL: fusion_tile.program @ends
// CHECK: fusion_tile.specialize
// CHECK: producer
// CHECK: scf.for %[[I:[^ ]*]] =
// CHECK: %[[IN:[^ ]*]] = arith.cmpi ult, %[[I]], %c480
// CHECK: %[[AT:[^ ]*]] = arith.select %[[IN]], %{{.*}}, %c-1
// CHECK: fusion_tile.async_load %{{.*}}[%[[AT]], {{.*}} along 1 : <1x32x64xf16, b128>
fusion_tile.program @ends(%pa: !llvm.ptr<1>, %pt: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c480 = arith.constant 480 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 480)>} : !llvm.ptr<1> to !fusion_tile.view<64x480xf16>
  %t = fusion_tile.view %pt[] {shape = affine_map<() -> (15)>} : !llvm.ptr<1> to !fusion_tile.view<15xi32>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (20, 32, 64)>} : !llvm.ptr<1> to !fusion_tile.view<20x32x64xf16>
  %c = fusion_tile.view %pc[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf16>
  %end = arith.constant dense<480> : tensor<64xindex>
  %sum = scf.for %i = %c0 to %c480 step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %x = fusion_tile.load %a[#tile] (%c0, %i) checked [false, true] : !fusion_tile.view<64x480xf16> -> tensor<64x64xf16>
    %e = fusion_tile.load %t[affine_map<(d0)[s0] -> ((d0 + s0) floordiv 32)>] (%i) checked [true] : !fusion_tile.view<15xi32> -> tensor<64xi32>
    %n = arith.index_cast %e : tensor<64xi32> to tensor<64xindex>
    %p = fusion_tile.broadcast %n dims [1] : tensor<64xindex> -> tensor<64x64xindex>
    %y = fusion_tile.load %b[affine_map<(d0, d1)[s0, s1] -> (s1, (d1 + s0) mod 32, d0)>] (%i) gather(%p : tensor<64x64xindex>) checked [true, false, false] : !fusion_tile.view<20x32x64xf16> -> tensor<64x64xf16>
    %at = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0)>(%i) : tensor<64xindex>
    %in = arith.cmpi ult, %at, %end : tensor<64xindex>
    %mask = fusion_tile.broadcast %in dims [1] : tensor<64xi1> -> tensor<64x64xi1>
    %z = arith.select %mask, %y, %zero : tensor<64x64xi1>, tensor<64x64xf16>
    %d = fusion_tile.dot %x, %z, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  fusion_tile.store %sum, %c[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// A place of its own for every other row.
// REMARK: FUS-3211: the copy engine cannot load an operand: the rows are gathered one by one, or fewer than 8 together
// REMARK-SAME: the products are made warp by warp
// CHECK-LABEL: fusion_tile.program @few
// CHECK-SAME: mma_sync
// CHECK-NOT: fusion_tile.specialize
fusion_tile.program @few(%pa: !llvm.ptr<1>, %pt: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 512)>} : !llvm.ptr<1> to !fusion_tile.view<64x512xf16>
  %t = fusion_tile.view %pt[] {shape = affine_map<() -> (256)>} : !llvm.ptr<1> to !fusion_tile.view<256xi32>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (20, 2, 64)>} : !llvm.ptr<1> to !fusion_tile.view<20x2x64xf16>
  %c = fusion_tile.view %pc[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %c512 step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %x = fusion_tile.load %a[#tile] (%c0, %i) checked [false, false] : !fusion_tile.view<64x512xf16> -> tensor<64x64xf16>
    %e = fusion_tile.load %t[affine_map<(d0)[s0] -> ((d0 + s0) floordiv 2)>] (%i) checked [true] : !fusion_tile.view<256xi32> -> tensor<64xi32>
    %n = arith.index_cast %e : tensor<64xi32> to tensor<64xindex>
    %p = fusion_tile.broadcast %n dims [0] : tensor<64xindex> -> tensor<64x64xindex>
    %y = fusion_tile.load %b[affine_map<(d0, d1)[s0, s1] -> (s1, (d0 + s0) mod 2, d1)>] (%i) gather(%p : tensor<64x64xindex>) checked [true, false, false] : !fusion_tile.view<20x2x64xf16> -> tensor<64x64xf16>
    %d = fusion_tile.dot %x, %y, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  fusion_tile.store %sum, %c[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Steps of 40 rows begin within pieces of 16: eight rows are in one.
// CHECK-LABEL: fusion_tile.program @steps
// CHECK: fusion_tile.async_load {{.*}} along 0 : <1x8x64xf16, b128>
fusion_tile.program @steps(%pa: !llvm.ptr<1>, %pt: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c40 = arith.constant 40 : index
  %c320 = arith.constant 320 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 512)>} : !llvm.ptr<1> to !fusion_tile.view<64x512xf16>
  %t = fusion_tile.view %pt[] {shape = affine_map<() -> (32)>} : !llvm.ptr<1> to !fusion_tile.view<32xi32>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (20, 16, 64)>} : !llvm.ptr<1> to !fusion_tile.view<20x16x64xf16>
  %c = fusion_tile.view %pc[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %c320 step %c40 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %x = fusion_tile.load %a[#tile] (%c0, %i) checked [false, false] : !fusion_tile.view<64x512xf16> -> tensor<64x64xf16>
    %e = fusion_tile.load %t[affine_map<(d0)[s0] -> ((d0 + s0) floordiv 16)>] (%i) checked [true] : !fusion_tile.view<32xi32> -> tensor<64xi32>
    %n = arith.index_cast %e : tensor<64xi32> to tensor<64xindex>
    %p = fusion_tile.broadcast %n dims [0] : tensor<64xindex> -> tensor<64x64xindex>
    %y = fusion_tile.load %b[affine_map<(d0, d1)[s0, s1] -> (s1, (d0 + s0) mod 16, d1)>] (%i) gather(%p : tensor<64x64xindex>) checked [true, false, false] : !fusion_tile.view<20x16x64xf16> -> tensor<64x64xf16>
    %d = fusion_tile.dot %x, %y, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  fusion_tile.store %sum, %c[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}
