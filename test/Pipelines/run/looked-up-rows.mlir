// Products of rows that a table places: of keys and values that lie in pages,
// several rows in each, every step of the walk copies its own, or a part of one.

// RUN: fusion-compile %s --target=sm_90a --explain -o %t.fpk | FileCheck %s --check-prefix=PLAN
// RUN: fusion-run %t.fpk --reference=%s --entry=several --device=emulator --random --seed=5 --int-range=0:31 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=several --device=emulator --random --seed=5 --int-range=0:31 --asynchrony=early --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=lengths --device=emulator --random --seed=5 --int-range=0:31 --asynchrony=early --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=parts --device=emulator --random --seed=5 --int-range=0:15 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=parts --device=emulator --random --seed=5 --int-range=0:15 --asynchrony=early --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=tail --device=emulator --random --seed=5 --int-range=0:15 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=tail --device=emulator --random --seed=5 --int-range=0:15 --asynchrony=early --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=causal --device=emulator --random --seed=5 --int-range=0:31 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=wide --device=emulator --random --seed=5 --int-range=0:15 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=odd --device=emulator --random --seed=5 --int-range=0:31 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=imported --device=emulator --random --seed=5 --int-range=-16:15 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=both --device=emulator --random --seed=5 --int-range=0:15 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=product --device=emulator --random --seed=5 --int-range=0:15 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=product --device=emulator --random --seed=5 --int-range=0:15 --asynchrony=early --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=counted --device=emulator --random --seed=5 --int-range=0:31 --dim=arg3.1=1 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=counted --device=emulator --random --seed=5 --int-range=0:31 --dim=arg3.1=9 --verify | FileCheck %s

// What a table names outside of the tensor is zero, also behind the last entry.
// RUN: fusion-run %t.fpk --reference=%S/Inputs/looked-up-rows.mlir --entry=several --device=emulator --random --seed=5 --int-range=-8:40 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%S/Inputs/looked-up-rows.mlir --entry=tail --device=emulator --random --seed=5 --int-range=-2147483648:2147483647 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%S/Inputs/looked-up-rows.mlir --entry=wide --device=emulator --random --seed=5 --int-range=-20:20 --verify | FileCheck %s

// CHECK: {{^}}verified

#table = affine_map<(b, h, m, r, d) -> (b, m)>
#all = affine_map<(b, h, m, r, d) -> (b, h, m, r, d)>

// Several pages a step, whose blocks share the walk; heads share keys.
// PLAN: @several for sm_90a: {{.*}} -> 1 kernel,
// PLAN: kernel gather_matmul_mul{{.*}} products by wgmma
func.func @several(%q: tensor<2x8x1x64xbf16>, %keys: tensor<32x16x2x64xbf16>, %values: tensor<32x16x2x64xbf16>, %table: tensor<2x24xi32>) -> tensor<2x8x1x64xbf16> {
  %ke = tensor.empty() : tensor<2x2x24x16x64xbf16>
  %kg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<2x24xi32>) outs(%ke : tensor<2x2x24x16x64xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %keys[%b, %r, %h, %d] : tensor<32x16x2x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<2x2x24x16x64xbf16>
  %k = tensor.collapse_shape %kg [[0], [1], [2, 3], [4]] : tensor<2x2x24x16x64xbf16> into tensor<2x2x384x64xbf16>
  %ve = tensor.empty() : tensor<2x2x24x16x64xbf16>
  %vg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<2x24xi32>) outs(%ve : tensor<2x2x24x16x64xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %values[%b, %r, %h, %d] : tensor<32x16x2x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<2x2x24x16x64xbf16>
  %v = tensor.collapse_shape %vg [[0], [1], [2, 3], [4]] : tensor<2x2x24x16x64xbf16> into tensor<2x2x384x64xbf16>
  %o = fusion.attention %q, %k, %v : (tensor<2x8x1x64xbf16>, tensor<2x2x384x64xbf16>, tensor<2x2x384x64xbf16>) -> tensor<2x8x1x64xbf16>
  return %o : tensor<2x8x1x64xbf16>
}
// Pages behind the end of a sequence are not looked up.
func.func @lengths(%q: tensor<2x8x1x64xbf16>, %keys: tensor<32x16x2x64xbf16>, %values: tensor<32x16x2x64xbf16>, %table: tensor<2x24xi32>, %lengths: tensor<2xi32>) -> tensor<2x8x1x64xbf16> {
  %ke = tensor.empty() : tensor<2x2x24x16x64xbf16>
  %kg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<2x24xi32>) outs(%ke : tensor<2x2x24x16x64xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %keys[%b, %r, %h, %d] : tensor<32x16x2x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<2x2x24x16x64xbf16>
  %k = tensor.collapse_shape %kg [[0], [1], [2, 3], [4]] : tensor<2x2x24x16x64xbf16> into tensor<2x2x384x64xbf16>
  %ve = tensor.empty() : tensor<2x2x24x16x64xbf16>
  %vg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<2x24xi32>) outs(%ve : tensor<2x2x24x16x64xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %values[%b, %r, %h, %d] : tensor<32x16x2x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<2x2x24x16x64xbf16>
  %v = tensor.collapse_shape %vg [[0], [1], [2, 3], [4]] : tensor<2x2x24x16x64xbf16> into tensor<2x2x384x64xbf16>
  %none = arith.constant 0xFF800000 : f32
  %o = fusion.attention %q, %k, %v : (tensor<2x8x1x64xbf16>, tensor<2x2x384x64xbf16>, tensor<2x2x384x64xbf16>) -> tensor<2x8x1x64xbf16> {
  ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index):
    %end = tensor.extract %lengths[%b] : tensor<2xi32>
    %place = arith.index_cast %j : index to i32
    %counts = arith.cmpi slt, %place, %end : i32
    %y = arith.select %counts, %x, %none : f32
    fusion.yield %y : f32
  }
  return %o : tensor<2x8x1x64xbf16>
}

// Pages of several steps.
// PLAN: @parts for sm_90a: {{.*}} -> 1 kernel,
// PLAN: kernel gather_matmul_mul{{.*}} products by wgmma
func.func @parts(%q: tensor<2x4x1x64xf16>, %keys: tensor<16x256x2x64xf16>, %values: tensor<16x256x2x64xf16>, %table: tensor<2x4xi32>) -> tensor<2x4x1x64xf16> {
  %ke = tensor.empty() : tensor<2x2x4x256x64xf16>
  %kg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<2x4xi32>) outs(%ke : tensor<2x2x4x256x64xf16>) {
  ^bb0(%number: i32, %out: f16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %keys[%b, %r, %h, %d] : tensor<16x256x2x64xf16>
    linalg.yield %x : f16
  } -> tensor<2x2x4x256x64xf16>
  %k = tensor.collapse_shape %kg [[0], [1], [2, 3], [4]] : tensor<2x2x4x256x64xf16> into tensor<2x2x1024x64xf16>
  %ve = tensor.empty() : tensor<2x2x4x256x64xf16>
  %vg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<2x4xi32>) outs(%ve : tensor<2x2x4x256x64xf16>) {
  ^bb0(%number: i32, %out: f16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %values[%b, %r, %h, %d] : tensor<16x256x2x64xf16>
    linalg.yield %x : f16
  } -> tensor<2x2x4x256x64xf16>
  %v = tensor.collapse_shape %vg [[0], [1], [2, 3], [4]] : tensor<2x2x4x256x64xf16> into tensor<2x2x1024x64xf16>
  %o = fusion.attention %q, %k, %v : (tensor<2x4x1x64xf16>, tensor<2x2x1024x64xf16>, tensor<2x2x1024x64xf16>) -> tensor<2x4x1x64xf16>
  return %o : tensor<2x4x1x64xf16>
}

// The last step has rows behind the last page.
// PLAN: @tail for sm_90a: {{.*}} -> 1 kernel,
// PLAN: kernel gather_matmul_mul{{.*}} products by wgmma
func.func @tail(%q: tensor<1x4x100x128xbf16>, %keys: tensor<16x32x2x128xbf16>, %values: tensor<16x32x2x128xbf16>, %table: tensor<1x7xi32>) -> tensor<1x4x100x128xbf16> {
  %ke = tensor.empty() : tensor<1x2x7x32x128xbf16>
  %kg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<1x7xi32>) outs(%ke : tensor<1x2x7x32x128xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %keys[%b, %r, %h, %d] : tensor<16x32x2x128xbf16>
    linalg.yield %x : bf16
  } -> tensor<1x2x7x32x128xbf16>
  %k = tensor.collapse_shape %kg [[0], [1], [2, 3], [4]] : tensor<1x2x7x32x128xbf16> into tensor<1x2x224x128xbf16>
  %ve = tensor.empty() : tensor<1x2x7x32x128xbf16>
  %vg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<1x7xi32>) outs(%ve : tensor<1x2x7x32x128xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %values[%b, %r, %h, %d] : tensor<16x32x2x128xbf16>
    linalg.yield %x : bf16
  } -> tensor<1x2x7x32x128xbf16>
  %v = tensor.collapse_shape %vg [[0], [1], [2, 3], [4]] : tensor<1x2x7x32x128xbf16> into tensor<1x2x224x128xbf16>
  %o = fusion.attention %q, %k, %v : (tensor<1x4x100x128xbf16>, tensor<1x2x224x128xbf16>, tensor<1x2x224x128xbf16>) -> tensor<1x4x100x128xbf16>
  return %o : tensor<1x4x100x128xbf16>
}

// Steps that a mask leaves out.
// PLAN: @causal for sm_90a: {{.*}} -> 1 kernel,
// PLAN: kernel gather_matmul_mul{{.*}} products by wgmma
func.func @causal(%q: tensor<1x4x300x64xbf16>, %keys: tensor<32x64x4x64xbf16>, %values: tensor<32x64x4x64xbf16>, %table: tensor<1x7xi32>) -> tensor<1x4x300x64xbf16> {
  %ke = tensor.empty() : tensor<1x4x7x64x64xbf16>
  %kg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<1x7xi32>) outs(%ke : tensor<1x4x7x64x64xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %keys[%b, %r, %h, %d] : tensor<32x64x4x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<1x4x7x64x64xbf16>
  %k = tensor.collapse_shape %kg [[0], [1], [2, 3], [4]] : tensor<1x4x7x64x64xbf16> into tensor<1x4x448x64xbf16>
  %ve = tensor.empty() : tensor<1x4x7x64x64xbf16>
  %vg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<1x7xi32>) outs(%ve : tensor<1x4x7x64x64xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %values[%b, %r, %h, %d] : tensor<32x64x4x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<1x4x7x64x64xbf16>
  %v = tensor.collapse_shape %vg [[0], [1], [2, 3], [4]] : tensor<1x4x7x64x64xbf16> into tensor<1x4x448x64xbf16>
  %o = fusion.attention %q, %k, %v causal(bottom_right) : (tensor<1x4x300x64xbf16>, tensor<1x4x448x64xbf16>, tensor<1x4x448x64xbf16>) -> tensor<1x4x300x64xbf16>
  return %o : tensor<1x4x300x64xbf16>
}

// Entries of 64 bits.
// PLAN: @wide for sm_90a: {{.*}} -> 1 kernel,
// PLAN: kernel gather_matmul_mul{{.*}} products by wgmma
func.func @wide(%q: tensor<1x4x1x64xbf16>, %keys: tensor<16x16x2x64xbf16>, %values: tensor<16x16x2x64xbf16>, %table: tensor<1x9xi64>) -> tensor<1x4x1x64xbf16> {
  %ke = tensor.empty() : tensor<1x2x9x16x64xbf16>
  %kg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<1x9xi64>) outs(%ke : tensor<1x2x9x16x64xbf16>) {
  ^bb0(%number: i64, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i64 to index
    %x = tensor.extract %keys[%b, %r, %h, %d] : tensor<16x16x2x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<1x2x9x16x64xbf16>
  %k = tensor.collapse_shape %kg [[0], [1], [2, 3], [4]] : tensor<1x2x9x16x64xbf16> into tensor<1x2x144x64xbf16>
  %ve = tensor.empty() : tensor<1x2x9x16x64xbf16>
  %vg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<1x9xi64>) outs(%ve : tensor<1x2x9x16x64xbf16>) {
  ^bb0(%number: i64, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i64 to index
    %x = tensor.extract %values[%b, %r, %h, %d] : tensor<16x16x2x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<1x2x9x16x64xbf16>
  %v = tensor.collapse_shape %vg [[0], [1], [2, 3], [4]] : tensor<1x2x9x16x64xbf16> into tensor<1x2x144x64xbf16>
  %o = fusion.attention %q, %k, %v : (tensor<1x4x1x64xbf16>, tensor<1x2x144x64xbf16>, tensor<1x2x144x64xbf16>) -> tensor<1x4x1x64xbf16>
  return %o : tensor<1x4x1x64xbf16>
}

// Entries that count from the end where they are negative, as importers print it.
// PLAN: @imported for sm_90a: {{.*}} -> 1 kernel,
// PLAN: kernel {{.*}}matmul_mul{{.*}} products by wgmma
func.func @imported(%q: tensor<1x4x100x64xbf16>, %keys: tensor<16x16x2x64xbf16>, %values: tensor<16x16x2x64xbf16>, %table: tensor<1x8xi64>) -> tensor<1x4x100x64xbf16> {
  %ke = tensor.empty() : tensor<1x2x8x16x64xbf16>
  %kg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<1x8xi64>) outs(%ke : tensor<1x2x8x16x64xbf16>) {
  ^bb0(%number: i64, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %none = arith.constant 0 : i64
    %size = arith.constant 16 : i64
    %isBefore = arith.cmpi slt, %number, %none : i64
    %fromEnd = arith.addi %number, %size : i64
    %at = arith.select %isBefore, %fromEnd, %number : i64
    %b = arith.index_cast %at : i64 to index
    %x = tensor.extract %keys[%b, %r, %h, %d] : tensor<16x16x2x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<1x2x8x16x64xbf16>
  %k = tensor.collapse_shape %kg [[0], [1], [2, 3], [4]] : tensor<1x2x8x16x64xbf16> into tensor<1x2x128x64xbf16>
  %ve = tensor.empty() : tensor<1x2x8x16x64xbf16>
  %vg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<1x8xi64>) outs(%ve : tensor<1x2x8x16x64xbf16>) {
  ^bb0(%number: i64, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %none = arith.constant 0 : i64
    %size = arith.constant 16 : i64
    %isBefore = arith.cmpi slt, %number, %none : i64
    %fromEnd = arith.addi %number, %size : i64
    %at = arith.select %isBefore, %fromEnd, %number : i64
    %b = arith.index_cast %at : i64 to index
    %x = tensor.extract %values[%b, %r, %h, %d] : tensor<16x16x2x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<1x2x8x16x64xbf16>
  %v = tensor.collapse_shape %vg [[0], [1], [2, 3], [4]] : tensor<1x2x8x16x64xbf16> into tensor<1x2x128x64xbf16>
  %o = fusion.attention %q, %k, %v : (tensor<1x4x100x64xbf16>, tensor<1x2x128x64xbf16>, tensor<1x2x128x64xbf16>) -> tensor<1x4x100x64xbf16>
  return %o : tensor<1x4x100x64xbf16>
}

// Keys and values are parts of one tensor.
// PLAN: @both for sm_90a: {{.*}} -> 1 kernel,
// PLAN: kernel gather_matmul_mul{{.*}} products by wgmma
func.func @both(%q: tensor<2x8x1x64xbf16>, %cache: tensor<2x16x32x2x64xbf16>, %table: tensor<2x16xi32>) -> tensor<2x8x1x64xbf16> {
  %keyPart = tensor.extract_slice %cache[0, 0, 0, 0, 0] [1, 16, 32, 2, 64] [1, 1, 1, 1, 1] : tensor<2x16x32x2x64xbf16> to tensor<1x16x32x2x64xbf16>
  %keys = tensor.collapse_shape %keyPart [[0, 1], [2], [3], [4]] : tensor<1x16x32x2x64xbf16> into tensor<16x32x2x64xbf16>
  %values = tensor.extract_slice %cache[1, 0, 0, 0, 0] [1, 16, 32, 2, 64] [1, 1, 1, 1, 1] : tensor<2x16x32x2x64xbf16> to tensor<16x32x2x64xbf16>
  %ke = tensor.empty() : tensor<2x2x16x32x64xbf16>
  %kg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<2x16xi32>) outs(%ke : tensor<2x2x16x32x64xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %keys[%b, %r, %h, %d] : tensor<16x32x2x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<2x2x16x32x64xbf16>
  %k = tensor.collapse_shape %kg [[0], [1], [2, 3], [4]] : tensor<2x2x16x32x64xbf16> into tensor<2x2x512x64xbf16>
  %ve = tensor.empty() : tensor<2x2x16x32x64xbf16>
  %vg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<2x16xi32>) outs(%ve : tensor<2x2x16x32x64xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %values[%b, %r, %h, %d] : tensor<16x32x2x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<2x2x16x32x64xbf16>
  %v = tensor.collapse_shape %vg [[0], [1], [2, 3], [4]] : tensor<2x2x16x32x64xbf16> into tensor<2x2x512x64xbf16>
  %o = fusion.attention %q, %k, %v : (tensor<2x8x1x64xbf16>, tensor<2x2x512x64xbf16>, tensor<2x2x512x64xbf16>) -> tensor<2x8x1x64xbf16>
  return %o : tensor<2x8x1x64xbf16>
}

// Pages that are no power of two are looked up element by element.
// PLAN: @odd for sm_90a: {{.*}} -> 3 kernels
// PLAN: products by mma_sync, not by wgmma: looked-up-rows
func.func @odd(%q: tensor<2x8x1x64xbf16>, %keys: tensor<32x48x2x64xbf16>, %values: tensor<32x48x2x64xbf16>, %table: tensor<2x10xi32>) -> tensor<2x8x1x64xbf16> {
  %ke = tensor.empty() : tensor<2x2x10x48x64xbf16>
  %kg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<2x10xi32>) outs(%ke : tensor<2x2x10x48x64xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %keys[%b, %r, %h, %d] : tensor<32x48x2x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<2x2x10x48x64xbf16>
  %k = tensor.collapse_shape %kg [[0], [1], [2, 3], [4]] : tensor<2x2x10x48x64xbf16> into tensor<2x2x480x64xbf16>
  %ve = tensor.empty() : tensor<2x2x10x48x64xbf16>
  %vg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<2x10xi32>) outs(%ve : tensor<2x2x10x48x64xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %values[%b, %r, %h, %d] : tensor<32x48x2x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<2x2x10x48x64xbf16>
  %v = tensor.collapse_shape %vg [[0], [1], [2, 3], [4]] : tensor<2x2x10x48x64xbf16> into tensor<2x2x480x64xbf16>
  %o = fusion.attention %q, %k, %v : (tensor<2x8x1x64xbf16>, tensor<2x2x480x64xbf16>, tensor<2x2x480x64xbf16>) -> tensor<2x8x1x64xbf16>
  return %o : tensor<2x8x1x64xbf16>
}

// As many pages as the table has columns.
// PLAN: @counted for sm_90a: {{.*}} -> 1 kernel,
// PLAN: kernel gather_matmul_mul{{.*}} products by wgmma
func.func @counted(%q: tensor<2x8x1x64xbf16>, %keys: tensor<32x16x2x64xbf16>, %values: tensor<32x16x2x64xbf16>, %table: tensor<2x?xi32>) -> tensor<2x8x1x64xbf16> {
  %c1 = arith.constant 1 : index
  %blocks = tensor.dim %table, %c1 : tensor<2x?xi32>
  %ke = tensor.empty(%blocks) : tensor<2x2x?x16x64xbf16>
  %kg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<2x?xi32>) outs(%ke : tensor<2x2x?x16x64xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %keys[%b, %r, %h, %d] : tensor<32x16x2x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<2x2x?x16x64xbf16>
  %k = tensor.collapse_shape %kg [[0], [1], [2, 3], [4]] : tensor<2x2x?x16x64xbf16> into tensor<2x2x?x64xbf16>
  %ve = tensor.empty(%blocks) : tensor<2x2x?x16x64xbf16>
  %vg = linalg.generic {indexing_maps = [#table, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%table : tensor<2x?xi32>) outs(%ve : tensor<2x2x?x16x64xbf16>) {
  ^bb0(%number: i32, %out: bf16):
    %h = linalg.index 1 : index
    %r = linalg.index 3 : index
    %d = linalg.index 4 : index
    %b = arith.index_cast %number : i32 to index
    %x = tensor.extract %values[%b, %r, %h, %d] : tensor<32x16x2x64xbf16>
    linalg.yield %x : bf16
  } -> tensor<2x2x?x16x64xbf16>
  %v = tensor.collapse_shape %vg [[0], [1], [2, 3], [4]] : tensor<2x2x?x16x64xbf16> into tensor<2x2x?x64xbf16>
  %o = fusion.attention %q, %k, %v : (tensor<2x8x1x64xbf16>, tensor<2x2x?x64xbf16>, tensor<2x2x?x64xbf16>) -> tensor<2x8x1x64xbf16>
  return %o : tensor<2x8x1x64xbf16>
}

// One product alone: rows of a matrix in blocks.
// PLAN: @product for sm_90a: {{.*}} -> 1 kernel,
// PLAN: kernel {{.*}}gather, matmul; {{.*}} products by wgmma
func.func @product(%x: tensor<512x256xf16>, %pool: tensor<16x32x256xf16>, %table: tensor<16xi32>) -> tensor<512x512xf32> {
  %e = tensor.empty() : tensor<16x32x256xf16>
  %g = linalg.generic {indexing_maps = [affine_map<(m, r, d) -> (m)>, affine_map<(m, r, d) -> (m, r, d)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%table : tensor<16xi32>) outs(%e : tensor<16x32x256xf16>) {
  ^bb0(%number: i32, %out: f16):
    %r = linalg.index 1 : index
    %d = linalg.index 2 : index
    %b = arith.index_cast %number : i32 to index
    %w = tensor.extract %pool[%b, %r, %d] : tensor<16x32x256xf16>
    linalg.yield %w : f16
  } -> tensor<16x32x256xf16>
  %rows = tensor.collapse_shape %g [[0, 1], [2]] : tensor<16x32x256xf16> into tensor<512x256xf16>
  %zero = arith.constant 0.0 : f32
  %ye = tensor.empty() : tensor<512x512xf32>
  %y0 = linalg.fill ins(%zero : f32) outs(%ye : tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %rows : tensor<512x256xf16>, tensor<512x256xf16>) outs(%y0 : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}
