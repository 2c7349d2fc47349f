// RUN: fusion-opt %s --split-input-file --transform-interpreter --canonicalize --cse | FileCheck %s

// A loop over rows; a row stays whole.
// CHECK-LABEL: func.func @softmax
// CHECK-SAME: (%[[X:.*]]: tensor<?x?xf32>)
// CHECK-DAG: %[[ROWS:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG: %[[COLUMNS:.*]] = tensor.dim %[[X]], %c1
// CHECK: scf.for %[[I:.*]] = %c0 to %[[ROWS]] step %c8
// CHECK: %[[SIZE:.*]] = affine.min
// CHECK: %[[TILE:.*]] = tensor.extract_slice %[[X]][%[[I]], 0] [%[[SIZE]], %[[COLUMNS]]]
// CHECK: %[[Y:.*]] = fusion.softmax %[[TILE]] axis(1) : tensor<?x?xf32>
// CHECK: tensor.insert_slice %[[Y]] into %{{.*}}[%[[I]], 0]
func.func @softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = fusion.softmax %x axis(1) : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["fusion.softmax"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [8, 0]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A tile of two groups of numbers along each row: half as many bytes, and two
// scales.
// CHECK-LABEL: func.func @dequantize
// CHECK-SAME: (%[[X:.*]]: tensor<32x64xi8>, %[[S:.*]]: tensor<32x4xf16>)
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (4, 2)
// CHECK: %[[TILE:.*]] = tensor.extract_slice %[[X]][%[[I:.*]], %{{.*}}] [8, 32]
// CHECK: %[[SCALE:.*]] = tensor.extract_slice %[[S]][%[[I]], %{{.*}}] [8, 2]
// CHECK: %[[Y:.*]] = fusion.dequantize int4 %[[TILE]] scale(%[[SCALE]])
// CHECK: tensor.parallel_insert_slice %[[Y]] into %{{.*}}[%[[I]], %{{.*}}] [8, 64]
func.func @dequantize(%x: tensor<32x64xi8>, %s: tensor<32x4xf16>)
    -> tensor<32x128xf16> {
  %0 = fusion.dequantize int4 %x scale(%s)
      {axis = 1 : i64, group_size = 32 : i64}
      : (tensor<32x64xi8>, tensor<32x4xf16>) -> tensor<32x128xf16>
  return %0 : tensor<32x128xf16>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["fusion.dequantize"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %op tile_sizes [8, 2]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Windows overlap.
// CHECK-LABEL: func.func @pool
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c4
// CHECK: %[[AT:.*]] = affine.apply #{{.*}}(%[[I]])
// CHECK: %[[TILE:.*]] = tensor.extract_slice %{{.*}}[0, 0, %[[AT]], 0] [1, 3, 9, 17]
// CHECK: fusion.pool max nchw %[[TILE]] window [3, 3]
// CHECK-SAME: (tensor<1x3x9x17xf32>) -> tensor<1x3x4x8xf32>
func.func @pool(%x: tensor<1x3x17x17xf32>) -> tensor<1x3x8x8xf32> {
  %0 = fusion.pool max nchw %x window [3, 3] {strides = array<i64: 2, 2>}
      : (tensor<1x3x17x17xf32>) -> tensor<1x3x8x8xf32>
  return %0 : tensor<1x3x8x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["fusion.pool"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [0, 0, 4]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A linalg op with the fusion ops that it reads, and the linalg op that these
// read. That rows are whole is known though their size is not.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[X:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<?x?xf32>
// CHECK: scf.for
// CHECK: %[[TILE:.*]] = tensor.extract_slice %[[X]]
// CHECK: %[[E:.*]] = linalg.exp ins(%[[TILE]] :
// CHECK: %[[N:.*]] = fusion.layer_norm %[[E]] axis(1)
// CHECK: %[[S:.*]] = fusion.softmax %[[N]] axis(1)
// CHECK: linalg.add ins(%[[S]], %{{.*}} :
func.func @chain(%x: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %0 = linalg.exp ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  %1 = fusion.layer_norm %0 axis(1) eps(1.0e-5)
      : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = fusion.softmax %1 axis(1) : tensor<?x?xf32>
  %3 = linalg.add ins(%2, %b : tensor<?x?xf32>, tensor<?x?xf32>)
      outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["linalg.add"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %fused, %loop = transform.structured.fuse %op tile_sizes [8, 0]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Tiles of columns cut rows, which softmax needs whole: it is not fused.
// CHECK-LABEL: func.func @columns
// CHECK: %[[S:.*]] = fusion.softmax
// CHECK: scf.for
// CHECK: %[[TILE:.*]] = tensor.extract_slice %[[S]]
// CHECK: fusion.gelu %[[TILE]]
func.func @columns(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = fusion.softmax %x axis(1) : tensor<8x64xf32>
  %1 = fusion.gelu %0 : tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["fusion.gelu"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %fused, %loop = transform.structured.fuse %op tile_sizes [0, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// What a product of attention's result needs of the rows of a tile.
// CHECK-LABEL: func.func @attention
// CHECK: scf.forall (%[[A:.*]]) in (4)
// CHECK: %[[I:.*]] = affine.apply #{{.*}}(%[[A]])
// CHECK: %[[Q:.*]] = tensor.extract_slice %{{.*}}[0, %[[I]], 0] [4, 32, 64]
// CHECK: %[[O:.*]] = fusion.attention %[[Q]], %{{.*}}, %{{.*}} : (tensor<4x32x64xf32>, tensor<4x128x64xf32>, tensor<4x128x64xf32>) -> tensor<4x32x64xf32>
// CHECK: linalg.batch_matmul ins(%[[O]], %{{.*}} : tensor<4x32x64xf32>, tensor<4x64x16xf32>)
func.func @attention(%q: tensor<4x128x64xf32>, %k: tensor<4x128x64xf32>,
                     %v: tensor<4x128x64xf32>, %w: tensor<4x64x16xf32>,
                     %init: tensor<4x128x16xf32>) -> tensor<4x128x16xf32> {
  %0 = fusion.attention %q, %k, %v
      : (tensor<4x128x64xf32>, tensor<4x128x64xf32>, tensor<4x128x64xf32>)
      -> tensor<4x128x64xf32>
  %1 = linalg.batch_matmul
      ins(%0, %w : tensor<4x128x64xf32>, tensor<4x64x16xf32>)
      outs(%init : tensor<4x128x16xf32>) -> tensor<4x128x16xf32>
  return %1 : tensor<4x128x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %consumer = transform.structured.match ops{["linalg.batch_matmul"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %producer = transform.structured.match ops{["fusion.attention"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %consumer
        tile_sizes [0, 32, 0]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.structured.fuse_into_containing_op %producer into %loop
        : (!transform.any_op, !transform.any_op)
        -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Rows of a tile do not count from the first: the causal mask is written out.
// CHECK-LABEL: func.func @causal
// CHECK-SAME: (%[[Q:.*]]: tensor<4x128x64xf32>, %[[K:.*]]: tensor<4x256x64xf32>
// CHECK-DAG: %[[NOTHING:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[MORE:.*]] = arith.constant 128 : index
// CHECK: scf.for %[[I:.*]] = %c0 to %c128 step %c32
// CHECK: %[[TILE:.*]] = tensor.extract_slice %[[Q]][0, %[[I]], 0] [4, 32, 64]
// CHECK: fusion.attention %[[TILE]], %[[K]], %{{.*}} : (tensor<4x32x64xf32>
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %{{.*}}: index, %[[R:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT: %[[ROW:.*]] = arith.addi %[[R]], %[[I]]
// CHECK-NEXT: %[[LAST:.*]] = arith.addi %[[ROW]], %[[MORE]]
// CHECK-NEXT: %[[AFTER:.*]] = arith.cmpi sgt, %[[J]], %[[LAST]]
// CHECK-NEXT: %[[T:.*]] = arith.select %[[AFTER]], %[[NOTHING]], %[[S]]
// CHECK-NEXT: fusion.yield %[[T]]
func.func @causal(%q: tensor<4x128x64xf32>, %k: tensor<4x256x64xf32>)
    -> tensor<4x128x64xf32> {
  %0 = fusion.attention %q, %k, %k causal(bottom_right)
      : (tensor<4x128x64xf32>, tensor<4x256x64xf32>, tensor<4x256x64xf32>)
      -> tensor<4x128x64xf32>
  return %0 : tensor<4x128x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["fusion.attention"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [0, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Heads alone: the mask stays as it is.
// CHECK-LABEL: func.func @causal_heads
// CHECK: fusion.attention {{.*}} causal(top_left)
// CHECK-SAME: tensor<1x128x64xf32>
// CHECK-NOT: ^bb0
func.func @causal_heads(%q: tensor<4x128x64xf32>) -> tensor<4x128x64xf32> {
  %0 = fusion.attention %q, %q, %q causal(top_left)
      : (tensor<4x128x64xf32>, tensor<4x128x64xf32>, tensor<4x128x64xf32>)
      -> tensor<4x128x64xf32>
  return %0 : tensor<4x128x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["fusion.attention"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [1]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Groups count from the first row of the tile.
// CHECK-LABEL: func.func @groups
// CHECK-SAME: (%[[X:.*]]: tensor<64x16xf32>, %[[W:.*]]: tensor<3x16x8xf32>, %[[O:.*]]: tensor<4xi32>)
// CHECK: scf.for %[[I:.*]] = %c0 to
// CHECK: %[[N:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: %[[LEAST:.*]] = arith.maxsi %[[O]],
// CHECK: %[[FIRST:.*]] = tensor.splat %[[N]]
// CHECK: %[[P:.*]] = arith.subi %[[LEAST]], %[[FIRST]]
// CHECK: fusion.grouped_matmul %{{.*}}, %[[W]] offsets(%[[P]])
func.func @groups(%x: tensor<64x16xf32>, %w: tensor<3x16x8xf32>,
                  %o: tensor<4xi32>) -> tensor<64x8xf32> {
  %0 = fusion.grouped_matmul %x, %w offsets(%o)
      : (tensor<64x16xf32>, tensor<3x16x8xf32>, tensor<4xi32>)
      -> tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["fusion.grouped_matmul"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
