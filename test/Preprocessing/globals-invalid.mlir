// RUN: fusion-opt %s --fusion-input-globals --split-input-file --verify-diagnostics

ml_program.global private mutable @state(dense<0> : tensor<i64>) : tensor<i64>
func.func @main(%x: tensor<i64>) -> tensor<i64> {
  // expected-error@+1 {{FUS-1012: the global 'state' is mutable: kernels keep no state; pass its value as an argument and return its new value}}
  %s = ml_program.global_load @state : tensor<i64>
  // expected-error@+1 {{FUS-1012: the global 'state' is mutable}}
  ml_program.global_store @state = %x : tensor<i64>
  return %s : tensor<i64>
}

// -----

ml_program.global private @weight(#ml_program.extern<tensor<2xf32>>) : tensor<2xf32>
func.func @main() -> tensor<2xf32> {
  // expected-error@+1 {{FUS-1012: the global 'weight' has no value in the program; give it a dense value, or pass the tensor as an argument}}
  %w = ml_program.global_load_const @weight : tensor<2xf32>
  return %w : tensor<2xf32>
}
