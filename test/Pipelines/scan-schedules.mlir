// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a \
// RUN:   --remarks-filter='fusion-schedule' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// How blocks walk what they scan. The one scan whose combination is not known
// to be associative says so.

// REMARK: remark: [Missed] sequential-scan | Category:fusion-schedule | Function=unknown | Remark="the combination is not known to be associative: each thread walks the scanned dimension element by element"
// REMARK-NOT: sequential-scan

// Rows enough for the chip: sixteen elements a thread of four warps. The price
// is that of the traffic.
// CHECK-LABEL: func.func @long_rows
// CHECK: #fusion.estimate<time_us = {{[0-9.]+}}e+02, {{.*}} schedule = #fusion.schedule<scan, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 2048>], warps = 4>
func.func @long_rows(%x: tensor<4096x16384xf32>) -> tensor<4096x16384xf32> {
  %zero = arith.constant 0.0 : f32
  %y = fusion.scan ins(%x : tensor<4096x16384xf32>) inits(%zero : f32) axis(1) -> tensor<4096x16384xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<4096x16384xf32>
}

// One row: the largest tile, at the price of what one block can read.
// CHECK-LABEL: func.func @one_row
// CHECK: #fusion.estimate<time_us = {{[0-9]+[0-9][0-9][0-9]}}.{{.*}} axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 16384>], warps = 32>
func.func @one_row(%x: tensor<1x16777216xf32>) -> tensor<1x16777216xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %y = fusion.scan ins(%x : tensor<1x16777216xf32>) inits(%lowest : f32) axis(1) -> tensor<1x16777216xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.maximumf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<1x16777216xf32>
}

// Short rows: several a block.
// CHECK-LABEL: func.func @short_rows
// CHECK: axes = [#fusion.axis<grid, tile = 4>, #fusion.axis<loop, tile = 512>], warps = 4>
func.func @short_rows(%x: tensor<65536x512xf32>) -> tensor<65536x512xf32> {
  %zero = arith.constant 0.0 : f32
  %y = fusion.scan ins(%x : tensor<65536x512xf32>) inits(%zero : f32) axis(1) -> tensor<65536x512xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<65536x512xf32>
}

// Across memory: a cache line of columns.
// CHECK-LABEL: func.func @columns
// CHECK: axes = [#fusion.axis<loop, tile = 256>, #fusion.axis<grid, tile = 32>], warps = 16>
func.func @columns(%x: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %zero = arith.constant 0.0 : f32
  %y = fusion.scan ins(%x : tensor<8192x8192xf32>) inits(%zero : f32) axis(0) -> tensor<8192x8192xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<8192x8192xf32>
}

// Two states: half the elements a thread.
// CHECK-LABEL: func.func @recurrence
// CHECK: axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 1024>], warps = 4>
func.func @recurrence(%x: tensor<4096x65536xf32>, %g: tensor<4096x65536xf32>) -> tensor<4096x65536xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %h:2 = fusion.scan ins(%g, %x : tensor<4096x65536xf32>, tensor<4096x65536xf32>) inits(%one, %zero : f32, f32) axis(1)
      -> tensor<4096x65536xf32>, tensor<4096x65536xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %p = arith.mulf %a2, %a1 : f32
    %t = math.fma %b1, %a2, %b2 : f32
    fusion.yield %p, %t : f32, f32
  }
  return %h#1 : tensor<4096x65536xf32>
}

// A difference: one element a step, columns in threads, of which there are not
// enough.
// CHECK-LABEL: func.func @unknown
// CHECK: #fusion.estimate<time_us = {{[0-9]+[0-9][0-9][0-9]}}.{{.*}} axes = [#fusion.axis<loop, tile = 1>, #fusion.axis<grid, tile = 64>], warps = 2>
func.func @unknown(%x: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %zero = arith.constant 0.0 : f32
  %y = fusion.scan ins(%x : tensor<8192x8192xf32>) inits(%zero : f32) axis(0) -> tensor<8192x8192xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<8192x8192xf32>
}
