// Attention of few rows: blocks that share the walk of a tile, and are no
// cluster, each take a part of the keys, and each finishes a part of the columns
// of what all of them have added up.

// RUN: fusion-compile %s --target=sm_90a --compile-to=schedule -o - | FileCheck %s --check-prefix=SPLIT
// RUN: fusion-compile %s --target=sm_90a -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%s --entry=grouped --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=grouped --device=emulator --asynchrony=early --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=rows --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=cached --device=emulator --random --seed=5 --int-range=1999:1999 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=cached --device=emulator --random --seed=5 --int-range=300:300 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=cached --device=emulator --asynchrony=early --random --seed=5 --int-range=0:0 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=cached --device=emulator --random --seed=5 --int-range=-7:-7 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=logarithm --device=emulator --random --seed=5 --verify | FileCheck %s

// CHECK: {{^}}verified

// One query for each of four heads that have the same keys; sixteen parts of 8
// columns for 32 blocks.
// SPLIT-LABEL: func.func @grouped
// SPLIT: fusion.kernel
// SPLIT-SAME: #fusion.axis<sequential
// SPLIT-SAME: split = 32, {{.*}}apart = 1
// SPLIT-NOT: fusion.kernel
func.func @grouped(%q: tensor<1x8x1x128xf16>, %k: tensor<1x2x4096x128xf16>, %v: tensor<1x2x4096x128xf16>) -> tensor<1x8x1x128xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<1x8x1x128xf16>, tensor<1x2x4096x128xf16>, tensor<1x2x4096x128xf16>) -> tensor<1x8x1x128xf16>
  return %o : tensor<1x8x1x128xf16>
}
// Rows of a tile are those of all heads that have the same keys.
// SPLIT-LABEL: func.func @rows
// SPLIT: fusion.kernel
// SPLIT-SAME: #fusion.axis<merged
// SPLIT-SAME: split = {{[0-9]+}}, {{.*}}apart = 1
// SPLIT-NOT: fusion.kernel
func.func @rows(%q: tensor<2x15x3x64xbf16>, %k: tensor<2x3x3000x64xbf16>, %v: tensor<2x3x3000x64xbf16>) -> tensor<2x15x3x64xbf16> {
  %o = fusion.attention %q, %k, %v : (tensor<2x15x3x64xbf16>, tensor<2x3x3000x64xbf16>, tensor<2x3x3000x64xbf16>) -> tensor<2x15x3x64xbf16>
  return %o : tensor<2x15x3x64xbf16>
}
// Of a cache the keys up to a position that the run knows: blocks share what is
// left, which may be one key, or none.
// SPLIT-LABEL: func.func @cached
// SPLIT: fusion.kernel
// SPLIT-SAME: limited>
// SPLIT-SAME: split = {{[0-9]+}}, {{.*}}apart = 1
// SPLIT-NOT: fusion.kernel
func.func @cached(%q: tensor<4x4x64xf16>, %k: tensor<4x3000x64xf16>, %v: tensor<4x3000x64xf16>, %p: i32) -> tensor<4x4x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<4x4x64xf16>, tensor<4x3000x64xf16>, tensor<4x3000x64xf16>) -> tensor<4x4x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %none = arith.constant 0xFF800000 : f32
    %last = arith.index_cast %p : i32 to index
    %isSeen = arith.cmpi sle, %j, %last : index
    %z = arith.select %isSeen, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<4x4x64xf16>
}
// What each row is relative to is a result as well: all blocks write the same.
// SPLIT-LABEL: func.func @logarithm
// SPLIT: fusion.kernel
// SPLIT-SAME: split = {{[0-9]+}}, {{.*}}apart = 1
// SPLIT-NOT: fusion.kernel
func.func @logarithm(%q: tensor<2x8x64xf16>, %k: tensor<2x4096x64xf16>, %v: tensor<2x4096x64xf16>) -> (tensor<2x8x64xf32>, tensor<2x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<2x8x4096xf32>
  %he = tensor.empty() : tensor<2x8x4096xf16>
  %re = tensor.empty() : tensor<2x8xf32>
  %oe = tensor.empty() : tensor<2x8x64xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<2x8x4096xf32>) -> tensor<2x8x4096xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%re : tensor<2x8xf32>) -> tensor<2x8xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%re : tensor<2x8xf32>) -> tensor<2x8xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>] ins(%q, %k : tensor<2x8x64xf16>, tensor<2x4096x64xf16>) outs(%s0 : tensor<2x8x4096xf32>) -> tensor<2x8x4096xf32>
  %m = linalg.reduce { arith.maximumf } ins(%s : tensor<2x8x4096xf32>) outs(%m0 : tensor<2x8xf32>) dimensions = [2]
  %e = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : tensor<2x8x4096xf32>, tensor<2x8xf32>) outs(%se : tensor<2x8x4096xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<2x8x4096xf32>
  %l = linalg.reduce { arith.addf } ins(%e : tensor<2x8x4096xf32>) outs(%l0 : tensor<2x8xf32>) dimensions = [2]
  %h = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e : tensor<2x8x4096xf32>) outs(%he : tensor<2x8x4096xf16>) {
  ^bb0(%x: f32, %o: f16):
    %p = arith.truncf %x : f32 to f16
    linalg.yield %p : f16
  } -> tensor<2x8x4096xf16>
  %w = linalg.batch_matmul ins(%h, %v : tensor<2x8x4096xf16>, tensor<2x4096x64xf16>) outs(%o0 : tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, i) -> (b, i)>, affine_map<(b, i) -> (b, i)>, affine_map<(b, i) -> (b, i)>], iterator_types = ["parallel", "parallel"]} ins(%l, %m : tensor<2x8xf32>, tensor<2x8xf32>) outs(%re : tensor<2x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %n = math.log %x : f32
    %a = arith.addf %n, %y : f32
    linalg.yield %a : f32
  } -> tensor<2x8xf32>
  return %w, %r : tensor<2x8x64xf32>, tensor<2x8xf32>
}
