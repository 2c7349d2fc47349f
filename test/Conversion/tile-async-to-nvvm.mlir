// RUN: fusion-opt %s --fusion-convert-tile-to-nvvm --split-input-file | FileCheck %s

// Roles, a ring and a product. 16 stages of bf16 operands of 64x64.

#acc = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16],[0,32]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,64]}">
#part = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,32]}">
!buf = !fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
!out = !fusion_tile.buffer<64x32xf32, #fusion_tile.shared_layout<"{bytes=4, align=1024, offsets=[[144,288,576,1024,2048,4096],[4,8,16,32,64]]}">>
!ring = !fusion_tile.ring<3, [!buf, !buf]>
!map = !fusion_tile.tensor_map<64x64xbf16, b128>
!omap = !fusion_tile.tensor_map<64x32xf32, b128>

// What the launch must know of the maps.
// CHECK-LABEL: llvm.func @roles
// CHECK-SAME: %[[A:arg[0-9]+]]: !llvm.ptr<1> {{{.*}}}, %{{.*}}: !llvm.ptr<1> {{{.*}}}, %{{.*}}: !llvm.ptr<1>
// CHECK-SAME: %[[MA:arg[0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// CHECK-SAME: %[[MB:arg[0-9]+]]: !llvm.ptr {
// CHECK-SAME: %[[MC:arg[0-9]+]]: !llvm.ptr {
// CHECK-SAME: fusion_tile.tensor_maps = [{base = 0 : i64, box = array<i64: 64, 64>, element = bf16, element_strides = array<i64: 1, 1>, parameter = 3 : i64, shape = #{{[a-z0-9]+}}, swizzle = 3 : i32},
// CHECK-SAME: {base = 1 : i64, box = array<i64: 64, 64>, element = bf16, element_strides = array<i64: 2, 1>
// CHECK-SAME: {base = 2 : i64, box = array<i64: 64, 32>, element = f32
// CHECK-SAME: nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 256, 1, 1>

// One thread asks for the maps early and makes the barriers ready: full ones
// for one arrival, empty ones for the four warps.
// CHECK: nvvm.shfl.sync idx
// CHECK: scf.if
// CHECK-COUNT-3: prefetch.tensormap
// CHECK: scf.if
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-DAG: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.barrier

// The producer: one thread of warp 4.
// CHECK: scf.if
// CHECK:   nvvm.setmaxregister decrease 40
// CHECK:   scf.if
// CHECK:     nvvm.elect.sync
// CHECK:     scf.if
// CHECK:       scf.for
// CHECK:         arith.remui
// CHECK:         arith.divui
// CHECK:         arith.xori
// CHECK:         mbarrier.try_wait.parity
// CHECK:         %[[BYTES:.*]] = arith.constant 16384 : i32
// CHECK:         nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
// CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MA]], %{{.*}}, box[%[[K:.*]], %[[M:.*]]] : !llvm.ptr<7>, !llvm.ptr
// CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MB]]

// The consumer: what passes through fence and wait stays on its side of them.
// The first product replaces the sums, whose zeros nobody writes.
// CHECK: } else {
// CHECK:   nvvm.setmaxregister increase 232
// CHECK:   %[[NOTHING:.*]] = llvm.mlir.poison : f32
// CHECK:   scf.for {{.*}} iter_args(%{{.*}} = %[[NOTHING]], %{{.*}} = %[[NOTHING]]
// CHECK:     mbarrier.try_wait.parity
// CHECK:     "wgmma.fence.sync.aligned;", "=f,=f{{.*}},0,1,{{.*}},31,~{memory}"
// CHECK:     setp.ne.b32 keep, $66, 0;{{.*}}wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK-COUNT-3: setp.ne.b32 keep, 1, 0;{{.*}}wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK-NOT: wgmma.mma_async
// CHECK:     nvvm.wgmma.commit.group.sync.aligned
// CHECK:     "wgmma.wait_group.sync.aligned 1;", "=f,=f{{.*}},0,1,{{.*}},31,~{memory}"
// CHECK:     nvvm.bar.warp.sync
// CHECK:     scf.if
// CHECK:       nvvm.mbarrier.arrive

// An empty group is not committed.
// CHECK-NOT: nvvm.wgmma.commit
// CHECK:   "wgmma.wait_group.sync.aligned 0;"

// Two buffers take turns: nothing is in the way of their first use; later one
// copy may still read when the other is filled.
// CHECK-NOT: wait_group
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// CHECK:   nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK:   nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
// CHECK:   scf.if
// CHECK:     nvvm.cp.async.bulk.tensor.global.shared.cta %[[MC]]
// CHECK:     nvvm.cp.async.bulk.commit.group
// CHECK-NOT: wait_group
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// CHECK:     nvvm.cp.async.bulk.commit.group
// CHECK:   nvvm.cp.async.bulk.wait_group 1 {read}
// CHECK:   nvvm.barrier id
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// CHECK:   nvvm.barrier id
// CHECK:     nvvm.cp.async.bulk.commit.group
// CHECK:   nvvm.cp.async.bulk.wait_group 0 {read}
fusion_tile.program @roles(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>) attributes {num_warps = 4 : i64, extra_warps = 4 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c8 = arith.constant 8 : index
  %va = fusion_tile.view %a[] {shape = affine_map<() -> (64, 512)>} : !llvm.ptr<1> to !fusion_tile.view<64x512xbf16>
  %vb = fusion_tile.view %b[] {shape = affine_map<() -> (64, 512)>} : !llvm.ptr<1> to !fusion_tile.view<64x512xbf16>
  %vc = fusion_tile.view %c[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %ma = fusion_tile.tensor_map %va : !fusion_tile.view<64x512xbf16> -> !map
  %mb = fusion_tile.tensor_map %vb {element_strides = array<i64: 2, 1>} : !fusion_tile.view<64x512xbf16> -> !map
  %mc = fusion_tile.tensor_map %vc : !fusion_tile.view<64x64xf32> -> !omap
  %ring = fusion_tile.make_ring at 0 : !ring
  fusion_tile.specialize {registers = array<i64: 40, 232>} consumer {
    %o0 = fusion_tile.alloc at 50176 : !out
    %o1 = fusion_tile.alloc at 58368 : !out
    %zero = arith.constant 0.0 : f32
    %start = fusion_tile.splat %zero : f32 -> tensor<64x64xf32, #acc>
    %r = scf.for %k = %c0 to %c8 step %c1 iter_args(%sum = %start) -> (tensor<64x64xf32, #acc>) {
      %s:2 = fusion_tile.wait %ring[%k] : !ring -> !buf, !buf
      %p = fusion_tile.mma_async %s#0, %s#1, %sum : !buf, !buf -> tensor<64x64xf32, #acc>
      %w = fusion_tile.mma_wait %p {pending = 1 : i64} : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
      fusion_tile.release %ring[%k] : !ring
      scf.yield %w : tensor<64x64xf32, #acc>
    }
    %d = fusion_tile.mma_wait %r : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
    %p0 = fusion_tile.slice %d [0, 0] : tensor<64x64xf32, #acc> -> tensor<64x32xf32, #part>
    fusion_tile.async_store %p0, %mc[%c0, %c0] through %o0 dims [0, 1] : tensor<64x32xf32, #part>, !omap, !out
    %p1 = fusion_tile.slice %d [0, 32] : tensor<64x64xf32, #acc> -> tensor<64x32xf32, #part>
    fusion_tile.async_store %p1, %mc[%c0, %c32] through %o1 dims [0, 1] : tensor<64x32xf32, #part>, !omap, !out
    fusion_tile.async_store %p0, %mc[%c64, %c0] through %o0 dims [0, 1] : tensor<64x32xf32, #part>, !omap, !out
    fusion_tile.async_store_wait
  } producer {
    scf.for %k = %c0 to %c8 step %c1 {
      %kk = arith.muli %k, %c64 : index
      %s:2 = fusion_tile.acquire %ring[%k] : !ring -> !buf, !buf
      fusion_tile.async_load %ma[%c0, %kk] into %s#0 signals %ring[%k] dims [0, 1] : !map, !buf, !ring
      fusion_tile.async_load %mb[%c0, %kk] into %s#1 signals %ring[%k] dims [0, 1] : !map, !buf, !ring
    }
  }
  fusion_tile.return
}

// -----

// A loop that may not run needs its zeros, and so do sums that are not zero.

#acc = #fusion_tile.layout<"{reg=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,8]}">
!a = !fusion_tile.buffer<64x16xbf16, #fusion_tile.shared_layout<"{bytes=2, align=256, offsets=[[32,64,144,256,512,1024],[2,4,8,16]]}">>
!b = !fusion_tile.buffer<8x16xbf16, #fusion_tile.shared_layout<"{bytes=2, align=256, offsets=[[32,64,144],[2,4,8,16]]}">>

// CHECK-LABEL: llvm.func @zeros
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]],
// CHECK: setp.ne.b32 keep, 1, 0;
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[ONE]],
// CHECK: setp.ne.b32 keep, 1, 0;
// CHECK-NOT: poison
// CHECK: llvm.return
fusion_tile.program @zeros() attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %a = fusion_tile.alloc at 0 : !a
  %b = fusion_tile.alloc at 2048 : !b
  %block = gpu.block_id x
  %zero = arith.constant 0.0 : f32
  %start = fusion_tile.splat %zero : f32 -> tensor<64x8xf32, #acc>
  %r = scf.for %k = %block to %c8 step %c1 iter_args(%sum = %start) -> (tensor<64x8xf32, #acc>) {
    %p = fusion_tile.mma_async %a, %b, %sum : !a, !b -> tensor<64x8xf32, #acc>
    %w = fusion_tile.mma_wait %p : tensor<64x8xf32, #acc> -> tensor<64x8xf32, #acc>
    scf.yield %w : tensor<64x8xf32, #acc>
  }
  %one = arith.constant 1.0 : f32
  %ones = fusion_tile.splat %one : f32 -> tensor<64x8xf32, #acc>
  %q = scf.for %k = %c0 to %c8 step %c1 iter_args(%sum = %ones) -> (tensor<64x8xf32, #acc>) {
    %p = fusion_tile.mma_async %a, %b, %sum : !a, !b -> tensor<64x8xf32, #acc>
    %w = fusion_tile.mma_wait %p : tensor<64x8xf32, #acc> -> tensor<64x8xf32, #acc>
    scf.yield %w : tensor<64x8xf32, #acc>
  }
  fusion_tile.return
}

// -----

// An operand in registers passes through the fence with the accumulator, and
// the wait keeps the very registers that products may still read.

#acc = #fusion_tile.layout<"{reg=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,8]}">
#a = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,16]}">
!b = !fusion_tile.buffer<8x16xbf16, #fusion_tile.shared_layout<"{bytes=2, align=256, offsets=[[32,64,144],[2,4,8,16]]}">>

// CHECK-LABEL: llvm.func @registers
// CHECK: llvm.inline_asm {{.*}}"mov.b64 $0, {$1, {{[0-9]+}}};", "=l,r"
// CHECK: %[[IN:.*]] = llvm.inline_asm {{.*}}"wgmma.fence.sync.aligned;", "=f,=f,=f,=f,=r,=r,=r,=r,0,1,2,3,4,5,6,7,~{memory}"
// CHECK: %[[W:.*]] = llvm.extractvalue %[[IN]][4]
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, keep, 1, 1, 0;
// CHECK: "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,~{memory}" %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[W]],
fusion_tile.program @registers(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64x16xbf16>
  %t = fusion_tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<64x16xbf16> -> tensor<64x16xbf16, #a>
  %b = fusion_tile.alloc at 0 : !b
  %zero = arith.constant 0.0 : f32
  %start = fusion_tile.splat %zero : f32 -> tensor<64x8xf32, #acc>
  %f = fusion_tile.mma_async %t, %b, %start : tensor<64x16xbf16, #a>, !b -> tensor<64x8xf32, #acc>
  %w = fusion_tile.mma_wait %f : tensor<64x8xf32, #acc> keeping %t : tensor<64x16xbf16, #a> -> tensor<64x8xf32, #acc>
  fusion_tile.return
}

// -----

// What a product took from registers has been read once it has been waited for:
// its stage is freed without a fence. What only arithmetic takes may not have
// been.

#acc = #fusion_tile.layout<"{reg=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,8]}">
#a = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,16]}">
!a = !fusion_tile.buffer<64x16xbf16, #fusion_tile.shared_layout<"{bytes=2, align=256, offsets=[[32,64,144,256,512,1024],[2,4,8,16]]}">>
!b = !fusion_tile.buffer<8x16xbf16, #fusion_tile.shared_layout<"{bytes=2, align=256, offsets=[[32,64,144],[2,4,8,16]]}">>

// CHECK-LABEL: llvm.func @taken
// CHECK-NOT: fence.proxy
// CHECK-LABEL: llvm.func @besides
// CHECK: wgmma.wait_group
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// CHECK: nvvm.mbarrier.arrive
fusion_tile.program @taken(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %ring = fusion_tile.make_ring at 0 : !fusion_tile.ring<2, [!a, !b]>
  %zero = arith.constant 0.0 : f32
  %start = fusion_tile.splat %zero : f32 -> tensor<64x8xf32, #acc>
  %s:2 = fusion_tile.wait %ring[%c0] : !fusion_tile.ring<2, [!a, !b]> -> !a, !b
  %t = fusion_tile.local_load %s#0 : !a -> tensor<64x16xbf16, #a>
  %n = arith.negf %t : tensor<64x16xbf16, #a>
  %f = fusion_tile.mma_async %n, %s#1, %start : tensor<64x16xbf16, #a>, !b -> tensor<64x8xf32, #acc>
  %w = fusion_tile.mma_wait %f : tensor<64x8xf32, #acc> keeping %n : tensor<64x16xbf16, #a> -> tensor<64x8xf32, #acc>
  fusion_tile.release %ring[%c0] : !fusion_tile.ring<2, [!a, !b]>
  fusion_tile.return
}
fusion_tile.program @besides(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %ring = fusion_tile.make_ring at 0 : !fusion_tile.ring<2, [!a, !b]>
  %zero = arith.constant 0.0 : f32
  %start = fusion_tile.splat %zero : f32 -> tensor<64x8xf32, #acc>
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64x16xbf16>
  %o = fusion_tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<64x16xbf16> -> tensor<64x16xbf16, #a>
  %s:2 = fusion_tile.wait %ring[%c0] : !fusion_tile.ring<2, [!a, !b]> -> !a, !b
  %t = fusion_tile.local_load %s#0 : !a -> tensor<64x16xbf16, #a>
  %n = arith.negf %t : tensor<64x16xbf16, #a>
  %f = fusion_tile.mma_async %o, %s#1, %start : tensor<64x16xbf16, #a>, !b -> tensor<64x8xf32, #acc>
  %w = fusion_tile.mma_wait %f : tensor<64x8xf32, #acc> keeping %o : tensor<64x16xbf16, #a> -> tensor<64x8xf32, #acc>
  fusion_tile.release %ring[%c0] : !fusion_tile.ring<2, [!a, !b]>
  fusion_tile.return
}

// -----

// Operands of a plain product may be narrower than its accumulator.

#acc = #fusion_tile.layout<"{reg=[], lane=[[1,0],[2,0],[4,0],[8,0],[16,0]], warp=[], shape=[32,1]}">
#a = #fusion_tile.layout<"{reg=[[0,1]], lane=[[1,0],[2,0],[4,0],[8,0],[16,0]], warp=[], shape=[32,2]}">
#b = #fusion_tile.layout<"{reg=[[0,1]], lane=[[0,0],[0,0],[0,0],[0,0],[0,0]], warp=[], shape=[1,2]}">

// CHECK-LABEL: llvm.func @narrow
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: math.fma %{{.*}} : f32
// CHECK: math.fma %{{.*}} : f32
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.muli %{{.*}} : i32
fusion_tile.program @narrow(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %h = arith.constant 1.0 : f16
  %i = arith.constant 1 : i8
  %fz = arith.constant 0.0 : f32
  %iz = arith.constant 0 : i32
  %fa = fusion_tile.splat %h : f16 -> tensor<32x2xf16, #a>
  %fb = fusion_tile.splat %h : f16 -> tensor<1x2xf16, #b>
  %fc = fusion_tile.splat %fz : f32 -> tensor<32x1xf32, #acc>
  %f = fusion_tile.dot %fa, %fb, %fc : tensor<32x2xf16, #a>, tensor<1x2xf16, #b> -> tensor<32x1xf32, #acc>
  %ia = fusion_tile.splat %i : i8 -> tensor<32x2xi8, #a>
  %ib = fusion_tile.splat %i : i8 -> tensor<1x2xi8, #b>
  %ic = fusion_tile.splat %iz : i32 -> tensor<32x1xi32, #acc>
  %g = fusion_tile.dot %ia, %ib, %ic : tensor<32x2xi8, #a>, tensor<1x2xi8, #b> -> tensor<32x1xi32, #acc>
  fusion_tile.return
}

// -----

// Each block gives every other one its share of the part that the other sums
// up, in the order of ranks; they meet at barriers that lie last. What comes
// before the sum does not wait for the other blocks to begin.

#whole = #fusion_tile.layout<"{reg=[[1,0]], lane=[[0,1],[0,2],[0,4],[0,8],[0,16]], warp=[], shape=[2,32]}">
#share = #fusion_tile.layout<"{reg=[], lane=[[0,1],[0,2],[0,4],[0,8],[0,16]], warp=[], shape=[1,32]}">
!buf = !fusion_tile.buffer<2x32xf32, #fusion_tile.shared_layout<"{bytes=4, align=128, offsets=[[128],[4,8,16,32,64]]}">>

// CHECK-LABEL: llvm.func @cluster
// CHECK-SAME: fusion_tile.cluster = 2 : i64
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK: llvm.getelementptr %{{.*}}[256]
// CHECK: %[[ARRIVALS:.*]] = arith.constant 32 : i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[ARRIVALS]]
// CHECK: llvm.getelementptr %{{.*}}[264]
// CHECK: %[[MEETING:.*]] = arith.constant 33 : i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[MEETING]]
// CHECK: nvvm.cluster.arrive.relaxed {aligned}
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1>
// CHECK: nvvm.cluster.wait {aligned}
// CHECK: %[[BYTES:.*]] = arith.constant 256 : i32
// CHECK: mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;{{.*}} %{{.*}}, %[[BYTES]]
// CHECK: nvvm.mapa
// CHECK-COUNT-2: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0], $2, [$1];
// CHECK: mbarrier.arrive.shared::cta.b64 phase, [$0];
// CHECK-SAME: mbarrier.try_wait.shared::cta.b64
// CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK: arith.addf
// CHECK-NOT: mbarrier.try_wait
fusion_tile.program @cluster(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, cluster = 2 : i64, shared_bytes = 272 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<2x32xf32>
  %t = fusion_tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<2x32xf32> -> tensor<2x32xf32, #whole>
  %b = fusion_tile.alloc at 0 : !buf
  %s = fusion_tile.cluster_reduce %t through %b along 0 : tensor<2x32xf32, #whole>, !buf -> tensor<1x32xf32, #share>
  %r = fusion_tile.cluster_rank
  fusion_tile.store %s, %x[affine_map<(i, j)[s] -> (i + s, j)>] (%r) checked [false, false] : tensor<1x32xf32, #share>, !fusion_tile.view<2x32xf32>
  fusion_tile.return
}

// -----

// Groups of consumers: a thread's number is that in its group, and barriers and
// buffers are those of the group. Who takes a turn announces no bytes. What
// threads read into registers is fenced before its stage is freed, since the
// arrival would not wait for it; a turn has nothing to fence.

#m = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4],[16,0],[32,0]], lane=[[0,8],[0,16],[0,32],[1,0],[2,0]], warp=[[4,0],[8,0]], shape=[64,64]}">
!buf = !fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
!map = !fusion_tile.tensor_map<64x64xbf16, b128>

// CHECK-LABEL: llvm.func @groups
// CHECK-SAME: nvvm.reqntid = array<i32: 384, 1, 1>
// CHECK:   %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK:   %[[WARP:.*]] = nvvm.shfl.sync
// Two barriers of each ring's stages; those of the turns as well.
// CHECK-COUNT-8: nvvm.mbarrier.init
// CHECK:   %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK:   arith.cmpi uge, %[[WARP]], %[[EIGHT]]
// CHECK:   nvvm.mbarrier.arrive.expect_tx
// CHECK:   } else {
// CHECK:     %[[GROUP:.*]] = arith.shrui %[[WARP]]
// CHECK:     %[[THREAD:.*]] = arith.andi %[[TID]]
// CHECK-NOT: expect_tx
// CHECK:     mbarrier.try_wait
// CHECK:     mbarrier.try_wait
// CHECK-NOT: fence.proxy
// CHECK:     nvvm.mbarrier.arrive
// CHECK:     llvm.load
// CHECK:     nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// CHECK:     nvvm.bar.warp.sync
// CHECK:     nvvm.mbarrier.arrive
// CHECK:     %[[BYTES:.*]] = arith.constant 8192 : i32
// CHECK:     arith.muli %[[GROUP]], %[[BYTES]]
// CHECK:     llvm.store
// CHECK:     %[[EACH:.*]] = arith.constant 2 : i32
// CHECK:     %[[SKIP:.*]] = arith.muli %[[GROUP]], %[[EACH]]
// CHECK:     %[[ID:.*]] = arith.addi %{{.*}}, %[[SKIP]]
// CHECK:     nvvm.barrier id = %[[ID]]
fusion_tile.program @groups(%a: !llvm.ptr<1>) attributes {num_warps = 4 : i64, extra_warps = 8 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = fusion_tile.view %a[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xbf16>
  %m = fusion_tile.tensor_map %v : !fusion_tile.view<64x64xbf16> -> !map
  %ring = fusion_tile.make_ring at 0 : !fusion_tile.ring<2, [!buf]>
  %turns = fusion_tile.make_ring at 32896 : !fusion_tile.ring<2, []>
  fusion_tile.specialize {groups = 2 : i64, group_bytes = 8192 : i64} consumer {
    %o = fusion_tile.alloc at 16512 : !buf
    %g = fusion_tile.group_number
    %before = arith.addi %g, %c1 : index
    fusion_tile.acquire %turns[%before] : !fusion_tile.ring<2, []>
    %s = fusion_tile.wait %ring[%g] : !fusion_tile.ring<2, [!buf]> -> !buf
    fusion_tile.release %turns[%g] : !fusion_tile.ring<2, []>
    %t = fusion_tile.local_load %s : !buf -> tensor<64x64xbf16, #m>
    fusion_tile.release %ring[%g] : !fusion_tile.ring<2, [!buf]>
    fusion_tile.local_store %t, %o : tensor<64x64xbf16, #m>, !buf
    fusion_tile.barrier
  } producer {
    %s = fusion_tile.acquire %ring[%c0] : !fusion_tile.ring<2, [!buf]> -> !buf
    fusion_tile.async_load %m[%c0, %c0] into %s signals %ring[%c0] dims [0, 1] : !map, !buf, !fusion_tile.ring<2, [!buf]>
  }
  fusion_tile.return
}

// -----

// Stages that three groups read are free once all their warps have released
// them. A group's own buffer of a stage is so many times further: the product's
// descriptor counts in 16 bytes.

#m = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16],[0,32]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,64]}">
!buf = !fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>

// CHECK-LABEL: llvm.func @own_buffers
// CHECK: %[[READERS:.*]] = arith.constant 12 : i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[READERS]]
// CHECK: %[[GROUP:.*]] = arith.shrui
// CHECK: mbarrier.try_wait
// CHECK: %[[UNITS:.*]] = arith.constant 512 : i32
// CHECK: arith.muli %[[GROUP]], %[[UNITS]]
// CHECK: wgmma.mma_async
// CHECK: %[[BYTES:.*]] = arith.constant 8192 : i32
// CHECK: arith.muli %[[GROUP]], %[[BYTES]]
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// CHECK: nvvm.mbarrier.arrive
fusion_tile.program @own_buffers() attributes {num_warps = 4 : i64, extra_warps = 9 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %ring = fusion_tile.make_ring at 0 groups 3 : !fusion_tile.ring<1, [!buf, !buf, !buf, !buf]>
  fusion_tile.specialize {groups = 3 : i64} consumer {
    %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32, #m>
    %s:4 = fusion_tile.wait %ring[%c0] : !fusion_tile.ring<1, [!buf, !buf, !buf, !buf]> -> !buf, !buf, !buf, !buf
    %own = fusion_tile.group_buffer %s#0, %s#1, %s#2 : !buf, !buf, !buf -> !buf
    %p = fusion_tile.mma_async %own, %s#3, %init : !buf, !buf -> tensor<64x64xf32, #m>
    %r = fusion_tile.mma_wait %p : tensor<64x64xf32, #m> -> tensor<64x64xf32, #m>
    %t = fusion_tile.local_load %own : !buf -> tensor<64x64xbf16, #m>
    fusion_tile.release %ring[%c0] : !fusion_tile.ring<1, [!buf, !buf, !buf, !buf]>
  } producer {
  }
  fusion_tile.return
}

// -----

// A product that contracts the other dimension of what a first one read has its
// buffer, and no copy: one stage is waited for, and only the descriptors differ.

#m = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16],[0,32]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,64]}">
#a = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16],[0,32]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,64]}">
!rows = !fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
!columns = !fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[2,4,8,16,32,64],[144,288,576,1024,2048,4096]]}">>

// CHECK-LABEL: llvm.func @transposed
// CHECK-COUNT-1: mbarrier.try_wait
// CHECK: wgmma.mma_async{{.*}}, 1, 1, 0, 0;
// CHECK: wgmma.mma_async{{.*}}, 1, 1, 1;
fusion_tile.program @transposed() attributes {num_warps = 4 : i64, extra_warps = 1 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %ring = fusion_tile.make_ring at 0 : !fusion_tile.ring<1, [!rows, !rows]>
  fusion_tile.specialize consumer {
    %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32, #m>
    %s:2 = fusion_tile.wait %ring[%c0] : !fusion_tile.ring<1, [!rows, !rows]> -> !rows, !rows
    %p = fusion_tile.mma_async %s#0, %s#1, %init : !rows, !rows -> tensor<64x64xf32, #m>
    %r = fusion_tile.mma_wait %p : tensor<64x64xf32, #m> -> tensor<64x64xf32, #m>
    %h = arith.truncf %r : tensor<64x64xf32, #m> to tensor<64x64xbf16, #a>
    %t = fusion_tile.transpose_buffer %s#1 : !rows -> !columns
    %o = fusion_tile.mma_async %h, %t, %init : tensor<64x64xbf16, #a>, !columns -> tensor<64x64xf32, #m>
    %e = fusion_tile.mma_wait %o : tensor<64x64xf32, #m> keeping %h : tensor<64x64xbf16, #a> -> tensor<64x64xf32, #m>
    fusion_tile.release %ring[%c0] : !fusion_tile.ring<1, [!rows, !rows]>
  } producer {
  }
  fusion_tile.return
}

// -----

// Of a ring that threads fill, all arrive at the full barriers as their copies
// end, and one lane of each warp at the empty ones.

// CHECK-LABEL: llvm.func @by_threads
// CHECK: %[[ALL:.*]] = arith.constant 128 : i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[ALL]]
// CHECK: %[[WARPS:.*]] = arith.constant 4 : i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[WARPS]]
// CHECK: cp.async.mbarrier.arrive.noinc.shared.b64 [$0];
// CHECK: mbarrier.try_wait.parity.shared::cta.b64
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.mbarrier.arrive
fusion_tile.program @by_threads() attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %ring = fusion_tile.make_ring at 0 by_threads : !fusion_tile.ring<1, []>
  fusion_tile.copy_arrive %ring[%c0] : !fusion_tile.ring<1, []>
  fusion_tile.wait %ring[%c0] : !fusion_tile.ring<1, []>
  fusion_tile.release %ring[%c0] : !fusion_tile.ring<1, []>
  fusion_tile.return
}
