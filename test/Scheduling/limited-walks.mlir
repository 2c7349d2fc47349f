// Which masks limit the walk of contractions that feed each other: those of
// positions that leave nothing to all that shares it. Blocks are then of unequal
// length, and the longest start first.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a --split-input-file --remarks-filter='fusion-schedule' -o - 2> %t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.log

// Half of the products are left, and a little: tiles on the diagonal are whole. Rows
// of four heads alternate, so that the last blocks of all of them are short.
// REMARK: [Passed] limited-walk {{.*}}a mask of positions leaves 52 % of the steps
// CHECK-LABEL: func.func @causal
// CHECK: fusion.kernel
// CHECK-SAME: flops = 283467841536
// CHECK-SAME: #fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 128, descending>, #fusion.axis<grid, tile = 128>, #fusion.axis<sequential, tile = 128, limited>
// CHECK-SAME: group = {{[48]}}
func.func @causal(%q: tensor<4x16x4096x128xf16>, %k: tensor<4x16x4096x128xf16>, %v: tensor<4x16x4096x128xf16>) -> tensor<4x16x4096x128xf16> {
  %o = fusion.attention %q, %k, %v causal(top_left) : (tensor<4x16x4096x128xf16>, tensor<4x16x4096x128xf16>, tensor<4x16x4096x128xf16>) -> tensor<4x16x4096x128xf16>
  return %o : tensor<4x16x4096x128xf16>
}

// -----

// Heads that share keys, of two batches: rows of more of them alternate than one key
// head has, as keys and values of few are read meanwhile.
// REMARK: [Passed] limited-walk {{.*}}Function=grouped
// CHECK-LABEL: func.func @grouped
// CHECK: descending>
// CHECK-SAME: group = {{8|16}}
func.func @grouped(%q: tensor<2x12x4096x64xf16>, %k: tensor<2x6x4096x64xf16>, %v: tensor<2x6x4096x64xf16>) -> tensor<2x12x4096x64xf16> {
  %o = fusion.attention %q, %k, %v causal(top_left) : (tensor<2x12x4096x64xf16>, tensor<2x6x4096x64xf16>, tensor<2x6x4096x64xf16>) -> tensor<2x12x4096x64xf16>
  return %o : tensor<2x12x4096x64xf16>
}

// -----

// Without a mask all steps are made, in the order of memory.
// REMARK-NOT: Function=
// CHECK-LABEL: func.func @all
// CHECK: fusion.kernel
// CHECK-SAME: flops = 549755813888
// CHECK-NOT: limited
// CHECK-NOT: descending
// CHECK-NOT: group =
func.func @all(%q: tensor<4x16x4096x128xf16>, %k: tensor<4x16x4096x128xf16>, %v: tensor<4x16x4096x128xf16>) -> tensor<4x16x4096x128xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<4x16x4096x128xf16>, tensor<4x16x4096x128xf16>, tensor<4x16x4096x128xf16>) -> tensor<4x16x4096x128xf16>
  return %o : tensor<4x16x4096x128xf16>
}

// -----

// A window moves both ends: the first rows have fewer steps than all others.
// REMARK: [Passed] limited-walk {{.*}}a mask of positions leaves 1{{[0-9]}} % of the steps
// CHECK-LABEL: func.func @window
// CHECK: sequential, tile = {{[0-9]+}}, limited>
func.func @window(%q: tensor<8x8192x128xf16>, %k: tensor<8x8192x128xf16>, %v: tensor<8x8192x128xf16>) -> tensor<8x8192x128xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<8x8192x128xf16>, tensor<8x8192x128xf16>, tensor<8x8192x128xf16>) -> tensor<8x8192x128xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %size = arith.constant 1024 : index
    %none = arith.constant 0xFF800000 : f32
    %before = arith.subi %i, %size : index
    %isSeen = arith.cmpi sle, %j, %i : index
    %isNear = arith.cmpi sgt, %j, %before : index
    %isIn = arith.andi %isSeen, %isNear : i1
    %z = arith.select %isIn, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<8x8192x128xf16>
}

// -----

// One that is wider than the sequence leaves all of it.
// REMARK-NOT: Function=
// CHECK-LABEL: func.func @wide
// CHECK: fusion.kernel
// CHECK-NOT: limited
func.func @wide(%q: tensor<8x512x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<8x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %size = arith.constant 4096 : index
    %none = arith.constant 0xFF800000 : f32
    %before = arith.subi %i, %size : index
    %isNear = arith.cmpi sgt, %j, %before : index
    %z = arith.select %isNear, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<8x512x64xf16>
}

// -----

// Sizes and positions that the run knows: whatever they leave.
// REMARK: [Passed] limited-walk {{.*}}Function=dynamic
// CHECK-LABEL: func.func @dynamic
// CHECK: descending>
// CHECK-SAME: sequential, tile = {{[0-9]+}}, limited>
func.func @dynamic(%q: tensor<8x?x64xf16>, %k: tensor<8x?x64xf16>, %v: tensor<8x?x64xf16>) -> tensor<8x?x64xf16> {
  %o = fusion.attention %q, %k, %v causal(bottom_right) : (tensor<8x?x64xf16>, tensor<8x?x64xf16>, tensor<8x?x64xf16>) -> tensor<8x?x64xf16>
  return %o : tensor<8x?x64xf16>
}

// -----

// REMARK: [Passed] limited-walk {{.*}}a mask of positions that the run knows leaves a part of the steps
// CHECK-LABEL: func.func @position
// CHECK: sequential, tile = {{[0-9]+}}, limited>
func.func @position(%q: tensor<64x512x64xf16>, %k: tensor<64x4096x64xf16>, %v: tensor<64x4096x64xf16>, %p: index) -> tensor<64x512x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<64x512x64xf16>, tensor<64x4096x64xf16>, tensor<64x4096x64xf16>) -> tensor<64x512x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %none = arith.constant 0xFF800000 : f32
    %last = arith.addi %i, %p : index
    %isSeen = arith.cmpi sle, %j, %last : index
    %z = arith.select %isSeen, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<64x512x64xf16>
}

// -----

// A position may be negative, and is then, without a sign, behind all keys.
// REMARK-NOT: Function=
// CHECK-LABEL: func.func @unsigned
// CHECK: fusion.kernel
// CHECK-NOT: limited
func.func @unsigned(%q: tensor<64x512x64xf16>, %k: tensor<64x4096x64xf16>, %v: tensor<64x4096x64xf16>, %p: index) -> tensor<64x512x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<64x512x64xf16>, tensor<64x4096x64xf16>, tensor<64x4096x64xf16>) -> tensor<64x512x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %none = arith.constant 0xFF800000 : f32
    %last = arith.addi %i, %p : index
    %isSeen = arith.cmpi ule, %j, %last : index
    %z = arith.select %isSeen, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<64x512x64xf16>
}

// -----

// Positions of 8 bits begin again at -128.
// REMARK-NOT: Function=
// CHECK-LABEL: func.func @narrow
// CHECK: fusion.kernel
// CHECK-NOT: limited
func.func @narrow(%q: tensor<8x512x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<8x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %none = arith.constant 0xFF800000 : f32
    %i8 = arith.index_cast %i : index to i8
    %j8 = arith.index_cast %j : index to i8
    %isSeen = arith.cmpi sle, %j8, %i8 : i8
    %z = arith.select %isSeen, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<8x512x64xf16>
}

// -----

// The least finite number is no minus infinity: a row with nothing else is the mean
// of all values.
// REMARK-NOT: Function=
// CHECK-LABEL: func.func @finite
// CHECK: fusion.kernel
// CHECK-NOT: limited
func.func @finite(%q: tensor<8x512x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<8x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %none = arith.constant -3.40282347E+38 : f32
    %isSeen = arith.cmpi sle, %j, %i : index
    %z = arith.select %isSeen, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<8x512x64xf16>
}

// -----

// What the mask depends on is data.
// REMARK-NOT: Function=
// CHECK-LABEL: func.func @data
// CHECK: fusion.kernel
// CHECK-NOT: limited
func.func @data(%q: tensor<8x512x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>, %m: tensor<8x512x512xi1>) -> tensor<8x512x64xf16> {
  %o = fusion.attention %q, %k, %v mask(%m) : (tensor<8x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512x512xi1>) -> tensor<8x512x64xf16>
  return %o : tensor<8x512x64xf16>
}

// -----

// Either a position or data lets an element count.
// REMARK-NOT: Function=
// CHECK-LABEL: func.func @either
// CHECK: fusion.kernel
// CHECK-NOT: limited
func.func @either(%q: tensor<8x512x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<8x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %none = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %isSeen = arith.cmpi sle, %j, %i : index
    %isLarge = arith.cmpf ogt, %x, %zero : f32
    %counts = arith.ori %isSeen, %isLarge : i1
    %z = arith.select %counts, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<8x512x64xf16>
}

// -----

// A length of each sequence, of which the run knows what it leaves.
// REMARK: [Passed] limited-walk {{.*}}Function=lengths{{.*}}positions that the run knows
// CHECK-LABEL: func.func @lengths
// CHECK: sequential, tile = {{[0-9]+}}, limited>
func.func @lengths(%q: tensor<8x512x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>, %n: tensor<8xi32>) -> tensor<8x512x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<8x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %none = arith.constant 0xFF800000 : f32
    %end = tensor.extract %n[%b] : tensor<8xi32>
    %place = arith.index_cast %j : index to i32
    %counts = arith.cmpi slt, %place, %end : i32
    %z = arith.select %counts, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<8x512x64xf16>
}

// -----

// The first and the last key of each row.
// REMARK: [Passed] limited-walk {{.*}}Function=packed{{.*}}positions that the run knows
// CHECK-LABEL: func.func @packed
// CHECK: sequential, tile = {{[0-9]+}}, limited>
func.func @packed(%q: tensor<8x512x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>, %first: tensor<512xi64>, %last: tensor<512xi64>) -> tensor<8x512x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<8x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %none = arith.constant 0xFF800000 : f32
    %begin = tensor.extract %first[%i] : tensor<512xi64>
    %end = tensor.extract %last[%i] : tensor<512xi64>
    %place = arith.index_cast %j : index to i64
    %after = arith.cmpi sge, %place, %begin : i64
    %before = arith.cmpi sle, %place, %end : i64
    %counts = arith.andi %after, %before : i1
    %z = arith.select %counts, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<8x512x64xf16>
}

// -----

// Data that differ along the walk.
// REMARK-NOT: Function=
// CHECK-LABEL: func.func @keys
// CHECK: fusion.kernel
// CHECK-NOT: limited
func.func @keys(%q: tensor<8x512x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>, %n: tensor<512xi32>) -> tensor<8x512x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<8x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %none = arith.constant 0xFF800000 : f32
    %end = tensor.extract %n[%j] : tensor<512xi32>
    %place = arith.index_cast %i : index to i32
    %counts = arith.cmpi slt, %place, %end : i32
    %z = arith.select %counts, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<8x512x64xf16>
}

// -----

// Data that data point at.
// REMARK-NOT: Function=
// CHECK-LABEL: func.func @pointed
// CHECK: fusion.kernel
// CHECK-NOT: limited
func.func @pointed(%q: tensor<8x512x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>, %n: tensor<8xi32>, %p: tensor<8xi32>) -> tensor<8x512x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<8x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %none = arith.constant 0xFF800000 : f32
    %at = tensor.extract %p[%b] : tensor<8xi32>
    %to = arith.index_cast %at : i32 to index
    %end = tensor.extract %n[%to] : tensor<8xi32>
    %place = arith.index_cast %j : index to i32
    %counts = arith.cmpi slt, %place, %end : i32
    %z = arith.select %counts, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<8x512x64xf16>
}

// -----

// A sum that 32 bits might not hold.
// REMARK-NOT: Function=
// CHECK-LABEL: func.func @overflow
// CHECK: fusion.kernel
// CHECK-NOT: limited
func.func @overflow(%q: tensor<8x512x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>, %n: tensor<8xi32>) -> tensor<8x512x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<8x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>) -> tensor<8x512x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %none = arith.constant 0xFF800000 : f32
    %end = tensor.extract %n[%b] : tensor<8xi32>
    %one = arith.constant 1 : i32
    %past = arith.addi %end, %one : i32
    %place = arith.index_cast %j : index to i32
    %counts = arith.cmpi slt, %place, %past : i32
    %z = arith.select %counts, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<8x512x64xf16>
}
