// A chain of pointwise operations: relu((x + 1) * 2) ** 2.
//
// Unfused, each line would read and write the whole tensor. The four of them
// become one kernel that reads x once and writes the result once.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// Four times a read and a write of 24,576 bytes, then once.
// CHECK: traffic: 196.61 kB unfused -> 49.15 kB
// CHECK: {{^}}verified

func.func @pointwise_chain(%x: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x96xf32>
  %one = arith.constant dense<1.0> : tensor<64x96xf32>
  %two = arith.constant dense<2.0> : tensor<64x96xf32>
  %shifted = arith.addf %x, %one : tensor<64x96xf32>
  %scaled = arith.mulf %shifted, %two : tensor<64x96xf32>
  %positive = arith.maximumf %scaled, %zero : tensor<64x96xf32>
  %square = arith.mulf %positive, %positive : tensor<64x96xf32>
  return %square : tensor<64x96xf32>
}
