// Where windows share little, or an image has few channels, lanes of a warp
// follow memory: a warp's access touches few sectors. What one thread reads and
// writes side by side, it does so at once.

// RUN: split-file %s %t
// RUN: fusion-opt %t/runs.mlir --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %t/runs.mlir
// RUN: fusion-compile %t/runs.mlir --target=sm_90a --compile-to=ptx -o - | FileCheck %t/runs.mlir --check-prefix=PTX
// RUN: fusion-opt %t/pairs.mlir --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %t/pairs.mlir
// RUN: fusion-compile %t/padded.mlir --target=sm_90a --compile-to=ptx -o - | FileCheck %t/padded.mlir --check-prefix=PTX
// RUN: fusion-run %t/padded.mlir --device=emulator --target=sm_90a --random --seed=1 --verify
// RUN: fusion-run %t/small.mlir --device=emulator --target=sm_90a --random --seed=1 --verify

//--- runs.mlir
// Rows of 12 elements, of 14 that are read: threads have an even number of
// places, which they read and write by two elements, and lanes the next ones. No
// element is exchanged through shared memory.

// CHECK: #fusion.schedule<reduction, axes = [
// CHECK-SAME: #fusion.axis<grid, tile = {{[0-9]+}}>, #fusion.axis<grid, tile = {{[248]}}, strip = {{[246]}}>, #fusion.axis<grid, tile = 1>, #fusion.axis<loop
// PTX-NOT: shared
// PTX: ld.global.nc.b32
// PTX-NOT: ld.global.nc.b16
// PTX: st.global.b32
func.func @runs(%x: tensor<600x512x14x1xf16>) -> tensor<600x512x12x1xf16> {
  %y = fusion.pool max nhwc %x window [1, 3] {strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<600x512x14x1xf16>) -> tensor<600x512x12x1xf16>
  return %y : tensor<600x512x12x1xf16>
}

//--- pairs.mlir
// Two channels and windows that touch: a thread has both channels of its places.

// CHECK: #fusion.axis<grid, tile = {{[0-9]+}}{{(, strip = [248])?}}>, #fusion.axis<grid, tile = 2, vector = 2>, #fusion.axis<loop
func.func @pairs(%x: tensor<18x167x32768x2xbf16>) -> tensor<18x167x16384x2xbf16> {
  %y = fusion.pool avg nhwc %x window [1, 2] {strides = array<i64: 1, 2>, padding = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<18x167x32768x2xbf16>) -> tensor<18x167x16384x2xbf16>
  return %y : tensor<18x167x16384x2xbf16>
}

//--- padded.mlir
// Windows of four that touch, two of the first in what pads the row: pairs are
// inside or outside, and the mean divides by no division.

// PTX-NOT: ld.global.nc.b16
// PTX: ld.global.nc.b32
// PTX-NOT: ld.global.nc.b16
// PTX-NOT: div.rn
func.func @padded(%x: tensor<3x5x8x92xbf16>) -> tensor<3x5x4x24xbf16> {
  %y = fusion.pool avg nchw %x window [2, 4] {strides = array<i64: 2, 4>, padding = array<i64: 0, 0, 2, 2>, dilations = array<i64: 1, 1>} : (tensor<3x5x8x92xbf16>) -> tensor<3x5x4x24xbf16>
  return %y : tensor<3x5x4x24xbf16>
}

//--- small.mlir
// Ragged in every direction, three channels, windows along rows.
func.func @small(%x: tensor<3x11x14x3xf16>, %r: tensor<5x7x44xf16>, %p: tensor<3x5x8x23xf16>) -> (tensor<3x5x6x3xf16>, tensor<5x7x7xf16>, tensor<3x5x2x24xf16>) {
  %a = fusion.pool max nhwc %x window [3, 4] {strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<3x11x14x3xf16>) -> tensor<3x5x6x3xf16>
  %s = fusion.silu %r : tensor<5x7x44xf16>
  %b = fusion.pool max nchw %s window [19] {strides = array<i64: 4>, padding = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<5x7x44xf16>) -> tensor<5x7x7xf16>
  %c = fusion.pool max nchw %p window [3, 4] {strides = array<i64: 3, 1>, padding = array<i64: 0, 0, 2, 2>, dilations = array<i64: 1, 1>} : (tensor<3x5x8x23xf16>) -> tensor<3x5x2x24xf16>
  return %a, %b, %c : tensor<3x5x6x3xf16>, tensor<5x7x7xf16>, tensor<3x5x2x24xf16>
}
