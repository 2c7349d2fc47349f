// Slices at positions that arguments tell: a cache that grows by a row. What
// elements of tensors put outside is ignored, what they read there is zero.

// RUN: fusion-run %s --entry=scalar --device=emulator --random --verify \
// RUN:   --int-range=63:63 | FileCheck %s
// RUN: fusion-run %s --entry=element --device=emulator --random --verify \
// RUN:   --int-range=5:5 | FileCheck %s
// RUN: fusion-run %s --entry=read --device=emulator --random --verify \
// RUN:   --int-range=11:11 | FileCheck %s
// RUN: fusion-run %s --entry=element --device=emulator --random --verify \
// RUN:   --int-range=16:16 | FileCheck %s
// RUN: fusion-run %s --entry=read --device=emulator --random --verify \
// RUN:   --int-range=14:14 | FileCheck %s
// RUN: fusion-run %s --entry=read --device=emulator --random --verify \
// RUN:   --int-range=-3:-3 | FileCheck %s
// RUN: fusion-run %s --entry=caches --device=emulator --random --verify \
// RUN:   --int-range=5:5 | FileCheck %s
// CHECK: verified
// RUN: not fusion-run %s --entry=scalar --device=emulator --random \
// RUN:   --int-range=64:64 2>&1 | FileCheck %s --check-prefix=BEYOND
// BEYOND: FUS-6009: entry 'scalar' (arg2 = 64): dimension 0 of tensor.insert_slice: arg2 < 64 does not hold
// RUN: not fusion-run %s --entry=scalar --device=emulator --random \
// RUN:   --int-range=-1:-1 2>&1 | FileCheck %s --check-prefix=BEFORE
// BEFORE: FUS-6009: entry 'scalar' (arg2 = -1): dimension 0 of tensor.insert_slice: 0 <= arg2 does not hold

func.func @scalar(%cache: tensor<64x8xf32>, %row: tensor<1x8xf32>, %p: i64)
    -> (tensor<64x8xf32>, tensor<8xf32>) {
  %i = arith.index_cast %p : i64 to index
  %new = tensor.insert_slice %row into %cache[%i, 0] [1, 8] [1, 1]
      : tensor<1x8xf32> into tensor<64x8xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.reduce { arith.addf } ins(%new : tensor<64x8xf32>)
      outs(%init : tensor<8xf32>) dimensions = [0]
  return %new, %sum : tensor<64x8xf32>, tensor<8xf32>
}

func.func @element(%cache: tensor<16x8xf32>, %row: tensor<8xf32>,
                   %p: tensor<i64>) -> tensor<16x8xf32> {
  %v = tensor.extract %p[] : tensor<i64>
  %i = arith.index_cast %v : i64 to index
  %new = tensor.insert_slice %row into %cache[%i, 0] [1, 8] [1, 1]
      : tensor<8xf32> into tensor<16x8xf32>
  return %new : tensor<16x8xf32>
}

func.func @read(%cache: tensor<16x8xf32>, %p: tensor<2xi64>)
    -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %v = tensor.extract %p[%c1] : tensor<2xi64>
  %i = arith.index_cast %v : i64 to index
  %rows = tensor.extract_slice %cache[%i, 0] [4, 8] [1, 1]
      : tensor<16x8xf32> to tensor<4x8xf32>
  return %rows : tensor<4x8xf32>
}

// Two caches grow in one launch, each at a position of its own.
func.func @caches(%k: tensor<2x8x64xf16>, %v: tensor<2x8x64xf16>,
                  %newK: tensor<2x64xf16>, %newV: tensor<2x64xf16>, %p: i64,
                  %q: i32) -> (tensor<2x8x64xf16>, tensor<2x8x64xf16>) {
  %i = arith.index_cast %p : i64 to index
  %j = arith.index_cast %q : i32 to index
  %a = tensor.insert_slice %newK into %k[0, %i, 0] [2, 1, 64] [1, 1, 1]
      : tensor<2x64xf16> into tensor<2x8x64xf16>
  %b = tensor.insert_slice %newV into %v[0, %j, 0] [2, 1, 64] [1, 1, 1]
      : tensor<2x64xf16> into tensor<2x8x64xf16>
  return %a, %b : tensor<2x8x64xf16>, tensor<2x8x64xf16>
}
