// Fusion ops read a tensor or another's result, and in between something is
// computed that could take its place: the reference evaluates each by a call.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: {{^}}verified

func.func @shared(%x: tensor<7x16xf32>) -> (tensor<7x16xf32>, tensor<7x16xf32>, tensor<7x16xf32>, tensor<7x16xf32>) {
  %softmax = fusion.softmax %x axis(1) : tensor<7x16xf32>
  %twice = arith.addf %x, %x : tensor<7x16xf32>
  %silu = fusion.silu %x : tensor<7x16xf32>
  %more = arith.addf %silu, %silu : tensor<7x16xf32>
  %last = fusion.sigmoid %silu : tensor<7x16xf32>
  return %last, %more, %softmax, %twice : tensor<7x16xf32>, tensor<7x16xf32>, tensor<7x16xf32>, tensor<7x16xf32>
}
