// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s
// RUN: fusion-compile %s -o %t.fpk --target=sm_90a --explain | FileCheck %s --check-prefix=EXPLAIN
// RUN: fusion-run %s --entry=sums --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// RUN: fusion-run %s --entry=statistics --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// Reductions over rows that are no whole vectors keep so many neighbours apart
// as make one row of vectors.

// VERIFY: {{^}}verified
// EXPLAIN-COUNT-3: fused {{.*}} begun-by-folded-rows
// EXPLAIN-NOT: begun-by-folded-rows

// Eight rows of 35 are 560 bytes. What is reduced is computed element by
// element, from a tensor whose dimensions are joined.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %{{.*}} into tensor<60000x280xbf16>
// CHECK: fusion.kernel {{.*}} ins(%[[ROWS]] : tensor<60000x280xbf16>) -> (tensor<280xf32>, tensor<280xf32>)
// CHECK: fusion.kernel {{.*}} -> (tensor<35xf32>, tensor<35xf32>)
func.func @sums(%x: tensor<40x12000x35xbf16>) -> (tensor<35xf32>, tensor<35xf32>) {
  %w = arith.extf %x : tensor<40x12000x35xbf16> to tensor<40x12000x35xf32>
  %q = arith.mulf %w, %w : tensor<40x12000x35xf32>
  %z = arith.constant 0.0 : f32
  %l = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<35xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<35xf32>) -> tensor<35xf32>
  %g = linalg.fill ins(%l : f32) outs(%e : tensor<35xf32>) -> tensor<35xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (k)>],
                         iterator_types = ["reduction", "reduction", "parallel"]}
      ins(%w, %q : tensor<40x12000x35xf32>, tensor<40x12000x35xf32>) outs(%f, %g : tensor<35xf32>, tensor<35xf32>) {
  ^bb0(%v: f32, %s: f32, %a: f32, %b: f32):
    %0 = arith.addf %a, %s : f32
    %1 = arith.maximumf %b, %v : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<35xf32>, tensor<35xf32>)
  return %r#0, %r#1 : tensor<35xf32>, tensor<35xf32>
}

// The moments of parts are those of their elements. What they are for then
// reads the tensor for itself.
// CHECK-LABEL: func.func @statistics
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel {{.*}} ins(%{{.*}} : tensor<40000x280xbf16>) -> (tensor<280xf32>, tensor<280xf32>, tensor<280xf32>)
// CHECK: fusion.kernel {{.*}} -> (tensor<35xf32>, tensor<35xf32>)
func.func @statistics(%x: tensor<320000x35xbf16>) -> (tensor<35xf32>, tensor<35xf32>) {
  %0:3 = fusion.batch_norm_training %x channel_axis(1) eps(1.0e-05) : (tensor<320000x35xbf16>) -> (tensor<320000x35xbf16>, tensor<35xf32>, tensor<35xf32>)
  return %0#1, %0#2 : tensor<35xf32>, tensor<35xf32>
}

// CHECK-LABEL: func.func @normalized
// CHECK-SAME: kernels_after = 3 : i64
// CHECK: fusion.kernel {{.*}} ins(%{{.*}} : tensor<60000x280xbf16>) -> (tensor<280xf32>, tensor<280xf32>, tensor<280xf32>)
// CHECK: fusion.kernel {{.*}} -> (tensor<35xf32>, tensor<35xf32>)
// CHECK: fusion.kernel {{.*}} -> (tensor<480000x35xbf16>)
func.func @normalized(%x: tensor<480000x35xbf16>) -> tensor<480000x35xbf16> {
  %0:3 = fusion.batch_norm_training %x channel_axis(1) eps(1.0e-05) : (tensor<480000x35xbf16>) -> (tensor<480000x35xbf16>, tensor<35xf32>, tensor<35xf32>)
  return %0#0 : tensor<480000x35xbf16>
}

// Rows of vectors are read as they are.
// CHECK-LABEL: func.func @vectors
// CHECK-SAME: kernels_after = 1 : i64
func.func @vectors(%x: tensor<480000x40xbf16>) -> tensor<40xf32> {
  %w = arith.extf %x : tensor<480000x40xbf16> to tensor<480000x40xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  %r = linalg.reduce { arith.addf } ins(%w : tensor<480000x40xf32>) outs(%f : tensor<40xf32>) dimensions = [0]
  return %r : tensor<40xf32>
}

// Lanes with a word each fill lines wherever rows begin.
// CHECK-LABEL: func.func @words
// CHECK-SAME: kernels_after = 1 : i64
func.func @words(%x: tensor<480000x35xf32>) -> tensor<35xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<35xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<35xf32>) -> tensor<35xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<480000x35xf32>) outs(%f : tensor<35xf32>) dimensions = [0]
  return %r : tensor<35xf32>
}

// An odd number of rows has no two halves.
// CHECK-LABEL: func.func @odd
// CHECK-SAME: kernels_after = 1 : i64
func.func @odd(%x: tensor<480001x35xbf16>) -> tensor<35xf32> {
  %w = arith.extf %x : tensor<480001x35xbf16> to tensor<480001x35xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<35xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<35xf32>) -> tensor<35xf32>
  %r = linalg.reduce { arith.addf } ins(%w : tensor<480001x35xf32>) outs(%f : tensor<35xf32>) dimensions = [0]
  return %r : tensor<35xf32>
}

// A sum in between would be rounded to bf16.
// CHECK-LABEL: func.func @rounded
// CHECK-SAME: kernels_after = 1 : i64
func.func @rounded(%x: tensor<480000x35xbf16>) -> tensor<35xbf16> {
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<35xbf16>
  %f = linalg.fill ins(%z : bf16) outs(%e : tensor<35xbf16>) -> tensor<35xbf16>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<480000x35xbf16>) outs(%f : tensor<35xbf16>) dimensions = [0]
  return %r : tensor<35xbf16>
}
