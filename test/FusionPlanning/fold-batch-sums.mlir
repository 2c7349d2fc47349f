// A sum along the batch of a product is contracted; one along its rows is not,
// nor one of a product that something else needs.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s

#x = affine_map<(b, i, j, k) -> (b, i, k)>
#y = affine_map<(b, i, j, k) -> (b, k, j)>
#p = affine_map<(b, i, j, k) -> (b, i, j)>

// CHECK-LABEL: func.func @batch
// CHECK: iterator_types = ["reduction", "parallel", "parallel", "reduction"]
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @batch(%x: tensor<8x64x32xf16>, %y: tensor<8x32x48xf16>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %r = linalg.batch_matmul ins(%x, %y : tensor<8x64x32xf16>, tensor<8x32x48xf16>) outs(%f : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %se = tensor.empty() : tensor<64x48xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<64x48xf32>) -> tensor<64x48xf32>
  %s = linalg.reduce { arith.addf } ins(%r : tensor<8x64x48xf32>) outs(%sf : tensor<64x48xf32>) dimensions = [0]
  return %s : tensor<64x48xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK-NOT: iterator_types = ["parallel", "reduction", "parallel", "reduction"]
// CHECK: return
func.func @rows(%x: tensor<8x64x32xf16>, %y: tensor<8x32x48xf16>) -> tensor<8x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %r = linalg.batch_matmul ins(%x, %y : tensor<8x64x32xf16>, tensor<8x32x48xf16>) outs(%f : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %se = tensor.empty() : tensor<8x48xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<8x48xf32>) -> tensor<8x48xf32>
  %s = linalg.reduce { arith.addf } ins(%r : tensor<8x64x48xf32>) outs(%sf : tensor<8x48xf32>) dimensions = [1]
  return %s : tensor<8x48xf32>
}

// CHECK-LABEL: func.func @needed
// CHECK-NOT: iterator_types = ["reduction", "parallel", "parallel", "reduction"]
// CHECK: return
func.func @needed(%x: tensor<8x64x32xf16>, %y: tensor<8x32x48xf16>) -> (tensor<64x48xf32>, tensor<8x64x48xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %r = linalg.batch_matmul ins(%x, %y : tensor<8x64x32xf16>, tensor<8x32x48xf16>) outs(%f : tensor<8x64x48xf32>) -> tensor<8x64x48xf32>
  %se = tensor.empty() : tensor<64x48xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<64x48xf32>) -> tensor<64x48xf32>
  %s = linalg.reduce { arith.addf } ins(%r : tensor<8x64x48xf32>) outs(%sf : tensor<64x48xf32>) dimensions = [0]
  return %s, %r : tensor<64x48xf32>, tensor<8x64x48xf32>
}
