// Strips of windows that a thread has one after the other: how many pay, and
// how threads hold them.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s
// RUN: fusion-compile %s --target=sm_90a --compile-to=ptx -o - | FileCheck %s --check-prefix=PTX

// A thread comes back to a sector when it has loaded elements of the three rows
// of all of its strips: of four strips the first cache has lost it by then.
// CHECK-LABEL: func.func @rows_apart
// CHECK-NOT: #fusion.axis<grid, tile = 32>
// CHECK: #fusion.axis<grid, tile = {{8|16}}>, #fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 16, strip = 6>
// CHECK-SAME: warps = 4
func.func @rows_apart(%x: tensor<5470x40x5x77xf32>) -> tensor<5470x40x1x78xf32> {
  %0 = fusion.silu %x : tensor<5470x40x5x77xf32>
  %1 = fusion.pool max nchw %0 window [3, 2] {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 1, 1>, dilations = array<i64: 2, 1>} : (tensor<5470x40x5x77xf32>) -> tensor<5470x40x1x78xf32>
  return %1 : tensor<5470x40x1x78xf32>
}

// Of a padded row of three elements a thread could have all: loads would have to
// be exchanged for that, what pads the row as well.
// CHECK-LABEL: func.func @short_rows
// CHECK: #fusion.axis<grid, tile = 16>, #fusion.axis<grid, tile = 4, strip = 4>, #fusion.axis<grid, tile = 4>
// PTX: .entry add_relu_min_pad_reduce_max
// PTX-NOT: st.shared
func.func @short_rows(%x: tensor<31988x2x1369x3xf16>) -> tensor<31988x2x682x3xf16> {
  %0 = fusion.hard_swish %x : tensor<31988x2x1369x3xf16>
  %1 = fusion.pool max nchw %0 window [6, 2] {strides = array<i64: 2, 1>, padding = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 2>} : (tensor<31988x2x1369x3xf16>) -> tensor<31988x2x682x3xf16>
  return %1 : tensor<31988x2x682x3xf16>
}
