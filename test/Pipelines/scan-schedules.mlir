// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a \
// RUN:   --remarks-filter='fusion-schedule' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// How blocks walk what they scan. The one scan whose combination is not known
// to be associative says so, and the one that several blocks cannot share.

// REMARK: remark: [Missed] unsplit-scan | Category:fusion-schedule | Function=wide_states | Remark="one block walks a long scanned dimension: a state has more than 32 bits"
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

// One row: 112 blocks have tiles of it in turn, as large as registers for three
// of them are many, at the price of the traffic.
// CHECK-LABEL: func.func @one_row
// CHECK: #fusion.estimate<time_us = {{[0-9.]+}}e+01, {{.*}} axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 8192, split = 112>], warps = 16>
func.func @one_row(%x: tensor<1x16777216xf32>) -> tensor<1x16777216xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %y = fusion.scan ins(%x : tensor<1x16777216xf32>) inits(%lowest : f32) axis(1) -> tensor<1x16777216xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.maximumf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<1x16777216xf32>
}

// Narrow elements leave registers for more of them.
// CHECK-LABEL: func.func @one_narrow_row
// CHECK: axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 16384, split = 112>], warps = 32>
func.func @one_narrow_row(%x: tensor<1x16777216xf16>) -> tensor<1x16777216xf16> {
  %lowest = arith.constant 0xFC00 : f16
  %y = fusion.scan ins(%x : tensor<1x16777216xf16>) inits(%lowest : f16) axis(1) -> tensor<1x16777216xf16> {
  ^bb0(%a: f16, %b: f16):
    %s = arith.maximumf %a, %b : f16
    fusion.yield %s : f16
  }
  return %y : tensor<1x16777216xf16>
}

// Sixty-four rows: two blocks each, one a multiprocessor.
// CHECK-LABEL: func.func @few_rows
// CHECK: axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 8192, split = 2>], warps = 16>
func.func @few_rows(%x: tensor<64x1000000xf32>) -> tensor<64x1000000xf32> {
  %zero = arith.constant 0.0 : f32
  %y = fusion.scan reverse ins(%x : tensor<64x1000000xf32>) inits(%zero : f32) axis(1) -> tensor<64x1000000xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<64x1000000xf32>
}

// A state of 64 bits fits no word of an exchange.
// CHECK-LABEL: func.func @wide_states
// CHECK: axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 8192>], warps = 32>
func.func @wide_states(%x: tensor<1x16777216xf64>) -> tensor<1x16777216xf64> {
  %zero = arith.constant 0.0 : f64
  %y = fusion.scan ins(%x : tensor<1x16777216xf64>) inits(%zero : f64) axis(1) -> tensor<1x16777216xf64> {
  ^bb0(%a: f64, %b: f64):
    %s = arith.addf %a, %b : f64
    fusion.yield %s : f64
  }
  return %y : tensor<1x16777216xf64>
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

// An expensive combination along short rows, of which there are enough for the
// chip: each thread has all of a step. A sum goes on in tiles that lanes share.
// CHECK-LABEL: func.func @logarithms
// CHECK: axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<loop, tile = 32>], warps = 4>
func.func @logarithms(%x: tensor<200000x96xf32>) -> tensor<200000x96xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %y = fusion.scan ins(%x : tensor<200000x96xf32>) inits(%lowest : f32) axis(1) -> tensor<200000x96xf32> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    %d = arith.subf %a, %b : f32
    %p = math.absf %d : f32
    %q = arith.negf %p : f32
    %e = math.exp %q : f32
    %l = math.log1p %e : f32
    %s = arith.addf %m, %l : f32
    fusion.yield %s : f32
  }
  return %y : tensor<200000x96xf32>
}

// CHECK-LABEL: func.func @sums
// CHECK: axes = [#fusion.axis<grid, tile = 16>, #fusion.axis<loop, tile = 128>], warps = 4>
func.func @sums(%x: tensor<200000x96xf32>) -> tensor<200000x96xf32> {
  %zero = arith.constant 0.0 : f32
  %y = fusion.scan ins(%x : tensor<200000x96xf32>) inits(%zero : f32) axis(1) -> tensor<200000x96xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<200000x96xf32>
}

// Short columns: a thread has all of one, and the block as many as threads.
// CHECK-LABEL: func.func @short_columns
// CHECK: axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 32>, #fusion.axis<grid, tile = 128>], warps = 4>
func.func @short_columns(%x: tensor<64x19x65536xf32>) -> tensor<64x19x65536xf32> {
  %zero = arith.constant 0.0 : f32
  %y = fusion.scan ins(%x : tensor<64x19x65536xf32>) inits(%zero : f32) axis(1) -> tensor<64x19x65536xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<64x19x65536xf32>
}

// Few columns: blocks take a sector of each row, so that none waits for others.
// Twice as many warps would have too few registers for narrow elements, which
// fill one each.
// CHECK-LABEL: func.func @few_columns
// CHECK: axes = [#fusion.axis<loop, tile = 1024>, #fusion.axis<grid, tile = 16>], warps = 32>
func.func @few_columns(%x: tensor<3294x1824xbf16>) -> tensor<3294x1824xbf16> {
  %zero = arith.constant 0.0 : bf16
  %y = fusion.scan ins(%x : tensor<3294x1824xbf16>) inits(%zero : bf16) axis(0) -> tensor<3294x1824xbf16> {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %b : bf16
    fusion.yield %s : bf16
  }
  return %y : tensor<3294x1824xbf16>
}

// Rows begin anywhere in a sector, which neighbours then read twice: the wider
// the tile, the fewer. But the more columns, the more words a round exchanges.
// CHECK-LABEL: func.func @unaligned_columns
// CHECK: axes = [#fusion.axis<loop, tile = 256, split = 33>, #fusion.axis<grid, tile = 32>], warps = 16>
func.func @unaligned_columns(%x: tensor<544872x116xbf16>) -> tensor<544872x116xbf16> {
  %lowest = arith.constant 0xFF80 : bf16
  %y = fusion.scan ins(%x : tensor<544872x116xbf16>) inits(%lowest : bf16) axis(0) -> tensor<544872x116xbf16> {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.maximumf %a, %b : bf16
    fusion.yield %s : bf16
  }
  return %y : tensor<544872x116xbf16>
}

// So few columns that rounds would be many, and short beside what blocks tell
// each other: each has one run, which its threads divide among themselves. There
// are two blocks on a multiprocessor.
// CHECK-LABEL: func.func @runs
// CHECK: axes = [#fusion.axis<loop, tile = 256, vector = 8, steps = {{[0-9]+}}, split = 224>, #fusion.axis<grid, tile = 16>], warps = 16>
func.func @runs(%x: tensor<9000001x11xf16>, %g: tensor<9000001x11xf16>) -> tensor<9000001x11xf16> {
  %one = arith.constant 1.0 : f16
  %zero = arith.constant 0.0 : f16
  %h:2 = fusion.scan ins(%g, %x : tensor<9000001x11xf16>, tensor<9000001x11xf16>) inits(%one, %zero : f16, f16) axis(0)
      -> tensor<9000001x11xf16>, tensor<9000001x11xf16> {
  ^bb0(%a1: f16, %b1: f16, %a2: f16, %b2: f16):
    %p = arith.mulf %a2, %a1 : f16
    %t = math.fma %b1, %a2, %b2 : f16
    fusion.yield %p, %t : f16, f16
  }
  return %h#1 : tensor<9000001x11xf16>
}

// Of a scan of a scan no totals are known before it.
// CHECK-LABEL: func.func @scan_of_scan
// CHECK: schedule = #fusion.schedule<scan
// CHECK-NOT: steps =
func.func @scan_of_scan(%x: tensor<9000001x11xf32>) -> tensor<9000001x11xf32> {
  %r = fusion.kernel @both ins(%x : tensor<9000001x11xf32>) -> (tensor<9000001x11xf32>) {
  ^bb0(%u: tensor<9000001x11xf32>):
    %zero = arith.constant 0.0 : f32
    %y = fusion.scan ins(%u : tensor<9000001x11xf32>) inits(%zero : f32) axis(0) -> tensor<9000001x11xf32> {
    ^bb1(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      fusion.yield %s : f32
    }
    %z = fusion.scan ins(%y : tensor<9000001x11xf32>) inits(%zero : f32) axis(0) -> tensor<9000001x11xf32> {
    ^bb1(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      fusion.yield %s : f32
    }
    fusion.yield %z : tensor<9000001x11xf32>
  }
  return %r : tensor<9000001x11xf32>
}

// What each step of a recurrence reduces: lanes share it until there are enough
// threads, and elements are written out, to be on their way.
// CHECK-LABEL: func.func @reduced
// CHECK: schedule = #fusion.schedule<scan, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 1, strip = 16>, #fusion.axis<grid, tile = 16>, #fusion.axis<full, tile = 16>], warps = 2>
func.func @reduced(%a: tensor<4x512x2048x16xbf16>, %b: tensor<4x512x2048x16xbf16>) -> tensor<4x512x2048xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %aw = arith.extf %a : tensor<4x512x2048x16xbf16> to tensor<4x512x2048x16xf32>
  %bw = arith.extf %b : tensor<4x512x2048x16xbf16> to tensor<4x512x2048x16xf32>
  %h:2 = fusion.scan ins(%aw, %bw : tensor<4x512x2048x16xf32>, tensor<4x512x2048x16xf32>) inits(%one, %zero : f32, f32) axis(1)
      -> tensor<4x512x2048x16xf32>, tensor<4x512x2048x16xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %0 = arith.mulf %a1, %a2 : f32
    %1 = arith.mulf %a2, %b1 : f32
    %2 = arith.addf %1, %b2 : f32
    fusion.yield %0, %2 : f32, f32
  }
  %e = tensor.empty() : tensor<4x512x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x512x2048xf32>) -> tensor<4x512x2048xf32>
  %s = linalg.reduce { arith.addf } ins(%h#1 : tensor<4x512x2048x16xf32>) outs(%f : tensor<4x512x2048xf32>) dimensions = [3]
  return %s : tensor<4x512x2048xf32>
}
