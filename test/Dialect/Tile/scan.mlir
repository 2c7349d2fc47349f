// RUN: fusion-opt %s --split-input-file | fusion-opt --split-input-file | FileCheck %s --check-prefix=PARSED
// RUN: fusion-opt %s --split-input-file --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-assign-layouts,fusion-tile-lower-exchanges,fusion-tile-allocate-shared-memory,fusion-tile-place-barriers))" | FileCheck %s

// A row that four warps share: each combines what it has, every warp scans the
// 16 totals in its lanes from what came before the tile, and each warp scans
// its own elements from the total of those before them.

// PARSED-LABEL: fusion_tile.program @row
// PARSED: %{{.*}}, %{{.*}} = fusion_tile.scan %{{.*}} inits(%{{.*}} : f32) along 0 : tensor<2048xf32> -> tensor<2048xf32> totals f32

// CHECK-LABEL: fusion_tile.program @row
// CHECK-SAME: shared_bytes = 64
// CHECK: scf.for {{.*}} iter_args(%[[CARRY:.*]] = %{{.*}}) -> (f32)
// CHECK: %[[X:.*]] = fusion_tile.load {{.*}}{reg={{\[\[}}1],[2],[512],[1024]], lane={{\[\[}}4],[8],[16],[32],[64]], warp={{\[\[}}128],[256]], shape=[2048]}">>
// CHECK: %{{.*}}, %[[TOTALS:.*]] = fusion_tile.scan %[[X]] along 0 parts 16 : {{.*}} totals tensor<16xf32, #fusion_tile.layout<"{reg={{\[\[}}4],[8]], lane={{\[\[}}0],[0],[0],[0],[0]], warp={{\[\[}}1],[2]], shape=[16]}">>
// CHECK: fusion_tile.barrier
// CHECK-NEXT: fusion_tile.local_store %[[TOTALS]], %[[BUFFER:.*]] :
// CHECK-NEXT: fusion_tile.barrier
// CHECK-NEXT: %[[ALL:.*]] = fusion_tile.local_load %[[BUFFER]] : {{.*}} -> tensor<16xf32, #fusion_tile.layout<"{reg=[], lane={{\[\[}}1],[2],[4],[8],[0]], warp={{\[\[}}0],[0]], shape=[16]}">>
// CHECK: %[[STARTS:.*]], %[[NEXT:.*]] = fusion_tile.scan %[[ALL]] inits(%[[CARRY]] : f32) along 0 exclusive :
// CHECK: %[[OWN:.*]] = fusion_tile.convert_layout %[[STARTS]]
// CHECK: %[[Y:.*]], %{{.*}} = fusion_tile.scan %[[X]] inits(%[[OWN]] : {{.*}}) along 0 parts 16 :
// CHECK: fusion_tile.store %[[Y]]
// CHECK: scf.yield %[[NEXT]] : f32
fusion_tile.program @row(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c2048 = arith.constant 2048 : index
  %c8192 = arith.constant 8192 : index
  %zero = arith.constant 0.0 : f32
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8192xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<8192xf32>
  %last = scf.for %i = %c0 to %c8192 step %c2048 iter_args(%carry = %zero) -> (f32) {
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%i) checked [false] : !fusion_tile.view<8192xf32> -> tensor<2048xf32>
    %r, %next = fusion_tile.scan %t inits(%carry : f32) along 0 : tensor<2048xf32> -> tensor<2048xf32> totals f32 {
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion_tile.yield %w : f32
    }
    fusion_tile.store %r, %y[affine_map<(a)[s] -> (a + s)>] (%i) checked [false] : tensor<2048xf32>, !fusion_tile.view<8192xf32>
    scf.yield %next : f32
  }
  fusion_tile.return
}

// -----

// A warp with rows of its own needs nothing of others.

// PARSED-LABEL: fusion_tile.program @rows
// PARSED: fusion_tile.scan %{{.*}} inits(%{{.*}} : tensor<4xf32>) along 1 exclusive reverse :

// CHECK-LABEL: fusion_tile.program @rows
// CHECK-NOT: fusion_tile.alloc
// CHECK: fusion_tile.scan {{.*}} along 1 exclusive reverse : tensor<4x256xf32, {{.*}} warp={{\[\[}}1,0],[2,0]], shape=[4,256]}">> -> {{.*}} totals tensor<4xf32, #fusion_tile.layout<"{reg=[], lane={{\[\[}}0],[0],[0],[0],[0]], warp={{\[\[}}1],[2]], shape=[4]}">>
// CHECK-NOT: fusion_tile.alloc
fusion_tile.program @rows(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<4x256xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<4x256xf32>
  %z = fusion_tile.splat %zero : f32 -> tensor<4xf32>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (a, b)>] () checked [false, false] : !fusion_tile.view<4x256xf32> -> tensor<4x256xf32>
  %r, %next = fusion_tile.scan %t inits(%z : tensor<4xf32>) along 1 exclusive reverse : tensor<4x256xf32> -> tensor<4x256xf32> totals tensor<4xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %r, %y[affine_map<(a, b) -> (a, b)>] () checked [false, false] : tensor<4x256xf32>, !fusion_tile.view<4x256xf32>
  fusion_tile.return
}

// -----

// Across memory, lanes follow memory and neighbours along the scan are in one
// thread, so that there is one total for each warp and no step over lanes.

// CHECK-LABEL: fusion_tile.program @columns
// CHECK: fusion_tile.load {{.*}} -> tensor<32x64xf32, #fusion_tile.layout<"{reg={{\[\[}}0,1],[0,2],[0,4],[0,8]], lane={{\[\[}}1,0],[2,0],[4,0],[8,0],[16,0]], warp={{\[\[}}0,16],[0,32]], shape=[32,64]}">>
// CHECK: fusion_tile.scan {{.*}} along 1 parts 4 :
fusion_tile.program @columns(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64x32xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64x32xf32>
  %z = fusion_tile.splat %zero : f32 -> tensor<32xf32>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (b, a)>] () checked [false, false] : !fusion_tile.view<64x32xf32> -> tensor<32x64xf32>
  %r, %next = fusion_tile.scan %t inits(%z : tensor<32xf32>) along 1 : tensor<32x64xf32> -> tensor<32x64xf32> totals tensor<32xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.maximumf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %r, %y[affine_map<(a, b) -> (b, a)>] () checked [false, false] : tensor<32x64xf32>, !fusion_tile.view<64x32xf32>
  fusion_tile.return
}

// -----

// An expensive combination is worth an exchange on both sides: threads have
// runs of 16. A sum is not (@row).

// CHECK-LABEL: fusion_tile.program @logarithms
// CHECK: fusion_tile.load {{.*}} -> tensor<2048xf32, #fusion_tile.layout<"{reg={{\[\[}}1],[2],[512],[1024]]
// CHECK: fusion_tile.scan {{.*}} along 0 parts 4 : tensor<2048xf32, #fusion_tile.layout<"{reg={{\[\[}}1],[2],[4],[8]], lane={{\[\[}}16]
fusion_tile.program @logarithms(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<2048xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<2048xf32>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<2048xf32> -> tensor<2048xf32>
  %r, %next = fusion_tile.scan %t inits(%zero : f32) along 0 : tensor<2048xf32> -> tensor<2048xf32> totals f32 {
  ^bb0(%u: f32, %v: f32):
    %m = arith.maximumf %u, %v : f32
    %d = arith.subf %u, %v : f32
    %a = math.absf %d : f32
    %n = arith.negf %a : f32
    %e = math.exp %n : f32
    %l = math.log1p %e : f32
    %w = arith.addf %m, %l : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %r, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<2048xf32>, !fusion_tile.view<2048xf32>
  fusion_tile.return
}
