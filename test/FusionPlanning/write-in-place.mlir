// RUN: fusion-opt %s --fusion-plan-form-kernels --remarks-filter='fusion.*' \
// RUN:   2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// Which insertions into an argument that a result overwrites write the slice
// alone, and what the others read and write.

// 8192 elements of the cache, 128 of the row: 256 of them move.
// CHECK-LABEL: func @append
// CHECK-SAME: bytes_after = 1024 : i64
// CHECK: fusion.kernel
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}} {fusion.in_place}
// REMARK: [Passed] in-place | Category:fusion-plan | Function=append
// REMARK-SAME: result #0 -> argument #0
func.func @append(%cache: tensor<64x128xf32> {fusion.overwritten_by = 0}, %row: tensor<1x128xf32>) -> tensor<64x128xf32> {
  %0 = tensor.insert_slice %row into %cache[7, 0] [1, 128] [1, 1] : tensor<1x128xf32> into tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// Through reshapes, with what computes the slice in the same kernel.
// CHECK-LABEL: func @reshaped
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: math.exp
// CHECK: {fusion.in_place}
// REMARK: [Passed] in-place | Category:fusion-plan | Function=reshaped
func.func @reshaped(%cache: tensor<8x8x128xf32> {fusion.overwritten_by = 0}, %row: tensor<128xf32>) -> tensor<8x8x128xf32> {
  %rows = tensor.collapse_shape %cache [[0, 1], [2]] : tensor<8x8x128xf32> into tensor<64x128xf32>
  %e = tensor.empty() : tensor<128xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%row : tensor<128xf32>) outs(%e : tensor<128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<128xf32>
  %1 = tensor.insert_slice %x into %rows[7, 0] [1, 128] [1, 1] : tensor<128xf32> into tensor<64x128xf32>
  %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [8, 8, 128] : tensor<64x128xf32> into tensor<8x8x128xf32>
  return %2 : tensor<8x8x128xf32>
}

// Who reads all of it finds it in memory: a kernel after it.
// CHECK-LABEL: func @read_after
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel
// CHECK: {fusion.in_place}
// CHECK: fusion.kernel
// REMARK: [Passed] in-place | Category:fusion-plan | Function=read_after
// REMARK: [Missed] read-in-place | Category:fusion-plan | Function=read_after
func.func @read_after(%cache: tensor<64x128xf32> {fusion.overwritten_by = 0}, %row: tensor<1x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  %0 = tensor.insert_slice %row into %cache[7, 0] [1, 128] [1, 1] : tensor<1x128xf32> into tensor<64x128xf32>
  %e = tensor.empty() : tensor<64x128xf32>
  %1 = linalg.negf ins(%0 : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %0, %1 : tensor<64x128xf32>, tensor<64x128xf32>
}

// CHECK-LABEL: func @read_before
// CHECK-NOT: fusion.in_place
// REMARK: [Missed] argument-read | Category:fusion-plan | Function=read_before
func.func @read_before(%cache: tensor<64x128xf32> {fusion.overwritten_by = 0}, %row: tensor<1x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  %0 = tensor.insert_slice %row into %cache[7, 0] [1, 128] [1, 1] : tensor<1x128xf32> into tensor<64x128xf32>
  %e = tensor.empty() : tensor<64x128xf32>
  %1 = linalg.negf ins(%cache : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %0, %1 : tensor<64x128xf32>, tensor<64x128xf32>
}

// CHECK-LABEL: func @two_rows
// CHECK-NOT: fusion.in_place
// REMARK: [Missed] no-insertion | Category:fusion-plan | Function=two_rows
func.func @two_rows(%cache: tensor<64x128xf32> {fusion.overwritten_by = 0}, %row: tensor<1x128xf32>) -> tensor<64x128xf32> {
  %0 = tensor.insert_slice %row into %cache[7, 0] [1, 128] [1, 1] : tensor<1x128xf32> into tensor<64x128xf32>
  %1 = tensor.insert_slice %row into %0[9, 0] [1, 128] [1, 1] : tensor<1x128xf32> into tensor<64x128xf32>
  return %1 : tensor<64x128xf32>
}

// Nobody said that it may be overwritten.
// CHECK-LABEL: func @plain
// CHECK-NOT: fusion.in_place
// REMARK-NOT: in-place | {{.*}}Function=plain
func.func @plain(%cache: tensor<64x128xf32>, %row: tensor<1x128xf32>) -> tensor<64x128xf32> {
  %0 = tensor.insert_slice %row into %cache[7, 0] [1, 128] [1, 1] : tensor<1x128xf32> into tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// What a program itself says of it counts for nothing.
// CHECK-LABEL: func @said
// CHECK-NOT: fusion.in_place
// CHECK-NOT: fusion.part
func.func @said(%cache: tensor<64x128xf32>, %row: tensor<1x128xf32>) -> tensor<64x128xf32> {
  %s = tensor.extract_slice %cache[3, 0] [1, 128] [1, 1] {fusion.in_place} : tensor<64x128xf32> to tensor<1x128xf32>
  %e = tensor.empty() : tensor<1x128xf32>
  %x = linalg.add {fusion.part = array<i64: 0, 1>} ins(%s, %row : tensor<1x128xf32>, tensor<1x128xf32>) outs(%e : tensor<1x128xf32>) -> tensor<1x128xf32>
  %y = linalg.exp {fusion.part = array<i64: 0, 0>} ins(%x : tensor<1x128xf32>) outs(%e : tensor<1x128xf32>) -> tensor<1x128xf32>
  %0 = tensor.insert_slice %y into %cache[7, 0] [1, 128] [1, 1] {fusion.in_place} : tensor<1x128xf32> into tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}
