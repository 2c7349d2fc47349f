// Relative sums of rows with infinity, with negative infinity alone, with NaN, with
// negative infinity where the weight is zero and where it is not, and of numbers:
// what they are in one sweep is what they are without.

// RUN: fusion-run %s --entry=given --target=sm_80 --device=emulator --random --explain --output=%t | FileCheck %s
// RUN: od -A n -f -w24 -j 128 %t/output0.npy | FileCheck %s --check-prefix=GIVEN
// RUN: fusion-run %s --entry=own --target=sm_80 --device=emulator --random --explain --output=%t | FileCheck %s
// RUN: od -A n -f -w24 -j 128 %t/output0.npy | FileCheck %s --check-prefix=OWN
// CHECK: fused {{.*}} relative-sum,
// CHECK: fused {{.*}} relative-sum,
// GIVEN: nan nan nan nan inf {{[0-9]}}
// OWN: nan nan nan nan nan -{{[0-9]}}

#full = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
#vector = affine_map<(r) -> (r)>

func.func @given(%x: tensor<6x400003xf32>) -> tensor<6xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %inf = arith.constant 0x7F800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x400003xf32>
  // Zero is the weight of the first elements, and each other's is one.
  %w, %y = linalg.generic {indexing_maps=[#full,#full,#full], iterator_types=["parallel","parallel"]} ins(%x : tensor<6x400003xf32>) outs(%e, %e : tensor<6x400003xf32>, tensor<6x400003xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %one = arith.constant 1.0 : f32
    %r = linalg.index 0 : index
    %c = linalg.index 1 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c7 = arith.constant 300007 : index
    %at = arith.cmpi eq, %c, %c7 : index
    %first = arith.cmpi eq, %c, %c0 : index
    %r0 = arith.cmpi eq, %r, %c0 : index
    %r1 = arith.cmpi eq, %r, %c1 : index
    %r2 = arith.cmpi eq, %r, %c2 : index
    %r3 = arith.cmpi eq, %r, %c3 : index
    %r4 = arith.cmpi eq, %r, %c4 : index
    %p0 = arith.andi %r0, %at : i1
    %p2 = arith.andi %r2, %at : i1
    %p3 = arith.andi %r3, %first : i1
    %p4 = arith.andi %r4, %at : i1
    %v0 = arith.select %p0, %inf, %a : f32
    %v1 = arith.select %r1, %ninf, %v0 : f32
    %v2 = arith.select %p2, %nan, %v1 : f32
    %v3 = arith.select %p3, %ninf, %v2 : f32
    %v4 = arith.select %p4, %ninf, %v3 : f32
    %weight = arith.select %first, %zero, %one : f32
    linalg.yield %weight, %v4 : f32, f32
  } -> (tensor<6x400003xf32>, tensor<6x400003xf32>)
  %er = tensor.empty() : tensor<6xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %q = fusion.log_softmax %y axis(1) : tensor<6x400003xf32>
  %m = arith.mulf %w, %q : tensor<6x400003xf32>
  %t = arith.negf %m : tensor<6x400003xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<6x400003xf32>) outs(%s0 : tensor<6xf32>) dimensions = [1]
  return %s : tensor<6xf32>
}

func.func @own(%x: tensor<6x400003xf32>) -> tensor<6xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %inf = arith.constant 0x7F800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x400003xf32>
  %y = linalg.generic {indexing_maps=[#full,#full], iterator_types=["parallel","parallel"]} ins(%x : tensor<6x400003xf32>) outs(%e : tensor<6x400003xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = linalg.index 0 : index
    %c = linalg.index 1 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c7 = arith.constant 300007 : index
    %at = arith.cmpi eq, %c, %c7 : index
    %first = arith.cmpi eq, %c, %c0 : index
    %r0 = arith.cmpi eq, %r, %c0 : index
    %r1 = arith.cmpi eq, %r, %c1 : index
    %r2 = arith.cmpi eq, %r, %c2 : index
    %r3 = arith.cmpi eq, %r, %c3 : index
    %r4 = arith.cmpi eq, %r, %c4 : index
    %p0 = arith.andi %r0, %at : i1
    %p2 = arith.andi %r2, %at : i1
    %p3 = arith.andi %r3, %first : i1
    %p4 = arith.andi %r4, %at : i1
    %v0 = arith.select %p0, %inf, %a : f32
    %v1 = arith.select %r1, %ninf, %v0 : f32
    %v2 = arith.select %p2, %nan, %v1 : f32
    %v3 = arith.select %p3, %ninf, %v2 : f32
    %v4 = arith.select %p4, %ninf, %v3 : f32
    linalg.yield %v4 : f32
  } -> tensor<6x400003xf32>
  %er = tensor.empty() : tensor<6xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %q = fusion.log_softmax %y axis(1) : tensor<6x400003xf32>
  %p = math.exp %q : tensor<6x400003xf32>
  %t = arith.mulf %p, %q : tensor<6x400003xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<6x400003xf32>) outs(%s0 : tensor<6xf32>) dimensions = [1]
  return %s : tensor<6xf32>
}
