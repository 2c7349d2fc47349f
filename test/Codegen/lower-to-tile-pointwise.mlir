// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (j)>

// A transposed operand and a row operand are only other maps. 300 columns are
// no multiple of the tile, so accesses along them are checked.

// CHECK-DAG: #[[GRID:.*]] = affine_map<() -> (160)>
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
// CHECK-DAG: #[[T:.*]] = affine_map<(d0, d1)[s0, s1] -> (d1 + s0, d0 + s1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0)[s0] -> (d0 + s0)>
// CHECK-LABEL: fusion.kernel @pointwise
// CHECK-SAME: program = @pointwise
// CHECK: fusion_tile.program @pointwise
// CHECK-SAME: grid = #[[GRID]], index_bits = 32 : i64, num_warps = 4 : i64
// CHECK: %[[X:.*]] = fusion_tile.view %{{.*}} to <64x300xf32>
// CHECK: %[[Y:.*]] = fusion_tile.view %{{.*}} to <300x64xf32>
// CHECK: %[[LX:.*]] = fusion_tile.load %[[X]][#[[ID]]] ({{.*}}) checked [false, true] : <64x300xf32> -> tensor<4x32xf32>
// CHECK: %[[LY:.*]] = fusion_tile.load %[[Y]][#[[T]]] ({{.*}}) checked [true, false] : <300x64xf32> -> tensor<4x32xf32>
// CHECK: %[[S:.*]] = arith.addf %[[LX]], %[[LY]] : tensor<4x32xf32>
// CHECK: %[[LB:.*]] = fusion_tile.load %{{.*}}[#[[ROW]]] ({{.*}}) checked [true] : <300xf32> -> tensor<32xf32>
// CHECK: %[[B:.*]] = fusion_tile.broadcast %[[LB]] dims [1] : tensor<32xf32> -> tensor<4x32xf32>
// CHECK: %[[P:.*]] = arith.mulf %[[S]], %[[B]] : tensor<4x32xf32>
// CHECK: fusion_tile.store %[[P]], %{{.*}}[#[[ID]]] ({{.*}}) checked [false, true]
func.func @main(%x: tensor<64x300xf32>, %y: tensor<300x64xf32>, %b: tensor<300xf32>) -> tensor<64x300xf32> {
  %r = fusion.kernel @pointwise ins(%x, %y, %b : tensor<64x300xf32>, tensor<300x64xf32>, tensor<300xf32>) -> (tensor<64x300xf32>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 4>, #fusion.axis<grid, tile = 32>], warps = 4>} {
  ^bb0(%a: tensor<64x300xf32>, %c: tensor<300x64xf32>, %d: tensor<300xf32>):
    %e = tensor.empty() : tensor<64x300xf32>
    %0 = linalg.generic {indexing_maps = [#id, #t, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %c : tensor<64x300xf32>, tensor<300x64xf32>) outs(%e : tensor<64x300xf32>) {
    ^bb1(%u: f32, %v: f32, %o: f32):
      %s = arith.addf %u, %v : f32
      linalg.yield %s : f32
    } -> tensor<64x300xf32>
    %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %d : tensor<64x300xf32>, tensor<300xf32>) outs(%e : tensor<64x300xf32>) {
    ^bb1(%u: f32, %v: f32, %o: f32):
      %s = arith.mulf %u, %v : f32
      linalg.yield %s : f32
    } -> tensor<64x300xf32>
    fusion.yield %1 : tensor<64x300xf32>
  }
  return %r : tensor<64x300xf32>
}

// -----

// Concatenation, padding and slices become selections and shifted coordinates;
// an intermediate with two users is computed once, and stored once.

// CHECK-LABEL: fusion_tile.program @movement
// CHECK: %[[A:.*]] = fusion_tile.load %{{.*}} checked [true] : <20xf32> -> tensor<32xf32>
// CHECK: fusion_tile.load %{{.*}} checked [true] : <30xf32> -> tensor<32xf32>
// CHECK: arith.cmpi ult
// CHECK: %[[C:.*]] = arith.select
// CHECK: %[[N:.*]] = arith.negf %[[C]] : tensor<32xf32>
// CHECK: fusion_tile.store %[[N]], %{{.*}} checked [true]
// CHECK-NOT: arith.negf
// CHECK: fusion_tile.store
func.func @main(%x: tensor<20xf32>, %y: tensor<30xf32>) -> (tensor<50xf32>, tensor<50xf32>) {
  %r:2 = fusion.kernel @movement ins(%x, %y : tensor<20xf32>, tensor<30xf32>) -> (tensor<50xf32>, tensor<50xf32>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 32>], warps = 1>} {
  ^bb0(%a: tensor<20xf32>, %b: tensor<30xf32>):
    %c = tensor.concat dim(0) %a, %b : (tensor<20xf32>, tensor<30xf32>) -> tensor<50xf32>
    %e = tensor.empty() : tensor<50xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%c : tensor<50xf32>) outs(%e : tensor<50xf32>) {
    ^bb1(%u: f32, %o: f32):
      %s = arith.negf %u : f32
      linalg.yield %s : f32
    } -> tensor<50xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%0 : tensor<50xf32>) outs(%e : tensor<50xf32>) {
    ^bb1(%u: f32, %o: f32):
      %s = arith.mulf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<50xf32>
    fusion.yield %0, %1 : tensor<50xf32>, tensor<50xf32>
  }
  return %r#0, %r#1 : tensor<50xf32>, tensor<50xf32>
}

// -----

// A gather reads by data: its index is a tile, and its bounds are checked.

// CHECK-LABEL: fusion_tile.program @gather
// CHECK: %[[I:.*]] = fusion_tile.load {{.*}} : <64xi32> -> tensor<64xi32>
// CHECK: %[[IX:.*]] = arith.index_cast %[[I]] : tensor<64xi32> to tensor<64xindex>
// CHECK: fusion_tile.load %{{.*}} gather(%{{.*}} : tensor<64x16xindex>) checked [true, false] : <1000x16xf32> -> tensor<64x16xf32>
func.func @main(%table: tensor<1000x16xf32>, %i: tensor<64xi32>) -> tensor<64x16xf32> {
  %r = fusion.kernel @gather ins(%table, %i : tensor<1000x16xf32>, tensor<64xi32>) -> (tensor<64x16xf32>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 16>], warps = 4>} {
  ^bb0(%t: tensor<1000x16xf32>, %ids: tensor<64xi32>):
    %e = tensor.empty() : tensor<64x16xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<64xi32>) outs(%e : tensor<64x16xf32>) {
    ^bb1(%id: i32, %o: f32):
      %row = arith.index_cast %id : i32 to index
      %col = linalg.index 1 : index
      %v = tensor.extract %t[%row, %col] : tensor<1000x16xf32>
      linalg.yield %v : f32
    } -> tensor<64x16xf32>
    fusion.yield %0 : tensor<64x16xf32>
  }
  return %r : tensor<64x16xf32>
}

// -----

// A division is defined where the tile goes past the end: by 1 in place of 0,
// and in place of -1 for the least number. One by a constant needs nothing.

// CHECK-LABEL: fusion_tile.program @quotients
// CHECK: %[[X:.*]] = fusion_tile.load
// CHECK: %[[Y:.*]] = fusion_tile.load
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[Y]], %{{.*}} : tensor<64xi16>
// CHECK: %[[SOME:.*]] = arith.select %[[ZERO]], %{{.*}}, %[[Y]]
// CHECK: %[[LEAST:.*]] = arith.cmpi eq, %[[X]], %{{.*}} : tensor<64xi16>
// CHECK: %[[MINUS:.*]] = arith.cmpi eq, %[[Y]], %{{.*}} : tensor<64xi16>
// CHECK: %[[BOTH:.*]] = arith.andi %[[LEAST]], %[[MINUS]]
// CHECK: %[[D:.*]] = arith.select %[[BOTH]], %{{.*}}, %[[SOME]]
// CHECK: %[[Q:.*]] = arith.divsi %[[X]], %[[D]]
// CHECK-NOT: arith.select
// CHECK: arith.remsi %[[Q]]
#v = affine_map<(i) -> (i)>
func.func @main(%x: tensor<49xi16>, %y: tensor<49xi16>) -> tensor<49xi16> {
  %r = fusion.kernel @quotients ins(%x, %y : tensor<49xi16>, tensor<49xi16>) -> (tensor<49xi16>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 64>], warps = 1>} {
  ^bb0(%a: tensor<49xi16>, %c: tensor<49xi16>):
    %e = tensor.empty() : tensor<49xi16>
    %0 = linalg.generic {indexing_maps = [#v, #v, #v], iterator_types = ["parallel"]} ins(%a, %c : tensor<49xi16>, tensor<49xi16>) outs(%e : tensor<49xi16>) {
    ^bb1(%u: i16, %v: i16, %o: i16):
      %seven = arith.constant 7 : i16
      %q = arith.divsi %u, %v : i16
      %s = arith.remsi %q, %seven : i16
      linalg.yield %s : i16
    } -> tensor<49xi16>
    fusion.yield %0 : tensor<49xi16>
  }
  return %r : tensor<49xi16>
}
