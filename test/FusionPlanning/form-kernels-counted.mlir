// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s

// Indices that only count elements, those of a dropout, keep no dimensions apart:
// rows of 109 elements are stored as one, and both results by one kernel.

// CHECK-LABEL: func.func @sum_and_dropout
// CHECK: fusion.kernel
// CHECK-SAME: -> (tensor<129921024xf16>, tensor<129921024xf16>)
// CHECK-NOT: fusion.kernel
func.func @sum_and_dropout(%x: tensor<8x291x512x109xf16>, %y: tensor<8x291x512x109xf16>)
    -> (tensor<8x291x512x109xf16>, tensor<8x291x512x109xf16>) {
  %seed = arith.constant 7 : i64
  %a = arith.addf %x, %y : tensor<8x291x512x109xf16>
  %d = fusion.dropout %a, %seed probability(0.25) op_id(7) : tensor<8x291x512x109xf16>
  return %a, %d : tensor<8x291x512x109xf16>, tensor<8x291x512x109xf16>
}
