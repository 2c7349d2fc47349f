// RUN: fusion-opt %s --fusion-input --split-input-file --verify-diagnostics

// Recursion cannot be inlined.
func.func @recursive(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{FUS-1012: 'func.call' cannot be inlined}}
  %0 = call @recursive(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// The decomposition's own tensor is too large: 2^32 x 2^32 scores.
func.func @scores(%q: tensor<1x4294967296x8xf32>)
    -> tensor<1x4294967296x8xf32> {
  // expected-error@+1 {{FUS-1008: result #0 of 'tensor.empty' has type tensor<1x4294967296x4294967296xf32>, of 2^60 bytes or more}}
  %0 = fusion.attention %q, %q, %q
      : (tensor<1x4294967296x8xf32>, tensor<1x4294967296x8xf32>,
         tensor<1x4294967296x8xf32>) -> tensor<1x4294967296x8xf32>
  return %0 : tensor<1x4294967296x8xf32>
}

// -----

func.func @control_flow(%c: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{FUS-1012: 'tosa.cond_if' is not supported}}
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<8xf32> {
    tosa.yield %x : tensor<8xf32>
  } else {
    tosa.yield %x : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
