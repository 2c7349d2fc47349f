// Results that are the memory of an argument: a cache that grows by a row, in
// which only the row is written.

// RUN: fusion-run %s --entry=append --device=emulator --random --verify \
// RUN:   --int-range=63:63 | FileCheck %s
// RUN: fusion-run %s --entry=append --device=emulator --random --verify \
// RUN:   --int-range=0:0 --asynchrony=early | FileCheck %s
// RUN: fusion-run %s --entry=element --device=emulator --random --verify \
// RUN:   --int-range=5:5 | FileCheck %s
// RUN: fusion-run %s --entry=element --device=emulator --random --verify \
// RUN:   --int-range=14:14 | FileCheck %s
// RUN: fusion-run %s --entry=element --device=emulator --random --verify \
// RUN:   --int-range=-2:-2 | FileCheck %s
// RUN: fusion-run %s --entry=heads --device=emulator --random --verify \
// RUN:   --int-range=4:4 --dim=arg0.2=9 | FileCheck %s
// RUN: fusion-run %s --entry=ragged --device=emulator --random --verify \
// RUN:   | FileCheck %s
// RUN: fusion-run %s --entry=strided --device=emulator --random --verify \
// RUN:   | FileCheck %s
// RUN: fusion-run %s --entry=attend --device=emulator --random --verify \
// RUN:   --int-range=7:7 | FileCheck %s
// RUN: fusion-run %s --entry=keys_and_values --device=emulator --random \
// RUN:   --verify --int-range=3:3 | FileCheck %s
// RUN: fusion-run %s --entry=product --device=emulator --random --verify \
// RUN:   --int-range=2:2 | FileCheck %s
// RUN: fusion-run %s --entry=sums --device=emulator --random --verify \
// RUN:   --int-range=2:2 | FileCheck %s
// RUN: fusion-run %s --entry=swap --device=emulator --random --verify \
// RUN:   | FileCheck %s
// RUN: fusion-run %s --entry=scaled --device=emulator --random --verify \
// RUN:   | FileCheck %s
// RUN: fusion-run %s --entry=before_and_after --device=emulator --random \
// RUN:   --verify | FileCheck %s
// RUN: fusion-run %s --entry=small --device=emulator --random --verify \
// RUN:   | FileCheck %s
// RUN: fusion-run %s --entry=kept --device=emulator --random --verify \
// RUN:   | FileCheck %s
// RUN: fusion-run %s --entry=empty --device=emulator --random --verify \
// RUN:   | FileCheck %s
// CHECK: verified
// RUN: not fusion-run %s --entry=append --device=emulator --random \
// RUN:   --int-range=64:64 2>&1 | FileCheck %s --check-prefix=BEYOND
// BEYOND: FUS-6009: entry 'append' (arg2 = 64): dimension 0 of tensor.insert_slice: arg2 < 64 does not hold

func.func @append(%cache: tensor<64x8xf32> {fusion.overwritten_by = 0},
                  %row: tensor<1x8xf32>, %p: i64) -> tensor<64x8xf32> {
  %i = arith.index_cast %p : i64 to index
  %new = tensor.insert_slice %row into %cache[%i, 0] [1, 8] [1, 1]
      : tensor<1x8xf32> into tensor<64x8xf32>
  return %new : tensor<64x8xf32>
}

// Rows past the end are ignored, as anywhere.
func.func @element(%cache: tensor<16x8xf32> {fusion.overwritten_by = 0},
                   %rows: tensor<4x8xf32>, %p: tensor<i64>)
    -> tensor<16x8xf32> {
  %v = tensor.extract %p[] : tensor<i64>
  %i = arith.index_cast %v : i64 to index
  %new = tensor.insert_slice %rows into %cache[%i, 0] [4, 8] [1, 1]
      : tensor<4x8xf32> into tensor<16x8xf32>
  return %new : tensor<16x8xf32>
}

// The new token of each head of each sequence.
func.func @heads(%cache: tensor<2x3x?x16xf16> {fusion.overwritten_by = 0},
                 %token: tensor<2x3x16xf16>, %p: i64) -> tensor<2x3x?x16xf16> {
  %i = arith.index_cast %p : i64 to index
  %e = tensor.empty() : tensor<2x3x16xf16>
  %t = linalg.exp ins(%token : tensor<2x3x16xf16>)
      outs(%e : tensor<2x3x16xf16>) -> tensor<2x3x16xf16>
  %new = tensor.insert_slice %t into %cache[0, 0, %i, 0] [2, 3, 1, 16]
      [1, 1, 1, 1] : tensor<2x3x16xf16> into tensor<2x3x?x16xf16>
  return %new : tensor<2x3x?x16xf16>
}

// Tiles reach past a slice where the memory goes on.
func.func @ragged(%x: tensor<9x21x50xf32> {fusion.overwritten_by = 1},
                  %u: tensor<5x7x37xf32>)
    -> (tensor<5x7x37xf32>, tensor<9x21x50xf32>) {
  %e = tensor.empty() : tensor<5x7x37xf32>
  %n = linalg.negf ins(%u : tensor<5x7x37xf32>) outs(%e : tensor<5x7x37xf32>)
      -> tensor<5x7x37xf32>
  %new = tensor.insert_slice %n into %x[3, 2, 11] [5, 7, 37] [1, 1, 1]
      : tensor<5x7x37xf32> into tensor<9x21x50xf32>
  return %n, %new : tensor<5x7x37xf32>, tensor<9x21x50xf32>
}

func.func @strided(%x: tensor<40x23xi8> {fusion.overwritten_by = 0},
                   %u: tensor<9x7xi8>) -> tensor<40x23xi8> {
  %new = tensor.insert_slice %u into %x[3, 1] [9, 7] [4, 3]
      : tensor<9x7xi8> into tensor<40x23xi8>
  return %new : tensor<40x23xi8>
}

// What is written is read by a kernel after it, and returned once more.
func.func @attend(%keys: tensor<2x48x32xf32> {fusion.overwritten_by = 1},
                  %key: tensor<2x1x32xf32>, %query: tensor<2x4x32xf32>,
                  %p: i64)
    -> (tensor<2x4x48xf32>, tensor<2x48x32xf32>, tensor<2x48x32xf32>) {
  %i = arith.index_cast %p : i64 to index
  %new = tensor.insert_slice %key into %keys[0, %i, 0] [2, 1, 32] [1, 1, 1]
      : tensor<2x1x32xf32> into tensor<2x48x32xf32>
  %et = tensor.empty() : tensor<2x32x48xf32>
  %t = linalg.transpose ins(%new : tensor<2x48x32xf32>)
      outs(%et : tensor<2x32x48xf32>) permutation = [0, 2, 1]
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x48xf32>)
      -> tensor<2x4x48xf32>
  %scores = linalg.batch_matmul ins(%query, %t
      : tensor<2x4x32xf32>, tensor<2x32x48xf32>)
      outs(%f : tensor<2x4x48xf32>) -> tensor<2x4x48xf32>
  return %scores, %new, %new
      : tensor<2x4x48xf32>, tensor<2x48x32xf32>, tensor<2x48x32xf32>
}

// One kernel writes into two arguments.
func.func @keys_and_values(
    %keys: tensor<2x19x8xf16> {fusion.overwritten_by = 0},
    %values: tensor<2x19x8xf16> {fusion.overwritten_by = 1},
    %token: tensor<2x8xf16>, %p: tensor<1xi32>)
    -> (tensor<2x19x8xf16>, tensor<2x19x8xf16>) {
  %c0 = arith.constant 0 : index
  %v = tensor.extract %p[%c0] : tensor<1xi32>
  %i = arith.index_cast %v : i32 to index
  %n = arith.negf %token : tensor<2x8xf16>
  %k = tensor.insert_slice %token into %keys[0, %i, 0] [2, 1, 8] [1, 1, 1]
      : tensor<2x8xf16> into tensor<2x19x8xf16>
  %w = tensor.insert_slice %n into %values[0, %i, 0] [2, 1, 8] [1, 1, 1]
      : tensor<2x8xf16> into tensor<2x19x8xf16>
  return %k, %w : tensor<2x19x8xf16>, tensor<2x19x8xf16>
}

// A product writes its tiles into the cache.
func.func @product(%cache: tensor<200x96xbf16> {fusion.overwritten_by = 0},
                   %x: tensor<70x64xbf16>, %w: tensor<64x96xbf16>, %p: i64)
    -> tensor<200x96xbf16> {
  %i = arith.index_cast %p : i64 to index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<70x96xf32>)
      -> tensor<70x96xf32>
  %m = linalg.matmul ins(%x, %w : tensor<70x64xbf16>, tensor<64x96xbf16>)
      outs(%f : tensor<70x96xf32>) -> tensor<70x96xf32>
  %t = arith.truncf %m : tensor<70x96xf32> to tensor<70x96xbf16>
  %new = tensor.insert_slice %t into %cache[%i, 0] [70, 96] [1, 1]
      : tensor<70x96xbf16> into tensor<200x96xbf16>
  return %new : tensor<200x96xbf16>
}

// Sums of rows become a column.
func.func @sums(%x: tensor<11x33xf32>, %p: i64,
                %all: tensor<11x5xf32> {fusion.overwritten_by = 0})
    -> tensor<11x5xf32> {
  %i = arith.index_cast %p : i64 to index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<11xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<11xf32>) -> tensor<11xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<11x33xf32>)
      outs(%f : tensor<11xf32>) dimensions = [1]
  %new = tensor.insert_slice %s into %all[0, %i] [11, 1] [1, 1]
      : tensor<11xf32> into tensor<11x5xf32>
  return %new : tensor<11x5xf32>
}

// Arguments that overwrite each other.
func.func @swap(%a: tensor<7x3xf32> {fusion.overwritten_by = 0},
                %b: tensor<7x3xf32> {fusion.overwritten_by = 1})
    -> (tensor<7x3xf32>, tensor<7x3xf32>) {
  return %b, %a : tensor<7x3xf32>, tensor<7x3xf32>
}

// All of the argument is new: it is computed elsewhere.
func.func @scaled(%x: tensor<13x9xf32> {fusion.overwritten_by = 0},
                  %y: tensor<13x9xf32>) -> (tensor<13x9xf32>, tensor<13x9xf32>) {
  %s = arith.addf %x, %y : tensor<13x9xf32>
  return %s, %s : tensor<13x9xf32>, tensor<13x9xf32>
}

// Others read what was there before.
func.func @before_and_after(%x: tensor<16x8xf32> {fusion.overwritten_by = 1},
                            %row: tensor<1x8xf32>)
    -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) {
  %n = math.absf %x : tensor<16x8xf32>
  %new = tensor.insert_slice %row into %x[3, 0] [1, 8] [1, 1]
      : tensor<1x8xf32> into tensor<16x8xf32>
  return %n, %new, %x : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}

// Elements of half a byte share one with others.
func.func @small(%x: tensor<9x6xi4> {fusion.overwritten_by = 0},
                 %row: tensor<1x3xi4>) -> tensor<9x6xi4> {
  %new = tensor.insert_slice %row into %x[3, 1] [1, 3] [1, 1]
      : tensor<1x3xi4> into tensor<9x6xi4>
  return %new : tensor<9x6xi4>
}

func.func @kept(%x: tensor<9x6xf32> {fusion.overwritten_by = 1},
                %y: tensor<9x6xf32>) -> (tensor<9x6xf32>, tensor<9x6xf32>) {
  %s = arith.addf %x, %y : tensor<9x6xf32>
  return %s, %x : tensor<9x6xf32>, tensor<9x6xf32>
}

func.func @empty(%x: tensor<9x6xf32> {fusion.overwritten_by = 0},
                 %u: tensor<0x6xf32>) -> tensor<9x6xf32> {
  %new = tensor.insert_slice %u into %x[2, 0] [0, 6] [1, 1]
      : tensor<0x6xf32> into tensor<9x6xf32>
  return %new : tensor<9x6xf32>
}
