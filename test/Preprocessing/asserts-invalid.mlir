// RUN: fusion-opt %s --fusion-input-asserts --split-input-file --verify-diagnostics

func.func @constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  %no = arith.constant false
  // expected-error@+1 {{FUS-1020: the assertion "rank 3" fails for all inputs; correct the assertion or the sizes that it is about}}
  cf.assert %no, "rank 3"
  return %x : tensor<4xf32>
}

// -----

// No size is below itself.
func.func @proved(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %more = arith.addi %d, %c1 : index
  %less = arith.cmpi ugt, %d, %more : index
  // expected-error@+1 {{FUS-1020: the assertion "impossible" fails for all inputs}}
  cf.assert %less, "impossible"
  return %x : tensor<?xf32>
}

// -----

func.func @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %no = arith.constant false
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      outs(%x : tensor<4xf32>) {
  ^bb0(%out: f32):
    // expected-error@+1 {{FUS-1020: the assertion "always" fails for all inputs}}
    cf.assert %no, "always"
    linalg.yield %out : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
