// Few rows are planned by the price of what runs them: single warps that share
// the contracted dimension, and unpack numbers of four bits on the way. As a
// kernel of its own the unpacked matrix would be written and read in 16 bits.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --remarks-filter='fusion.*' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t
// RUN: fusion-opt %s --fusion-to-schedule=target=sm_90a | FileCheck %s --check-prefix=SCHEDULE

// A product of one row is none to planning, which sees a sum; of it nothing is
// said.
// REMARK-NOT: Missed{{.*}}Function=one_row
// REMARK: [Missed] several-sources {{.*}}Function=all_rows
// REMARK: [Missed] few-rows {{.*}}Function=as_stored
// CHECK-LABEL: func.func @one_row
// CHECK: fusion.kernel @{{.*}}gather
// CHECK-NOT: fusion.kernel
// CHECK: return
// SCHEDULE-LABEL: func.func @one_row
// SCHEDULE: #fusion.axis<grid, tile = 8>{{.*}}mma = #fusion.mma<mma_sync
func.func @one_row(%x: tensor<1x8192xbf16>, %w: tensor<8192x4096xi8>, %scale: tensor<64x8192xbf16>) -> tensor<1x8192xf32> {
  %0 = fusion.dequantize int4 %w scale(%scale) {axis = 0 : i64, group_size = 128 : i64} : (tensor<8192x4096xi8>, tensor<64x8192xbf16>) -> tensor<8192x8192xbf16>
  %1 = arith.constant 0.0 : f32
  %2 = tensor.empty() : tensor<1x8192xf32>
  %3 = linalg.fill ins(%1 : f32) outs(%2 : tensor<1x8192xf32>) -> tensor<1x8192xf32>
  %4 = linalg.matmul ins(%x, %0 : tensor<1x8192xbf16>, tensor<8192x8192xbf16>) outs(%3 : tensor<1x8192xf32>) -> tensor<1x8192xf32>
  return %4 : tensor<1x8192xf32>
}

// No copy takes rows that begin anywhere: a reduction loads what a thread adds.
// SCHEDULE-LABEL: func.func @one_row_of_odd_length
// SCHEDULE: #fusion.schedule<reduction
func.func @one_row_of_odd_length(%x: tensor<1x4337xbf16>, %w: tensor<1129x4337xbf16>) -> tensor<1x1129xf32> {
  %1 = arith.constant 0.0 : f32
  %2 = tensor.empty() : tensor<1x1129xf32>
  %3 = linalg.fill ins(%1 : f32) outs(%2 : tensor<1x1129xf32>) -> tensor<1x1129xf32>
  %4 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<1x4337xbf16>, tensor<1129x4337xbf16>) outs(%3 : tensor<1x1129xf32>) -> tensor<1x1129xf32>
  return %4 : tensor<1x1129xf32>
}

// Sums of 64 rows and columns are too many for a thread: a tile has half of the
// rows.
// CHECK-LABEL: func.func @all_rows
// CHECK: fusion.kernel @{{.*}}matmul
// CHECK-NOT: fusion.kernel
// CHECK: return
// SCHEDULE-LABEL: func.func @all_rows
// SCHEDULE: #fusion.axis<grid, tile = 32>{{.*}}mma = #fusion.mma<mma_sync
func.func @all_rows(%x: tensor<64x8192xbf16>, %w: tensor<8192x4096xi8>, %scale: tensor<64x8192xbf16>) -> tensor<64x8192xf32> {
  %0 = fusion.dequantize int4 %w scale(%scale) {axis = 0 : i64, group_size = 128 : i64} : (tensor<8192x4096xi8>, tensor<64x8192xbf16>) -> tensor<8192x8192xbf16>
  %1 = arith.constant 0.0 : f32
  %2 = tensor.empty() : tensor<64x8192xf32>
  %3 = linalg.fill ins(%1 : f32) outs(%2 : tensor<64x8192xf32>) -> tensor<64x8192xf32>
  %4 = linalg.matmul ins(%x, %0 : tensor<64x8192xbf16>, tensor<8192x8192xbf16>) outs(%3 : tensor<64x8192xf32>) -> tensor<64x8192xf32>
  return %4 : tensor<64x8192xf32>
}

// Warpgroups could, and are slower.
// SCHEDULE-LABEL: func.func @as_stored
// SCHEDULE: mma = #fusion.mma<mma_sync
func.func @as_stored(%x: tensor<16x8192xbf16>, %w: tensor<8192x8192xbf16>) -> tensor<16x8192xf32> {
  %1 = arith.constant 0.0 : f32
  %2 = tensor.empty() : tensor<16x8192xf32>
  %3 = linalg.fill ins(%1 : f32) outs(%2 : tensor<16x8192xf32>) -> tensor<16x8192xf32>
  %4 = linalg.matmul ins(%x, %w : tensor<16x8192xbf16>, tensor<8192x8192xbf16>) outs(%3 : tensor<16x8192xf32>) -> tensor<16x8192xf32>
  return %4 : tensor<16x8192xf32>
}
