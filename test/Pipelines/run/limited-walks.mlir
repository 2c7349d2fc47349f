// Masks of positions shorten the walk of attention: blocks leave out the steps in
// which their rows have nothing. Sizes are no multiples of tiles; some make a step
// hold one element that counts, at its end or at its beginning.

// RUN: fusion-compile %s --target=sm_90a -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%s --entry=causal --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=causal --device=emulator --asynchrony=early --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=grouped --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=dynamic --device=emulator --random --seed=5 --dim=m=70 --dim=n=135 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=dynamic --device=emulator --random --seed=5 --dim=m=300 --dim=n=70 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=dynamic --device=emulator --asynchrony=early --random --seed=5 --dim=m=129 --dim=n=257 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=empty --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=window --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=window --device=emulator --asynchrony=early --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=position --device=emulator --random --seed=5 --int-range=0:0 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=position --device=emulator --random --seed=5 --int-range=137:137 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=position --device=emulator --random --seed=5 --int-range=-77:-77 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=added --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=strided --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=linear --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=finite --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=data --device=emulator --random --seed=5 --verify | FileCheck %s

// Rows of several heads alternate, the longest first: a decision for more blocks
// than a small program has.
// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | sed 's/stages = 2, skew = 1/stages = 2, group = 2, skew = 1/' > %t.groups.mlir
// RUN: grep -c 'descending.*group = 2' %t.groups.mlir
// RUN: fusion-compile %t.groups.mlir --target=sm_90a -o %t.groups.fpk
// RUN: fusion-run %t.groups.fpk --reference=%s --entry=causal --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.groups.fpk --reference=%s --entry=grouped --device=emulator --random --seed=5 --verify | FileCheck %s

// A step beside the products of the next one has one more turn: not without.
// RUN: sed 's/, skew = 1//' %t.groups.mlir > %t.plain.mlir
// RUN: fusion-compile %t.plain.mlir --target=sm_90a -o %t.plain.fpk
// RUN: fusion-run %t.plain.fpk --reference=%s --entry=window --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.plain.fpk --reference=%s --entry=dynamic --device=emulator --random --seed=5 --dim=m=300 --dim=n=70 --verify | FileCheck %s

// CHECK: {{^}}verified

func.func @causal(%q: tensor<1x3x300x64xf16>, %k: tensor<1x3x300x64xf16>, %v: tensor<1x3x300x64xf16>) -> tensor<1x3x300x64xf16> {
  %o = fusion.attention %q, %k, %v causal(top_left) : (tensor<1x3x300x64xf16>, tensor<1x3x300x64xf16>, tensor<1x3x300x64xf16>) -> tensor<1x3x300x64xf16>
  return %o : tensor<1x3x300x64xf16>
}
func.func @grouped(%q: tensor<1x6x200x64xbf16>, %k: tensor<1x2x300x64xbf16>, %v: tensor<1x2x300x64xbf16>) -> tensor<1x6x200x64xbf16> {
  %o = fusion.attention %q, %k, %v causal(bottom_right) : (tensor<1x6x200x64xbf16>, tensor<1x2x300x64xbf16>, tensor<1x2x300x64xbf16>) -> tensor<1x6x200x64xbf16>
  return %o : tensor<1x6x200x64xbf16>
}
func.func @dynamic(%q: tensor<2x?x64xf16> {fusion.dims = ["", "m", ""]}, %k: tensor<2x?x64xf16> {fusion.dims = ["", "n", ""]}, %v: tensor<2x?x64xf16> {fusion.dims = ["", "n", ""]}) -> tensor<2x?x64xf16> {
  %o = fusion.attention %q, %k, %v causal(bottom_right) : (tensor<2x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<2x?x64xf16>
  return %o : tensor<2x?x64xf16>
}
// Rows before the diagonal have nothing, as it has always been: NaN.
func.func @empty(%q: tensor<2x300x64xf16>, %k: tensor<2x100x64xf16>, %v: tensor<2x100x64xf16>) -> tensor<2x300x64xf16> {
  %o = fusion.attention %q, %k, %v causal(bottom_right) : (tensor<2x300x64xf16>, tensor<2x100x64xf16>, tensor<2x100x64xf16>) -> tensor<2x300x64xf16>
  return %o : tensor<2x300x64xf16>
}
func.func @window(%q: tensor<2x400x64xf16>, %k: tensor<2x400x64xf16>, %v: tensor<2x400x64xf16>) -> tensor<2x400x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<2x400x64xf16>, tensor<2x400x64xf16>, tensor<2x400x64xf16>) -> tensor<2x400x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %size = arith.constant 66 : index
    %none = arith.constant 0xFF800000 : f32
    %before = arith.subi %i, %size : index
    %isPast = arith.cmpi sgt, %j, %i : index
    %isBefore = arith.cmpi sle, %j, %before : index
    %isOut = arith.ori %isPast, %isBefore : i1
    %z = arith.select %isOut, %none, %x : f32
    fusion.yield %z : f32
  }
  return %o : tensor<2x400x64xf16>
}
// Queries behind so many keys of a cache.
func.func @position(%q: tensor<2x70x64xf16>, %k: tensor<2x400x64xf16>, %v: tensor<2x400x64xf16>, %p: i32) -> tensor<2x70x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<2x70x64xf16>, tensor<2x400x64xf16>, tensor<2x400x64xf16>) -> tensor<2x70x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %none = arith.constant 0xFF800000 : f32
    %first = arith.index_cast %p : i32 to index
    %last = arith.addi %i, %first : index
    %isSeen = arith.cmpi sle, %j, %last : index
    %z = arith.select %isSeen, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<2x70x64xf16>
}
// A mask of its own, of 32-bit positions, that is added.
func.func @added(%q: tensor<2x200x64xf16>, %k: tensor<2x64x200xf16>, %v: tensor<2x200x64xf16>) -> tensor<2x200x64xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0xFF800000 : f32
  %me = tensor.empty() : tensor<200x200xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%me : tensor<200x200xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i32 = arith.index_cast %i : index to i32
    %j32 = arith.index_cast %j : index to i32
    %isSeen = arith.cmpi uge, %i32, %j32 : i32
    %z = arith.select %isSeen, %zero, %none : f32
    linalg.yield %z : f32
  } -> tensor<200x200xf32>
  %se = tensor.empty() : tensor<2x200x200xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<2x200x200xf32>) -> tensor<2x200x200xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<2x200x64xf16>, tensor<2x64x200xf16>) outs(%s0 : tensor<2x200x200xf32>) -> tensor<2x200x200xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x200x200xf32>, tensor<200x200xf32>) outs(%se : tensor<2x200x200xf32>) {
  ^bb0(%in: f32, %mask: f32, %out: f32):
    %t = arith.addf %in, %mask : f32
    linalg.yield %t : f32
  } -> tensor<2x200x200xf32>
  %p = linalg.softmax dimension(2) ins(%a : tensor<2x200x200xf32>) outs(%se : tensor<2x200x200xf32>) -> tensor<2x200x200xf32>
  %he = tensor.empty() : tensor<2x200x200xf16>
  %h = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<2x200x200xf32>) outs(%he : tensor<2x200x200xf16>) {
  ^bb0(%in: f32, %out: f16):
    %t = arith.truncf %in : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x200x200xf16>
  %oe = tensor.empty() : tensor<2x200x64xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x200x64xf32>) -> tensor<2x200x64xf32>
  %o = linalg.batch_matmul ins(%h, %v : tensor<2x200x200xf16>, tensor<2x200x64xf16>) outs(%o0 : tensor<2x200x64xf32>) -> tensor<2x200x64xf32>
  return %o : tensor<2x200x64xf32>
}
// Each key stands for three positions, and a window of them is seen.
func.func @strided(%q: tensor<2x400x64xf16>, %k: tensor<2x140x64xf16>, %v: tensor<2x140x64xf16>) -> tensor<2x400x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<2x400x64xf16>, tensor<2x140x64xf16>, tensor<2x140x64xf16>) -> tensor<2x400x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %three = arith.constant 3 : index
    %size = arith.constant 100 : index
    %none = arith.constant 0xFF800000 : f32
    %position = arith.muli %j, %three : index
    %isPast = arith.cmpi sgt, %position, %i : index
    %end = arith.addi %position, %size : index
    %isBefore = arith.cmpi slt, %end, %i : index
    %y = arith.select %isPast, %none, %x : f32
    %z = arith.select %isBefore, %none, %y : f32
    fusion.yield %z : f32
  }
  return %o : tensor<2x400x64xf16>
}
// No softmax: zero adds nothing to a sum.
func.func @linear(%x: tensor<300x64xf16>, %a: tensor<300x64xf16>, %b: tensor<300x64xf16>) -> tensor<300x64xf32> {
  %zero = arith.constant 0.0 : f32
  %he = tensor.empty() : tensor<300x300xf32>
  %h0 = linalg.fill ins(%zero : f32) outs(%he : tensor<300x300xf32>) -> tensor<300x300xf32>
  %h = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %a : tensor<300x64xf16>, tensor<300x64xf16>) outs(%h0 : tensor<300x300xf32>) -> tensor<300x300xf32>
  %ge = tensor.empty() : tensor<300x300xf16>
  %g = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<300x300xf32>) outs(%ge : tensor<300x300xf16>) {
  ^bb0(%in: f32, %out: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %isSeen = arith.cmpi sge, %i, %j : index
    %r = arith.select %isSeen, %in, %zero : f32
    %t = arith.truncf %r : f32 to f16
    linalg.yield %t : f16
  } -> tensor<300x300xf16>
  %oe = tensor.empty() : tensor<300x64xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<300x64xf32>) -> tensor<300x64xf32>
  %o = linalg.matmul ins(%g, %b : tensor<300x300xf16>, tensor<300x64xf16>) outs(%o0 : tensor<300x64xf32>) -> tensor<300x64xf32>
  return %o : tensor<300x64xf32>
}
// Of rows with nothing else all keys count alike: nothing is left out.
func.func @finite(%q: tensor<2x200x64xf16>, %k: tensor<2x200x64xf16>, %v: tensor<2x200x64xf16>) -> tensor<2x200x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<2x200x64xf16>, tensor<2x200x64xf16>, tensor<2x200x64xf16>) -> tensor<2x200x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %none = arith.constant -1.0e9 : f32
    %isSeen = arith.cmpi slt, %j, %i : index
    %z = arith.select %isSeen, %x, %none : f32
    fusion.yield %z : f32
  }
  return %o : tensor<2x200x64xf16>
}
func.func @data(%q: tensor<2x200x64xf16>, %k: tensor<2x200x64xf16>, %v: tensor<2x200x64xf16>, %m: tensor<2x200x200xi1>) -> tensor<2x200x64xf16> {
  %o = fusion.attention %q, %k, %v mask(%m) : (tensor<2x200x64xf16>, tensor<2x200x64xf16>, tensor<2x200x64xf16>, tensor<2x200x200xi1>) -> tensor<2x200x64xf16>
  return %o : tensor<2x200x64xf16>
}
