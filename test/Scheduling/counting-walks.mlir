// Which sums walk those elements alone that data put into their rows: where a mask
// of integers that differ along the walk leaves the identity of the others, and where
// that is less than all.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a --split-input-file --remarks-filter='fusion-schedule' -o - 2> %t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.log

// Rows that data name one by one: as many as registers hold of all columns.
// REMARK: [Passed] limited-walk {{.*}}Function=rows{{.*}}data say which elements of the walk count
// CHECK-LABEL: func.func @rows
// CHECK: #fusion.axis<grid, tile = {{[0-9]+}}>, #fusion.axis<grid, tile = 64, vector = 4>, #fusion.axis<loop, tile = 1, limited>
#b = affine_map<(r, c, b) -> (b)>
#bc = affine_map<(r, c, b) -> (b, c)>
#rc = affine_map<(r, c, b) -> (r, c)>
func.func @rows(%index: tensor<3000xi64>, %value: tensor<3000x64xf32>) -> tensor<4000x64xf32> {
  %none = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4000x64xf32>
  %init = linalg.fill ins(%none : f32) outs(%empty : tensor<4000x64xf32>) -> tensor<4000x64xf32>
  %sum = linalg.generic {indexing_maps = [#b, #bc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%index, %value : tensor<3000xi64>, tensor<3000x64xf32>) outs(%init : tensor<4000x64xf32>) {
  ^bb0(%i: i64, %v: f32, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i64
    %counts = arith.cmpi eq, %i, %place : i64
    %own = arith.select %counts, %v, %none : f32
    %next = arith.addf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<4000x64xf32>
  return %sum : tensor<4000x64xf32>
}

// -----

// Those that come before data, two of three conditions.
// CHECK-LABEL: func.func @among
// CHECK: #fusion.axis<loop, tile = 1, limited>
#b = affine_map<(r, c, b) -> (b)>
#bc = affine_map<(r, c, b) -> (b, c)>
#rc = affine_map<(r, c, b) -> (r, c)>
func.func @among(%index: tensor<3000xi64>, %value: tensor<3000x64xf32>) -> tensor<4000x64xf32> {
  %none = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4000x64xf32>
  %init = linalg.fill ins(%none : f32) outs(%empty : tensor<4000x64xf32>) -> tensor<4000x64xf32>
  %sum = linalg.generic {indexing_maps = [#b, #bc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%index, %value : tensor<3000xi64>, tensor<3000x64xf32>) outs(%init : tensor<4000x64xf32>) {
  ^bb0(%i: i64, %v: f32, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i64
    %positive = arith.cmpf ogt, %v, %none : f32
    %equal = arith.cmpi eq, %i, %place : i64
    %counts = arith.andi %equal, %positive : i1
    %own = arith.select %counts, %v, %none : f32
    %next = arith.addf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<4000x64xf32>
  return %sum : tensor<4000x64xf32>
}

// -----

// All but one row: no limit.
// CHECK-LABEL: func.func @others
// CHECK-NOT: limited
#b = affine_map<(r, c, b) -> (b)>
#bc = affine_map<(r, c, b) -> (b, c)>
#rc = affine_map<(r, c, b) -> (r, c)>
func.func @others(%index: tensor<3000xi64>, %value: tensor<3000x64xf32>) -> tensor<4000x64xf32> {
  %none = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4000x64xf32>
  %init = linalg.fill ins(%none : f32) outs(%empty : tensor<4000x64xf32>) -> tensor<4000x64xf32>
  %sum = linalg.generic {indexing_maps = [#b, #bc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%index, %value : tensor<3000xi64>, tensor<3000x64xf32>) outs(%init : tensor<4000x64xf32>) {
  ^bb0(%i: i64, %v: f32, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i64
    %counts = arith.cmpi ne, %i, %place : i64
    %own = arith.select %counts, %v, %none : f32
    %next = arith.addf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<4000x64xf32>
  return %sum : tensor<4000x64xf32>
}

// -----

// What does not count is one, and not the identity of a sum.
// CHECK-LABEL: func.func @ones
// CHECK-NOT: limited
#b = affine_map<(r, c, b) -> (b)>
#bc = affine_map<(r, c, b) -> (b, c)>
#rc = affine_map<(r, c, b) -> (r, c)>
func.func @ones(%index: tensor<3000xi64>, %value: tensor<3000x64xf32>) -> tensor<4000x64xf32> {
  %none = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4000x64xf32>
  %init = linalg.fill ins(%none : f32) outs(%empty : tensor<4000x64xf32>) -> tensor<4000x64xf32>
  %sum = linalg.generic {indexing_maps = [#b, #bc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%index, %value : tensor<3000xi64>, tensor<3000x64xf32>) outs(%init : tensor<4000x64xf32>) {
  ^bb0(%i: i64, %v: f32, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i64
    %one = arith.constant 1.0 : f32
    %counts = arith.cmpi eq, %i, %place : i64
    %own = arith.select %counts, %v, %one : f32
    %next = arith.addf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<4000x64xf32>
  return %sum : tensor<4000x64xf32>
}

// -----

// Nor is zero that of a maximum.
// CHECK-LABEL: func.func @maximum
// CHECK-NOT: limited
#b = affine_map<(r, c, b) -> (b)>
#bc = affine_map<(r, c, b) -> (b, c)>
#rc = affine_map<(r, c, b) -> (r, c)>
func.func @maximum(%index: tensor<3000xi64>, %value: tensor<3000x64xf32>) -> tensor<4000x64xf32> {
  %none = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<4000x64xf32>
  %init = linalg.fill ins(%low : f32) outs(%empty : tensor<4000x64xf32>) -> tensor<4000x64xf32>
  %sum = linalg.generic {indexing_maps = [#b, #bc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%index, %value : tensor<3000xi64>, tensor<3000x64xf32>) outs(%init : tensor<4000x64xf32>) {
  ^bb0(%i: i64, %v: f32, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i64
    %counts = arith.cmpi eq, %i, %place : i64
    %own = arith.select %counts, %v, %none : f32
    %next = arith.maximumf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<4000x64xf32>
  return %sum : tensor<4000x64xf32>
}

// -----

// By twice what is there.
// CHECK-LABEL: func.func @twice
// CHECK-NOT: limited
#b = affine_map<(r, c, b) -> (b)>
#bc = affine_map<(r, c, b) -> (b, c)>
#rc = affine_map<(r, c, b) -> (r, c)>
func.func @twice(%index: tensor<3000xi64>, %value: tensor<3000x64xf32>) -> tensor<4000x64xf32> {
  %none = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4000x64xf32>
  %init = linalg.fill ins(%none : f32) outs(%empty : tensor<4000x64xf32>) -> tensor<4000x64xf32>
  %sum = linalg.generic {indexing_maps = [#b, #bc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%index, %value : tensor<3000xi64>, tensor<3000x64xf32>) outs(%init : tensor<4000x64xf32>) {
  ^bb0(%i: i64, %v: f32, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i64
    %two = arith.constant 2 : i64
    %at = arith.muli %i, %two : i64
    %counts = arith.cmpi eq, %at, %place : i64
    %own = arith.select %counts, %v, %none : f32
    %next = arith.addf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<4000x64xf32>
  return %sum : tensor<4000x64xf32>
}

// -----

// Of two rows all elements are as soon added up.
// CHECK-LABEL: func.func @few
// CHECK-NOT: limited
#b = affine_map<(r, c, b) -> (b)>
#bc = affine_map<(r, c, b) -> (b, c)>
#rc = affine_map<(r, c, b) -> (r, c)>
func.func @few(%index: tensor<3000xi64>, %value: tensor<3000x64xf32>) -> tensor<2x64xf32> {
  %none = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x64xf32>
  %init = linalg.fill ins(%none : f32) outs(%empty : tensor<2x64xf32>) -> tensor<2x64xf32>
  %sum = linalg.generic {indexing_maps = [#b, #bc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%index, %value : tensor<3000xi64>, tensor<3000x64xf32>) outs(%init : tensor<2x64xf32>) {
  ^bb0(%i: i64, %v: f32, %before: f32):
    %row = linalg.index 0 : index
    %place = arith.index_cast %row : index to i64
    %counts = arith.cmpi eq, %i, %place : i64
    %own = arith.select %counts, %v, %none : f32
    %next = arith.addf %before, %own : f32
    linalg.yield %next : f32
  } -> tensor<2x64xf32>
  return %sum : tensor<2x64xf32>
}
