// RUN: fusion-opt %s --fusion-input-asserts --remarks-filter='fusion.*' 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

#i = affine_map<(i) -> (i)>

// What a launch can check stays; what holds for all sizes goes.
// CHECK-LABEL: func.func @sizes
// CHECK: %[[SAME:.*]] = arith.cmpi eq
// CHECK: cf.assert %[[SAME]], "same size"
// CHECK-NOT: cf.assert
func.func @sizes(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %a = tensor.dim %x, %c0 : tensor<?xf32>
  %b = tensor.dim %y, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %a, %b : index
  cf.assert %same, "same size"
  %natural = arith.cmpi sge, %a, %c0 : index
  cf.assert %natural, "not negative"
  %unsigned = arith.cmpi ule, %c0, %a : index
  cf.assert %unsigned, "not negative, as unsigned numbers"
  return %x : tensor<?xf32>
}

// How many sizes are negative: none.
// CHECK-LABEL: func.func @inferred
// CHECK-NOT: cf.assert
func.func @inferred(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %a = tensor.dim %x, %c0 : tensor<?x?xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?xf32>
  %n = arith.index_cast %a : index to i64
  %m = arith.index_cast %b : index to i64
  %first = arith.cmpi slt, %n, %none : i64
  %count = arith.extui %first : i1 to i64
  %both = arith.cmpi slt, %m, %none : i64
  %next = arith.select %both, %two, %count : i64
  %most = arith.cmpi sle, %next, %one : i64
  cf.assert %most, "must have at most one inferred (negative) dimension"
  return %x : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @scalar
// CHECK: cf.assert
func.func @scalar(%x: tensor<4xf32>, %n: i64) -> tensor<4xf32> {
  %c4 = arith.constant 4 : i64
  %below = arith.cmpi slt, %n, %c4 : i64
  cf.assert %below, "position"
  return %x : tensor<4xf32>
}

// An assertion on elements goes, with a remark.
// CHECK-LABEL: func.func @data
// CHECK-NOT: cf.assert
// REMARK: remark: [Missed] assertion-dropped | Category:fusion-input | Function=data | Remark="the assertion "zero" is on elements of tensors, which no launch reads: it is not checked"
func.func @data(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %c = arith.cmpf one, %in, %zero : f32
    cf.assert %c, "zero"
    %q = arith.divf %in, %in : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// One on sizes leaves the body, and holds where the body does not run.
// CHECK-LABEL: func.func @nested
// CHECK: %[[HOLDS:.*]] = arith.cmpi slt
// CHECK: %[[EMPTY:.*]] = arith.cmpi eq
// CHECK: %[[EITHER:.*]] = arith.ori %[[HOLDS]], %[[EMPTY]]
// CHECK: cf.assert
// CHECK: linalg.generic
// CHECK-NOT: cf.assert
func.func @nested(%x: tensor<?xf32>, %e: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %c = arith.cmpi slt, %d, %c8 : index
    cf.assert %c, "small"
    linalg.yield %in : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// A body without elements asserts nothing.
// CHECK-LABEL: func.func @empty
// CHECK-NOT: cf.assert
func.func @empty(%x: tensor<0xf32>) -> tensor<0xf32> {
  %no = arith.constant false
  %r = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel"]}
      outs(%x : tensor<0xf32>) {
  ^bb0(%out: f32):
    cf.assert %no, "never"
    linalg.yield %out : f32
  } -> tensor<0xf32>
  return %r : tensor<0xf32>
}
