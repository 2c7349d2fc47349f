// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --split-input-file | FileCheck %s

// Parts begin where tiles do: a block goes to the one that its tile lies in,
// whose bounds are then no question.

// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1 - 32)>
// CHECK-DAG: #[[THIRD:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1 - 96)>
// CHECK-LABEL: fusion_tile.program @aligned
// CHECK: %[[ISFIRST:.*]] = arith.cmpi slt, %{{.*}}, %c32{{.*}} : index
// CHECK: %[[TILE:.*]] = scf.if %[[ISFIRST]] -> (tensor<4x32xf32>) {
// CHECK-NEXT: %[[A:.*]] = fusion_tile.load %{{.*}}[#[[FIRST]]] ({{.*}}) checked [false, false] : <64x32xf32>
// CHECK-NEXT: scf.yield %[[A]]
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[ISSECOND:.*]] = arith.cmpi slt, %{{.*}}, %c96{{.*}} : index
// CHECK-NEXT: %[[REST:.*]] = scf.if %[[ISSECOND]] -> (tensor<4x32xf32>) {
// CHECK-NEXT: %[[B:.*]] = fusion_tile.load %{{.*}}[#[[SECOND]]] ({{.*}}) checked [false, false] : <64x64xf32>
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[B]]
// CHECK-NEXT: scf.yield %[[N]]
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[C:.*]] = fusion_tile.load %{{.*}}[#[[THIRD]]] ({{.*}}) checked [false, true] : <64x20xf32>
// CHECK-NEXT: scf.yield %[[C]]
// CHECK: scf.yield %[[REST]]
// CHECK-NOT: arith.select
// CHECK: fusion_tile.store %[[TILE]]
func.func @main(%x: tensor<64x32xf32>, %y: tensor<64x64xf32>, %z: tensor<64x20xf32>) -> tensor<64x116xf32> {
  %r = fusion.kernel @aligned ins(%x, %y, %z : tensor<64x32xf32>, tensor<64x64xf32>, tensor<64x20xf32>) -> (tensor<64x116xf32>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 4>, #fusion.axis<grid, tile = 32, parted>, #fusion.axis<grid, tile = 1>], warps = 1>} {
  ^bb0(%a: tensor<64x32xf32>, %b: tensor<64x64xf32>, %c: tensor<64x20xf32>):
    %e = tensor.empty() : tensor<64x64xf32>
    %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb1(%u: f32, %o: f32):
      %s = arith.negf %u : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    %j = tensor.concat dim(1) %a, %n, %c : (tensor<64x32xf32>, tensor<64x64xf32>, tensor<64x20xf32>) -> tensor<64x116xf32>
    fusion.yield %j : tensor<64x116xf32>
  }
  return %r : tensor<64x116xf32>
}

// -----

// A tile may have elements of two parts: those of the first are computed where
// it begins before the second, those of the second where it ends behind its
// begin, and chosen by place.

// CHECK-LABEL: fusion_tile.program @straddling
// CHECK: %[[BEGINS:.*]] = arith.cmpi slt, %{{.*}}, %c20{{.*}} : index
// CHECK: %[[LEFT:.*]] = scf.if %[[BEGINS]] -> (tensor<32xf32>) {
// CHECK: %[[A:.*]] = fusion_tile.load %{{.*}} checked [true] : <20xf32>
// CHECK-NEXT: scf.yield %[[A]]
// CHECK: } else {
// CHECK: scf.yield
// CHECK: %[[ENDS:.*]] = arith.cmpi sgt, %{{.*}}, %c-12{{.*}} : index
// CHECK: scf.if %[[ENDS]] -> (tensor<32xf32>) {
// CHECK: %[[B:.*]] = fusion_tile.load %{{.*}} checked [true] : <80xf32>
// CHECK: %[[BOTH:.*]] = arith.select %{{.*}}, %[[LEFT]], %[[B]]
// CHECK: scf.yield %[[BOTH]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[LEFT]]
func.func @main(%x: tensor<20xf32>, %y: tensor<80xf32>) -> tensor<100xf32> {
  %r = fusion.kernel @straddling ins(%x, %y : tensor<20xf32>, tensor<80xf32>) -> (tensor<100xf32>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 32, parted>], warps = 1>} {
  ^bb0(%a: tensor<20xf32>, %b: tensor<80xf32>):
    %j = tensor.concat dim(0) %a, %b : (tensor<20xf32>, tensor<80xf32>) -> tensor<100xf32>
    fusion.yield %j : tensor<100xf32>
  }
  return %r : tensor<100xf32>
}

// -----

// Of what is asked for in one part alone the others are no code, whatever the
// schedule says.

// CHECK-LABEL: fusion_tile.program @within
// CHECK-COUNT-1: fusion_tile.load
// CHECK-NOT: fusion_tile.load
// CHECK-NOT: arith.select
// CHECK: fusion_tile.store
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<32xf32> {
  %r = fusion.kernel @within ins(%x, %y : tensor<64xf32>, tensor<64xf32>) -> (tensor<32xf32>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 32>, #fusion.axis<grid, tile = 1>], warps = 1>} {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
    %j = tensor.concat dim(0) %a, %b : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
    %s = tensor.extract_slice %j[80] [32] [1] : tensor<128xf32> to tensor<32xf32>
    fusion.yield %s : tensor<32xf32>
  }
  return %r : tensor<32xf32>
}
