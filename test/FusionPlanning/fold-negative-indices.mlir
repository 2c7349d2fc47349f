// Lookups do not ask whether indices are negative that never are.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s

#row = affine_map<(i) -> (i)>

// What is left is an operand.
// CHECK-LABEL: func.func @own(
// CHECK-NOT: arith.select
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @own(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %size = arith.constant 64 : i64
  %last = arith.constant 63 : i64
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%e : tensor<64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %negative = arith.cmpi slt, %n, %c0 : i64
    %wrapped = arith.addi %n, %size : i64
    %s = arith.select %negative, %wrapped, %n : i64
    %place = arith.index_cast %s : i64 to index
    %v = tensor.extract %x[%place] : tensor<64xf32>
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// Cut off in the operation that makes the table.
// CHECK-LABEL: func.func @cut_off(
// CHECK-NOT: arith.select
// CHECK: tensor.extract
// CHECK-NOT: arith.select
// CHECK: return
func.func @cut_off(%x: tensor<64xf32>, %t: tensor<64xi64>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %size = arith.constant 64 : i64
  %last = arith.constant 63 : i64
  %e = tensor.empty() : tensor<64xf32>
  %pe = tensor.empty() : tensor<64xi64>
  %p = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%t : tensor<64xi64>) outs(%pe : tensor<64xi64>) {
  ^bb0(%a: i64, %o: i64):
    %l = arith.maxsi %a, %c0 : i64
    %u = arith.minsi %l, %last : i64
    linalg.yield %u : i64
  } -> tensor<64xi64>
  %r = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%p : tensor<64xi64>) outs(%e : tensor<64xf32>) {
  ^bb0(%n: i64, %o: f32):
    %negative = arith.cmpi slt, %n, %c0 : i64
    %wrapped = arith.addi %n, %size : i64
    %s = arith.select %negative, %wrapped, %n : i64
    %place = arith.index_cast %s : i64 to index
    %v = tensor.extract %x[%place] : tensor<64xf32>
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// Data may be.
// CHECK-LABEL: func.func @data(
// CHECK: arith.select
// CHECK: return
func.func @data(%x: tensor<64xf32>, %t: tensor<64xi64>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %size = arith.constant 64 : i64
  %last = arith.constant 63 : i64
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%t : tensor<64xi64>) outs(%e : tensor<64xf32>) {
  ^bb0(%n: i64, %o: f32):
    %negative = arith.cmpi slt, %n, %c0 : i64
    %wrapped = arith.addi %n, %size : i64
    %s = arith.select %negative, %wrapped, %n : i64
    %place = arith.index_cast %s : i64 to index
    %v = tensor.extract %x[%place] : tensor<64xf32>
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// So may differences.
// CHECK-LABEL: func.func @before(
// CHECK: arith.select
// CHECK: return
func.func @before(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %size = arith.constant 64 : i64
  %last = arith.constant 63 : i64
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%e : tensor<64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %own = arith.index_cast %i : index to i64
    %n = arith.subi %own, %c1 : i64
    %negative = arith.cmpi slt, %n, %c0 : i64
    %wrapped = arith.addi %n, %size : i64
    %s = arith.select %negative, %wrapped, %n : i64
    %place = arith.index_cast %s : i64 to index
    %v = tensor.extract %x[%place] : tensor<64xf32>
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// What is cut off above only may be, too.
// CHECK-LABEL: func.func @below(
// CHECK: arith.select
// CHECK: return
func.func @below(%x: tensor<64xf32>, %t: tensor<64xi64>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %size = arith.constant 64 : i64
  %last = arith.constant 63 : i64
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%t : tensor<64xi64>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i64, %o: f32):
    %n = arith.minsi %a, %last : i64
    %negative = arith.cmpi slt, %n, %c0 : i64
    %wrapped = arith.addi %n, %size : i64
    %s = arith.select %negative, %wrapped, %n : i64
    %place = arith.index_cast %s : i64 to index
    %v = tensor.extract %x[%place] : tensor<64xf32>
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// An index that is longer than its type may be.
// CHECK-LABEL: func.func @narrow(
// CHECK: arith.select
// CHECK: return
func.func @narrow(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %size = arith.constant 64 : i32
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%e : tensor<64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %negative = arith.cmpi slt, %n, %c0 : i32
    %wrapped = arith.addi %n, %size : i32
    %s = arith.select %negative, %wrapped, %n : i32
    %place = arith.index_cast %s : i32 to index
    %v = tensor.extract %x[%place] : tensor<64xf32>
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
