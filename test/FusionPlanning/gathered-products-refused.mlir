// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --remarks-filter='fusion.*' 2>%t | FileCheck %s --implicit-check-not=': tensor<4096x256xbf16>$'
// RUN: FileCheck %s --check-prefix=REMARK < %t

#row = affine_map<(i) -> (i)>
#ab = affine_map<(i, j, k) -> (i, k)>
#bt = affine_map<(i, j, k) -> (j, k)>
#c = affine_map<(i, j, k) -> (i, j)>

// The results are needed anyway.
// REMARK: not-profitable {{.*}}Function=returned {{.*}}matmul -> gather
// CHECK-LABEL: func @returned(
// CHECK: tensor.extract %{{.*}} : tensor<512x4096xf32>
func.func @returned(%x: tensor<512x256xbf16>, %w: tensor<4096x256xbf16>, %t: tensor<512xi64>) -> (tensor<512xf32>, tensor<512x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  %y = linalg.contract indexing_maps = [#ab, #bt, #c] ins(%x, %w : tensor<512x256xbf16>, tensor<4096x256xbf16>) outs(%f : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  %r = tensor.empty() : tensor<512xf32>
  %p = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%t : tensor<512xi64>) outs(%r : tensor<512xf32>) {
  ^bb0(%a: i64, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %a : i64 to index
    %v = tensor.extract %y[%i, %j] : tensor<512x4096xf32>
    linalg.yield %v : f32
  } -> tensor<512xf32>
  return %p, %y : tensor<512xf32>, tensor<512x4096xf32>
}

// Data choose both positions: no operand says how long the sum is.
// CHECK-LABEL: func @rows_and_columns(
// CHECK: tensor.extract %{{.*}} : tensor<512x4096xf32>
func.func @rows_and_columns(%x: tensor<512x256xbf16>, %w: tensor<4096x256xbf16>, %s: tensor<64xi64>, %t: tensor<64xi64>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  %y = linalg.contract indexing_maps = [#ab, #bt, #c] ins(%x, %w : tensor<512x256xbf16>, tensor<4096x256xbf16>) outs(%f : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  %r = tensor.empty() : tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]} ins(%s, %t : tensor<64xi64>, tensor<64xi64>) outs(%r : tensor<64xf32>) {
  ^bb0(%a: i64, %b: i64, %o: f32):
    %i = arith.index_cast %a : i64 to index
    %j = arith.index_cast %b : i64 to index
    %v = tensor.extract %y[%i, %j] : tensor<512x4096xf32>
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %p : tensor<64xf32>
}

// The sum would start from elements of a tensor.
// CHECK-LABEL: func @added_to(
// CHECK: tensor.extract %{{.*}} : tensor<512x4096xf32>
func.func @added_to(%x: tensor<512x256xbf16>, %w: tensor<4096x256xbf16>, %f: tensor<512x4096xf32>, %t: tensor<512xi64>) -> tensor<512xf32> {
  %y = linalg.contract indexing_maps = [#ab, #bt, #c] ins(%x, %w : tensor<512x256xbf16>, tensor<4096x256xbf16>) outs(%f : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  %r = tensor.empty() : tensor<512xf32>
  %p = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%t : tensor<512xi64>) outs(%r : tensor<512xf32>) {
  ^bb0(%a: i64, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %a : i64 to index
    %v = tensor.extract %y[%i, %j] : tensor<512x4096xf32>
    linalg.yield %v : f32
  } -> tensor<512xf32>
  return %p : tensor<512xf32>
}
