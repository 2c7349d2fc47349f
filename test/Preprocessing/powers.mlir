// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(fusion-input-powers))' | FileCheck %s

// Powers by small integers are products; others, those of types that would
// round more than once, and those by what is no constant, are not.

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @integers
// CHECK: ^bb0(%[[X:.*]]: f32, %[[N:.*]]: i32, %{{.*}}: f32):
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] fastmath<nnan> : f32
// CHECK: %[[P2:.*]] = arith.mulf %[[SQUARE]], %[[SQUARE]] : f32
// CHECK: %[[FOURTH:.*]] = arith.mulf %[[P2]], %[[P2]] : f32
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[P3:.*]] = arith.mulf %[[FOURTH]], %[[FOURTH]] : f32
// CHECK: arith.divf %[[ONE]], %[[P3]] : f32
// CHECK: math.fpowi %{{.*}}, %{{.*}} : f32, i32
// CHECK: math.fpowi %{{.*}}, %[[N]] : f32, i32
func.func @integers(%x: tensor<8xf32>, %n: tensor<8xi32>) -> tensor<8xf32> {
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i64
  %minus2 = arith.constant -2 : i32
  %c5 = arith.constant 5 : i32
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %n : tensor<8xf32>, tensor<8xi32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: i32, %o: f32):
    %0 = math.fpowi %a, %c2 fastmath<nnan> : f32, i32
    %1 = math.fpowi %0, %c4 : f32, i64
    %2 = math.fpowi %1, %minus2 : f32, i32
    %3 = math.fpowi %2, %c5 : f32, i32
    %4 = math.fpowi %3, %b : f32, i32
    linalg.yield %4 : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @numbers
// CHECK: ^bb0(%[[X:.*]]: bf16, %[[Y:.*]]: f32, %{{.*}}: f32):
// CHECK: arith.mulf %[[X]], %[[X]] : bf16
// CHECK: math.powf %{{.*}}, %{{.*}} : bf16
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[Y]], %[[Y]] : f32
// CHECK: %[[CUBE:.*]] = arith.mulf %[[SQUARE]], %[[Y]] : f32
// CHECK: math.powf %[[CUBE]], %{{.*}} : f32
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: arith.addf %[[ONE]], %{{.*}} : f32
func.func @numbers(%x: tensor<8xbf16>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %two = arith.constant 2.0 : bf16
  %three = arith.constant 3.0 : bf16
  %cube = arith.constant 3.0 : f32
  %half = arith.constant 2.5 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xbf16>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: bf16, %b: f32, %o: f32):
    %0 = math.powf %a, %two : bf16
    %1 = math.powf %0, %three : bf16
    %2 = math.powf %b, %cube : f32
    %3 = math.powf %2, %half : f32
    %4 = math.powf %3, %zero : f32
    %5 = arith.extf %1 : bf16 to f32
    %6 = arith.addf %4, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
