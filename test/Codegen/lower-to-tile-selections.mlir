// What belongs to the greatest or least element (Selections.cpp): key and
// position are reduced together, and results that follow from the position are
// computed once at the end.
// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A row in a tile: of equal elements the one of the lower position is kept, and
// NaN loses to any number.
// CHECK-LABEL: fusion_tile.program @held
// CHECK: %[[X:.*]] = fusion_tile.load {{.*}} -> tensor<64x16xf32>
// CHECK: %[[NUMBER:.*]] = arith.cmpf ord, %[[KEY:.*]], %[[KEY]] : tensor<64x16xf32>
// CHECK: arith.select %[[NUMBER]], %[[KEY]]
// CHECK: fusion_tile.reduce %{{.*}}, %{{.*}} along 1 : tensor<64x16xf32>, tensor<64x16xi32> -> tensor<64xf32>, tensor<64xi32> {
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[I:.*]]: i32, %[[B:.*]]: f32, %[[J:.*]]: i32):
// CHECK:   %[[MORE:.*]] = arith.cmpf ogt, %[[B]], %[[A]] : f32
// CHECK:   %[[SAME:.*]] = arith.cmpf oeq, %[[B]], %[[A]] : f32
// CHECK:   %[[FIRST:.*]] = arith.cmpi slt, %[[J]], %[[I]] : i32
// CHECK:   %[[TIE:.*]] = arith.andi %[[SAME]], %[[FIRST]] : i1
// CHECK:   %[[NEXT:.*]] = arith.ori %[[MORE]], %[[TIE]] : i1
// CHECK:   arith.select %[[NEXT]], %[[B]], %[[A]] : f32
// CHECK:   arith.select %[[NEXT]], %[[J]], %[[I]] : i32
// CHECK: fusion_tile.store
func.func @main(%x: tensor<64x10xf32>) -> tensor<64xi32> {
  %r = fusion.kernel @held ins(%x : tensor<64x10xf32>) -> (tensor<64xi32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<full, tile = 16>], warps = 2>} {
  ^bb0(%a: tensor<64x10xf32>):
    %ninf = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0 : i32
    %e0 = tensor.empty() : tensor<64xf32>
    %e1 = tensor.empty() : tensor<64xi32>
    %f0 = linalg.fill ins(%ninf : f32) outs(%e0 : tensor<64xf32>) -> tensor<64xf32>
    %f1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<64xi32>) -> tensor<64xi32>
    %m:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<64x10xf32>) outs(%f0, %f1 : tensor<64xf32>, tensor<64xi32>) {
    ^bb1(%u: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %ji = arith.index_cast %j : index to i32
      %c = arith.cmpf ogt, %u, %best : f32
      %s = arith.select %c, %u, %best : f32
      %t = arith.select %c, %ji, %at : i32
      linalg.yield %s, %t : f32, i32
    } -> (tensor<64xf32>, tensor<64xi32>)
    fusion.yield %m#1 : tensor<64xi32>
  }
  return %r : tensor<64xi32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Two blocks walk parts of a row, in the order of positions, so that a step need
// not compare these; the blocks combine key, what is carried and position.
// CHECK-LABEL: fusion_tile.program @walked
// CHECK: scf.for {{.*}} -> (tensor<1024xf32>, tensor<1024xi32>, tensor<1024xi32>)
// CHECK-NOT: arith.cmpi slt
// CHECK:   arith.cmpf ogt
// CHECK:   scf.yield
// CHECK: fusion_tile.reduce %{{.*}}, %{{.*}}, %{{.*}} along 0 : tensor<1024xf32>, tensor<1024xi32>, tensor<1024xi32> -> f32, i32, i32
// CHECK: fusion_tile.panel_reduce %{{.*}}, %{{.*}}, %{{.*}} through {{.*}} members 2 {{.*}} f32, i32, i32 -> f32, i32, i32
// CHECK: fusion_tile.store
func.func @main(%x: tensor<4x4096xf32>, %y: tensor<4x4096xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %r:2 = fusion.kernel @walked ins(%x, %y : tensor<4x4096xf32>, tensor<4x4096xi32>) -> (tensor<4xf32>, tensor<4xi32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 1024, split = 2>], warps = 2>} {
  ^bb0(%a: tensor<4x4096xf32>, %b: tensor<4x4096xi32>):
    %inf = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0 : i32
    %e0 = tensor.empty() : tensor<4xf32>
    %e1 = tensor.empty() : tensor<4xi32>
    %f0 = linalg.fill ins(%inf : f32) outs(%e0 : tensor<4xf32>) -> tensor<4xf32>
    %f1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<4xi32>) -> tensor<4xi32>
    %m:2 = linalg.generic {indexing_maps = [#id, #id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%a, %b : tensor<4x4096xf32>, tensor<4x4096xi32>) outs(%f0, %f1 : tensor<4xf32>, tensor<4xi32>) {
    ^bb1(%u: f32, %w: i32, %best: f32, %at: i32):
      %c = arith.cmpf olt, %best, %u : f32
      %s = arith.select %c, %u, %best : f32
      %t = arith.select %c, %w, %at : i32
      linalg.yield %s, %t : f32, i32
    } -> (tensor<4xf32>, tensor<4xi32>)
    fusion.yield %m#0, %m#1 : tensor<4xf32>, tensor<4xi32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A NaN that replaces numbers and is replaced by them has no place in an order.
// CHECK-LABEL: fusion_tile.program @unordered
// CHECK-NOT: fusion_tile.reduce
// CHECK: scf.for {{.*}} -> (tensor<64xf32>, tensor<64xi32>)
func.func @main(%x: tensor<64x10xf32>) -> tensor<64xi32> {
  %r = fusion.kernel @unordered ins(%x : tensor<64x10xf32>) -> (tensor<64xi32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<full, tile = 16>], warps = 2>} {
  ^bb0(%a: tensor<64x10xf32>):
    %ninf = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0 : i32
    %e0 = tensor.empty() : tensor<64xf32>
    %e1 = tensor.empty() : tensor<64xi32>
    %f0 = linalg.fill ins(%ninf : f32) outs(%e0 : tensor<64xf32>) -> tensor<64xf32>
    %f1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<64xi32>) -> tensor<64xi32>
    %m:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<64x10xf32>) outs(%f0, %f1 : tensor<64xf32>, tensor<64xi32>) {
    ^bb1(%u: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %ji = arith.index_cast %j : index to i32
      %c = arith.cmpf ugt, %u, %best : f32
      %s = arith.select %c, %u, %best : f32
      %t = arith.select %c, %ji, %at : i32
      linalg.yield %s, %t : f32, i32
    } -> (tensor<64xf32>, tensor<64xi32>)
    fusion.yield %m#1 : tensor<64xi32>
  }
  return %r : tensor<64xi32>
}
