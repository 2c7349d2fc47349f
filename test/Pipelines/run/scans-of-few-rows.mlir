// Rows that are long and few: several blocks walk each together, from either
// end, and the last tiles lie past the end.

// RUN: fusion-run %s --entry=sum --device=emulator --random --verify --float-std=0.01 | FileCheck %s
// RUN: fusion-run %s --entry=recurrence --device=emulator --random --verify --asynchrony=early | FileCheck %s
// RUN: fusion-run %s --entry=columns --device=emulator --random --verify | FileCheck %s
// CHECK: {{^}}verified

func.func @sum(%x: tensor<40001xf32>) -> tensor<40001xf32> {
  %zero = arith.constant 0.0 : f32
  %y = fusion.scan ins(%x : tensor<40001xf32>) inits(%zero : f32) axis(0) -> tensor<40001xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  return %y : tensor<40001xf32>
}

// Not commutative on integers that wrap, so that every order but one shows.
func.func @recurrence(%x: tensor<2x33000xi32>, %g: tensor<2x33000xi32>) -> tensor<2x33000xi32> {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %h:2 = fusion.scan exclusive reverse ins(%g, %x : tensor<2x33000xi32>, tensor<2x33000xi32>) inits(%one, %zero : i32, i32) axis(1)
      -> tensor<2x33000xi32>, tensor<2x33000xi32> {
  ^bb0(%a1: i32, %b1: i32, %a2: i32, %b2: i32):
    %p = arith.muli %a1, %a2 : i32
    %q = arith.muli %a2, %b1 : i32
    %t = arith.addi %q, %b2 : i32
    fusion.yield %p, %t : i32, i32
  }
  return %h#1 : tensor<2x33000xi32>
}

func.func @columns(%x: tensor<3000x20xi32>, %g: tensor<3000x20xi32>) -> tensor<3000x20xi32> {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %h:2 = fusion.scan ins(%g, %x : tensor<3000x20xi32>, tensor<3000x20xi32>) inits(%one, %zero : i32, i32) axis(0)
      -> tensor<3000x20xi32>, tensor<3000x20xi32> {
  ^bb0(%a1: i32, %b1: i32, %a2: i32, %b2: i32):
    %p = arith.muli %a1, %a2 : i32
    %q = arith.muli %a2, %b1 : i32
    %t = arith.addi %q, %b2 : i32
    fusion.yield %p, %t : i32, i32
  }
  return %h#1 : tensor<3000x20xi32>
}
