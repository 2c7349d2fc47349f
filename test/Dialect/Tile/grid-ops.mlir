// What blocks of a grid hand to each other.

// RUN: fusion-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: tile.program @exchange
tile.program @exchange(%i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  // CHECK: %[[SLOTS:.*]] = tile.scratch 65536 : !llvm.ptr<1>
  %slots = tile.scratch 65536 : !llvm.ptr<1>
  // CHECK: %[[SIGNALS:.*]] = tile.scratch 32 signals : !llvm.ptr<1>
  %signals = tile.scratch 32 signals : !llvm.ptr<1>
  %f = arith.constant 1.0 : f32
  %a = tile.splat %f : f32 -> tensor<64x64xf32>
  %b = tile.splat %f : f32 -> tensor<64x32xf32>
  // CHECK: tile.publish %[[A:.*]], %[[B:.*]] to %[[SLOTS]] signals %[[SIGNALS]][%{{.*}}] : !llvm.ptr<1>, tensor<64x64xf32>, tensor<64x32xf32>
  tile.publish %a, %b to %slots signals %signals[%i] : !llvm.ptr<1>, tensor<64x64xf32>, tensor<64x32xf32>
  // CHECK: %{{.*}}:2 = tile.collect %[[A]], %[[B]] from %[[SLOTS]] signals %[[SIGNALS]][%{{.*}}] : !llvm.ptr<1>, tensor<64x64xf32>, tensor<64x32xf32>
  %c:2 = tile.collect %a, %b from %slots signals %signals[%i] : !llvm.ptr<1>, tensor<64x64xf32>, tensor<64x32xf32>
  tile.return
}

// -----

tile.program @empty() attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  // expected-error @below {{has no bytes}}
  %slots = tile.scratch 0 : !llvm.ptr<1>
  tile.return
}

// -----

tile.program @bits(%i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %slots = tile.scratch 64 : !llvm.ptr<1>
  %signals = tile.scratch 64 signals : !llvm.ptr<1>
  %t = arith.constant true
  %a = tile.splat %t : i1 -> tensor<64xi1>
  // expected-error @below {{elements of type 'i1' cannot be exchanged}}
  tile.publish %a to %slots signals %signals[%i] : !llvm.ptr<1>, tensor<64xi1>
  tile.return
}

// -----

tile.program @nothing(%i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %slots = tile.scratch 64 : !llvm.ptr<1>
  %signals = tile.scratch 64 signals : !llvm.ptr<1>
  // expected-error @below {{has no tiles}}
  "tile.publish"(%slots, %signals, %i) : (!llvm.ptr<1>, !llvm.ptr<1>, index) -> ()
  tile.return
}
