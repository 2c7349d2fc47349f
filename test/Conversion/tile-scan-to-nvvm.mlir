// RUN: fusion-opt %s --fusion-convert-tile-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

// Registers first, then lanes from those before them, then the elements from
// what lies before the thread; the last lane has the total.

#l = #tile.layout<"{reg=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[], shape=[64]}">

// CHECK-LABEL: llvm.func @forward
// CHECK: %[[PAIR:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: %[[LOWER:.*]] = nvvm.shfl.sync up %{{.*}}, %[[PAIR]], %{{.*}}
// CHECK: %[[SUM:.*]] = arith.addf %[[LOWER]], %[[PAIR]] : f32
// CHECK: arith.select %{{.*}}, %[[SUM]], %[[PAIR]] : f32
// CHECK-COUNT-5: nvvm.shfl.sync up
// CHECK: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
tile.program @forward(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %s: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<64xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<64xf32>
  %t = tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !tile.view<64xf32> -> tensor<64xf32, #l>
  %r, %total = tile.scan %t inits(%zero : f32) along 0 : tensor<64xf32, #l> -> tensor<64xf32, #l> totals f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    tile.yield %w : f32
  }
  tile.store %r, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<64xf32, #l>, !tile.view<64xf32>
  %z = tile.view %s[] : !llvm.ptr<1> to !tile.view<1xf32>
  tile.store %total, %z[affine_map<() -> (0)>] () checked [false] : f32, !tile.view<1xf32>
  tile.return
}

// -----

// Backwards, later lanes come before; columns are in lanes of their own. Nobody
// asks for totals.

#l = #tile.layout<"{reg=[], lane=[[1,0],[2,0],[4,0],[0,1],[0,2]], warp=[], shape=[8,4]}">
#c = #tile.layout<"{reg=[], lane=[[1],[2],[4],[0],[0]], warp=[], shape=[8]}">

// CHECK-LABEL: llvm.func @backwards
// CHECK: nvvm.shfl.sync down %{{.*}}, %{{.*}}, %c8_i32{{.*}}, %
// CHECK: nvvm.shfl.sync down %{{.*}}, %{{.*}}, %c16_i32{{.*}}, %
// CHECK: nvvm.shfl.sync down %{{.*}}, %{{.*}}, %c8_i32{{.*}}, %
// CHECK-NOT: nvvm.shfl.sync
tile.program @backwards(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0 : i32
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<4x8xi32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<4x8xi32>
  %z = tile.splat %zero : i32 -> tensor<8xi32, #c>
  %t = tile.load %x[affine_map<(a, b) -> (b, a)>] () checked [false, false] : !tile.view<4x8xi32> -> tensor<8x4xi32, #l>
  %r, %total = tile.scan %t inits(%z : tensor<8xi32, #c>) along 1 exclusive reverse : tensor<8x4xi32, #l> -> tensor<8x4xi32, #l> totals tensor<8xi32, #c> {
  ^bb0(%u: i32, %v: i32):
    %w = arith.addi %u, %v : i32
    tile.yield %w : i32
  }
  tile.store %r, %y[affine_map<(a, b) -> (b, a)>] () checked [false, false] : tensor<8x4xi32, #l>, !tile.view<4x8xi32>
  tile.return
}

// -----

#l = #tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]], shape=[64]}">
tile.program @warps(%a: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %x = tile.view %a[] : !llvm.ptr<1> to !tile.view<64xf32>
  %t = tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !tile.view<64xf32> -> tensor<64xf32, #l>
  // expected-error @below {{FUS-3328: scan crosses warps; run tile-lower-exchanges first}}
  %r, %total = tile.scan %t inits(%zero : f32) along 0 : tensor<64xf32, #l> -> tensor<64xf32, #l> totals f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    tile.yield %w : f32
  }
  tile.return
}

// -----

// A thread that has all of the dimension: one combination an element, in order
// or, without leave, each after those of the thread before it.

#l = #tile.layout<"{reg=[[0,1],[0,2]], lane=[[1,0],[2,0],[4,0],[8,0],[16,0]], warp=[], shape=[32,4]}">
#c = #tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">

// CHECK-LABEL: llvm.func @in_order
// CHECK-COUNT-4: arith.addf
// CHECK-NOT: arith.addf
// CHECK: arith.mulf
// CHECK-COUNT-4: arith.mulf
tile.program @in_order(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<32x4xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<32x4xf32>
  %z = tile.splat %zero : f32 -> tensor<32xf32, #c>
  %t = tile.load %x[affine_map<(a, b) -> (a, b)>] () checked [false, false] : !tile.view<32x4xf32> -> tensor<32x4xf32, #l>
  %r, %total = tile.scan %t inits(%z : tensor<32xf32, #c>) along 1 in_order : tensor<32x4xf32, #l> -> tensor<32x4xf32, #l> totals tensor<32xf32, #c> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    tile.yield %w : f32
  }
  %r2, %total2 = tile.scan %r inits(%total : tensor<32xf32, #c>) along 1 : tensor<32x4xf32, #l> -> tensor<32x4xf32, #l> totals tensor<32xf32, #c> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.mulf %u, %v : f32
    tile.yield %w : f32
  }
  tile.store %r2, %y[affine_map<(a, b) -> (a, b)>] () checked [false, false] : tensor<32x4xf32, #l>, !tile.view<32x4xf32>
  tile.return
}

// -----

// What lanes combine for a total serves the scan from what the total led to:
// one more shuffle, for what lies before each lane.

#l = #tile.layout<"{reg=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[], shape=[64]}">

// CHECK-LABEL: llvm.func @after_total
// CHECK-COUNT-5: nvvm.shfl.sync up
// CHECK: nvvm.shfl.sync idx
// CHECK: nvvm.shfl.sync up
// CHECK-NOT: nvvm.shfl.sync
tile.program @after_total(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<64xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<64xf32>
  %t = tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !tile.view<64xf32> -> tensor<64xf32, #l>
  %o, %total = tile.scan %t along 0 : tensor<64xf32, #l> -> tensor<64xf32, #l> totals f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    tile.yield %w : f32
  }
  %r, %next = tile.scan %t inits(%total : f32) along 0 : tensor<64xf32, #l> -> tensor<64xf32, #l> totals f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    tile.yield %w : f32
  }
  tile.store %r, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<64xf32, #l>, !tile.view<64xf32>
  tile.return
}

// -----

// Parts of two elements that a thread holds concern no other lane.

#l = #tile.layout<"{reg=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[], shape=[64]}">
#p = #tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">

// CHECK-LABEL: llvm.func @of_thread
// CHECK-NOT: nvvm.shfl.sync
// CHECK-COUNT-2: arith.addf
// CHECK-NOT: arith.addf
tile.program @of_thread(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> tensor<32xf32, #p>
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<64xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<64xf32>
  %t = tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !tile.view<64xf32> -> tensor<64xf32, #l>
  %r, %total = tile.scan %t inits(%z : tensor<32xf32, #p>) along 0 parts 32 in_order : tensor<64xf32, #l> -> tensor<64xf32, #l> totals tensor<32xf32, #p> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    tile.yield %w : f32
  }
  tile.store %r, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<64xf32, #l>, !tile.view<64xf32>
  tile.return
}

// -----

// For a total a thread combines neighbours at once by a logarithm of a sum: the
// logarithm of one to two, and a comparison, a selection and a multiply-add for
// each further element, before one logarithm of all.

#l = #tile.layout<"{reg=[[1],[2],[4]], lane=[[8],[16],[32],[64],[128]], warp=[], shape=[256]}">
#p = #tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">

// CHECK-LABEL: llvm.func @logarithms
// CHECK-NOT: math.log1p
// CHECK-COUNT-6: math.fma
// CHECK: math.log1p
// CHECK-NOT: math.log1p
// CHECK: llvm.return
tile.program @logarithms(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<256xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<32xf32>
  %t = tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !tile.view<256xf32> -> tensor<256xf32, #l>
  %r, %total = tile.scan %t along 0 parts 32 : tensor<256xf32, #l> -> tensor<256xf32, #l> totals tensor<32xf32, #p> {
  ^bb0(%u: f32, %v: f32):
    %m = arith.maximumf %u, %v : f32
    %d = arith.subf %u, %v : f32
    %a = math.absf %d : f32
    %n = arith.negf %a : f32
    %e = math.exp %n : f32
    %g = math.log1p %e : f32
    %s = arith.addf %m, %g : f32
    tile.yield %s : f32
  }
  tile.store %total, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<32xf32, #p>, !tile.view<32xf32>
  tile.return
}
