// Floats that are made of positions are tiles of floats by themselves: elements
// of a thread are apart by constants, and none is converted.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --canonicalize --cse --split-input-file | FileCheck %s

// CHECK: #[[DISTANCE:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 + s0 - (d1 + s1))>
// CHECK-LABEL: fusion_tile.program @distance
// CHECK: %[[D:.*]] = fusion_tile.index #[[DISTANCE]](%{{.*}}) : tensor<8x64xf32>
// CHECK: %[[A:.*]] = math.absf %[[D]] : tensor<8x64xf32>
// CHECK-NOT: sitofp
// CHECK: fusion_tile.store %[[A]]
func.func @distance(%x: tensor<4096x8192xf32>) -> tensor<4096x8192xf32> {
  %0 = fusion.kernel @distance ins(%x : tensor<4096x8192xf32>) -> (tensor<4096x8192xf32>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 64>], warps = 4>} {
  ^bb0(%a: tensor<4096x8192xf32>):
    %e = tensor.empty() : tensor<4096x8192xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4096x8192xf32>) {
    ^bb1(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %i32 = arith.index_cast %i : index to i32
      %j32 = arith.index_cast %j : index to i32
      %d = arith.subi %i32, %j32 : i32
      %b = math.absi %d : i32
      %f = arith.sitofp %b : i32 to f32
      linalg.yield %f : f32
    } -> tensor<4096x8192xf32>
    fusion.yield %r : tensor<4096x8192xf32>
  }
  return %0 : tensor<4096x8192xf32>
}

// -----

// Positions from 2^24 on are no floats, and 8 bits hold no more than 127.
// CHECK-LABEL: fusion_tile.program @far
// CHECK: arith.sitofp
// CHECK: arith.sitofp
// CHECK-NOT: fusion_tile.index {{.*}} f32
func.func @far(%x: tensor<33554432xf32>) -> tensor<33554432xf32> {
  %0 = fusion.kernel @far ins(%x : tensor<33554432xf32>) -> (tensor<33554432xf32>)
      attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 64>], warps = 1>} {
  ^bb0(%a: tensor<33554432xf32>):
    %e = tensor.empty() : tensor<33554432xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<33554432xf32>) {
    ^bb1(%o: f32):
      %i = linalg.index 0 : index
      %i32 = arith.index_cast %i : index to i32
      %f = arith.sitofp %i32 : i32 to f32
      %i8 = arith.index_cast %i : index to i8
      %g = arith.sitofp %i8 : i8 to f32
      %s = arith.addf %f, %g : f32
      linalg.yield %s : f32
    } -> tensor<33554432xf32>
    fusion.yield %r : tensor<33554432xf32>
  }
  return %0 : tensor<33554432xf32>
}
