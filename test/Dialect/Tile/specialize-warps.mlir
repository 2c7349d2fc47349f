// RUN: fusion-opt %s --pass-pipeline='builtin.module(tile.program(tile-split-epilogue,tile-specialize-warps,canonicalize,cse))' --split-input-file | FileCheck %s

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#swap = affine_map<(d0, d1)[s0, s1] -> (d1 + s0, d0 + s1)>
#vec = affine_map<(d0)[s0] -> (d0 + s0)>

// A grid that walks tiles, a KxN operand, a bias and a residual, chunks of 64
// columns: a ring for the operands, one for the residual, two buffers for the
// result. Positions run on through the outer loop. The bias is loaded before the
// contraction, or one chunk ahead.

// CHECK-LABEL: tile.program @persistent
// CHECK-SAME: extra_warps = 4
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[BLOCK:.*]] = gpu.block_id
// CHECK-DAG: %[[MA:.*]] = tile.tensor_map {{.*}} -> <128x64xbf16, b128>
// CHECK-DAG: %[[MB:.*]] = tile.tensor_map {{.*}} : <1000x512xbf16> -> <64x64xbf16, b128>
// CHECK-DAG: %[[RING:.*]] = tile.make_ring : <4, [!tile.buffer<128x64xbf16, #tile.shared_layout<"{bytes=2, align=1024, offsets=[{{\[}}144,288,576,1024,2048,4096,8192],[2,4,8,16,32,64]]}">>, !tile.buffer<128x64xbf16, #tile.shared_layout<"{bytes=2, align=1024, offsets=[{{\[}}2,4,8,16,32,64,8192],[144,288,576,1024,2048,4096]]}">>]>
// CHECK-DAG: %[[SIDE:.*]] = tile.make_ring : <2, [!tile.buffer<128x64xbf16
// CHECK-DAG: %[[MR:.*]] = tile.tensor_map %[[VR:.*]] : <?x512xbf16> -> <128x64xbf16, b128>
// CHECK-DAG: %[[OUT0:.*]] = tile.alloc
// CHECK-DAG: %[[OUT1:.*]] = tile.alloc
// CHECK-DAG: %[[MY:.*]] = tile.tensor_map {{.*}} : <?x512xbf16> -> <64x64xbf16, b128>
// CHECK: tile.specialize {registers = array<i64: 40, 232>} consumer {
// CHECK:   scf.for {{.*}} = %[[BLOCK]] {{.*}} iter_args(%[[P:.*]] = %[[ZERO]], %[[Q:.*]] = %[[ZERO]]) -> (index, index)
// CHECK:     %[[BIAS0:.*]] = tile.load {{.*}} -> tensor<64xf32>
// CHECK:     %[[SUM:.*]]:2 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[PK:.*]] = %[[P]]) -> (tensor<128x128xf32>, index)
// CHECK-NEXT:  %[[S:.*]]:2 = tile.wait %[[RING]][%[[PK]]]
// CHECK-NEXT:  %[[D:.*]] = tile.mma_async %[[S]]#0, %[[S]]#1, %[[ACC]] :
// CHECK-NEXT:  %[[E:.*]] = tile.mma_wait %[[D]]
// CHECK-NEXT:  tile.release %[[RING]][%[[PK]]]
// CHECK-NEXT:  %[[NK:.*]] = arith.addi %[[PK]], %[[ONE]]
// CHECK-NEXT:  scf.yield %[[E]], %[[NK]]
// CHECK:     %[[BIAS1:.*]] = tile.load {{.*}} -> tensor<64xf32>
// CHECK:     tile.slice %[[SUM]]#0 [0, 0]
// CHECK:     tile.broadcast %[[BIAS0]]
// CHECK:     %[[R:.*]] = tile.wait %[[SIDE]][%[[Q]]]
// CHECK-NEXT: tile.local_load %[[R]]
// CHECK-NEXT: tile.release %[[SIDE]][%[[Q]]]
// CHECK-NEXT: %[[Q1:.*]] = arith.addi %[[Q]], %[[ONE]]
// CHECK:     tile.async_store %{{.*}}, %[[MY]][{{.*}}] through %[[OUT0]] dims [0, 1]
// CHECK:     tile.slice %[[SUM]]#0 [0, 64]
// CHECK:     tile.broadcast %[[BIAS1]]
// CHECK:     tile.wait %[[SIDE]][%[[Q1]]]
// CHECK:     %[[Q2:.*]] = arith.addi %[[Q]], %[[TWO]]
// CHECK:     tile.async_store %{{.*}}, %[[MY]][{{.*}}] through %[[OUT1]] dims [0, 1]
// CHECK-NEXT: scf.yield %[[SUM]]#1, %[[Q2]]
// CHECK:   tile.async_store_wait
// CHECK-NEXT: } producer {
// CHECK:   scf.for {{.*}} = %[[BLOCK]] {{.*}} iter_args(%[[P:.*]] = %[[ZERO]]) -> (index)
// CHECK:     %[[N:.*]] = scf.for %[[K:[a-z0-9]+]] = {{.*}} iter_args(%[[PK:.*]] = %[[P]]) -> (index)
// CHECK-NEXT:  %[[S:.*]]:2 = tile.acquire %[[RING]][%[[PK]]]
// CHECK-NEXT:  tile.async_load %[[MA]][%[[OM:.*]], %[[K]]] into %[[S]]#0 signals %[[RING]][%[[PK]]] dims [0, 1]
// CHECK-NEXT:  tile.async_load %[[MB]][%[[K]], %[[ON:.*]]] into %[[S]]#1 signals %[[RING]][%[[PK]]] dims [1, 0]
// CHECK-NEXT:  arith.addi
// CHECK-NEXT:  scf.yield
// CHECK:     scf.yield %[[N]]
// CHECK: } producer {
// CHECK-NOT: tensor<
// CHECK:   scf.for {{.*}} = %[[BLOCK]]
// CHECK-NOT: scf.for
// CHECK:     tile.acquire %[[SIDE]]
// CHECK:     tile.async_load %[[MR]]
// CHECK:     tile.acquire %[[SIDE]]
// CHECK:     tile.async_load %[[MR]]
// CHECK:     scf.yield
// CHECK: tile.return
tile.program @persistent(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %py: !llvm.ptr<1>, %m: index) attributes {
    num_warps = 8, pipeline = #tile.pipeline<wgmma, stages = 4, columns = 64>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c132 = arith.constant 132 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.view %pa[%m] {shape = affine_map<()[s0] -> (s0, 1000)>} : !llvm.ptr<1> to !tile.view<?x1000xbf16>
  %b = tile.view %pb[] {shape = affine_map<()[s0] -> (1000, 512)>} : !llvm.ptr<1> to !tile.view<1000x512xbf16>
  %c = tile.view %pc[] {shape = affine_map<()[s0] -> (512)>} : !llvm.ptr<1> to !tile.view<512xf32>
  %r = tile.view %pr[%m] {shape = affine_map<()[s0] -> (s0, 512)>} : !llvm.ptr<1> to !tile.view<?x512xbf16>
  %y = tile.view %py[%m] {shape = affine_map<()[s0] -> (s0, 512)>} : !llvm.ptr<1> to !tile.view<?x512xbf16>
  %init = tile.splat %zero : f32 -> tensor<128x128xf32>
  %id = gpu.block_id x
  scf.for %t = %id to %c64 step %c132 {
    %tm = arith.divui %t, %c4 : index
    %tn = arith.remui %t, %c4 : index
    %om = arith.muli %tm, %c128 : index
    %on = arith.muli %tn, %c128 : index
    %sum = scf.for %k = %c0 to %c1000 step %c64 iter_args(%acc = %init) -> (tensor<128x128xf32>) {
      %ka = tile.load %a[#tile] (%om, %k) checked [true, true] : !tile.view<?x1000xbf16> -> tensor<128x64xbf16>
      %kb = tile.load %b[#swap] (%k, %on) checked [true, false] : !tile.view<1000x512xbf16> -> tensor<128x64xbf16>
      %d = tile.dot %ka, %kb, %acc : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
      scf.yield %d : tensor<128x128xf32>
    }
    %bias = tile.load %c[#vec] (%on) checked [false] : !tile.view<512xf32> -> tensor<128xf32>
    %bb = tile.broadcast %bias dims [1] : tensor<128xf32> -> tensor<128x128xf32>
    %s1 = arith.addf %sum, %bb : tensor<128x128xf32>
    %res = tile.load %r[#tile] (%om, %on) checked [true, false] : !tile.view<?x512xbf16> -> tensor<128x128xbf16>
    %rf = arith.extf %res : tensor<128x128xbf16> to tensor<128x128xf32>
    %s2 = arith.addf %s1, %rf : tensor<128x128xf32>
    %o = arith.truncf %s2 : tensor<128x128xf32> to tensor<128x128xbf16>
    tile.store %o, %y[#tile] (%om, %on) checked [true, false] : tensor<128x128xbf16>, !tile.view<?x512xbf16>
  }
  tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#vec = affine_map<(d0)[s0] -> (d0 + s0)>

// Without tiles to load, up to 512 bytes of small loads wait in registers for
// all chunks: two of f32, not three.

// CHECK-LABEL: tile.program @small_loads
// CHECK: } consumer {
// CHECK: tile.load {{.*}} -> tensor<64xf32>
// CHECK: tile.load {{.*}} -> tensor<64xf32>
// CHECK-NOT: tile.load
// CHECK: scf.for
// CHECK: tile.mma_async
// CHECK: scf.yield
// CHECK: tile.slice
// CHECK: tile.async_store
// CHECK: tile.load {{.*}} -> tensor<64xf32>
// CHECK: tile.slice
// CHECK: tile.async_store
// CHECK: tile.load {{.*}} -> tensor<64xf32>
// CHECK: tile.slice
// CHECK: tile.async_store
// CHECK: tile.return
tile.program @small_loads(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 8, pipeline = #tile.pipeline<wgmma, stages = 3, columns = 64>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.view %pa[] {shape = affine_map<() -> (128, 1024)>} : !llvm.ptr<1> to !tile.view<128x1024xbf16>
  %b = tile.view %pb[] {shape = affine_map<() -> (256, 1024)>} : !llvm.ptr<1> to !tile.view<256x1024xbf16>
  %c = tile.view %pc[] {shape = affine_map<() -> (256)>} : !llvm.ptr<1> to !tile.view<256xf32>
  %y = tile.view %py[] {shape = affine_map<() -> (128, 256)>} : !llvm.ptr<1> to !tile.view<128x256xbf16>
  %init = tile.splat %zero : f32 -> tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %init) -> (tensor<128x256xf32>) {
    %ka = tile.load %a[#tile] (%c0, %k) checked [false, false] : !tile.view<128x1024xbf16> -> tensor<128x64xbf16>
    %kb = tile.load %b[#tile] (%c0, %k) checked [false, false] : !tile.view<256x1024xbf16> -> tensor<256x64xbf16>
    %d = tile.dot %ka, %kb, %acc : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %bias = tile.load %c[#vec] (%c0) checked [false] : !tile.view<256xf32> -> tensor<256xf32>
  %bb = tile.broadcast %bias dims [1] : tensor<256xf32> -> tensor<128x256xf32>
  %s1 = arith.addf %sum, %bb : tensor<128x256xf32>
  %o = arith.truncf %s1 : tensor<128x256xf32> to tensor<128x256xbf16>
  tile.store %o, %y[#tile] (%c0, %c0) checked [false, false] : tensor<128x256xbf16>, !tile.view<128x256xbf16>
  tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#vec = affine_map<(d0)[s0] -> (d0 + s0)>

// A weight of int8 becomes bf16 in the consumer's registers, which makes its
// rows the instruction's: `swapped`. The scales stay loads, before the wait for
// the stage. Two nested loops carry the position; a store of few rows stays.

// CHECK-LABEL: tile.program @dequantized
// CHECK-SAME: extra_warps = 1
// CHECK-DAG: tile.tensor_map {{.*}} -> <1x16x64xbf16, b128>
// CHECK-DAG: tile.tensor_map {{.*}} -> <1x64x64xi8, b64>
// CHECK: tile.specialize consumer {
// CHECK:   scf.for {{.*}} -> (tensor<16x64xf32>, index)
// CHECK:     scf.for {{.*}} -> (tensor<16x64xf32>, index)
// CHECK:       tile.load {{.*}} -> tensor<64xbf16>
// CHECK:       %[[S:.*]]:2 = tile.wait
// CHECK:       %[[W:.*]] = tile.local_load %[[S]]#1 : {{.*}} -> tensor<64x64xi8>
// CHECK:       %[[B:.*]] = arith.mulf {{.*}} : tensor<64x64xbf16>
// CHECK:       %[[D:.*]] = tile.mma_async %[[S]]#0, %[[B]], %{{.*}} swapped : !tile.buffer<16x64xbf16
// CHECK:       tile.mma_wait %[[D]] {{.*}}keeping %[[B]]
// CHECK:       tile.release
// CHECK:   tile.store
// CHECK: } producer {
// CHECK:   scf.for %[[G:[a-z0-9]+]] = {{.*}} -> (index)
// CHECK:     scf.for %[[K:[a-z0-9]+]] = {{.*}} -> (index)
// CHECK:       tile.async_load %{{.*}}[%[[G]], %{{.*}}, %[[K]]] {{.*}} dims [1, 2]
// CHECK:       tile.async_load %{{.*}}[%[[G]], %{{.*}}, %[[K]]] {{.*}} dims [1, 2]
// CHECK-NOT: tile.load
// CHECK: tile.return
#plane = affine_map<(d0, d1)[s0, s1, s2] -> (s0, d0 + s1, d1 + s2)>
tile.program @dequantized(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %ps: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #tile.pipeline<wgmma, stages = 6>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = tile.view %pa[] {shape = affine_map<() -> (3, 16, 256)>} : !llvm.ptr<1> to !tile.view<3x16x256xbf16>
  %b = tile.view %pb[] {shape = affine_map<() -> (3, 64, 256)>} : !llvm.ptr<1> to !tile.view<3x64x256xi8>
  %s = tile.view %ps[] {shape = affine_map<() -> (64)>} : !llvm.ptr<1> to !tile.view<64xbf16>
  %y = tile.view %py[] {shape = affine_map<() -> (16, 64)>} : !llvm.ptr<1> to !tile.view<16x64xf32>
  %init = arith.constant dense<0.0> : tensor<16x64xf32>
  %sum = scf.for %g = %c0 to %c3 step %c1 iter_args(%outer = %init) -> (tensor<16x64xf32>) {
    %inner = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %outer) -> (tensor<16x64xf32>) {
      %ka = tile.load %a[#plane] (%g, %c0, %k) checked [false, false, false] : !tile.view<3x16x256xbf16> -> tensor<16x64xbf16>
      %kb = tile.load %b[#plane] (%g, %c0, %k) checked [false, false, false] : !tile.view<3x64x256xi8> -> tensor<64x64xi8>
      %kf = arith.sitofp %kb : tensor<64x64xi8> to tensor<64x64xbf16>
      %scale = tile.load %s[#vec] (%c0) checked [false] : !tile.view<64xbf16> -> tensor<64xbf16>
      %scales = tile.broadcast %scale dims [0] : tensor<64xbf16> -> tensor<64x64xbf16>
      %kw = arith.mulf %kf, %scales : tensor<64x64xbf16>
      %d = tile.dot %ka, %kw, %acc : tensor<16x64xbf16>, tensor<64x64xbf16> -> tensor<16x64xf32>
      scf.yield %d : tensor<16x64xf32>
    }
    scf.yield %inner : tensor<16x64xf32>
  }
  tile.store %sum, %y[#tile] (%c0, %c0) checked [false, false] : tensor<16x64xf32>, !tile.view<16x64xf32>
  tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Two products share an operand, which is also summed by rows: one stage of
// three buffers, one wait for both products. An earlier walk over the operand
// is no part of the contraction.

// CHECK-LABEL: tile.program @gated
// CHECK: tile.make_ring : <3, [!tile.buffer<64x64xf16, {{.*}}>, !tile.buffer<32x64xf16, {{.*}}>, !tile.buffer<32x64xf16, {{.*}}>]>
// CHECK-NOT: tile.make_ring
// CHECK: tile.specialize consumer {
// CHECK:   scf.for {{.*}} -> (tensor<64x64xf16>) {
// CHECK:     tile.load
// CHECK:   scf.for {{.*}} -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x64xf16>, index)
// CHECK:     %[[S:.*]]:3 = tile.wait
// CHECK:     %[[X:.*]] = tile.local_load %[[S]]#0
// CHECK:     %[[D:.*]] = tile.mma_async %[[S]]#0, %[[S]]#1
// CHECK:     %[[E:.*]] = tile.mma_async %[[S]]#0, %[[S]]#2
// CHECK:     arith.addf %{{.*}}, %[[X]]
// CHECK:     tile.mma_wait %[[D]], %[[E]] :
// CHECK:     tile.release
// CHECK:   tile.async_store
// CHECK: } producer {
// CHECK:   scf.for
// CHECK-COUNT-3: tile.async_load
// CHECK-NOT: scf.for
tile.program @gated(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #tile.pipeline<wgmma, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !tile.view<64x256xf16>
  %b = tile.view %pb[] {shape = affine_map<() -> (32, 256)>} : !llvm.ptr<1> to !tile.view<32x256xf16>
  %c = tile.view %pc[] {shape = affine_map<() -> (32, 256)>} : !llvm.ptr<1> to !tile.view<32x256xf16>
  %y = tile.view %py[] {shape = affine_map<() -> (64, 32)>} : !llvm.ptr<1> to !tile.view<64x32xf32>
  %init = arith.constant dense<0.0> : tensor<64x32xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %stat = scf.for %k = %c0 to %c256 step %c64 iter_args(%s = %none) -> (tensor<64x64xf16>) {
    %ka = tile.load %a[#tile] (%c0, %k) checked [false, false] : !tile.view<64x256xf16> -> tensor<64x64xf16>
    %n = arith.maximumf %s, %ka : tensor<64x64xf16>
    scf.yield %n : tensor<64x64xf16>
  }
  %r:3 = scf.for %k = %c0 to %c256 step %c64 iter_args(%p = %init, %q = %init, %s = %stat) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x64xf16>) {
    %ka = tile.load %a[#tile] (%c0, %k) checked [false, false] : !tile.view<64x256xf16> -> tensor<64x64xf16>
    %kb = tile.load %b[#tile] (%c0, %k) checked [false, false] : !tile.view<32x256xf16> -> tensor<32x64xf16>
    %kc = tile.load %c[#tile] (%c0, %k) checked [false, false] : !tile.view<32x256xf16> -> tensor<32x64xf16>
    %d = tile.dot %ka, %kb, %p : tensor<64x64xf16>, tensor<32x64xf16> -> tensor<64x32xf32>
    %e = tile.dot %ka, %kc, %q : tensor<64x64xf16>, tensor<32x64xf16> -> tensor<64x32xf32>
    %n = arith.addf %s, %ka : tensor<64x64xf16>
    scf.yield %d, %e, %n : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x64xf16>
  }
  %row = tile.reduce %r#2 along 1 : tensor<64x64xf16> -> tensor<64xf16> {
  ^bb0(%u: f16, %v: f16):
    %w = arith.addf %u, %v : f16
    tile.yield %w : f16
  }
  %rf = arith.extf %row : tensor<64xf16> to tensor<64xf32>
  %rows = tile.broadcast %rf dims [0] : tensor<64xf32> -> tensor<64x32xf32>
  %m = arith.mulf %r#0, %r#1 : tensor<64x32xf32>
  %o = arith.divf %m, %rows : tensor<64x32xf32>
  tile.store %o, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x32xf32>, !tile.view<64x32xf32>
  tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// A sum that is changed between its products is waited for first; one loop
// carries it through, and a store under a condition stays.

// CHECK-LABEL: tile.program @chained
// CHECK: %[[D:.*]] = tile.mma_async
// CHECK-NEXT: %[[W:.*]] = tile.mma_wait %[[D]]
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[W]]
// CHECK-NEXT: %[[E:.*]] = tile.mma_async %{{.*}}, %{{.*}}, %[[N]]
// CHECK-NEXT: %[[F:.*]] = tile.mma_async %{{.*}}, %{{.*}}, %[[E]]
// CHECK-NEXT: tile.mma_wait %[[F]] :
// CHECK-NEXT: tile.release
// CHECK: scf.if
// CHECK-NEXT: tile.store
// CHECK-NOT: tile.async_store_wait
// CHECK: } producer {
tile.program @chained(%pa: !llvm.ptr<1>, %py: !llvm.ptr<1>, %on: index) attributes {
    num_warps = 4, pipeline = #tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !tile.view<64x256xf16>
  %y = tile.view %py[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %k = %c0 to %c256 step %c64 iter_args(%p = %init) -> (tensor<64x64xf32>) {
    %ka = tile.load %a[#tile] (%c0, %k) checked [false, false] : !tile.view<64x256xf16> -> tensor<64x64xf16>
    %d = tile.dot %ka, %ka, %p : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %n = arith.negf %d : tensor<64x64xf32>
    %e = tile.dot %ka, %ka, %n : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %f = tile.dot %ka, %ka, %e : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %f : tensor<64x64xf32>
  }
  %if = arith.cmpi eq, %on, %c0 : index
  scf.if %if {
    tile.store %r, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !tile.view<64x64xf32>
  }
  tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Both operands are computed: the larger one stays in registers, the other goes
// through a buffer of its own. With few rows of a computed operand as well, the
// rows become columns.

// CHECK-LABEL: tile.program @both
// CHECK: %[[BUFFER:.*]] = tile.alloc : <64x64xf16
// CHECK: tile.specialize {{.*}}consumer {
// CHECK:   %[[S:.*]]:2 = tile.wait
// CHECK:   %[[A:.*]] = arith.negf
// CHECK:   %[[B:.*]] = arith.negf
// CHECK:   tile.local_store %[[B]], %[[BUFFER]]
// CHECK:   %[[D:.*]] = tile.mma_async %[[A]], %[[BUFFER]], %{{.*}} : tensor<128x64xf16>, !tile.buffer
// CHECK:   tile.mma_wait %[[D]] {{.*}}keeping %[[A]]
// CHECK-LABEL: tile.program @few
// CHECK: %[[BUFFER:.*]] = tile.alloc : <16x64xf16
// CHECK:   %[[S:.*]]:2 = tile.wait
// CHECK:   %[[A:.*]] = arith.negf
// CHECK:   tile.local_store %[[A]], %[[BUFFER]]
// CHECK:   %[[D:.*]] = tile.mma_async %[[BUFFER]], %[[S]]#1, %{{.*}} swapped
// CHECK:   tile.mma_wait %[[D]] :
tile.program @both(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 8, pipeline = #tile.pipeline<wgmma, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = tile.view %pa[] {shape = affine_map<() -> (128, 256)>} : !llvm.ptr<1> to !tile.view<128x256xf16>
  %b = tile.view %pb[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !tile.view<64x256xf16>
  %y = tile.view %py[] {shape = affine_map<() -> (128, 64)>} : !llvm.ptr<1> to !tile.view<128x64xf32>
  %init = arith.constant dense<0.0> : tensor<128x64xf32>
  %r = scf.for %k = %c0 to %c256 step %c64 iter_args(%p = %init) -> (tensor<128x64xf32>) {
    %ka = tile.load %a[#tile] (%c0, %k) checked [false, false] : !tile.view<128x256xf16> -> tensor<128x64xf16>
    %kb = tile.load %b[#tile] (%c0, %k) checked [false, false] : !tile.view<64x256xf16> -> tensor<64x64xf16>
    %na = arith.negf %ka : tensor<128x64xf16>
    %nb = arith.negf %kb : tensor<64x64xf16>
    %d = tile.dot %na, %nb, %p : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  tile.store %r, %y[#tile] (%c0, %c0) checked [false, false] : tensor<128x64xf32>, !tile.view<128x64xf32>
  tile.return
}
tile.program @few(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #tile.pipeline<wgmma, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = tile.view %pa[] {shape = affine_map<() -> (16, 256)>} : !llvm.ptr<1> to !tile.view<16x256xf16>
  %b = tile.view %pb[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !tile.view<64x256xf16>
  %y = tile.view %py[] {shape = affine_map<() -> (16, 64)>} : !llvm.ptr<1> to !tile.view<16x64xf32>
  %init = arith.constant dense<0.0> : tensor<16x64xf32>
  %r = scf.for %k = %c0 to %c256 step %c64 iter_args(%p = %init) -> (tensor<16x64xf32>) {
    %ka = tile.load %a[#tile] (%c0, %k) checked [false, false] : !tile.view<16x256xf16> -> tensor<16x64xf16>
    %kb = tile.load %b[#tile] (%c0, %k) checked [false, false] : !tile.view<64x256xf16> -> tensor<64x64xf16>
    %na = arith.negf %ka : tensor<16x64xf16>
    %d = tile.dot %na, %kb, %p : tensor<16x64xf16>, tensor<64x64xf16> -> tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  tile.store %r, %y[#tile] (%c0, %c0) checked [false, false] : tensor<16x64xf32>, !tile.view<16x64xf32>
  tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// With few accumulators no registers are moved.

// CHECK-LABEL: tile.program @few_accumulators
// CHECK-SAME: extra_warps = 1
// CHECK: tile.specialize consumer {
tile.program @few_accumulators(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 8, pipeline = #tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = tile.view %pa[] {shape = affine_map<() -> (128, 256)>} : !llvm.ptr<1> to !tile.view<128x256xf16>
  %b = tile.view %pb[] {shape = affine_map<() -> (16, 256)>} : !llvm.ptr<1> to !tile.view<16x256xf16>
  %y = tile.view %py[] {shape = affine_map<() -> (128, 16)>} : !llvm.ptr<1> to !tile.view<128x16xf32>
  %init = arith.constant dense<0.0> : tensor<128x16xf32>
  %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %init) -> (tensor<128x16xf32>) {
    %ka = tile.load %a[#tile] (%c0, %k) checked [false, false] : !tile.view<128x256xf16> -> tensor<128x64xf16>
    %kb = tile.load %b[#tile] (%c0, %k) checked [false, false] : !tile.view<16x256xf16> -> tensor<16x64xf16>
    %d = tile.dot %ka, %kb, %acc : tensor<128x64xf16>, tensor<16x64xf16> -> tensor<128x16xf32>
    scf.yield %d : tensor<128x16xf32>
  }
  tile.store %sum, %y[#tile] (%c0, %c0) checked [false, false] : tensor<128x16xf32>, !tile.view<128x16xf32>
  tile.return
}
