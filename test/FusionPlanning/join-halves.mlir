// RUN: fusion-compile %s --compile-to=plan -o - | FileCheck %s

// Both halves of a product's result in the other order, one negated: each
// element reads its partner.

// CHECK-LABEL: func.func @rotate_half
// CHECK: %[[C:.*]] = arith.constant 32 : index
// CHECK-NOT: tensor.concat
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %[[J]], %[[C]]
// CHECK: %[[P:.*]] = arith.xori %[[J]], %[[C]]
// CHECK: %[[X:.*]] = tensor.extract %{{.*}}[%{{.*}}, %[[P]]]
// CHECK: %[[N:.*]] = arith.negf %[[X]]
// CHECK: arith.select %[[FIRST]], %[[N]], %[[X]]
func.func @rotate_half(%a: tensor<8x16xf16>, %b: tensor<16x64xf16>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  %x = linalg.matmul ins(%a, %b : tensor<8x16xf16>, tensor<16x64xf16>) outs(%f : tensor<8x64xf32>) -> tensor<8x64xf32>
  %lo = tensor.extract_slice %x[0, 0] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %hi = tensor.extract_slice %x[0, 32] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %neg = arith.negf %hi : tensor<8x32xf32>
  %r = tensor.concat dim(1) %neg, %lo : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// Halves in order, of two tensors, of no power of two, or of no product stay
// concatenations.

// CHECK-LABEL: func.func @in_order
// CHECK: tensor.concat
func.func @in_order(%a: tensor<8x16xf16>, %b: tensor<16x64xf16>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  %x = linalg.matmul ins(%a, %b : tensor<8x16xf16>, tensor<16x64xf16>) outs(%f : tensor<8x64xf32>) -> tensor<8x64xf32>
  %lo = tensor.extract_slice %x[0, 0] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %hi = tensor.extract_slice %x[0, 32] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %neg = arith.negf %hi : tensor<8x32xf32>
  %r = tensor.concat dim(1) %lo, %neg : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// CHECK-LABEL: func.func @of_two
// CHECK: tensor.concat
func.func @of_two(%a: tensor<8x16xf16>, %b: tensor<16x64xf16>, %y: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  %x = linalg.matmul ins(%a, %b : tensor<8x16xf16>, tensor<16x64xf16>) outs(%f : tensor<8x64xf32>) -> tensor<8x64xf32>
  %lo = tensor.extract_slice %x[0, 0] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %hi = tensor.extract_slice %y[0, 32] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %r = tensor.concat dim(1) %hi, %lo : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// CHECK-LABEL: func.func @of_ninety_six
// CHECK: tensor.concat
func.func @of_ninety_six(%a: tensor<8x16xf16>, %b: tensor<16x96xf16>) -> tensor<8x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x96xf32>) -> tensor<8x96xf32>
  %x = linalg.matmul ins(%a, %b : tensor<8x16xf16>, tensor<16x96xf16>) outs(%f : tensor<8x96xf32>) -> tensor<8x96xf32>
  %lo = tensor.extract_slice %x[0, 0] [8, 48] [1, 1] : tensor<8x96xf32> to tensor<8x48xf32>
  %hi = tensor.extract_slice %x[0, 48] [8, 48] [1, 1] : tensor<8x96xf32> to tensor<8x48xf32>
  %r = tensor.concat dim(1) %hi, %lo : (tensor<8x48xf32>, tensor<8x48xf32>) -> tensor<8x96xf32>
  return %r : tensor<8x96xf32>
}

// CHECK-LABEL: func.func @of_no_product
// CHECK: tensor.concat
func.func @of_no_product(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %lo = tensor.extract_slice %x[0, 0] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %hi = tensor.extract_slice %x[0, 32] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %neg = arith.negf %hi : tensor<8x32xf32>
  %r = tensor.concat dim(1) %neg, %lo : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}
