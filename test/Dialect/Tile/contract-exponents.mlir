// Exponents relative to a row become one multiply-add.

// RUN: fusion-opt %s --fusion-tile-contract-exponents --split-input-file | FileCheck %s
// RUN: fusion-opt %s --fusion-tile-contract-exponents=fast --split-input-file | FileCheck %s --check-prefix=FAST

// The scale moves out of the choice and of the maximum into the exponent:
// 0.125 log2(e) times the element less the maximum.
// CHECK-LABEL: fusion_tile.program @masked
// CHECK-DAG: %[[K:.*]] = arith.constant 0.180336878 : f32
// CHECK-DAG: %[[L:.*]] = arith.constant -0.180336878 : f32
// CHECK: %[[S:.*]] = fusion_tile.load
// CHECK: %[[P:.*]] = arith.select %{{.*}}, %{{.*}}, %[[S]]
// CHECK: %[[T:.*]] = fusion_tile.reduce %[[P]] along 1
// CHECK: %[[SL:.*]] = fusion_tile.splat %[[L]] : f32 -> tensor<64xf32>
// CHECK: %[[O:.*]] = arith.mulf %[[T]], %[[SL]]
// CHECK: %[[SK:.*]] = fusion_tile.splat %[[K]] : f32 -> tensor<64x64xf32>
// CHECK: %[[B:.*]] = fusion_tile.broadcast %[[O]] dims [0]
// CHECK: %[[E:.*]] = math.fma %[[P]], %[[SK]], %[[B]]
// CHECK: math.exp2 %[[E]] fastmath<afn>
fusion_tile.program @masked(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (1)>, size_arguments = array<i64>} {
  %scale = arith.constant 0.125 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %k = fusion_tile.splat %scale : f32 -> tensor<64x64xf32>
  %low = fusion_tile.splat %lowest : f32 -> tensor<64x64xf32>
  %0 = fusion_tile.view %x[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %1 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %s = fusion_tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf32> -> tensor<64x64xf32>
  %mask = arith.cmpf olt, %s, %k : tensor<64x64xf32>
  %z = arith.mulf %s, %k : tensor<64x64xf32>
  %p = arith.select %mask, %low, %z : tensor<64x64xi1>, tensor<64x64xf32>
  %m = fusion_tile.reduce %p along 1 : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.maximumf %a, %b : f32
    fusion_tile.yield %t : f32
  }
  %b = fusion_tile.broadcast %m dims [0] : tensor<64xf32> -> tensor<64x64xf32>
  %d = arith.subf %p, %b : tensor<64x64xf32>
  %e = math.exp %d fastmath<afn> : tensor<64x64xf32>
  fusion_tile.store %e, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}

// -----

// What repairs sums of such exponentials is relative to the same number: the
// distance of two maxima is that of their multiples by log2(e).
// CHECK-LABEL: fusion_tile.program @repaired
// CHECK: %[[OLD:.*]] = fusion_tile.load %{{.*}} -> tensor<64xf32>
// CHECK: %[[NEW:.*]] = fusion_tile.load %{{.*}} -> tensor<64xf32>
// CHECK: %[[O:.*]] = arith.mulf %[[NEW]], %{{.*}} : tensor<64xf32>
// CHECK: %[[F:.*]] = arith.mulf %[[OLD]], %{{.*}} : tensor<64xf32>
// CHECK: %[[D:.*]] = arith.addf %[[F]], %[[O]] : tensor<64xf32>
// CHECK: math.exp2 %[[D]] fastmath<afn> : tensor<64xf32>
// CHECK: %[[B:.*]] = fusion_tile.broadcast %[[O]] dims [0]
// CHECK: math.fma %{{.*}}, %{{.*}}, %[[B]]
fusion_tile.program @repaired(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (1)>, size_arguments = array<i64>} {
  %scale = arith.constant 0.125 : f32
  %k = fusion_tile.splat %scale : f32 -> tensor<64x64xf32>
  %0 = fusion_tile.view %x[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %1 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %2 = fusion_tile.view %x[] {shape = affine_map<() -> (64)>} : !llvm.ptr<1> to <64xf32>
  %r = fusion_tile.view %y[] {shape = affine_map<() -> (64)>} : !llvm.ptr<1> to <64xf32>
  %s = fusion_tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf32> -> tensor<64x64xf32>
  %old = fusion_tile.load %2[affine_map<(d0) -> (d0)>] () checked [false] : <64xf32> -> tensor<64xf32>
  %m = fusion_tile.load %r[affine_map<(d0) -> (d0)>] () checked [false] : <64xf32> -> tensor<64xf32>
  %change = arith.subf %old, %m : tensor<64xf32>
  %f = math.exp %change fastmath<afn> : tensor<64xf32>
  %b = fusion_tile.broadcast %m dims [0] : tensor<64xf32> -> tensor<64x64xf32>
  %z = arith.mulf %s, %k : tensor<64x64xf32>
  %d = arith.subf %z, %b : tensor<64x64xf32>
  %e = math.exp %d fastmath<afn> : tensor<64x64xf32>
  fusion_tile.store %e, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.store %f, %r[affine_map<(d0) -> (d0)>] () checked [false] : tensor<64xf32>, <64xf32>
  fusion_tile.return
}

// -----

// An exact exponential stays, unless all may be approximated; so does one of
// what is no multiple, or of a negative one: its maximum is another.
// CHECK-LABEL: fusion_tile.program @others
// CHECK: math.exp %{{.*}} : tensor
// CHECK: math.exp %{{.*}} fastmath<afn>
// CHECK: %[[N:.*]] = arith.mulf
// CHECK: fusion_tile.reduce %[[N]] along 1
// CHECK-NOT: math.fma
// CHECK: fusion_tile.return
// FAST-LABEL: fusion_tile.program @others
// FAST: math.fma
// FAST: math.exp2
// FAST: math.exp %{{.*}} fastmath<afn>
// FAST: fusion_tile.return
fusion_tile.program @others(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (1)>, size_arguments = array<i64>} {
  %scale = arith.constant 0.125 : f32
  %negative = arith.constant -0.125 : f32
  %k = fusion_tile.splat %scale : f32 -> tensor<64x64xf32>
  %n = fusion_tile.splat %negative : f32 -> tensor<64x64xf32>
  %0 = fusion_tile.view %x[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %1 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %r = fusion_tile.view %y[] {shape = affine_map<() -> (64)>} : !llvm.ptr<1> to <64xf32>
  %s = fusion_tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf32> -> tensor<64x64xf32>
  %m = fusion_tile.load %r[affine_map<(d0) -> (d0)>] () checked [false] : <64xf32> -> tensor<64xf32>
  %b = fusion_tile.broadcast %m dims [0] : tensor<64xf32> -> tensor<64x64xf32>
  %z = arith.mulf %s, %k : tensor<64x64xf32>
  %d = arith.subf %z, %b : tensor<64x64xf32>
  %e = math.exp %d : tensor<64x64xf32>
  fusion_tile.store %e, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  %c = arith.subf %s, %b : tensor<64x64xf32>
  %f = math.exp %c fastmath<afn> : tensor<64x64xf32>
  fusion_tile.store %f, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  %v = arith.mulf %s, %n : tensor<64x64xf32>
  %t = fusion_tile.reduce %v along 1 : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %h: f32):
    %u = arith.maximumf %a, %h : f32
    fusion_tile.yield %u : f32
  }
  fusion_tile.store %t, %r[affine_map<(d0) -> (d0)>] () checked [false] : tensor<64xf32>, <64xf32>
  fusion_tile.return
}

// -----

// A mask makes minus infinity for a maximum, and zeros of exponentials that are
// added up: these follow from that, unless the maximum may be minus infinity.
// CHECK-LABEL: fusion_tile.program @zeros
// CHECK: %[[M:.*]] = arith.select %[[C:.*]], %[[S:.*]], %{{.*}} : tensor<64x64xi1>, tensor<64x64xf32>
// CHECK: %[[D:.*]] = arith.subf %[[M]], %{{.*}} : tensor<64x64xf32>
// CHECK: %[[E:.*]] = math.exp %[[D]]
// CHECK: fusion_tile.reduce %[[E]] along 1
// CHECK: %[[X:.*]] = math.exp %{{.*}} : tensor<64x64xf32>
// CHECK: %[[K:.*]] = arith.select %[[C]], %[[X]], %{{.*}} : tensor<64x64xi1>, tensor<64x64xf32>
// CHECK: fusion_tile.reduce %[[K]] along 1
fusion_tile.program @zeros(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (1)>, size_arguments = array<i64>} {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %zeros = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %low = fusion_tile.splat %lowest : f32 -> tensor<64x64xf32>
  %none = fusion_tile.splat %zero : f32 -> tensor<64xf32>
  %lows = fusion_tile.splat %lowest : f32 -> tensor<64xf32>
  %0 = fusion_tile.view %x[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %r = fusion_tile.view %y[] {shape = affine_map<() -> (64)>} : !llvm.ptr<1> to <64xf32>
  %s = fusion_tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf32> -> tensor<64x64xf32>
  %mask = arith.cmpf olt, %s, %zeros : tensor<64x64xf32>
  %p = arith.select %mask, %s, %low : tensor<64x64xi1>, tensor<64x64xf32>
  %m = fusion_tile.reduce %p along 1 : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %t = arith.maximumf %a, %b : f32
    fusion_tile.yield %t : f32
  }
  %isNone = arith.cmpf oeq, %m, %lows : tensor<64xf32>
  %used = arith.select %isNone, %none, %m : tensor<64xi1>, tensor<64xf32>
  %b = fusion_tile.broadcast %used dims [0] : tensor<64xf32> -> tensor<64x64xf32>
  %d = arith.subf %s, %b : tensor<64x64xf32>
  %e = math.exp %d : tensor<64x64xf32>
  %z = arith.select %mask, %e, %zeros : tensor<64x64xi1>, tensor<64x64xf32>
  %l = fusion_tile.reduce %z along 1 : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %h: f32):
    %u = arith.addf %a, %h : f32
    fusion_tile.yield %u : f32
  }
  fusion_tile.store %l, %r[affine_map<(d0) -> (d0)>] () checked [false] : tensor<64xf32>, <64xf32>
  %b2 = fusion_tile.broadcast %m dims [0] : tensor<64xf32> -> tensor<64x64xf32>
  %d2 = arith.subf %s, %b2 : tensor<64x64xf32>
  %e2 = math.exp %d2 : tensor<64x64xf32>
  %z2 = arith.select %mask, %e2, %zeros : tensor<64x64xi1>, tensor<64x64xf32>
  %l2 = fusion_tile.reduce %z2 along 1 : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %h: f32):
    %u = arith.addf %a, %h : f32
    fusion_tile.yield %u : f32
  }
  fusion_tile.store %l2, %r[affine_map<(d0) -> (d0)>] () checked [false] : tensor<64xf32>, <64xf32>
  fusion_tile.return
}

// -----

// A scale behind the difference, of an element that is rounded as it is computed:
// 0.125 x - 0.125 m, in base 2. The factor of a sum has the same scale.
// CHECK-LABEL: fusion_tile.program @behind
// CHECK: %[[N:.*]] = arith.constant -1.250000e-01 : f32
// CHECK: %[[SN:.*]] = fusion_tile.splat %[[N]] : f32 -> tensor<64xf32>
// CHECK: %[[O:.*]] = arith.mulf %{{.*}}, %[[SN]]
// CHECK: %[[P:.*]] = arith.addf
// CHECK: %[[F:.*]] = arith.mulf %{{.*}}, %{{.*}} : tensor<64xf32>
// CHECK: %[[D:.*]] = arith.addf %[[F]], %[[O]] : tensor<64xf32>
// CHECK: math.exp2 %[[D]] fastmath<afn> : tensor<64xf32>
// CHECK: %[[B:.*]] = fusion_tile.broadcast %[[O]] dims [0]
// CHECK: %[[E:.*]] = math.fma %[[P]], %{{.*}}, %[[B]]
// CHECK: math.exp2 %[[E]] fastmath<afn> : tensor<64x64xf32>
fusion_tile.program @behind(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (1)>, size_arguments = array<i64>} {
  %scale = arith.constant 0.125 : f32
  %k = fusion_tile.splat %scale : f32 -> tensor<64x64xf32>
  %kr = fusion_tile.splat %scale : f32 -> tensor<64xf32>
  %0 = fusion_tile.view %x[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %1 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %2 = fusion_tile.view %x[] {shape = affine_map<() -> (64)>} : !llvm.ptr<1> to <64xf32>
  %r = fusion_tile.view %y[] {shape = affine_map<() -> (64)>} : !llvm.ptr<1> to <64xf32>
  %s = fusion_tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf32> -> tensor<64x64xf32>
  %old = fusion_tile.load %2[affine_map<(d0) -> (d0)>] () checked [false] : <64xf32> -> tensor<64xf32>
  %m = fusion_tile.load %r[affine_map<(d0) -> (d0)>] () checked [false] : <64xf32> -> tensor<64xf32>
  %soft = math.tanh %s : tensor<64x64xf32>
  %p = arith.addf %soft, %k : tensor<64x64xf32>
  %change = arith.subf %old, %m : tensor<64xf32>
  %scaled = arith.mulf %change, %kr : tensor<64xf32>
  %f = math.exp2 %scaled fastmath<afn> : tensor<64xf32>
  %b = fusion_tile.broadcast %m dims [0] : tensor<64xf32> -> tensor<64x64xf32>
  %d = arith.subf %p, %b : tensor<64x64xf32>
  %w = arith.mulf %d, %k : tensor<64x64xf32>
  %e = math.exp2 %w fastmath<afn> : tensor<64x64xf32>
  fusion_tile.store %e, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.store %f, %r[affine_map<(d0) -> (d0)>] () checked [false] : tensor<64xf32>, <64xf32>
  fusion_tile.return
}

// -----

// What was loaded is exact, and so is its distance from the maximum.
// CHECK-LABEL: fusion_tile.program @exact
// CHECK: %[[S:.*]] = fusion_tile.load %{{.*}} -> tensor<64x64xf32>
// CHECK: %[[D:.*]] = arith.subf %[[S]], %{{.*}} : tensor<64x64xf32>
// CHECK: math.exp %[[D]] fastmath<afn>
fusion_tile.program @exact(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (1)>, size_arguments = array<i64>} {
  %0 = fusion_tile.view %x[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %1 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %r = fusion_tile.view %y[] {shape = affine_map<() -> (64)>} : !llvm.ptr<1> to <64xf32>
  %s = fusion_tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf32> -> tensor<64x64xf32>
  %m = fusion_tile.load %r[affine_map<(d0) -> (d0)>] () checked [false] : <64xf32> -> tensor<64xf32>
  %b = fusion_tile.broadcast %m dims [0] : tensor<64xf32> -> tensor<64x64xf32>
  %d = arith.subf %s, %b : tensor<64x64xf32>
  %e = math.exp %d fastmath<afn> : tensor<64x64xf32>
  fusion_tile.store %e, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}

// -----

// A sum with what may mask elements: where all of a row so far are masked, their
// multiples are too large to be rounded.
// CHECK-LABEL: fusion_tile.program @masks
// CHECK: %[[P:.*]] = arith.addf
// CHECK: %[[D:.*]] = arith.subf %[[P]], %{{.*}} : tensor<64x64xf32>
// CHECK: math.exp %[[D]] fastmath<afn>
// CHECK: %[[Q:.*]] = arith.addf
// CHECK: %[[C:.*]] = arith.subf %[[Q]], %{{.*}} : tensor<64x64xf32>
// CHECK: math.exp %[[C]] fastmath<afn>
// CHECK-NOT: math.fma
fusion_tile.program @masks(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (1)>, size_arguments = array<i64>} {
  %none = arith.constant 0.0 : f32
  %lowest = arith.constant -1.0e+09 : f32
  %zeros = fusion_tile.splat %none : f32 -> tensor<64x64xf32>
  %low = fusion_tile.splat %lowest : f32 -> tensor<64x64xf32>
  %0 = fusion_tile.view %x[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %1 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %r = fusion_tile.view %y[] {shape = affine_map<() -> (64)>} : !llvm.ptr<1> to <64xf32>
  %s = fusion_tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf32> -> tensor<64x64xf32>
  %m = fusion_tile.load %r[affine_map<(d0) -> (d0)>] () checked [false] : <64xf32> -> tensor<64xf32>
  %soft = math.tanh %s : tensor<64x64xf32>
  %p = arith.addf %soft, %s : tensor<64x64xf32>
  %b = fusion_tile.broadcast %m dims [0] : tensor<64xf32> -> tensor<64x64xf32>
  %d = arith.subf %p, %b : tensor<64x64xf32>
  %e = math.exp %d fastmath<afn> : tensor<64x64xf32>
  %is = arith.cmpf olt, %s, %zeros : tensor<64x64xf32>
  %c = arith.select %is, %zeros, %low : tensor<64x64xi1>, tensor<64x64xf32>
  %q = arith.addf %soft, %c : tensor<64x64xf32>
  %d2 = arith.subf %q, %b : tensor<64x64xf32>
  %e2 = math.exp %d2 fastmath<afn> : tensor<64x64xf32>
  fusion_tile.store %e, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.store %e2, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}
