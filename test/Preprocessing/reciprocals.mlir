// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(fusion-input-reciprocals))' | FileCheck %s

// Quotients by powers of two are products; by other numbers they are not, nor
// where the reciprocal is no normal number.

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @divide
// CHECK: %[[EIGHTH:.*]] = arith.constant 1.250000e-01 : bf16
// CHECK: arith.mulf %{{.*}}, %[[EIGHTH]] : bf16
// CHECK: %[[HALF:.*]] = arith.constant -5.000000e-01 : f32
// CHECK: arith.mulf %{{.*}}, %[[HALF]] fastmath<nnan> : f32
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
func.func @divide(%x: tensor<8xbf16>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %c8 = arith.constant 8.0 : bf16
  %c2 = arith.constant -2.0 : f32
  %c3 = arith.constant 3.0 : f32
  %zero = arith.constant 0.0 : f32
  %huge = arith.constant 0x7F000000 : f32
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xbf16>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: bf16, %b: f32, %o: f32):
    %0 = arith.divf %a, %c8 : bf16
    %1 = arith.extf %0 : bf16 to f32
    %2 = arith.divf %b, %c2 fastmath<nnan> : f32
    %3 = arith.addf %1, %2 : f32
    %4 = arith.divf %3, %c3 : f32
    %5 = arith.divf %4, %zero : f32
    %6 = arith.divf %5, %huge : f32
    linalg.yield %6 : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
