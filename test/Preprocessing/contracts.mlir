// Contracts hold for what an op becomes, whoever rewrites it; scalar ops in
// bodies and locations are free of them.

// RUN: fusion-opt %s --fusion-input | FileCheck %s
// RUN: fusion-opt %s --fusion-input --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// LOC-NOT: fusion.contracts

// CHECK-LABEL: func @arithmetic
// CHECK: linalg.generic {{.*}} ins(%arg0 :
// CHECK-SAME: attrs = {fusion.never}
// CHECK: math.exp %{{[a-z0-9_]+}} : f32
// CHECK: linalg.generic
// CHECK-NOT: attrs =
// CHECK: arith.mulf
func.func @arithmetic(%x: tensor<64x96xf32>, %y: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %a = math.exp %x {fusion.never} : tensor<64x96xf32>
  %b = arith.mulf %a, %y : tensor<64x96xf32>
  return %b : tensor<64x96xf32>
}

// CHECK-LABEL: func @dynamic_arithmetic
// CHECK: linalg.generic
// CHECK-SAME: attrs = {fusion.must}
func.func @dynamic_arithmetic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = math.exp %x {fusion.must} : tensor<?xf32>
  return %a : tensor<?xf32>
}

// Two equal ops with different contracts are not one.
// CHECK-LABEL: func @equal_ops
// CHECK: linalg.generic
// CHECK-NOT: attrs =
// CHECK: linalg.generic
// CHECK-SAME: attrs = {fusion.never}
func.func @equal_ops(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = math.exp %x : tensor<64xf32>
  %b = math.exp %x {fusion.never} : tensor<64xf32>
  return %a, %b : tensor<64xf32>, tensor<64xf32>
}

// CHECK-LABEL: func @tosa
// CHECK: linalg.generic
// CHECK-SAME: attrs = {fusion.never}
func.func @tosa(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = tosa.exp %x {fusion.never} : (tensor<64xf32>) -> tensor<64xf32>
  return %a : tensor<64xf32>
}

// CHECK-LABEL: func @named
// CHECK: linalg.generic
// CHECK-SAME: attrs = {fusion.tf32}
func.func @named(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %z: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = linalg.matmul {fusion.tf32} ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %a : tensor<64x64xf32>
}

// Each part of what stands for several.
// CHECK-LABEL: func @softmax
// CHECK-COUNT-3: attrs = {fusion.never}
func.func @softmax(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %a = linalg.softmax {fusion.never} dimension(1) ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %a : tensor<64x64xf32>
}

// CHECK-LABEL: func @tensors
// CHECK: tensor.pad {{.*}} {
// CHECK: } {fusion.never}
// CHECK: linalg.generic
// CHECK-SAME: attrs = {fusion.must}
func.func @tensors(%x: tensor<8xf32>, %s: f32, %i: index) -> tensor<10xf32> {
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%j: index):
    tensor.yield %s : f32
  } {fusion.never} : tensor<8xf32> to tensor<10xf32>
  %q = tensor.insert %s into %p[%i] {fusion.must} : tensor<10xf32>
  return %q : tensor<10xf32>
}
