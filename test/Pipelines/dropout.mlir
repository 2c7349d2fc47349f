// RUN: split-file %s %t
// RUN: fusion-compile %t/rows.mlir --compile-to=ptx -o - | FileCheck %s --check-prefixes=VECTORS
// RUN: fusion-compile %t/joined.mlir --compile-to=ptx -o - | FileCheck %s --check-prefix=DRAWS
// RUN: fusion-compile %t/pairs.mlir --compile-to=ptx -o - | FileCheck %s --check-prefix=PAIRS
// RUN: fusion-compile %t/rows.mlir --compile-to=plan -o - | FileCheck %s --check-prefix=PRICE

// Eight elements of a thread are of one draw: seven rounds of two products, of
// which two are of constants. What becomes of each is known at compile time.

// DRAWS-COUNT-12: mul.wide.u32 wide
// DRAWS-NOT: mul.wide.u32 wide
// DRAWS-NOT: selp.b32
// DRAWS: ret;

// A thread has four vectors of a column, one draw each.
// VECTORS-COUNT-48: mul.wide.u32 wide
// VECTORS-NOT: mul.wide.u32 wide
// VECTORS-NOT: selp.b32
// VECTORS: ret;

// Rows that begin at even elements are one dimension, too: the bias is read at
// remainders, and eight elements of a thread are of one draw.
// PAIRS-COUNT-12: mul.wide.u32 wide
// PAIRS-NOT: mul.wide.u32 wide
// PAIRS: ret;

// Two flops for each of 16.875 instructions, 8.625 of them of the draw.
// PRICE: flops = 1132462080

//--- rows.mlir
func.func @rows(%x: tensor<4096x8192xbf16>, %b: tensor<8192xbf16>) -> tensor<4096x8192xbf16> {
  %seed = arith.constant 7 : i64
  %empty = tensor.empty() : tensor<4096x8192xbf16>
  %bias = linalg.broadcast ins(%b : tensor<8192xbf16>) outs(%empty : tensor<4096x8192xbf16>) dimensions = [0]
  %sum = arith.addf %x, %bias : tensor<4096x8192xbf16>
  %y = fusion.dropout %sum, %seed probability(0.1) op_id(1) : tensor<4096x8192xbf16>
  return %y : tensor<4096x8192xbf16>
}

// Rows of odd length that are one dimension.
//--- joined.mlir
func.func @joined(%x: tensor<4096x8191xbf16>) -> tensor<4096x8191xbf16> {
  %seed = arith.constant 7 : i64
  %y = fusion.dropout %x, %seed probability(0.1) op_id(1) : tensor<4096x8191xbf16>
  return %y : tensor<4096x8191xbf16>
}

//--- pairs.mlir
func.func @pairs(%x: tensor<4096x8190xbf16>, %b: tensor<8190xbf16>) -> tensor<4096x8190xbf16> {
  %seed = arith.constant 7 : i64
  %empty = tensor.empty() : tensor<4096x8190xbf16>
  %bias = linalg.broadcast ins(%b : tensor<8190xbf16>) outs(%empty : tensor<4096x8190xbf16>) dimensions = [0]
  %sum = arith.addf %x, %bias : tensor<4096x8190xbf16>
  %y = fusion.dropout %sum, %seed probability(0.1) op_id(1) : tensor<4096x8190xbf16>
  return %y : tensor<4096x8190xbf16>
}
