// RUN: fusion-opt %s --split-input-file --transform-interpreter --verify-diagnostics

func.func @part_of_a_row(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // expected-error@+2 {{faild to tile operation}}
  // expected-error@+1 {{failed to generate tiling loops}}
  %0 = fusion.softmax %x axis(1) : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["fusion.softmax"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [0, 16]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Which elements are kept depends on where they are.
func.func @dropout(%x: tensor<16x16xf32>, %seed: i64) -> tensor<16x16xf32> {
  // expected-error@+2 {{faild to tile operation}}
  // expected-error@+1 {{failed to generate tiling loops}}
  %0 = fusion.dropout %x, %seed probability(0.1) op_id(1) : tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["fusion.dropout"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [4, 0]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Three of four heads in the second tile: how many queries share a key is what
// types say, and the size of that tile is no constant.
func.func @grouped(%q: tensor<28x8x16xf32>, %k: tensor<7x8x16xf32>)
    -> tensor<28x8x16xf32> {
  // expected-error@+2 {{faild to tile operation}}
  // expected-error@+1 {{failed to generate tiling loops}}
  %0 = fusion.attention %q, %k, %k
      : (tensor<28x8x16xf32>, tensor<7x8x16xf32>, tensor<7x8x16xf32>)
      -> tensor<28x8x16xf32>
  return %0 : tensor<28x8x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["fusion.attention"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [4]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
