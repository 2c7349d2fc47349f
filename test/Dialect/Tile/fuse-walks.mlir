// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-fuse-walks,cse))" --allow-unregistered-dialect --split-input-file | FileCheck %s

// A sum and a result that needs nothing of it: both are made of what is loaded
// once, whichever loop comes first.

// CHECK-LABEL: fusion_tile.program @stored_before
// CHECK: scf.for
// CHECK-NEXT: %[[T:.*]] = fusion_tile.load
// CHECK-NEXT: %[[D:.*]] = arith.addf %[[T]], %[[T]]
// CHECK-NEXT: %[[S:.*]] = arith.addf
// CHECK-NEXT: fusion_tile.store %[[D]]
// CHECK-NEXT: scf.yield %[[S]]
// CHECK-NEXT: }
// CHECK-NOT: scf.for
fusion_tile.program @stored_before(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<96xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<96xf32>
  scf.for %k = %c0 to %c96 step %c32 {
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : !fusion_tile.view<96xf32> -> tensor<32xf32>
    %d = arith.addf %t, %t : tensor<32xf32>
    fusion_tile.store %d, %y[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : tensor<32xf32>, !fusion_tile.view<96xf32>
  }
  %s = scf.for %k = %c0 to %c96 step %c32 iter_args(%a = %zero) -> (tensor<32xf32>) {
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : !fusion_tile.view<96xf32> -> tensor<32xf32>
    %d = arith.addf %t, %t : tensor<32xf32>
    %b = arith.addf %a, %d : tensor<32xf32>
    scf.yield %b : tensor<32xf32>
  }
  "test.use"(%s) : (tensor<32xf32>) -> ()
  fusion_tile.return
}

// -----

// CHECK-LABEL: fusion_tile.program @stored_behind
// CHECK: scf.for
// CHECK: fusion_tile.load
// CHECK-NOT: fusion_tile.load
// CHECK: fusion_tile.store
// CHECK: }
// CHECK-NOT: scf.for
fusion_tile.program @stored_behind(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<96xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<96xf32>
  %s = scf.for %k = %c0 to %c96 step %c32 iter_args(%a = %zero) -> (tensor<32xf32>) {
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : !fusion_tile.view<96xf32> -> tensor<32xf32>
    %b = arith.addf %a, %t : tensor<32xf32>
    scf.yield %b : tensor<32xf32>
  }
  "test.use"(%s) : (tensor<32xf32>) -> ()
  scf.for %k = %c0 to %c96 step %c32 {
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : !fusion_tile.view<96xf32> -> tensor<32xf32>
    fusion_tile.store %t, %y[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : tensor<32xf32>, !fusion_tile.view<96xf32>
  }
  fusion_tile.return
}

// -----

// What is stored needs the sum.

// CHECK-LABEL: fusion_tile.program @needs_the_sum
// CHECK-COUNT-2: scf.for
fusion_tile.program @needs_the_sum(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<96xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<96xf32>
  %s = scf.for %k = %c0 to %c96 step %c32 iter_args(%a = %zero) -> (tensor<32xf32>) {
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : !fusion_tile.view<96xf32> -> tensor<32xf32>
    %b = arith.addf %a, %t : tensor<32xf32>
    scf.yield %b : tensor<32xf32>
  }
  scf.for %k = %c0 to %c96 step %c32 {
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : !fusion_tile.view<96xf32> -> tensor<32xf32>
    %d = arith.subf %t, %s : tensor<32xf32>
    fusion_tile.store %d, %y[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : tensor<32xf32>, !fusion_tile.view<96xf32>
  }
  fusion_tile.return
}

// -----

// Other bounds; another tensor; a barrier in the loop.

// CHECK-LABEL: fusion_tile.program @others
// CHECK-COUNT-4: scf.for
fusion_tile.program @others(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<96xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<96xf32>
  %z = fusion_tile.view %r[] : !llvm.ptr<1> to !fusion_tile.view<96xf32>
  %s = scf.for %k = %c0 to %c96 step %c32 iter_args(%a = %zero) -> (tensor<32xf32>) {
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : !fusion_tile.view<96xf32> -> tensor<32xf32>
    %b = arith.addf %a, %t : tensor<32xf32>
    scf.yield %b : tensor<32xf32>
  }
  "test.use"(%s) : (tensor<32xf32>) -> ()
  scf.for %k = %c0 to %c64 step %c32 {
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : !fusion_tile.view<96xf32> -> tensor<32xf32>
    fusion_tile.store %t, %y[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : tensor<32xf32>, !fusion_tile.view<96xf32>
  }
  scf.for %k = %c0 to %c96 step %c32 {
    %t = fusion_tile.load %z[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : !fusion_tile.view<96xf32> -> tensor<32xf32>
    fusion_tile.store %t, %y[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : tensor<32xf32>, !fusion_tile.view<96xf32>
  }
  scf.for %k = %c0 to %c96 step %c32 {
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : !fusion_tile.view<96xf32> -> tensor<32xf32>
    fusion_tile.barrier
    fusion_tile.store %t, %y[affine_map<(a)[s] -> (a + s)>] (%k) checked [false] : tensor<32xf32>, !fusion_tile.view<96xf32>
  }
  fusion_tile.return
}
