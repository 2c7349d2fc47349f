// RUN: fusion-opt %s --fusion-input-verify --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @unranked(%x: tensor<4xf32>) {
  // expected-error@+1 {{FUS-1007: result #0 of 'tensor.cast' has type tensor<*xf32>, which has no rank; give the tensor a rank; its sizes may be dynamic}}
  %0 = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
  return
}

// -----

// expected-error@+1 {{FUS-1007: argument #0 of 'element' has type tensor<4xi24> with elements of i24; use elements of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i16, i8, i4 or i1}}
func.func @element(%x: tensor<4xi24>) {
  return
}

// -----

// expected-error@+1 {{FUS-1007: argument #1 of 'memref' has type memref<4xf32>}}
func.func @memref(%x: tensor<4xf32>, %m: memref<4xf32>) {
  return
}

// -----

// expected-error@+1 {{FUS-1007: argument #0 of 'encoding' has type tensor<4xf32, "sparse">, which has an encoding}}
func.func @encoding(%x: tensor<4xf32, "sparse">) {
  return
}

// -----

// 2^31 x 2^31 x 4 bytes is 2^64.
// expected-error@+1 {{FUS-1008: argument #0 of 'bytes' has type tensor<2147483648x2147483648xf32>, of 2^60 bytes or more}}
func.func @bytes(%x: tensor<2147483648x2147483648xf32>) {
  return
}

// -----

// Exactly 2^60 bytes; with bytes as elements it is half of that, which fits.
func.func @limit(%x: tensor<576460752303423488xi8>) {
  // expected-error@+1 {{FUS-1008: result #0 of 'tensor.empty' has type tensor<576460752303423488xf16>, of 2^60 bytes or more}}
  %0 = tensor.empty() : tensor<576460752303423488xf16>
  return
}

// -----

// Sums and roundings of such sizes would not fit 63 bits.
// expected-error@+1 {{FUS-1008: argument #0 of 'largest' has type tensor<9223372036854775807xi8>, of 2^60 bytes or more; use smaller sizes}}
func.func @largest(%x: tensor<9223372036854775807xi8>) {
  return
}

// -----

// A dynamic size counts as one, an empty dimension hides nothing.
// expected-error@+1 {{FUS-1008: argument #0 of 'hidden' has type}}
func.func @hidden(%x: tensor<?x0x4294967296x4294967296xf32>) {
  return
}

// -----

// Every tensor fits; the loops do not.
func.func @loops(%a: tensor<4294967296x1xf32>, %b: tensor<1x4294967296xf32>) {
  %e = tensor.empty() : tensor<1x1xf32>
  // expected-error@+1 {{FUS-1008: 'linalg.generic' has 2^60 iterations or more}}
  %0 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, 0)>,
                       affine_map<(d0, d1) -> (0, d1)>,
                       affine_map<(d0, d1) -> (0, 0)>],
      iterator_types = ["reduction", "reduction"]}
      ins(%a, %b : tensor<4294967296x1xf32>, tensor<1x4294967296xf32>)
      outs(%e : tensor<1x1xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<1x1xf32>
  return
}

// -----

func.func @control_flow(%n: index, %x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{FUS-1012: 'scf.for' is not supported; use linalg, tensor, arith, math, tosa and fusion ops without control flow, on tensors}}
  scf.for %i = %c0 to %n step %c1 {
  }
  return
}

// -----

// expected-error@+1 {{FUS-1012: 'blocks' branches between blocks; write the function without control flow}}
func.func @blocks() {
  cf.br ^bb1
^bb1:
  return
}

// -----

func.func private @external()
func.func @call() {
  // expected-error@+1 {{FUS-1012: 'func.call' cannot be inlined; call functions that have a body and do not call themselves}}
  call @external() : () -> ()
  return
}

// -----

// expected-error@+1 {{FUS-1012: 'gpu.module' cannot stand in a program's module; keep only func.func ops in the module}}
gpu.module @m {
}

// -----

func.func @unregistered() {
  // expected-error@+1 {{FUS-1012: 'other.op' is not supported}}
  "other.op"() : () -> ()
  return
}

// -----

// Each offence is reported.
func.func @several(%x: tensor<4xf32>) {
  // expected-error@+1 {{FUS-1012: 'other.first' is not supported}}
  "other.first"() : () -> ()
  // expected-error@+1 {{FUS-1012: 'other.second' is not supported}}
  "other.second"() : () -> ()
  return
}

// -----

func.func @dimension(%x: tensor<4x?xf32>) -> (index, index) {
  %a = arith.constant -3 : index
  %b = arith.constant 2 : index
  // expected-error@+1 {{FUS-1003: 'tensor.dim' asks for dimension -3 of a tensor of rank 2}}
  %0 = tensor.dim %x, %a : tensor<4x?xf32>
  // expected-error@+1 {{FUS-1003: 'tensor.dim' asks for dimension 2 of a tensor of rank 2}}
  %1 = tensor.dim %x, %b : tensor<4x?xf32>
  return %0, %1 : index, index
}
