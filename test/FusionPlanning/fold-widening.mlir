// Contractions take widened floats as they were, products being exact in f32.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// The transposition is done before the widening, and then by the product.
// CHECK-LABEL: func.func @both
// CHECK: fusion.kernel @matmul ins(%arg0, %arg1 : tensor<256x64xf16>, tensor<256x64xf16>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<256x64xf16>, tensor<256x64xf16>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: f16, %[[B:.*]]: f16, %{{.*}}: f32):
// CHECK-DAG: arith.extf %[[A]]
// CHECK-DAG: arith.extf %[[B]]
func.func @both(%a: tensor<256x64xf16>, %b: tensor<256x64xf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %we = tensor.empty() : tensor<256x64xf32>
  %wa = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<256x64xf16>) outs(%we : tensor<256x64xf32>) {
  ^bb0(%x: f16, %o: f32):
    %w = arith.extf %x : f16 to f32
    linalg.yield %w : f32
  } -> tensor<256x64xf32>
  %wb = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<256x64xf16>) outs(%we : tensor<256x64xf32>) {
  ^bb0(%x: f16, %o: f32):
    %w = arith.extf %x : f16 to f32
    linalg.yield %w : f32
  } -> tensor<256x64xf32>
  %te = tensor.empty() : tensor<64x256xf32>
  %t = linalg.transpose ins(%wb : tensor<256x64xf32>) outs(%te : tensor<64x256xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.matmul ins(%wa, %t : tensor<256x64xf32>, tensor<64x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// One factor is of f32: the product is one of f32.
// CHECK-LABEL: func.func @one
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<256x64xf32>, tensor<256x64xf32>)
func.func @one(%a: tensor<256x64xf16>, %b: tensor<256x64xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %we = tensor.empty() : tensor<256x64xf32>
  %wa = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<256x64xf16>) outs(%we : tensor<256x64xf32>) {
  ^bb0(%x: f16, %o: f32):
    %w = arith.extf %x : f16 to f32
    linalg.yield %w : f32
  } -> tensor<256x64xf32>
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wa, %b : tensor<256x64xf32>, tensor<256x64xf32>) outs(%f : tensor<256x256xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}
