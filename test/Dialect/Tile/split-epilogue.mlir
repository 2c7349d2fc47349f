// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-split-epilogue))' --split-input-file | FileCheck %s

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#vec = affine_map<(d0)[s0] -> (d0 + s0)>

// Two stores alternate, chunk after chunk. The bias and the residual are loaded
// by chunks; what both stores need is computed once; the bounds mask of the
// operand goes, since a load gives zero outside.

// CHECK-DAG: #[[TILE:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
// CHECK-DAG: #[[VEC:.*]] = affine_map<(d0)[s0] -> (d0 + s0)>
// CHECK-DAG: #[[NEXT:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1 + 64)>
// CHECK-DAG: #[[VECNEXT:.*]] = affine_map<(d0)[s0] -> (d0 + s0 + 64)>
// CHECK-LABEL: fusion_tile.program @outputs
// CHECK: %[[SUM:.*]] = scf.for
// CHECK:   %[[X:.*]] = fusion_tile.load
// CHECK:   %[[Y:.*]] = fusion_tile.load
// CHECK-NOT: arith.select
// CHECK:   fusion_tile.dot %[[X]], %[[Y]]
// CHECK: fusion_tile.slice %[[SUM]] [0, 0] : tensor<128x128xf32> -> tensor<128x64xf32>
// CHECK: fusion_tile.load %{{.*}}[#[[VEC]]] {{.*}} -> tensor<64xf32>
// CHECK: fusion_tile.broadcast {{.*}} : tensor<64xf32> -> tensor<128x64xf32>
// CHECK: fusion_tile.load %{{.*}}[#[[TILE]]] {{.*}} -> tensor<128x64xbf16>
// CHECK: %[[BOTH:.*]] = arith.addf {{.*}} : tensor<128x64xf32>
// CHECK: fusion_tile.store %[[BOTH]], %{{.*}}[#[[TILE]]] {{.*}} : tensor<128x64xf32>
// CHECK-NOT: arith.addf
// CHECK: arith.truncf %[[BOTH]]
// CHECK: fusion_tile.store {{.*}}[#[[TILE]]] {{.*}} : tensor<128x64xbf16>
// CHECK: fusion_tile.slice %[[SUM]] [0, 64] : tensor<128x128xf32> -> tensor<128x64xf32>
// CHECK: fusion_tile.load %{{.*}}[#[[VECNEXT]]]
// CHECK: fusion_tile.load %{{.*}}[#[[NEXT]]]
// CHECK: fusion_tile.store {{.*}}[#[[NEXT]]] {{.*}} : tensor<128x64xf32>
// CHECK: fusion_tile.store {{.*}}[#[[NEXT]]] {{.*}} : tensor<128x64xbf16>
// CHECK-NOT: tensor<128x128xbf16>
// CHECK: fusion_tile.return
fusion_tile.program @outputs(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %py: !llvm.ptr<1>, %pz: !llvm.ptr<1>) attributes {
    num_warps = 8, pipeline = #fusion_tile.pipeline<wgmma, stages = 4, columns = 64>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  %z16 = arith.constant 0.0 : bf16
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (128, 1000)>} : !llvm.ptr<1> to !fusion_tile.view<128x1000xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (128, 1000)>} : !llvm.ptr<1> to !fusion_tile.view<128x1000xbf16>
  %c = fusion_tile.view %pc[] {shape = affine_map<() -> (128)>} : !llvm.ptr<1> to !fusion_tile.view<128xf32>
  %r = fusion_tile.view %pr[] {shape = affine_map<() -> (128, 128)>} : !llvm.ptr<1> to !fusion_tile.view<128x128xbf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (128, 128)>} : !llvm.ptr<1> to !fusion_tile.view<128x128xf32>
  %z = fusion_tile.view %pz[] {shape = affine_map<() -> (128, 128)>} : !llvm.ptr<1> to !fusion_tile.view<128x128xbf16>
  %init = fusion_tile.splat %zero : f32 -> tensor<128x128xf32>
  %none = fusion_tile.splat %z16 : bf16 -> tensor<128x64xbf16>
  %depth = fusion_tile.splat %c1000 : index -> tensor<64xindex>
  %sum = scf.for %k = %c0 to %c1000 step %c64 iter_args(%acc = %init) -> (tensor<128x128xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, true] : !fusion_tile.view<128x1000xbf16> -> tensor<128x64xbf16>
    %i = fusion_tile.index #vec(%k) : tensor<64xindex>
    %in = arith.cmpi ult, %i, %depth : tensor<64xindex>
    %mask = fusion_tile.broadcast %in dims [1] : tensor<64xi1> -> tensor<128x64xi1>
    %ma = arith.select %mask, %ka, %none : tensor<128x64xi1>, tensor<128x64xbf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %k) checked [false, true] : !fusion_tile.view<128x1000xbf16> -> tensor<128x64xbf16>
    %d = fusion_tile.dot %ma, %kb, %acc : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %bias = fusion_tile.load %c[#vec] (%c0) checked [false] : !fusion_tile.view<128xf32> -> tensor<128xf32>
  %bb = fusion_tile.broadcast %bias dims [1] : tensor<128xf32> -> tensor<128x128xf32>
  %s1 = arith.addf %sum, %bb : tensor<128x128xf32>
  %res = fusion_tile.load %r[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<128x128xbf16> -> tensor<128x128xbf16>
  %rf = arith.extf %res : tensor<128x128xbf16> to tensor<128x128xf32>
  %s2 = arith.addf %s1, %rf : tensor<128x128xf32>
  fusion_tile.store %s2, %y[#tile] (%c0, %c0) checked [false, false] : tensor<128x128xf32>, !fusion_tile.view<128x128xf32>
  %o = arith.truncf %s2 : tensor<128x128xf32> to tensor<128x128xbf16>
  fusion_tile.store %o, %z[#tile] (%c0, %c0) checked [false, false] : tensor<128x128xbf16>, !fusion_tile.view<128x128xbf16>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#vec = affine_map<(d0)[s0] -> (d0 + s0)>

// A reduction over the columns needs the sum's exponentials whole: the stores
// take parts of them. Row statistics have no columns, their broadcast is made
// for each chunk; their store is left alone, as is that of the column sums.

// CHECK-LABEL: fusion_tile.program @reductions
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[EXP:.*]] = math.exp %[[SUM]] : tensor<64x128xf32>
// CHECK: %[[ROW:.*]] = fusion_tile.reduce %[[EXP]] along 1 : tensor<64x128xf32> -> tensor<64xf32>
// CHECK: fusion_tile.store %[[ROW]], {{.*}} : tensor<64xf32>
// CHECK: %[[COL:.*]] = fusion_tile.reduce %[[EXP]] along 0 : tensor<64x128xf32> -> tensor<128xf32>
// CHECK: fusion_tile.store %[[COL]], {{.*}} : tensor<128xf32>
// CHECK-NOT: math.exp
// CHECK: %[[PART:.*]] = fusion_tile.slice %[[EXP]] [0, 0] : tensor<64x128xf32> -> tensor<64x64xf32>
// CHECK: %[[ROWS:.*]] = fusion_tile.broadcast %[[ROW]] dims [0] : tensor<64xf32> -> tensor<64x64xf32>
// CHECK: %[[Q:.*]] = arith.divf %[[PART]], %[[ROWS]]
// CHECK: %[[COLPART:.*]] = fusion_tile.slice %[[COL]] [0] : tensor<128xf32> -> tensor<64xf32>
// CHECK: fusion_tile.broadcast %[[COLPART]] dims [1] : tensor<64xf32> -> tensor<64x64xf32>
// CHECK: fusion_tile.store
// CHECK: fusion_tile.slice %[[EXP]] [0, 64]
// CHECK: fusion_tile.slice %[[COL]] [64]
// CHECK: fusion_tile.store
fusion_tile.program @reductions(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %pc: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4, columns = 64>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (128, 256)>} : !llvm.ptr<1> to !fusion_tile.view<128x256xbf16>
  %r = fusion_tile.view %pr[] {shape = affine_map<() -> (64)>} : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %c = fusion_tile.view %pc[] {shape = affine_map<() -> (128)>} : !llvm.ptr<1> to !fusion_tile.view<128xf32>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (64, 128)>} : !llvm.ptr<1> to !fusion_tile.view<64x128xf32>
  %init = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %init) -> (tensor<64x128xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<64x256xbf16> -> tensor<64x64xbf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<128x256xbf16> -> tensor<128x64xbf16>
    %d = fusion_tile.dot %ka, %kb, %acc : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %e = math.exp %sum : tensor<64x128xf32>
  %row = fusion_tile.reduce %e along 1 : tensor<64x128xf32> -> tensor<64xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %row, %r[#vec] (%c0) checked [false] : tensor<64xf32>, !fusion_tile.view<64xf32>
  %col = fusion_tile.reduce %e along 0 : tensor<64x128xf32> -> tensor<128xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %col, %c[#vec] (%c0) checked [false] : tensor<128xf32>, !fusion_tile.view<128xf32>
  %rows = fusion_tile.broadcast %row dims [0] : tensor<64xf32> -> tensor<64x128xf32>
  %q = arith.divf %e, %rows : tensor<64x128xf32>
  %cols = fusion_tile.broadcast %col dims [1] : tensor<128xf32> -> tensor<64x128xf32>
  %p = arith.mulf %q, %cols : tensor<64x128xf32>
  fusion_tile.store %p, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x128xf32>, !fusion_tile.view<64x128xf32>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Few rows: the instruction's rows are the accumulator's columns, and chunks
// are of rows. Constants and indices follow.

// CHECK-LABEL: fusion_tile.program @swapped
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: fusion_tile.slice %[[SUM]] [0, 0] : tensor<32x64xf32> -> tensor<16x64xf32>
// CHECK: arith.constant dense<2.000000e+00> : tensor<16x64xf32>
// CHECK: fusion_tile.index #{{.*}}(%{{.*}}) : tensor<16x64xindex>
// CHECK: fusion_tile.store
// CHECK: fusion_tile.slice %[[SUM]] [16, 0] : tensor<32x64xf32> -> tensor<16x64xf32>
// CHECK: fusion_tile.store
fusion_tile.program @swapped(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4, columns = 16>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (32, 256)>} : !llvm.ptr<1> to !fusion_tile.view<32x256xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xbf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (32, 64)>} : !llvm.ptr<1> to !fusion_tile.view<32x64xf32>
  %init = arith.constant dense<0.0> : tensor<32x64xf32>
  %two = arith.constant dense<2.0> : tensor<32x64xf32>
  %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %init) -> (tensor<32x64xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<32x256xbf16> -> tensor<32x64xbf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<64x256xbf16> -> tensor<64x64xbf16>
    %d = fusion_tile.dot %ka, %kb, %acc : tensor<32x64xbf16>, tensor<64x64xbf16> -> tensor<32x64xf32>
    scf.yield %d : tensor<32x64xf32>
  }
  %e = arith.mulf %sum, %two : tensor<32x64xf32>
  %i = fusion_tile.index affine_map<(d0, d1)[s0] -> (d0 + d1 * 3 + s0)>(%c0) : tensor<32x64xindex>
  %j = arith.index_cast %i : tensor<32x64xindex> to tensor<32x64xi32>
  %f = arith.sitofp %j : tensor<32x64xi32> to tensor<32x64xf32>
  %g = arith.addf %e, %f : tensor<32x64xf32>
  fusion_tile.store %g, %y[#tile] (%c0, %c0) checked [false, false] : tensor<32x64xf32>, !fusion_tile.view<32x64xf32>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Another kind of pipeline, no columns, products that warpgroups cannot make
// (f32 in full), and rows that two warpgroups share: nothing is split.

// CHECK-LABEL: fusion_tile.program @warps
// CHECK-NOT: fusion_tile.slice
// CHECK-LABEL: fusion_tile.program @all
// CHECK-NOT: fusion_tile.slice
// CHECK-LABEL: fusion_tile.program @exact
// CHECK-NOT: fusion_tile.slice
// CHECK-LABEL: fusion_tile.program @shared
// CHECK-NOT: fusion_tile.slice
// CHECK: fusion_tile.return
fusion_tile.program @warps(%pa: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<mma_sync, stages = 4, columns = 32>} {
  %c0 = arith.constant 0 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xbf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %ka = fusion_tile.load %a[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x64xbf16> -> tensor<64x64xbf16>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  fusion_tile.store %d, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @all(%pa: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %c0 = arith.constant 0 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xbf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %ka = fusion_tile.load %a[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x64xbf16> -> tensor<64x64xbf16>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  fusion_tile.store %d, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @exact(%pa: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 4, columns = 32>} {
  %c0 = arith.constant 0 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %ka = fusion_tile.load %a[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x64xf32> -> tensor<64x64xf32>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  fusion_tile.store %d, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}
fusion_tile.program @shared(%pa: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 8, pipeline = #fusion_tile.pipeline<wgmma, stages = 4, columns = 32>} {
  %c0 = arith.constant 0 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xbf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %ka = fusion_tile.load %a[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x64xbf16> -> tensor<64x64xbf16>
  %d = fusion_tile.dot %ka, %ka, %init : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  fusion_tile.store %d, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}
