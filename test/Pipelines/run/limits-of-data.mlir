// Walks that data limit: of sequences of different lengths, blocks leave out the
// steps behind the end of theirs, and of sequences that lie one behind the other
// what no row of a tile belongs to.

// RUN: fusion-compile %s --target=sm_90a --compile-to=tile -o - | FileCheck %s --check-prefix=TILE
// RUN: fusion-compile %s --target=sm_90a -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%s --entry=lengths --device=emulator --random --seed=5 --int-range=1:300 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=lengths --device=emulator --asynchrony=early --random --seed=5 --int-range=-3:5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=lengths --device=emulator --random --seed=5 --int-range=300:2147483647 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=packed --device=emulator --random --seed=5 --int-range=0:400 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=packed --device=emulator --asynchrony=early --random --seed=5 --int-range=100:103 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=decoding --device=emulator --random --seed=5 --int-range=1:4096 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=decoding --device=emulator --asynchrony=early --random --seed=5 --int-range=700:700 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=merged --device=emulator --random --seed=5 --int-range=1:600 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=dynamic --device=emulator --random --seed=5 --int-range=1:150 --dim=m=70 --dim=n=135 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=sum --device=emulator --random --seed=5 --int-range=1:300 --verify | FileCheck %s

// CHECK: {{^}}verified

// A scalar of each block.
// TILE-LABEL: fusion_tile.program @{{.*}}softmax
// TILE-NOT: fusion_tile.find_bound
func.func @lengths(%q: tensor<3x2x200x64xf16>, %k: tensor<3x2x300x64xf16>, %v: tensor<3x2x300x64xf16>, %n: tensor<3xi32>) -> tensor<3x2x200x64xf16> {
  %low = arith.constant 0xFF800000 : f32
  %o = fusion.attention %q, %k, %v : (tensor<3x2x200x64xf16>, tensor<3x2x300x64xf16>, tensor<3x2x300x64xf16>) -> tensor<3x2x200x64xf16> {
  ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index):
    %end = tensor.extract %n[%b] : tensor<3xi32>
    %place = arith.index_cast %j : index to i32
    %counts = arith.cmpi slt, %place, %end : i32
    %y = arith.select %counts, %x, %low : f32
    fusion.yield %y : f32
  }
  return %o : tensor<3x2x200x64xf16>
}
// Where the last of a tile's rows ends, and where the first begins; between where
// the last begins and the first ends nothing is hidden.
// TILE-LABEL: fusion_tile.program @{{.*}}softmax_1
// TILE: fusion_tile.find_bound %{{.*}} sizes [64] : <400xi64>
// TILE: fusion_tile.find_bound least %{{.*}} sizes [64] : <400xi64>
// TILE: fusion_tile.specialize consumer
// TILE: fusion_tile.find_bound %{{.*}} sizes [64] : <400xi64>
// TILE: fusion_tile.find_bound least %{{.*}} sizes [64] : <400xi64>
// TILE-NOT: fusion_tile.find_bound
// TILE-LABEL: fusion_tile.program
func.func @packed(%q: tensor<3x400x64xf16>, %k: tensor<3x400x64xf16>, %v: tensor<3x400x64xf16>, %begins: tensor<400xi64>, %ends: tensor<400xi64>) -> tensor<3x400x64xf16> {
  %low = arith.constant 0xFF800000 : f32
  %o = fusion.attention %q, %k, %v : (tensor<3x400x64xf16>, tensor<3x400x64xf16>, tensor<3x400x64xf16>) -> tensor<3x400x64xf16> {
  ^bb0(%x: f32, %h: index, %i: index, %j: index):
    %begin = tensor.extract %begins[%i] : tensor<400xi64>
    %end = tensor.extract %ends[%i] : tensor<400xi64>
    %place = arith.index_cast %j : index to i64
    %after = arith.cmpi sge, %place, %begin : i64
    %before = arith.cmpi slt, %place, %end : i64
    %counts = arith.andi %after, %before : i1
    %y = arith.select %counts, %x, %low : f32
    fusion.yield %y : f32
  }
  return %o : tensor<3x400x64xf16>
}
// Blocks share what the length leaves of a walk.
func.func @decoding(%q: tensor<3x8x1x128xf16>, %k: tensor<3x2x4096x128xf16>, %v: tensor<3x2x4096x128xf16>, %n: tensor<3xi32>) -> tensor<3x8x1x128xf16> {
  %low = arith.constant 0xFF800000 : f32
  %o = fusion.attention %q, %k, %v : (tensor<3x8x1x128xf16>, tensor<3x2x4096x128xf16>, tensor<3x2x4096x128xf16>) -> tensor<3x8x1x128xf16> {
  ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index):
    %end = tensor.extract %n[%b] : tensor<3xi32>
    %place = arith.index_cast %j : index to i32
    %counts = arith.cmpi slt, %place, %end : i32
    %y = arith.select %counts, %x, %low : f32
    fusion.yield %y : f32
  }
  return %o : tensor<3x8x1x128xf16>
}
// A tile has rows of several heads, which end alike: causal from an end that data
// give for each query.
func.func @merged(%q: tensor<1x8x24x64xf16>, %k: tensor<1x2x600x64xf16>, %v: tensor<1x2x600x64xf16>, %n: tensor<24xi32>) -> tensor<1x8x24x64xf16> {
  %low = arith.constant 0xFF800000 : f32
  %o = fusion.attention %q, %k, %v : (tensor<1x8x24x64xf16>, tensor<1x2x600x64xf16>, tensor<1x2x600x64xf16>) -> tensor<1x8x24x64xf16> {
  ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index):
    %end = tensor.extract %n[%i] : tensor<24xi32>
    %place = arith.index_cast %j : index to i32
    %counts = arith.cmpi slt, %place, %end : i32
    %y = arith.select %counts, %x, %low : f32
    fusion.yield %y : f32
  }
  return %o : tensor<1x8x24x64xf16>
}
func.func @dynamic(%q: tensor<2x?x64xf16> {fusion.dims = ["", "m", ""]}, %k: tensor<2x?x64xf16> {fusion.dims = ["", "n", ""]}, %v: tensor<2x?x64xf16> {fusion.dims = ["", "n", ""]}, %e: tensor<2x?xi32> {fusion.dims = ["", "m"]}) -> tensor<2x?x64xf16> {
  %low = arith.constant 0xFF800000 : f32
  %o = fusion.attention %q, %k, %v : (tensor<2x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<2x?x64xf16> {
  ^bb0(%x: f32, %h: index, %i: index, %j: index):
    %end = tensor.extract %e[%h, %i] : tensor<2x?xi32>
    %place = arith.index_cast %j : index to i32
    %counts = arith.cmpi slt, %place, %end : i32
    %y = arith.select %counts, %x, %low : f32
    fusion.yield %y : f32
  }
  return %o : tensor<2x?x64xf16>
}
// An end that is computed of two numbers.
func.func @sum(%q: tensor<3x200x64xf16>, %k: tensor<3x300x64xf16>, %v: tensor<3x300x64xf16>, %a: tensor<3xi64>, %b: tensor<200xi64>) -> tensor<3x200x64xf16> {
  %low = arith.constant 0xFF800000 : f32
  %o = fusion.attention %q, %k, %v : (tensor<3x200x64xf16>, tensor<3x300x64xf16>, tensor<3x300x64xf16>) -> tensor<3x200x64xf16> {
  ^bb0(%x: f32, %h: index, %i: index, %j: index):
    %first = tensor.extract %a[%h] : tensor<3xi64>
    %more = tensor.extract %b[%i] : tensor<200xi64>
    %end = arith.addi %first, %more : i64
    %place = arith.index_cast %j : index to i64
    %counts = arith.cmpi slt, %place, %end : i64
    %y = arith.select %counts, %x, %low : f32
    fusion.yield %y : f32
  }
  return %o : tensor<3x200x64xf16>
}
