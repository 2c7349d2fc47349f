// Sums of those elements that data put into a block's rows: 1,024 are looked at
// together by four warps, and those from the first to the last of 16 rows listed.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --canonicalize | FileCheck %s

// CHECK-LABEL: fusion_tile.program @rows
// CHECK-DAG: %[[CHUNK:.*]] = arith.constant 1024 : index
// CHECK-DAG: %[[PART:.*]] = arith.constant 512 : index
// CHECK-DAG: %[[STEP:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 15 : i64
// CHECK: %[[NONE:.*]] = fusion_tile.splat %cst : f32 -> tensor<16x64xf32>
// CHECK: scf.for %[[FIRST:.*]] = %{{.*}} to %{{.*}} step %[[CHUNK]] iter_args(%[[WHOLE:.*]] = %[[NONE]])
// CHECK: %[[INDICES:.*]] = fusion_tile.load %{{.*}} (%[[FIRST]]) checked [true] : <3000xi64> -> tensor<1024xi64>
// CHECK-DAG: arith.cmpi sge, %[[INDICES]]
// CHECK-DAG: arith.cmpi sle, %[[INDICES]]
// What lies past the end is no element.
// CHECK: arith.cmpi ult, %{{.*}} : tensor<1024xindex>
// CHECK: %[[FLAGS:.*]] = arith.extui %{{.*}} : tensor<1024xi1> to tensor<1024xi8>
// CHECK: fusion_tile.local_store %[[FLAGS]], %[[SET:.*]] : tensor<1024xi8>
// CHECK: %[[COUNT:.*]] = fusion_tile.list_flags %[[SET]] into %[[LIST:.*]] :
// CHECK-NEXT: fusion_tile.barrier
// CHECK: scf.for %[[BEGIN:.*]] = %{{.*}} to %[[COUNT]] step %[[PART]]
// CHECK: scf.for %[[NUMBER:.*]] = %[[BEGIN]] to %{{.*}} step %[[STEP]] iter_args(%{{.*}} = %[[NONE]])
// The first of a step is there; of those behind the last one nothing is added.
// CHECK: fusion_tile.local_element %[[LIST]][%[[NUMBER]]]
// CHECK: fusion_tile.load %{{.*}} checked [false] : <3000xi64> -> i64
// CHECK: arith.addf
// CHECK: %[[NEXT:.*]] = arith.addi %[[NUMBER]], %c1
// CHECK: %[[IS:.*]] = arith.cmpi ult, %[[NEXT]], %[[COUNT]]
// CHECK: arith.minui %[[NEXT]],
// CHECK: fusion_tile.local_element %[[LIST]]
// CHECK: arith.select %{{.*}} : tensor<16x64xi1>, tensor<16x64xf32>
// CHECK-COUNT-2: fusion_tile.local_element %[[LIST]]
// CHECK-NOT: fusion_tile.local_element
// CHECK: fusion_tile.store
#b = affine_map<(r, c, b) -> (b)>
#bc = affine_map<(r, c, b) -> (b, c)>
#rc = affine_map<(r, c, b) -> (r, c)>
func.func @rows(%index: tensor<3000xi64>, %value: tensor<3000x64xf32>) -> tensor<100x64xf32> {
  %0 = fusion.kernel @rows ins(%index, %value : tensor<3000xi64>, tensor<3000x64xf32>) -> (tensor<100x64xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 16>, #fusion.axis<grid, tile = 64, vector = 4>, #fusion.axis<loop, tile = 1, limited>], warps = 4>} {
  ^bb0(%x: tensor<3000xi64>, %y: tensor<3000x64xf32>):
    %none = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<100x64xf32>
    %init = linalg.fill ins(%none : f32) outs(%empty : tensor<100x64xf32>) -> tensor<100x64xf32>
    %sum = linalg.generic {indexing_maps = [#b, #bc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<3000xi64>, tensor<3000x64xf32>) outs(%init : tensor<100x64xf32>) {
    ^bb1(%i: i64, %v: f32, %before: f32):
      %row = linalg.index 0 : index
      %place = arith.index_cast %row : index to i64
      %counts = arith.cmpi eq, %i, %place : i64
      %own = arith.select %counts, %v, %none : f32
      %next = arith.addf %before, %own : f32
      linalg.yield %next : f32
    } -> tensor<100x64xf32>
    fusion.yield %sum : tensor<100x64xf32>
  }
  return %0 : tensor<100x64xf32>
}
