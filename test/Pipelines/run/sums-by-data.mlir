// Sums of what data put into each row, such as the gradients of embeddings: blocks
// walk those elements alone that are of their rows. Indices twice, of no row, of
// 32 bits; all into one row, more than a sum takes at a time; maxima; sums of ranges;
// none at all.

// RUN: fusion-compile %s --target=sm_90a --compile-to=tile -o - | FileCheck %s --check-prefix=TILE
// RUN: fusion-compile %s --target=sm_90a -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%s --entry=rows --device=emulator --random --seed=5 --int-range=0:998 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=rows --device=emulator --random --seed=6 --int-range=-5:20 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=rows --device=emulator --random --seed=7 --int-range=999:2147483647 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=hot --device=emulator --random --seed=5 --int-range=0:1 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=hot --device=emulator --random --seed=6 --int-range=0:399 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=dynamic --device=emulator --random --seed=5 --int-range=0:499 --dim=n=700 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=dynamic --device=emulator --random --seed=5 --int-range=0:499 --dim=n=1 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=dynamic --device=emulator --random --seed=5 --int-range=0:499 --dim=n=0 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=largest --device=emulator --random --seed=5 --int-range=0:299 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=ranges --device=emulator --random --seed=5 --int-range=0:299 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=shifted --device=emulator --random --seed=5 --int-range=0:399 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=one --device=emulator --random --seed=5 --int-range=0:1 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=none --device=emulator --random --seed=5 --int-range=0:1 --verify | FileCheck %s

// CHECK: {{^}}verified

#n = affine_map<(r, c, b) -> (b)>
#nc = affine_map<(r, c, b) -> (b, c)>
#rc = affine_map<(r, c, b) -> (r, c)>
#id = affine_map<(r, c) -> (r, c)>

// TILE-LABEL: fusion_tile.program @sum
// TILE: scf.for
// TILE: fusion_tile.list_flags
// TILE: fusion_tile.barrier
// TILE: scf.for
// TILE-COUNT-4: fusion_tile.local_element
func.func @rows(%index: tensor<700xi64>, %value: tensor<700x40xbf16>) -> tensor<999x40xbf16> {
  %none = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<999x40xf32>
  %init = linalg.fill ins(%none : f32) outs(%empty : tensor<999x40xf32>) -> tensor<999x40xf32>
  %sum = linalg.generic {indexing_maps = [#n, #nc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%index, %value : tensor<700xi64>, tensor<700x40xbf16>) outs(%init : tensor<999x40xf32>) {
  ^bb0(%i: i64, %v: bf16, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i64
    %counts = arith.cmpi eq, %i, %place : i64
    %wide = arith.extf %v : bf16 to f32
    %own = arith.select %counts, %wide, %none : f32
    %next = arith.addf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<999x40xf32>
  %narrow = tensor.empty() : tensor<999x40xbf16>
  %result = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<999x40xf32>) outs(%narrow : tensor<999x40xbf16>) {
  ^bb0(%s: f32, %o: bf16):
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<999x40xbf16>
  return %result : tensor<999x40xbf16>
}

func.func @hot(%index: tensor<1500xi32>, %value: tensor<1500x24xf32>) -> tensor<400x24xf32> {
  %none = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<400x24xf32>
  %init = linalg.fill ins(%none : f32) outs(%empty : tensor<400x24xf32>) -> tensor<400x24xf32>
  %sum = linalg.generic {indexing_maps = [#n, #nc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%index, %value : tensor<1500xi32>, tensor<1500x24xf32>) outs(%init : tensor<400x24xf32>) {
  ^bb0(%i: i32, %v: f32, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i32
    %counts = arith.cmpi eq, %i, %place : i32
    %own = arith.select %counts, %v, %none : f32
    %next = arith.addf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<400x24xf32>
  return %sum : tensor<400x24xf32>
}

func.func @dynamic(%index: tensor<?xi64> {fusion.dims = ["n"]}, %value: tensor<?x33xf16> {fusion.dims = ["n", ""]}) -> tensor<500x33xf16> {
  %none = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<500x33xf32>
  %init = linalg.fill ins(%none : f32) outs(%empty : tensor<500x33xf32>) -> tensor<500x33xf32>
  %sum = linalg.generic {indexing_maps = [#n, #nc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%index, %value : tensor<?xi64>, tensor<?x33xf16>) outs(%init : tensor<500x33xf32>) {
  ^bb0(%i: i64, %v: f16, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i64
    %counts = arith.cmpi eq, %i, %place : i64
    %wide = arith.extf %v : f16 to f32
    %own = arith.select %counts, %wide, %none : f32
    %next = arith.addf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<500x33xf32>
  %narrow = tensor.empty() : tensor<500x33xf16>
  %result = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<500x33xf32>) outs(%narrow : tensor<500x33xf16>) {
  ^bb0(%s: f32, %o: f16):
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<500x33xf16>
  return %result : tensor<500x33xf16>
}

func.func @largest(%index: tensor<700xi64>, %value: tensor<700x40xf16>) -> tensor<300x40xf16> {
  %none = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<300x40xf32>
  %init = linalg.fill ins(%none : f32) outs(%empty : tensor<300x40xf32>) -> tensor<300x40xf32>
  %sum = linalg.generic {indexing_maps = [#n, #nc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%index, %value : tensor<700xi64>, tensor<700x40xf16>) outs(%init : tensor<300x40xf32>) {
  ^bb0(%i: i64, %v: f16, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i64
    %counts = arith.cmpi eq, %i, %place : i64
    %wide = arith.extf %v : f16 to f32
    %own = arith.select %counts, %wide, %none : f32
    %next = arith.maximumf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<300x40xf32>
  %narrow = tensor.empty() : tensor<300x40xf16>
  %result = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<300x40xf32>) outs(%narrow : tensor<300x40xf16>) {
  ^bb0(%s: f32, %o: f16):
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<300x40xf16>
  return %result : tensor<300x40xf16>
}

// Between where each begins and ends.
func.func @ranges(%begin: tensor<900xi64>, %end: tensor<900xi64>, %value: tensor<900x40xf32>) -> tensor<300x40xf32> {
  %none = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<300x40xf32>
  %init = linalg.fill ins(%none : f32) outs(%empty : tensor<300x40xf32>) -> tensor<300x40xf32>
  %sum = linalg.generic {indexing_maps = [#n, #n, #nc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%begin, %end, %value : tensor<900xi64>, tensor<900xi64>, tensor<900x40xf32>) outs(%init : tensor<300x40xf32>) {
  ^bb0(%b: i64, %e: i64, %v: f32, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i64
    %starts = arith.cmpi sle, %b, %place : i64
    %goesOn = arith.cmpi slt, %place, %e : i64
    %counts = arith.andi %starts, %goesOn : i1
    %own = arith.select %counts, %v, %none : f32
    %next = arith.addf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<300x40xf32>
  return %sum : tensor<300x40xf32>
}

// From a row on that the run says.
func.func @shifted(%index: tensor<900xi64>, %first: i64, %value: tensor<900x40xf32>) -> tensor<400x40xf32> {
  %none = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<400x40xf32>
  %init = linalg.fill ins(%none : f32) outs(%empty : tensor<400x40xf32>) -> tensor<400x40xf32>
  %sum = linalg.generic {indexing_maps = [#n, #nc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%index, %value : tensor<900xi64>, tensor<900x40xf32>) outs(%init : tensor<400x40xf32>) {
  ^bb0(%i: i64, %v: f32, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i64
    %at = arith.addi %place, %first : i64
    %counts = arith.cmpi eq, %i, %at : i64
    %own = arith.select %counts, %v, %none : f32
    %next = arith.addf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<400x40xf32>
  return %sum : tensor<400x40xf32>
}

// What has few rows is a sum of all.
func.func @one(%index: tensor<600xi64>, %value: tensor<600x64xf32>) -> tensor<1x64xf32> {
  %none = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x64xf32>
  %init = linalg.fill ins(%none : f32) outs(%empty : tensor<1x64xf32>) -> tensor<1x64xf32>
  %sum = linalg.generic {indexing_maps = [#n, #nc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%index, %value : tensor<600xi64>, tensor<600x64xf32>) outs(%init : tensor<1x64xf32>) {
  ^bb0(%i: i64, %v: f32, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i64
    %counts = arith.cmpi eq, %i, %place : i64
    %own = arith.select %counts, %v, %none : f32
    %next = arith.addf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<1x64xf32>
  return %sum : tensor<1x64xf32>
}

func.func @none(%index: tensor<0xi64>, %value: tensor<0x64xf32>) -> tensor<300x64xf32> {
  %none = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<300x64xf32>
  %init = linalg.fill ins(%none : f32) outs(%empty : tensor<300x64xf32>) -> tensor<300x64xf32>
  %sum = linalg.generic {indexing_maps = [#n, #nc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%index, %value : tensor<0xi64>, tensor<0x64xf32>) outs(%init : tensor<300x64xf32>) {
  ^bb0(%i: i64, %v: f32, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i64
    %counts = arith.cmpi eq, %i, %place : i64
    %own = arith.select %counts, %v, %none : f32
    %next = arith.addf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<300x64xf32>
  return %sum : tensor<300x64xf32>
}
