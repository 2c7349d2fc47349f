// RUN: fusion-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --split-input-file | FileCheck %s

// A kernel in a module of upstream's ops: memrefs go in and come out, and its
// body stays on tensors.

// CHECK-LABEL: func.func @mixed(
// CHECK-SAME: %[[X:.*]]: memref<?x8xf32>, %[[S:.*]]: f32) -> memref<?x8xf32>
// CHECK: %[[N:.*]] = memref.dim %[[X]]
// CHECK: %[[Y:.*]] = memref.alloc(%[[N]]) {{.*}} : memref<?x8xf32>
// CHECK: fusion.buffer_kernel @scale ins(%[[X]], %[[S]] : memref<?x8xf32>, f32) outs(%[[Y]] : memref<?x8xf32>) {
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<?x8xf32>, %{{.*}}: f32):
// CHECK: linalg.generic {{.*}} ins(%[[A]] : tensor<?x8xf32>)
// CHECK: fusion.yield %{{.*}} : tensor<?x8xf32>
// CHECK: linalg.exp ins(%[[Y]] : memref<?x8xf32>) outs(%[[Y]] : memref<?x8xf32>)
// CHECK: return %[[Y]]
func.func @mixed(%x: tensor<?x8xf32>, %s: f32) -> tensor<?x8xf32> {
  %y = fusion.kernel @scale ins(%x, %s : tensor<?x8xf32>, f32) -> (tensor<?x8xf32>) {
  ^bb0(%a: tensor<?x8xf32>, %b: f32):
    %c0 = arith.constant 0 : index
    %n = tensor.dim %a, %c0 : tensor<?x8xf32>
    %e = tensor.empty(%n) : tensor<?x8xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
    ^bb0(%v: f32, %o: f32):
      %p = arith.mulf %v, %b : f32
      linalg.yield %p : f32
    } -> tensor<?x8xf32>
    fusion.yield %0 : tensor<?x8xf32>
  }
  %z = linalg.exp ins(%y : tensor<?x8xf32>) outs(%y : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// -----

// A slice is written in place where nobody needs what was there.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME: %[[X:.*]]: memref<8x4xf32>, %[[V:.*]]: memref<1x4xf32>)
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: fusion.buffer_kernel @write ins(%[[X]], %[[V]] : memref<8x4xf32>, memref<1x4xf32>) outs(%[[X]] : memref<8x4xf32>)
// CHECK: return %[[X]]
func.func @in_place(%x: tensor<8x4xf32> {bufferization.writable = true}, %v: tensor<1x4xf32>) -> tensor<8x4xf32> {
  %y = fusion.kernel @write ins(%x, %v : tensor<8x4xf32>, tensor<1x4xf32>) -> (tensor<8x4xf32>) {
  ^bb0(%a: tensor<8x4xf32>, %b: tensor<1x4xf32>):
    %0 = tensor.insert_slice %b into %a[3, 0] [1, 4] [1, 1] {fusion.in_place} : tensor<1x4xf32> into tensor<8x4xf32>
    fusion.yield %0 : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

// -----

// Here somebody does: the kernel gets a copy.
// CHECK-LABEL: func.func @conflict(
// CHECK-SAME: %[[X:.*]]: memref<8x4xf32>, %[[V:.*]]: memref<1x4xf32>)
// CHECK: %[[C:.*]] = memref.alloc() {{.*}} : memref<8x4xf32>
// CHECK: memref.copy %[[X]], %[[C]]
// CHECK: fusion.buffer_kernel @write ins(%[[C]], %[[V]] : memref<8x4xf32>, memref<1x4xf32>) outs(%[[C]] : memref<8x4xf32>)
// CHECK: return %[[C]], %[[X]]
func.func @conflict(%x: tensor<8x4xf32> {bufferization.writable = true}, %v: tensor<1x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %y = fusion.kernel @write ins(%x, %v : tensor<8x4xf32>, tensor<1x4xf32>) -> (tensor<8x4xf32>) {
  ^bb0(%a: tensor<8x4xf32>, %b: tensor<1x4xf32>):
    %0 = tensor.insert_slice %b into %a[3, 0] [1, 4] [1, 1] {fusion.in_place} : tensor<1x4xf32> into tensor<8x4xf32>
    fusion.yield %0 : tensor<8x4xf32>
  }
  return %y, %x : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// A loop around a kernel keeps one memory where the kernel writes in place.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[X:.*]]: memref<8x4xf32>
// CHECK-NOT: memref.copy
// CHECK: scf.for
// CHECK: fusion.buffer_kernel @write ins(%[[M:.*]], %{{.*}}) outs(%[[M]] :
func.func @loop(%x: tensor<8x4xf32> {bufferization.writable = true}, %v: tensor<1x4xf32>, %n: index) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> tensor<8x4xf32> {
    %y = fusion.kernel @write ins(%acc, %v : tensor<8x4xf32>, tensor<1x4xf32>) -> (tensor<8x4xf32>) {
    ^bb0(%a: tensor<8x4xf32>, %b: tensor<1x4xf32>):
      %0 = tensor.insert_slice %b into %a[3, 0] [1, 4] [1, 1] {fusion.in_place} : tensor<1x4xf32> into tensor<8x4xf32>
      fusion.yield %0 : tensor<8x4xf32>
    }
    scf.yield %y : tensor<8x4xf32>
  }
  return %z : tensor<8x4xf32>
}
