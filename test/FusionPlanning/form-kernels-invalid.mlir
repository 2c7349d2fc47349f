// RUN: fusion-opt %s --split-input-file --verify-diagnostics \
// RUN:   --fusion-plan-form-kernels

// A contract that cannot be kept names the rule in its way.
func.func @must_not_possible(%x: tensor<64x64xi32>, %w: tensor<64x64xi32>) -> tensor<64xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x64xi32>
  %er = tensor.empty() : tensor<64xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
  %fr = linalg.fill ins(%zero : i32) outs(%er : tensor<64xi32>) -> tensor<64xi32>
  // expected-error @below {{FUS-2006: contract broken: 'matmul' must be fused into its users, but 'sum' reads it from memory: reduction-of-contraction, a reduction runs along a result dimension of a contraction, which is spread over blocks ('sum')}}
  %m = linalg.matmul {fusion.must} ins(%x, %w : tensor<64x64xi32>, tensor<64x64xi32>) outs(%f : tensor<64x64xi32>) -> tensor<64x64xi32>
  %s = linalg.reduce { arith.addi } ins(%m : tensor<64x64xi32>) outs(%fr : tensor<64xi32>) dimensions = [1]
  return %s : tensor<64xi32>
}

// -----

// expected-error @below {{FUS-2006: contract broken: needs 2 kernels, the limit is 1 (in the way: reduction-of-contraction}}
func.func @too_many_kernels(%x: tensor<64x64xi32>, %w: tensor<64x64xi32>) -> tensor<64xi32> attributes {fusion.max_kernels = 1 : i64} {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x64xi32>
  %er = tensor.empty() : tensor<64xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
  %fr = linalg.fill ins(%zero : i32) outs(%er : tensor<64xi32>) -> tensor<64xi32>
  %m = linalg.matmul ins(%x, %w : tensor<64x64xi32>, tensor<64x64xi32>) outs(%f : tensor<64x64xi32>) -> tensor<64x64xi32>
  %s = linalg.reduce { arith.addi } ins(%m : tensor<64x64xi32>) outs(%fr : tensor<64xi32>) dimensions = [1]
  return %s : tensor<64xi32>
}

// -----

func.func @not_normal_form(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{FUS-2002: is not an operation that planning knows; run the input phase first}}
  %0 = arith.addf %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-error @below {{FUS-2003: has control flow between blocks}}
func.func @blocks(%x: tensor<8xf32>) -> tensor<8xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<8xf32>
}

// -----

func.func @returns_scalar(%x: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  // expected-error @below {{FUS-2005: returns a value of type 'index'; functions return tensors}}
  return %d : index
}
