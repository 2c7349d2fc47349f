// RUN: fusion-opt %s --one-shot-bufferize=bufferize-function-boundaries=true | FileCheck %s
// RUN: fusion-opt %s --one-shot-bufferize | FileCheck %s --check-prefix=INSIDE

// What has gaps, as far as anybody knows, is copied.
// CHECK-LABEL: func.func @mixed(
// CHECK-SAME: %[[X:.*]]: memref<?x8xf32, strided<[?, ?], offset: ?>>
// CHECK: %[[D:.*]] = memref.alloc({{.*}}) {{.*}} : memref<?x8xf32>
// CHECK: memref.copy %[[X]], %[[D]]
// CHECK: fusion.buffer_kernel @scale ins(%[[D]], %{{.*}} : memref<?x8xf32>, f32)

// INSIDE-LABEL: func.func @mixed(
// INSIDE-SAME: tensor<?x8xf32>, %{{.*}}: f32) -> tensor<?x8xf32>
// INSIDE: fusion.buffer_kernel @scale
// INSIDE-NEXT: ^bb0(%{{.*}}: tensor<?x8xf32>
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
