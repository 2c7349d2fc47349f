// RUN: fusion-compile %s --compile-to=plan -o - | FileCheck %s

// Both halves of a tensor in the other order, one negated: each element reads
// its partner.

// CHECK-LABEL: func.func @rotate_half
// CHECK: %[[C:.*]] = arith.constant 32 : index
// CHECK-NOT: tensor.concat
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %[[J]], %[[C]]
// CHECK: %[[P:.*]] = arith.xori %[[J]], %[[C]]
// CHECK: %[[X:.*]] = tensor.extract %{{.*}}[%{{.*}}, %[[P]]]
// CHECK: %[[N:.*]] = arith.negf %[[X]]
// CHECK: arith.select %[[FIRST]], %[[N]], %[[X]]
func.func @rotate_half(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %lo = tensor.extract_slice %x[0, 0] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %hi = tensor.extract_slice %x[0, 32] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %neg = arith.negf %hi : tensor<8x32xf32>
  %r = tensor.concat dim(1) %neg, %lo : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// Halves in order, of two tensors, or of no power of two stay concatenations.

// CHECK-LABEL: func.func @in_order
// CHECK: tensor.concat
func.func @in_order(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %lo = tensor.extract_slice %x[0, 0] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %hi = tensor.extract_slice %x[0, 32] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %neg = arith.negf %hi : tensor<8x32xf32>
  %r = tensor.concat dim(1) %lo, %neg : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// CHECK-LABEL: func.func @of_two
// CHECK: tensor.concat
func.func @of_two(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %lo = tensor.extract_slice %x[0, 0] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %hi = tensor.extract_slice %y[0, 32] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  %r = tensor.concat dim(1) %hi, %lo : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// CHECK-LABEL: func.func @of_ninety_six
// CHECK: tensor.concat
func.func @of_ninety_six(%x: tensor<8x96xf32>) -> tensor<8x96xf32> {
  %lo = tensor.extract_slice %x[0, 0] [8, 48] [1, 1] : tensor<8x96xf32> to tensor<8x48xf32>
  %hi = tensor.extract_slice %x[0, 48] [8, 48] [1, 1] : tensor<8x96xf32> to tensor<8x48xf32>
  %r = tensor.concat dim(1) %hi, %lo : (tensor<8x48xf32>, tensor<8x48xf32>) -> tensor<8x96xf32>
  return %r : tensor<8x96xf32>
}
