// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-split-epilogue,fusion-tile-specialize-warps))' --remarks-filter='fusion.*' --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Each program is left as it is but for its kind of pipeline.

// Rows of 100 bytes.

// REMARK: FUS-3211: the copy engine cannot load an operand: a row of the tensor is not known to have a multiple of 16 bytes; the products are made warp by warp
// CHECK-LABEL: fusion_tile.program @stride
// CHECK-SAME: pipeline = #fusion_tile.pipeline<mma_sync, stages = 4, columns = 32>
// CHECK-NOT: fusion_tile.specialize
// CHECK: fusion_tile.dot
// CHECK-NOT: fusion_tile.slice
fusion_tile.program @stride(%pa: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4, columns = 32>} {
  %c0 = arith.constant 0 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 50)>} : !llvm.ptr<1> to !fusion_tile.view<64x50xf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %ka = fusion_tile.load %a[#tile] (%c0, %c0) checked [false, true] : !fusion_tile.view<64x50xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.store %d, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// A dynamic row of a multiple of eight elements is known to fit; one of any
// size is not.

// REMARK: FUS-3211: {{.*}} a row of the tensor is not known
// REMARK-NOT: FUS
// CHECK-LABEL: fusion_tile.program @any
// CHECK-SAME: mma_sync
// CHECK-LABEL: fusion_tile.program @eighths
// CHECK: fusion_tile.specialize
fusion_tile.program @any(%pa: !llvm.ptr<1>, %n: index) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %c0 = arith.constant 0 : index
  %a = fusion_tile.view %pa[%n] {shape = affine_map<()[s0] -> (64, s0)>} : !llvm.ptr<1> to !fusion_tile.view<64x?xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %ka = fusion_tile.load %a[#tile] (%c0, %c0) checked [false, true] : !fusion_tile.view<64x?xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @eighths(%pa: !llvm.ptr<1>, %n: index) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %c0 = arith.constant 0 : index
  %a = fusion_tile.view %pa[%n] {shape = affine_map<()[s0] -> (64, s0 * 8)>} : !llvm.ptr<1> to !fusion_tile.view<64x?xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %ka = fusion_tile.load %a[#tile] (%c0, %c0) checked [false, true] : !fusion_tile.view<64x?xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.return
}

// -----

// A dimension in steps of two, gathered rows, two dimensions of the tile along
// one of the view, rows that are not contiguous, a start that depends on a
// tile.

// REMARK: FUS-3211: {{.*}}: the tile is no box of the tensor
// REMARK: FUS-3211: {{.*}}: the rows are gathered
// REMARK: FUS-3211: {{.*}}: the tile is no box of the tensor
// REMARK: FUS-3211: {{.*}}: the tensor's contiguous dimension is none of the tile's
// REMARK: FUS-3211: {{.*}}: its coordinates depend on a tile or are carried by a loop
// CHECK-NOT: fusion_tile.specialize
fusion_tile.program @steps(%pa: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %c0 = arith.constant 0 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %ka = fusion_tile.load %a[affine_map<(d0, d1) -> (d0, d1 * 2)>] () checked [false, false] : !fusion_tile.view<64x256xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @gather(%pa: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %c0 = arith.constant 0 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %i = fusion_tile.index affine_map<(d0, d1) -> (d0)>() : tensor<64x64xindex>
  %ka = fusion_tile.load %a[affine_map<(d0, d1)[s0] -> (s0, d1)>] () gather (%i : tensor<64x64xindex>) checked [false, false] : !fusion_tile.view<64x256xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @window(%pa: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (4, 256)>} : !llvm.ptr<1> to !fusion_tile.view<4x256xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %ka = fusion_tile.load %a[affine_map<(d0, d1) -> (0, d0 + d1)>] () checked [false, false] : !fusion_tile.view<4x256xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @column(%pa: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 64, 8)>} : !llvm.ptr<1> to !fusion_tile.view<64x64x8xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %ka = fusion_tile.load %a[affine_map<(d0, d1) -> (d0, d1, 3)>] () checked [false, false, false] : !fusion_tile.view<64x64x8xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @carried(%pa: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %r:2 = scf.for %k = %c0 to %c64 step %c2 iter_args(%acc = %init, %at = %c0) -> (tensor<64x64xf32>, index) {
    %ka = fusion_tile.load %a[affine_map<(d0, d1)[s0] -> (d0, d1 + s0)>] (%at) checked [false, false] : !fusion_tile.view<64x256xf16> -> tensor<64x64xf16>
    %d = fusion_tile.dot %ka, %ka, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %n = arith.addi %at, %c2 : index
    scf.yield %d, %n : tensor<64x64xf32>, index
  }
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1) -> (d0, d1)>
#swap = affine_map<(d0, d1) -> (d1, d0)>

// f32 in full; int8 with rows contiguous; tiles of 32 x 32; several loops; half
// a warpgroup; no products.

// REMARK: FUS-3212: warpgroups make no products of f32 into f32
// REMARK: FUS-3213: an operand of 8-bit elements must have the contracted dimension contiguous in memory
// REMARK: FUS-3213: a tile of 32 x 32 by chunks of 64 is too small
// REMARK: FUS-3210: the products stand in several loops
// REMARK: FUS-3210: a block of 2 warps has no whole warpgroups
// REMARK: FUS-3210: the program has no products
// CHECK-NOT: fusion_tile.specialize
fusion_tile.program @f32(%pa: !llvm.ptr<1>) attributes {num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %ka = fusion_tile.load %a[#tile] () checked [false, false] : !fusion_tile.view<64x64xf32> -> tensor<64x64xf32>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @int8(%pa: !llvm.ptr<1>) attributes {num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xi8>
  %init = arith.constant dense<0> : tensor<64x64xi32>
  %ka = fusion_tile.load %a[#tile] () checked [false, false] : !fusion_tile.view<64x64xi8> -> tensor<64x64xi8>
  %kb = fusion_tile.load %a[#swap] () checked [false, false] : !fusion_tile.view<64x64xi8> -> tensor<64x64xi8>
  %d = fusion_tile.dot %ka, %kb, %init : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
  fusion_tile.return
}
fusion_tile.program @small(%pa: !llvm.ptr<1>) attributes {num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf16>
  %init = arith.constant dense<0.0> : tensor<32x32xf32>
  %ka = fusion_tile.load %a[#tile] () checked [false, false] : !fusion_tile.view<64x64xf16> -> tensor<32x64xf16>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<32x64xf16>, tensor<32x64xf16> -> tensor<32x32xf32>
  fusion_tile.return
}
fusion_tile.program @several(%pa: !llvm.ptr<1>) attributes {num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %ka = fusion_tile.load %a[#tile] () checked [false, false] : !fusion_tile.view<64x64xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  scf.for %k = %c0 to %c1 step %c1 {
    %e = fusion_tile.dot %ka, %ka, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  }
  fusion_tile.return
}
fusion_tile.program @warps(%pa: !llvm.ptr<1>) attributes {num_warps = 2, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf16>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %ka = fusion_tile.load %a[#tile] () checked [false, false] : !fusion_tile.view<64x64xf16> -> tensor<64x64xf16>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @none(%pa: !llvm.ptr<1>) attributes {num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  fusion_tile.return
}
