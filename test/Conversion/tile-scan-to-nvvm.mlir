// RUN: fusion-opt %s --fusion-convert-tile-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

// Registers first, then lanes from those before them, then the elements from
// what lies before the thread; the last lane has the total.

#l = #fusion_tile.layout<"{reg=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[], shape=[64]}">

// CHECK-LABEL: llvm.func @forward
// CHECK: %[[PAIR:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: %[[LOWER:.*]] = nvvm.shfl.sync up %{{.*}}, %[[PAIR]], %{{.*}}
// CHECK: %[[SUM:.*]] = arith.addf %[[LOWER]], %[[PAIR]] : f32
// CHECK: arith.select %{{.*}}, %[[SUM]], %[[PAIR]] : f32
// CHECK-COUNT-5: nvvm.shfl.sync up
// CHECK: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
fusion_tile.program @forward(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %s: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<64xf32> -> tensor<64xf32, #l>
  %r, %total = fusion_tile.scan %t inits(%zero : f32) along 0 : tensor<64xf32, #l> -> tensor<64xf32, #l> totals f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %r, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<64xf32, #l>, !fusion_tile.view<64xf32>
  %z = fusion_tile.view %s[] : !llvm.ptr<1> to !fusion_tile.view<1xf32>
  fusion_tile.store %total, %z[affine_map<() -> (0)>] () checked [false] : f32, !fusion_tile.view<1xf32>
  fusion_tile.return
}

// -----

// Backwards, later lanes come before; columns are in lanes of their own. Nobody
// asks for totals.

#l = #fusion_tile.layout<"{reg=[], lane=[[1,0],[2,0],[4,0],[0,1],[0,2]], warp=[], shape=[8,4]}">
#c = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[0],[0]], warp=[], shape=[8]}">

// CHECK-LABEL: llvm.func @backwards
// CHECK: nvvm.shfl.sync down %{{.*}}, %{{.*}}, %c8_i32{{.*}}, %
// CHECK: nvvm.shfl.sync down %{{.*}}, %{{.*}}, %c16_i32{{.*}}, %
// CHECK: nvvm.shfl.sync down %{{.*}}, %{{.*}}, %c8_i32{{.*}}, %
// CHECK-NOT: nvvm.shfl.sync
fusion_tile.program @backwards(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0 : i32
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<4x8xi32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<4x8xi32>
  %z = fusion_tile.splat %zero : i32 -> tensor<8xi32, #c>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (b, a)>] () checked [false, false] : !fusion_tile.view<4x8xi32> -> tensor<8x4xi32, #l>
  %r, %total = fusion_tile.scan %t inits(%z : tensor<8xi32, #c>) along 1 exclusive reverse : tensor<8x4xi32, #l> -> tensor<8x4xi32, #l> totals tensor<8xi32, #c> {
  ^bb0(%u: i32, %v: i32):
    %w = arith.addi %u, %v : i32
    fusion_tile.yield %w : i32
  }
  fusion_tile.store %r, %y[affine_map<(a, b) -> (b, a)>] () checked [false, false] : tensor<8x4xi32, #l>, !fusion_tile.view<4x8xi32>
  fusion_tile.return
}

// -----

#l = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]], shape=[64]}">
fusion_tile.program @warps(%a: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %x = fusion_tile.view %a[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<64xf32> -> tensor<64xf32, #l>
  // expected-error @below {{FUS-3328: scan crosses warps; run fusion-tile-lower-exchanges first}}
  %r, %total = fusion_tile.scan %t inits(%zero : f32) along 0 : tensor<64xf32, #l> -> tensor<64xf32, #l> totals f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.return
}

// -----

// A thread that has all of the dimension: one combination an element, in order
// or, without leave, each after those of the thread before it.

#l = #fusion_tile.layout<"{reg=[[0,1],[0,2]], lane=[[1,0],[2,0],[4,0],[8,0],[16,0]], warp=[], shape=[32,4]}">
#c = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">

// CHECK-LABEL: llvm.func @in_order
// CHECK-COUNT-4: arith.addf
// CHECK-NOT: arith.addf
// CHECK: arith.mulf
// CHECK-COUNT-4: arith.mulf
fusion_tile.program @in_order(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<32x4xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<32x4xf32>
  %z = fusion_tile.splat %zero : f32 -> tensor<32xf32, #c>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (a, b)>] () checked [false, false] : !fusion_tile.view<32x4xf32> -> tensor<32x4xf32, #l>
  %r, %total = fusion_tile.scan %t inits(%z : tensor<32xf32, #c>) along 1 in_order : tensor<32x4xf32, #l> -> tensor<32x4xf32, #l> totals tensor<32xf32, #c> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  %r2, %total2 = fusion_tile.scan %r inits(%total : tensor<32xf32, #c>) along 1 : tensor<32x4xf32, #l> -> tensor<32x4xf32, #l> totals tensor<32xf32, #c> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.mulf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %r2, %y[affine_map<(a, b) -> (a, b)>] () checked [false, false] : tensor<32x4xf32, #l>, !fusion_tile.view<32x4xf32>
  fusion_tile.return
}

// -----

// What lanes combine for a total serves the scan from what the total led to:
// one more shuffle, for what lies before each lane.

#l = #fusion_tile.layout<"{reg=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[], shape=[64]}">

// CHECK-LABEL: llvm.func @after_total
// CHECK-COUNT-5: nvvm.shfl.sync up
// CHECK: nvvm.shfl.sync idx
// CHECK: nvvm.shfl.sync up
// CHECK-NOT: nvvm.shfl.sync
fusion_tile.program @after_total(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<64xf32> -> tensor<64xf32, #l>
  %o, %total = fusion_tile.scan %t along 0 : tensor<64xf32, #l> -> tensor<64xf32, #l> totals f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  %r, %next = fusion_tile.scan %t inits(%total : f32) along 0 : tensor<64xf32, #l> -> tensor<64xf32, #l> totals f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %r, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<64xf32, #l>, !fusion_tile.view<64xf32>
  fusion_tile.return
}

// -----

// Parts of two elements that a thread holds concern no other lane.

#l = #fusion_tile.layout<"{reg=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[], shape=[64]}">
#p = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">

// CHECK-LABEL: llvm.func @of_thread
// CHECK-NOT: nvvm.shfl.sync
// CHECK-COUNT-2: arith.addf
// CHECK-NOT: arith.addf
fusion_tile.program @of_thread(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %z = fusion_tile.splat %zero : f32 -> tensor<32xf32, #p>
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<64xf32> -> tensor<64xf32, #l>
  %r, %total = fusion_tile.scan %t inits(%z : tensor<32xf32, #p>) along 0 parts 32 in_order : tensor<64xf32, #l> -> tensor<64xf32, #l> totals tensor<32xf32, #p> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %r, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<64xf32, #l>, !fusion_tile.view<64xf32>
  fusion_tile.return
}

// -----

// For a total a thread combines neighbours at once by a logarithm of a sum: the
// logarithm of one to two, and a comparison, a selection and a multiply-add for
// each further element, before one logarithm of all.

#l = #fusion_tile.layout<"{reg=[[1],[2],[4]], lane=[[8],[16],[32],[64],[128]], warp=[], shape=[256]}">
#p = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">

// CHECK-LABEL: llvm.func @logarithms
// CHECK-NOT: math.log1p
// CHECK-COUNT-6: math.fma
// CHECK: math.log1p
// CHECK-NOT: math.log1p
// CHECK: llvm.return
fusion_tile.program @logarithms(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<256xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<32xf32>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<256xf32> -> tensor<256xf32, #l>
  %r, %total = fusion_tile.scan %t along 0 parts 32 : tensor<256xf32, #l> -> tensor<256xf32, #l> totals tensor<32xf32, #p> {
  ^bb0(%u: f32, %v: f32):
    %m = arith.maximumf %u, %v : f32
    %d = arith.subf %u, %v : f32
    %a = math.absf %d : f32
    %n = arith.negf %a : f32
    %e = math.exp %n : f32
    %g = math.log1p %e : f32
    %s = arith.addf %m, %g : f32
    fusion_tile.yield %s : f32
  }
  fusion_tile.store %total, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<32xf32, #p>, !fusion_tile.view<32xf32>
  fusion_tile.return
}
