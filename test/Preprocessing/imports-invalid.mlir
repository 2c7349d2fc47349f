// RUN: fusion-opt %s --fusion-input-imports --split-input-file --verify-diagnostics

func.func @data(%x: tensor<?xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  // expected-error@+1 {{FUS-1012: 'tensor.reshape' has a shape that depends on data; build the shape by tensor.from_elements of sizes and constants}}
  %r = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

func.func @count(%x: tensor<6xf32>) -> tensor<?xf32> {
  %c7 = arith.constant 7 : index
  %s = tensor.from_elements %c7 : tensor<1xindex>
  // expected-error@+1 {{FUS-1003: 'tensor.reshape' changes the number of elements}}
  %r = tensor.reshape %x(%s) : (tensor<6xf32>, tensor<1xindex>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @indices(%s: tensor<3x6xf32>, %d: tensor<8x6xf32>,
                   %i: tensor<3x1xindex>) -> tensor<8x6xf32> {
  // expected-error@+1 {{FUS-1007: 'tensor.scatter' has indices of type index; use indices of i64 or i32}}
  %r = tensor.scatter %s into %d[%i] scatter_dims([0]) unique
      : (tensor<3x6xf32>, tensor<8x6xf32>, tensor<3x1xindex>) -> tensor<8x6xf32>
  return %r : tensor<8x6xf32>
}

// -----

// An element of a tensor may be negative, and then the other size is meant.
func.func @negative(%x: tensor<?xf32>, %given: tensor<i64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i64
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %all = arith.index_cast %d : index to i64
  %n = tensor.extract %given[] : tensor<i64>
  %inferred = arith.cmpi slt, %n, %none : i64
  %size = arith.select %inferred, %all, %n : i64
  %s = tensor.from_elements %size : tensor<1xi64>
  // expected-error@+1 {{FUS-1012: 'tensor.reshape' has a shape that depends on data; build the shape by tensor.from_elements of sizes and constants}}
  %r = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
