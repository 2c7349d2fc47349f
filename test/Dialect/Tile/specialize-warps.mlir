// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-split-epilogue,fusion-tile-specialize-warps,canonicalize,cse))' --split-input-file | FileCheck %s

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#swap = affine_map<(d0, d1)[s0, s1] -> (d1 + s0, d0 + s1)>
#vec = affine_map<(d0)[s0] -> (d0 + s0)>

// A grid that walks tiles, a KxN operand, a bias and a residual, chunks of 64
// columns: a ring for the operands, one for the residual, two buffers for the
// result. Positions run on through the outer loop. The bias is loaded before the
// contraction, or one chunk ahead.

// CHECK-LABEL: fusion_tile.program @persistent
// CHECK-SAME: extra_warps = 4
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[BLOCK:.*]] = gpu.block_id
// CHECK-DAG: %[[MA:.*]] = fusion_tile.tensor_map {{.*}} -> <128x64xbf16, b128>
// CHECK-DAG: %[[MB:.*]] = fusion_tile.tensor_map {{.*}} : <1000x512xbf16> -> <64x64xbf16, b128>
// CHECK-DAG: %[[RING:.*]] = fusion_tile.make_ring : <4, [!fusion_tile.buffer<128x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[{{\[}}144,288,576,1024,2048,4096,8192],[2,4,8,16,32,64]]}">>, !fusion_tile.buffer<128x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[{{\[}}2,4,8,16,32,64,8192],[144,288,576,1024,2048,4096]]}">>]>
// CHECK-DAG: %[[SIDE:.*]] = fusion_tile.make_ring : <2, [!fusion_tile.buffer<128x64xbf16
// CHECK-DAG: %[[MR:.*]] = fusion_tile.tensor_map %[[VR:.*]] : <?x512xbf16> -> <128x64xbf16, b128>
// CHECK-DAG: %[[OUT0:.*]] = fusion_tile.alloc
// CHECK-DAG: %[[OUT1:.*]] = fusion_tile.alloc
// CHECK-DAG: %[[MY:.*]] = fusion_tile.tensor_map {{.*}} : <?x512xbf16> -> <64x64xbf16, b128>
// CHECK: fusion_tile.specialize {registers = array<i64: 40, 232>} consumer {
// CHECK:   scf.for {{.*}} = %[[BLOCK]] {{.*}} iter_args(%[[P:.*]] = %[[ZERO]], %[[Q:.*]] = %[[ZERO]]) -> (index, index)
// CHECK:     %[[BIAS0:.*]] = fusion_tile.load {{.*}} -> tensor<64xf32>
// CHECK:     %[[SUM:.*]]:2 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[PK:.*]] = %[[P]]) -> (tensor<128x128xf32>, index)
// CHECK-NEXT:  %[[S:.*]]:2 = fusion_tile.wait %[[RING]][%[[PK]]]
// CHECK-NEXT:  %[[D:.*]] = fusion_tile.mma_async %[[S]]#0, %[[S]]#1, %[[ACC]] :
// CHECK-NEXT:  %[[E:.*]] = fusion_tile.mma_wait %[[D]]
// CHECK-NEXT:  fusion_tile.release %[[RING]][%[[PK]]]
// CHECK-NEXT:  %[[NK:.*]] = arith.addi %[[PK]], %[[ONE]]
// CHECK-NEXT:  scf.yield %[[E]], %[[NK]]
// CHECK:     %[[BIAS1:.*]] = fusion_tile.load {{.*}} -> tensor<64xf32>
// CHECK:     fusion_tile.slice %[[SUM]]#0 [0, 0]
// CHECK:     fusion_tile.broadcast %[[BIAS0]]
// CHECK:     %[[R:.*]] = fusion_tile.wait %[[SIDE]][%[[Q]]]
// CHECK-NEXT: fusion_tile.local_load %[[R]]
// CHECK-NEXT: fusion_tile.release %[[SIDE]][%[[Q]]]
// CHECK-NEXT: %[[Q1:.*]] = arith.addi %[[Q]], %[[ONE]]
// CHECK:     fusion_tile.async_store %{{.*}}, %[[MY]][{{.*}}] through %[[OUT0]] dims [0, 1]
// CHECK:     fusion_tile.slice %[[SUM]]#0 [0, 64]
// CHECK:     fusion_tile.broadcast %[[BIAS1]]
// CHECK:     fusion_tile.wait %[[SIDE]][%[[Q1]]]
// CHECK:     %[[Q2:.*]] = arith.addi %[[Q]], %[[TWO]]
// CHECK:     fusion_tile.async_store %{{.*}}, %[[MY]][{{.*}}] through %[[OUT1]] dims [0, 1]
// CHECK-NEXT: scf.yield %[[SUM]]#1, %[[Q2]]
// CHECK:   fusion_tile.async_store_wait
// CHECK-NEXT: } producer {
// CHECK:   scf.for {{.*}} = %[[BLOCK]] {{.*}} iter_args(%[[P:.*]] = %[[ZERO]]) -> (index)
// CHECK:     %[[N:.*]] = scf.for %[[K:[a-z0-9]+]] = {{.*}} iter_args(%[[PK:.*]] = %[[P]]) -> (index)
// CHECK-NEXT:  %[[S:.*]]:2 = fusion_tile.acquire %[[RING]][%[[PK]]]
// CHECK-NEXT:  fusion_tile.async_load %[[MA]][%[[OM:.*]], %[[K]]] into %[[S]]#0 signals %[[RING]][%[[PK]]] dims [0, 1]
// CHECK-NEXT:  fusion_tile.async_load %[[MB]][%[[K]], %[[ON:.*]]] into %[[S]]#1 signals %[[RING]][%[[PK]]] dims [1, 0]
// CHECK-NEXT:  arith.addi
// CHECK-NEXT:  scf.yield
// CHECK:     scf.yield %[[N]]
// CHECK: } producer {
// CHECK-NOT: tensor<
// CHECK:   scf.for {{.*}} = %[[BLOCK]]
// CHECK-NOT: scf.for
// CHECK:     fusion_tile.acquire %[[SIDE]]
// CHECK:     fusion_tile.async_load %[[MR]]
// CHECK:     fusion_tile.acquire %[[SIDE]]
// CHECK:     fusion_tile.async_load %[[MR]]
// CHECK:     scf.yield
// CHECK: fusion_tile.return
fusion_tile.program @persistent(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %py: !llvm.ptr<1>, %m: index) attributes {
    num_warps = 8, pipeline = #fusion_tile.pipeline<wgmma, stages = 4, columns = 64>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c132 = arith.constant 132 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  %a = fusion_tile.view %pa[%m] {shape = affine_map<()[s0] -> (s0, 1000)>} : !llvm.ptr<1> to !fusion_tile.view<?x1000xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<()[s0] -> (1000, 512)>} : !llvm.ptr<1> to !fusion_tile.view<1000x512xbf16>
  %c = fusion_tile.view %pc[] {shape = affine_map<()[s0] -> (512)>} : !llvm.ptr<1> to !fusion_tile.view<512xf32>
  %r = fusion_tile.view %pr[%m] {shape = affine_map<()[s0] -> (s0, 512)>} : !llvm.ptr<1> to !fusion_tile.view<?x512xbf16>
  %y = fusion_tile.view %py[%m] {shape = affine_map<()[s0] -> (s0, 512)>} : !llvm.ptr<1> to !fusion_tile.view<?x512xbf16>
  %init = fusion_tile.splat %zero : f32 -> tensor<128x128xf32>
  %id = gpu.block_id x
  scf.for %t = %id to %c64 step %c132 {
    %tm = arith.divui %t, %c4 : index
    %tn = arith.remui %t, %c4 : index
    %om = arith.muli %tm, %c128 : index
    %on = arith.muli %tn, %c128 : index
    %sum = scf.for %k = %c0 to %c1000 step %c64 iter_args(%acc = %init) -> (tensor<128x128xf32>) {
      %ka = fusion_tile.load %a[#tile] (%om, %k) checked [true, true] : !fusion_tile.view<?x1000xbf16> -> tensor<128x64xbf16>
      %kb = fusion_tile.load %b[#swap] (%k, %on) checked [true, false] : !fusion_tile.view<1000x512xbf16> -> tensor<128x64xbf16>
      %d = fusion_tile.dot %ka, %kb, %acc : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
      scf.yield %d : tensor<128x128xf32>
    }
    %bias = fusion_tile.load %c[#vec] (%on) checked [false] : !fusion_tile.view<512xf32> -> tensor<128xf32>
    %bb = fusion_tile.broadcast %bias dims [1] : tensor<128xf32> -> tensor<128x128xf32>
    %s1 = arith.addf %sum, %bb : tensor<128x128xf32>
    %res = fusion_tile.load %r[#tile] (%om, %on) checked [true, false] : !fusion_tile.view<?x512xbf16> -> tensor<128x128xbf16>
    %rf = arith.extf %res : tensor<128x128xbf16> to tensor<128x128xf32>
    %s2 = arith.addf %s1, %rf : tensor<128x128xf32>
    %o = arith.truncf %s2 : tensor<128x128xf32> to tensor<128x128xbf16>
    fusion_tile.store %o, %y[#tile] (%om, %on) checked [true, false] : tensor<128x128xbf16>, !fusion_tile.view<?x512xbf16>
  }
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#vec = affine_map<(d0)[s0] -> (d0 + s0)>

// Without tiles to load, up to 512 bytes of small loads wait in registers for
// all chunks: two of f32, not three.

// CHECK-LABEL: fusion_tile.program @small_loads
// CHECK: } consumer {
// CHECK: fusion_tile.load {{.*}} -> tensor<64xf32>
// CHECK: fusion_tile.load {{.*}} -> tensor<64xf32>
// CHECK-NOT: fusion_tile.load
// CHECK: scf.for
// CHECK: fusion_tile.mma_async
// CHECK: scf.yield
// CHECK: fusion_tile.slice
// CHECK: fusion_tile.async_store
// CHECK: fusion_tile.load {{.*}} -> tensor<64xf32>
// CHECK: fusion_tile.slice
// CHECK: fusion_tile.async_store
// CHECK: fusion_tile.load {{.*}} -> tensor<64xf32>
// CHECK: fusion_tile.slice
// CHECK: fusion_tile.async_store
// CHECK: fusion_tile.return
fusion_tile.program @small_loads(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 8, pipeline = #fusion_tile.pipeline<wgmma, stages = 3, columns = 64>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (128, 1024)>} : !llvm.ptr<1> to !fusion_tile.view<128x1024xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (256, 1024)>} : !llvm.ptr<1> to !fusion_tile.view<256x1024xbf16>
  %c = fusion_tile.view %pc[] {shape = affine_map<() -> (256)>} : !llvm.ptr<1> to !fusion_tile.view<256xf32>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (128, 256)>} : !llvm.ptr<1> to !fusion_tile.view<128x256xbf16>
  %init = fusion_tile.splat %zero : f32 -> tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %init) -> (tensor<128x256xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<128x1024xbf16> -> tensor<128x64xbf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<256x1024xbf16> -> tensor<256x64xbf16>
    %d = fusion_tile.dot %ka, %kb, %acc : tensor<128x64xbf16>, tensor<256x64xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %bias = fusion_tile.load %c[#vec] (%c0) checked [false] : !fusion_tile.view<256xf32> -> tensor<256xf32>
  %bb = fusion_tile.broadcast %bias dims [1] : tensor<256xf32> -> tensor<128x256xf32>
  %s1 = arith.addf %sum, %bb : tensor<128x256xf32>
  %o = arith.truncf %s1 : tensor<128x256xf32> to tensor<128x256xbf16>
  fusion_tile.store %o, %y[#tile] (%c0, %c0) checked [false, false] : tensor<128x256xbf16>, !fusion_tile.view<128x256xbf16>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#vec = affine_map<(d0)[s0] -> (d0 + s0)>

// A weight of int8 becomes bf16 in the consumer's registers, which makes its
// rows the instruction's: `swapped`. The scales stay loads, before the wait for
// the stage. Two nested loops carry the position; a store of few rows stays.

// CHECK-LABEL: fusion_tile.program @dequantized
// CHECK-SAME: extra_warps = 1
// CHECK-DAG: fusion_tile.tensor_map {{.*}} -> <1x16x64xbf16, b128>
// CHECK-DAG: fusion_tile.tensor_map {{.*}} -> <1x64x64xi8, b64>
// CHECK: fusion_tile.specialize consumer {
// CHECK:   scf.for {{.*}} -> (tensor<16x64xf32>, index)
// CHECK:     scf.for {{.*}} -> (tensor<16x64xf32>, index)
// CHECK:       fusion_tile.load {{.*}} -> tensor<64xbf16>
// CHECK:       %[[S:.*]]:2 = fusion_tile.wait
// CHECK:       %[[W:.*]] = fusion_tile.local_load %[[S]]#1 : {{.*}} -> tensor<64x64xi8>
// CHECK:       %[[B:.*]] = arith.mulf {{.*}} : tensor<64x64xbf16>
// CHECK:       %[[D:.*]] = fusion_tile.mma_async %[[S]]#0, %[[B]], %{{.*}} swapped : !fusion_tile.buffer<16x64xbf16
// CHECK:       fusion_tile.mma_wait %[[D]] {{.*}}keeping %[[B]]
// CHECK:       fusion_tile.release
// CHECK:   fusion_tile.store
// CHECK: } producer {
// CHECK:   scf.for %[[G:[a-z0-9]+]] = {{.*}} -> (index)
// CHECK:     scf.for %[[K:[a-z0-9]+]] = {{.*}} -> (index)
// CHECK:       fusion_tile.async_load %{{.*}}[%[[G]], %{{.*}}, %[[K]]] {{.*}} dims [1, 2]
// CHECK:       fusion_tile.async_load %{{.*}}[%[[G]], %{{.*}}, %[[K]]] {{.*}} dims [1, 2]
// CHECK-NOT: fusion_tile.load
// CHECK: fusion_tile.return
#plane = affine_map<(d0, d1)[s0, s1, s2] -> (s0, d0 + s1, d1 + s2)>
fusion_tile.program @dequantized(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %ps: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 6>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (3, 16, 256)>} : !llvm.ptr<1> to !fusion_tile.view<3x16x256xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (3, 64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<3x64x256xi8>
  %s = fusion_tile.view %ps[] {shape = affine_map<() -> (64)>} : !llvm.ptr<1> to !fusion_tile.view<64xbf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (16, 64)>} : !llvm.ptr<1> to !fusion_tile.view<16x64xf32>
  %init = arith.constant dense<0.0> : tensor<16x64xf32>
  %sum = scf.for %g = %c0 to %c3 step %c1 iter_args(%outer = %init) -> (tensor<16x64xf32>) {
    %inner = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %outer) -> (tensor<16x64xf32>) {
      %ka = fusion_tile.load %a[#plane] (%g, %c0, %k) checked [false, false, false] : !fusion_tile.view<3x16x256xbf16> -> tensor<16x64xbf16>
      %kb = fusion_tile.load %b[#plane] (%g, %c0, %k) checked [false, false, false] : !fusion_tile.view<3x64x256xi8> -> tensor<64x64xi8>
      %kf = arith.sitofp %kb : tensor<64x64xi8> to tensor<64x64xbf16>
      %scale = fusion_tile.load %s[#vec] (%c0) checked [false] : !fusion_tile.view<64xbf16> -> tensor<64xbf16>
      %scales = fusion_tile.broadcast %scale dims [0] : tensor<64xbf16> -> tensor<64x64xbf16>
      %kw = arith.mulf %kf, %scales : tensor<64x64xbf16>
      %d = fusion_tile.dot %ka, %kw, %acc : tensor<16x64xbf16>, tensor<64x64xbf16> -> tensor<16x64xf32>
      scf.yield %d : tensor<16x64xf32>
    }
    scf.yield %inner : tensor<16x64xf32>
  }
  fusion_tile.store %sum, %y[#tile] (%c0, %c0) checked [false, false] : tensor<16x64xf32>, !fusion_tile.view<16x64xf32>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Two products share an operand, which is also summed by rows: one stage of
// three buffers, one wait for both products. An earlier walk over the operand
// is no part of the contraction.

// CHECK-LABEL: fusion_tile.program @gated
// CHECK: fusion_tile.make_ring : <3, [!fusion_tile.buffer<64x64xf16, {{.*}}>, !fusion_tile.buffer<32x64xf16, {{.*}}>, !fusion_tile.buffer<32x64xf16, {{.*}}>]>
// CHECK-NOT: fusion_tile.make_ring
// CHECK: fusion_tile.specialize consumer {
// CHECK:   scf.for {{.*}} -> (tensor<64x64xf16>) {
// CHECK:     fusion_tile.load
// CHECK:   scf.for {{.*}} -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x64xf16>, index)
// CHECK:     %[[S:.*]]:3 = fusion_tile.wait
// CHECK:     %[[X:.*]] = fusion_tile.local_load %[[S]]#0
// CHECK:     %[[D:.*]] = fusion_tile.mma_async %[[S]]#0, %[[S]]#1
// CHECK:     %[[E:.*]] = fusion_tile.mma_async %[[S]]#0, %[[S]]#2
// CHECK:     arith.addf %{{.*}}, %[[X]]
// CHECK:     fusion_tile.mma_wait %[[D]], %[[E]] :
// CHECK:     fusion_tile.release
// CHECK:   fusion_tile.async_store
// CHECK: } producer {
// CHECK:   scf.for
// CHECK-COUNT-3: fusion_tile.async_load
// CHECK-NOT: scf.for
fusion_tile.program @gated(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (32, 256)>} : !llvm.ptr<1> to !fusion_tile.view<32x256xf16>
  %c = fusion_tile.view %pc[] {shape = affine_map<() -> (32, 256)>} : !llvm.ptr<1> to !fusion_tile.view<32x256xf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (64, 32)>} : !llvm.ptr<1> to !fusion_tile.view<64x32xf32>
  %init = arith.constant dense<0.0> : tensor<64x32xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf16>
  %stat = scf.for %k = %c0 to %c256 step %c64 iter_args(%s = %none) -> (tensor<64x64xf16>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<64x256xf16> -> tensor<64x64xf16>
    %n = arith.maximumf %s, %ka : tensor<64x64xf16>
    scf.yield %n : tensor<64x64xf16>
  }
  %r:3 = scf.for %k = %c0 to %c256 step %c64 iter_args(%p = %init, %q = %init, %s = %stat) -> (tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x64xf16>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<64x256xf16> -> tensor<64x64xf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<32x256xf16> -> tensor<32x64xf16>
    %kc = fusion_tile.load %c[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<32x256xf16> -> tensor<32x64xf16>
    %d = fusion_tile.dot %ka, %kb, %p : tensor<64x64xf16>, tensor<32x64xf16> -> tensor<64x32xf32>
    %e = fusion_tile.dot %ka, %kc, %q : tensor<64x64xf16>, tensor<32x64xf16> -> tensor<64x32xf32>
    %n = arith.addf %s, %ka : tensor<64x64xf16>
    scf.yield %d, %e, %n : tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x64xf16>
  }
  %row = fusion_tile.reduce %r#2 along 1 : tensor<64x64xf16> -> tensor<64xf16> {
  ^bb0(%u: f16, %v: f16):
    %w = arith.addf %u, %v : f16
    fusion_tile.yield %w : f16
  }
  %rf = arith.extf %row : tensor<64xf16> to tensor<64xf32>
  %rows = fusion_tile.broadcast %rf dims [0] : tensor<64xf32> -> tensor<64x32xf32>
  %m = arith.mulf %r#0, %r#1 : tensor<64x32xf32>
  %o = arith.divf %m, %rows : tensor<64x32xf32>
  fusion_tile.store %o, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x32xf32>, !fusion_tile.view<64x32xf32>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// A sum that is changed between its products is waited for first; one loop
// carries it through, and a store under a condition stays.

// CHECK-LABEL: fusion_tile.program @chained
// CHECK: %[[D:.*]] = fusion_tile.mma_async
// CHECK-NEXT: %[[W:.*]] = fusion_tile.mma_wait %[[D]]
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[W]]
// CHECK-NEXT: %[[E:.*]] = fusion_tile.mma_async %{{.*}}, %{{.*}}, %[[N]]
// CHECK-NEXT: %[[F:.*]] = fusion_tile.mma_async %{{.*}}, %{{.*}}, %[[E]]
// CHECK-NEXT: fusion_tile.mma_wait %[[F]] :
// CHECK-NEXT: fusion_tile.release
// CHECK: scf.if
// CHECK-NEXT: fusion_tile.store
// CHECK-NOT: fusion_tile.async_store_wait
// CHECK: } producer {
fusion_tile.program @chained(%pa: !llvm.ptr<1>, %py: !llvm.ptr<1>, %on: index) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %k = %c0 to %c256 step %c64 iter_args(%p = %init) -> (tensor<64x64xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<64x256xf16> -> tensor<64x64xf16>
    %d = fusion_tile.dot %ka, %ka, %p : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %n = arith.negf %d : tensor<64x64xf32>
    %e = fusion_tile.dot %ka, %ka, %n : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %f = fusion_tile.dot %ka, %ka, %e : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %f : tensor<64x64xf32>
  }
  %if = arith.cmpi eq, %on, %c0 : index
  scf.if %if {
    fusion_tile.store %r, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  }
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Both operands are computed: the larger one stays in registers, the other goes
// through a buffer of its own. With few rows of a computed operand as well, the
// rows become columns.

// CHECK-LABEL: fusion_tile.program @both
// CHECK: %[[BUFFER:.*]] = fusion_tile.alloc : <64x64xf16
// CHECK: fusion_tile.specialize {{.*}}consumer {
// CHECK:   %[[S:.*]]:2 = fusion_tile.wait
// CHECK:   %[[A:.*]] = arith.negf
// CHECK:   %[[B:.*]] = arith.negf
// CHECK:   fusion_tile.local_store %[[B]], %[[BUFFER]]
// CHECK:   %[[D:.*]] = fusion_tile.mma_async %[[A]], %[[BUFFER]], %{{.*}} : tensor<128x64xf16>, !fusion_tile.buffer
// CHECK:   fusion_tile.mma_wait %[[D]] {{.*}}keeping %[[A]]
// CHECK-LABEL: fusion_tile.program @few
// CHECK: %[[BUFFER:.*]] = fusion_tile.alloc : <16x64xf16
// CHECK:   %[[S:.*]]:2 = fusion_tile.wait
// CHECK:   %[[A:.*]] = arith.negf
// CHECK:   fusion_tile.local_store %[[A]], %[[BUFFER]]
// CHECK:   %[[D:.*]] = fusion_tile.mma_async %[[BUFFER]], %[[S]]#1, %{{.*}} swapped
// CHECK:   fusion_tile.mma_wait %[[D]] :
fusion_tile.program @both(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 8, pipeline = #fusion_tile.pipeline<wgmma, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (128, 256)>} : !llvm.ptr<1> to !fusion_tile.view<128x256xf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (128, 64)>} : !llvm.ptr<1> to !fusion_tile.view<128x64xf32>
  %init = arith.constant dense<0.0> : tensor<128x64xf32>
  %r = scf.for %k = %c0 to %c256 step %c64 iter_args(%p = %init) -> (tensor<128x64xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<128x256xf16> -> tensor<128x64xf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<64x256xf16> -> tensor<64x64xf16>
    %na = arith.negf %ka : tensor<128x64xf16>
    %nb = arith.negf %kb : tensor<64x64xf16>
    %d = fusion_tile.dot %na, %nb, %p : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  fusion_tile.store %r, %y[#tile] (%c0, %c0) checked [false, false] : tensor<128x64xf32>, !fusion_tile.view<128x64xf32>
  fusion_tile.return
}
fusion_tile.program @few(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (16, 256)>} : !llvm.ptr<1> to !fusion_tile.view<16x256xf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (16, 64)>} : !llvm.ptr<1> to !fusion_tile.view<16x64xf32>
  %init = arith.constant dense<0.0> : tensor<16x64xf32>
  %r = scf.for %k = %c0 to %c256 step %c64 iter_args(%p = %init) -> (tensor<16x64xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<16x256xf16> -> tensor<16x64xf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<64x256xf16> -> tensor<64x64xf16>
    %na = arith.negf %ka : tensor<16x64xf16>
    %d = fusion_tile.dot %na, %kb, %p : tensor<16x64xf16>, tensor<64x64xf16> -> tensor<16x64xf32>
    scf.yield %d : tensor<16x64xf32>
  }
  fusion_tile.store %r, %y[#tile] (%c0, %c0) checked [false, false] : tensor<16x64xf32>, !fusion_tile.view<16x64xf32>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// With few accumulators no registers are moved.

// CHECK-LABEL: fusion_tile.program @few_accumulators
// CHECK-SAME: extra_warps = 1
// CHECK: fusion_tile.specialize consumer {
fusion_tile.program @few_accumulators(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 8, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (128, 256)>} : !llvm.ptr<1> to !fusion_tile.view<128x256xf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (16, 256)>} : !llvm.ptr<1> to !fusion_tile.view<16x256xf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (128, 16)>} : !llvm.ptr<1> to !fusion_tile.view<128x16xf32>
  %init = arith.constant dense<0.0> : tensor<128x16xf32>
  %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %init) -> (tensor<128x16xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<128x256xf16> -> tensor<128x64xf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<16x256xf16> -> tensor<16x64xf16>
    %d = fusion_tile.dot %ka, %kb, %acc : tensor<128x64xf16>, tensor<16x64xf16> -> tensor<128x16xf32>
    scf.yield %d : tensor<128x16xf32>
  }
  fusion_tile.store %sum, %y[#tile] (%c0, %c0) checked [false, false] : tensor<128x16xf32>, !fusion_tile.view<128x16xf32>
  fusion_tile.return
}
