// RUN: fusion-opt %s --split-input-file --verify-diagnostics

module attributes {transform.with_named_sequence} {
  transform.named_sequence @limit(%func: !transform.any_op) {
    // expected-error @+1 {{max_kernels must be positive}}
    %planned, %kernels = transform.fusion.plan %func max_kernels = 0 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @tiles(%kernels: !transform.any_op) {
    // expected-error @+1 {{tile sizes must not be negative}}
    transform.fusion.schedule %kernels tile_sizes = [8, -1] : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @warps(%kernels: !transform.any_op) {
    // expected-error @+1 {{warps and stages must be positive}}
    transform.fusion.schedule %kernels stages = 0 : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @two(%kernels: !transform.any_op) {
    // expected-error @+1 {{asks for one schedule and for what it is to be like}}
    transform.fusion.schedule %kernels warps = 4 exactly(#fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 8>], warps = 4>) : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @kind(%ops: !transform.any_op) {
    // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'kind' [must, never]}}
    transform.fusion.contract maybe %ops : !transform.any_op
    transform.yield
  }
}

// -----

// expected-error @+1 {{attribute 'fusion.apart' must be an array of non-negative 64-bit integers}}
func.func @apart() attributes {fusion.apart = array<i64: -1>} {
  return
}
