// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s
// RUN: fusion-compile %s -o %t.fpk --target=sm_90a --explain | FileCheck %s --check-prefix=EXPLAIN
// RUN: fusion-run %s --entry=between --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY
// Reductions that keep a dimension between those that they reduce begin with
// what lies outside of it, so that rows are read as they lie in memory.

// VERIFY: {{^}}verified
// EXPLAIN: fused {{.*}} begun-by-columns
// EXPLAIN-NOT: begun-by-columns

// A maximum and a sum, of what another operation computes.
// CHECK-LABEL: func.func @between
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel {{.*}} -> (tensor<{{32|16x2}}xf32>, tensor<{{32|16x2}}xf32>)
// CHECK: fusion.kernel {{.*}} -> (tensor<16xf32>, tensor<16xf32>)
func.func @between(%x: tensor<100001x16x2xf16>) -> (tensor<16xf32>, tensor<16xf32>) {
  %w = arith.extf %x : tensor<100001x16x2xf16> to tensor<100001x16x2xf32>
  %z = arith.constant 0.0 : f32
  %l = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %g = linalg.fill ins(%l : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j)>, affine_map<(i, j, k) -> (j)>],
                         iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%w : tensor<100001x16x2xf32>) outs(%f, %g : tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%v: f32, %a: f32, %b: f32):
    %0 = arith.addf %a, %v : f32
    %1 = arith.maximumf %b, %v : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<16xf32>, tensor<16xf32>)
  return %r#0, %r#1 : tensor<16xf32>, tensor<16xf32>
}

// Long rows fill a block's lanes, and would be many sums.
// CHECK-LABEL: func.func @long_rows
// CHECK-SAME: kernels_after = 1 : i64
func.func @long_rows(%x: tensor<64x256x4096xf32>) -> tensor<256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256xf32>) -> tensor<256xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<64x256x4096xf32>) outs(%f : tensor<256xf32>) dimensions = [0, 2]
  return %r : tensor<256xf32>
}

// A sum in between would be rounded to bf16.
// CHECK-LABEL: func.func @rounded
// CHECK-SAME: kernels_after = 1 : i64
func.func @rounded(%x: tensor<100001x16x2xbf16>) -> tensor<16xbf16> {
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<16xbf16>
  %f = linalg.fill ins(%z : bf16) outs(%e : tensor<16xbf16>) -> tensor<16xbf16>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<100001x16x2xbf16>) outs(%f : tensor<16xbf16>) dimensions = [0, 2]
  return %r : tensor<16xbf16>
}
