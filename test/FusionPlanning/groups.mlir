// RUN: fusion-opt %s --fusion-input --fusion-plan-form-kernels --remarks-filter='fusion.*' 2>&1 >%t | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t

// Products of rows in groups are kernels like others; each finds the groups of
// its rows by itself.

// CHECK-LABEL: func.func @gated
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: fusion.kernel
// CHECK: fusion.row_groups
// CHECK-NOT: fusion.row_groups
// CHECK: return
// REMARK-NOT: Missed{{.*}}Function=gated
func.func @gated(%x: tensor<256x64xbf16>, %w: tensor<4x64x128xbf16>, %v: tensor<4x64x128xbf16>, %b: tensor<4x128xbf16>, %o: tensor<5xi32>) -> tensor<256x128xbf16> {
  %0 = fusion.grouped_matmul %x, %w offsets(%o) : (tensor<256x64xbf16>, tensor<4x64x128xbf16>, tensor<5xi32>) -> tensor<256x128xf32>
  %1 = fusion.grouped_matmul %x, %v offsets(%o) bias(%b) : (tensor<256x64xbf16>, tensor<4x64x128xbf16>, tensor<5xi32>, tensor<4x128xbf16>) -> tensor<256x128xf32>
  %2 = fusion.silu %0 : tensor<256x128xf32>
  %3 = arith.mulf %2, %1 : tensor<256x128xf32>
  %4 = arith.truncf %3 : tensor<256x128xf32> to tensor<256x128xbf16>
  return %4 : tensor<256x128xbf16>
}

// Nothing is known of how many tiles there may be.
// REMARK: groups {{.*}}Function=rows
func.func @rows(%x: tensor<?x64xbf16>, %w: tensor<4x64x128xbf16>, %o: tensor<5xi32>) -> tensor<?x128xf32> {
  %0 = fusion.grouped_matmul %x, %w offsets(%o) : (tensor<?x64xbf16>, tensor<4x64x128xbf16>, tensor<5xi32>) -> tensor<?x128xf32>
  return %0 : tensor<?x128xf32>
}

// Rows are not outermost in the result.
// REMARK: groups {{.*}}Function=transposed
func.func @transposed(%x: tensor<256x64xbf16>, %w: tensor<4x64x16xbf16>, %o: tensor<5xi32>) -> tensor<16x256xf32> {
  %0 = fusion.grouped_matmul %x, %w offsets(%o) : (tensor<256x64xbf16>, tensor<4x64x16xbf16>, tensor<5xi32>) -> tensor<256x16xf32>
  %e = tensor.empty() : tensor<16x256xf32>
  %1 = linalg.transpose ins(%0 : tensor<256x16xf32>) outs(%e : tensor<16x256xf32>) permutation = [1, 0]
  return %1 : tensor<16x256xf32>
}

// Offsets are computed before.
// REMARK: computed-offsets {{.*}}Function=computed
// CHECK-LABEL: func.func @computed
// CHECK-SAME: kernels_after = 2 : i64
func.func @computed(%x: tensor<256x64xbf16>, %w: tensor<4x64x128xbf16>, %a: tensor<5xi32>, %b: tensor<5xi32>) -> tensor<256x128xf32> {
  %o = arith.addi %a, %b : tensor<5xi32>
  %0 = fusion.grouped_matmul %x, %w offsets(%o) : (tensor<256x64xbf16>, tensor<4x64x128xbf16>, tensor<5xi32>) -> tensor<256x128xf32>
  return %0 : tensor<256x128xf32>
}

// A kernel of its own where the groups themselves are asked for.
// CHECK-LABEL: func.func @groups
// CHECK: fusion.kernel
// CHECK: %[[G:.*]] = fusion.row_groups
// CHECK-NEXT: fusion.yield %[[G]]
func.func @groups(%o: tensor<5xi32>) -> tensor<256xi32> {
  %0 = fusion.row_groups %o : tensor<5xi32> -> tensor<256xi32>
  return %0 : tensor<256xi32>
}
