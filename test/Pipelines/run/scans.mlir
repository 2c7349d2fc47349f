// Scans of tiles: rows that warps share and columns, from either end, with and
// without the element itself, whose tiles go past the end; states of several
// types, and what is computed around them.

// RUN: fusion-run %s --entry=row --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=before --device=emulator --random --verify --dim=n=4097 | FileCheck %s
// RUN: fusion-run %s --entry=before --device=emulator --random --verify --dim=n=1 | FileCheck %s
// RUN: fusion-run %s --entry=columns --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=recurrence --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=short --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=short_columns --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=odd_columns --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=logarithms --device=emulator --random --verify | FileCheck %s
// RUN: fusion-run %s --entry=sequential --device=emulator --random --verify --float-std=0.01 | FileCheck %s
// CHECK: {{^}}verified

func.func @row(%x: tensor<3x4097xf32>) -> tensor<3x4097xf32> {
  %zero = arith.constant 0.0 : f32
  %y = fusion.scan ins(%x : tensor<3x4097xf32>) inits(%zero : f32) axis(1) -> tensor<3x4097xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<3x4097xf32>
}

// Not commutative on integers that wrap, so that every order but one shows.
func.func @before(%x: tensor<2x?xi32> {fusion.dims = ["_", "n"]}, %g: tensor<2x?xi32> {fusion.dims = ["_", "n"]}) -> tensor<2x?xi32> {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %h:2 = fusion.scan exclusive reverse ins(%g, %x : tensor<2x?xi32>, tensor<2x?xi32>) inits(%one, %zero : i32, i32) axis(1)
      -> tensor<2x?xi32>, tensor<2x?xi32> {
  ^bb0(%a1: i32, %b1: i32, %a2: i32, %b2: i32):
    %p = arith.muli %a1, %a2 : i32
    %q = arith.muli %a2, %b1 : i32
    %t = arith.addi %q, %b2 : i32
    fusion.yield %p, %t : i32, i32
  }
  return %h#1 : tensor<2x?xi32>
}

func.func @columns(%x: tensor<300x66xf32>) -> tensor<300x66xf32> {
  %least = arith.constant 0xFF800000 : f32
  %y = fusion.scan reverse ins(%x : tensor<300x66xf32>) inits(%least : f32) axis(0) -> tensor<300x66xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.maximumf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<300x66xf32>
}

func.func @recurrence(%gate: tensor<300x40xf32>, %b: tensor<300x40xf32>, %c: tensor<300x40xf32>) -> tensor<300x40xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %a = fusion.sigmoid %gate : tensor<300x40xf32>
  %h:2 = fusion.scan ins(%a, %b : tensor<300x40xf32>, tensor<300x40xf32>) inits(%one, %zero : f32, f32) axis(0)
      -> tensor<300x40xf32>, tensor<300x40xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %p = arith.mulf %a1, %a2 : f32
    %q = arith.mulf %a2, %b1 : f32
    %t = arith.addf %q, %b2 : f32
    fusion.yield %p, %t : f32, f32
  }
  %y = arith.mulf %h#1, %c : tensor<300x40xf32>
  return %y : tensor<300x40xf32>
}

func.func @short(%x: tensor<70x33xf16>) -> tensor<70x33xf16> {
  %zero = arith.constant 0.0 : f16
  %y = fusion.scan exclusive ins(%x : tensor<70x33xf16>) inits(%zero : f16) axis(1) -> tensor<70x33xf16> {
  ^bb0(%a: f16, %b: f16):
    %s = arith.addf %a, %b : f16
    fusion.yield %s : f16
  }
  return %y : tensor<70x33xf16>
}

// Threads have all of what is scanned and of what lies beside it.
func.func @short_columns(%gate: tensor<40001x4x4xbf16>, %b: tensor<40001x4x4xbf16>) -> tensor<40001x4x4xbf16> {
  %one = arith.constant 1.0 : bf16
  %zero = arith.constant 0.0 : bf16
  %a = fusion.sigmoid %gate : tensor<40001x4x4xbf16>
  %h:2 = fusion.scan ins(%a, %b : tensor<40001x4x4xbf16>, tensor<40001x4x4xbf16>) inits(%one, %zero : bf16, bf16) axis(1)
      -> tensor<40001x4x4xbf16>, tensor<40001x4x4xbf16> {
  ^bb0(%a1: bf16, %b1: bf16, %a2: bf16, %b2: bf16):
    %p = arith.mulf %a1, %a2 : bf16
    %q = arith.mulf %a2, %b1 : bf16
    %t = arith.addf %q, %b2 : bf16
    fusion.yield %p, %t : bf16, bf16
  }
  return %h#1 : tensor<40001x4x4xbf16>
}

func.func @odd_columns(%x: tensor<30011x5x3xf32>) -> tensor<30011x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %y = fusion.scan exclusive reverse ins(%x : tensor<30011x5x3xf32>) inits(%zero : f32) axis(1) -> tensor<30011x5x3xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<30011x5x3xf32>
}

func.func @logarithms(%x: tensor<4x500xf32>) -> tensor<4x500xf32> {
  %least = arith.constant 0xFF800000 : f32
  %y = fusion.scan reverse ins(%x : tensor<4x500xf32>) inits(%least : f32) axis(1) -> tensor<4x500xf32> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    %d = arith.subf %b, %a : f32
    %p = math.absf %d : f32
    %q = arith.negf %p : f32
    %e = math.exp %q : f32
    %l = math.log1p %e : f32
    %s = arith.addf %m, %l : f32
    fusion.yield %s : f32
  }
  return %y : tensor<4x500xf32>
}

func.func @sequential(%x: tensor<50x9xf32>) -> tensor<50x9xf32> {
  %zero = arith.constant 0.0 : f32
  %y = fusion.scan ins(%x : tensor<50x9xf32>) inits(%zero : f32) axis(0) -> tensor<50x9xf32> {
  ^bb0(%a: f32, %b: f32):
    %h = arith.addf %a, %b : f32
    %p = arith.mulf %a, %b : f32
    %s = arith.subf %h, %p : f32
    fusion.yield %s : f32
  }
  return %y : tensor<50x9xf32>
}
