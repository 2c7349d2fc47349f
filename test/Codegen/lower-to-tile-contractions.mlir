// RUN: fusion-opt %s -split-input-file --fusion-codegen-lower-to-tile --canonicalize --cse | FileCheck %s

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// Blocks walk several tiles, in groups of rows, here all of one height.

// CHECK-LABEL: fusion_tile.program @walk
// CHECK-SAME: pipeline = #fusion_tile.pipeline<wgmma, stages = 4, columns = 64>
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: scf.for %[[T:.*]] = %[[BLOCK]] to %c32{{.*}} step %c24
// CHECK-NOT: arith.minui
// CHECK:   scf.for {{.*}} -> (tensor<64x128xf32>)
// CHECK:     fusion_tile.dot
// CHECK:   fusion_tile.store
func.func @main(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>) -> tensor<512x512xf32> {
  %r = fusion.kernel @walk ins(%a, %b : tensor<512x512xbf16>, tensor<512x512xbf16>) -> (tensor<512x512xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 128>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4, columns = 64, group = 4, blocks = 24>>} {
  ^bb0(%x: tensor<512x512xbf16>, %y: tensor<512x512xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%f : tensor<512x512xf32>) {
    ^bb1(%u: bf16, %v: bf16, %o: f32):
      %s = arith.extf %u : bf16 to f32
      %t = arith.extf %v : bf16 to f32
      %p = arith.mulf %s, %t : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<512x512xf32>
    fusion.yield %m : tensor<512x512xf32>
  }
  return %r : tensor<512x512xf32>
}

// -----

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// The last group has fewer rows.

// CHECK-LABEL: fusion_tile.program @rest
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: scf.for %[[T:.*]] = %[[BLOCK]] to %c32{{.*}} step %c24
// CHECK:   arith.minui
// CHECK:   scf.for {{.*}} -> (tensor<64x128xf32>)
func.func @main(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>) -> tensor<512x512xf32> {
  %r = fusion.kernel @rest ins(%a, %b : tensor<512x512xbf16>, tensor<512x512xbf16>) -> (tensor<512x512xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 128>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4, columns = 64, group = 3, blocks = 24>>} {
  ^bb0(%x: tensor<512x512xbf16>, %y: tensor<512x512xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%f : tensor<512x512xf32>) {
    ^bb1(%u: bf16, %v: bf16, %o: f32):
      %s = arith.extf %u : bf16 to f32
      %t = arith.extf %v : bf16 to f32
      %p = arith.mulf %s, %t : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<512x512xf32>
    fusion.yield %m : tensor<512x512xf32>
  }
  return %r : tensor<512x512xf32>
}

// -----

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// The blocks of a cluster share the contracted dimension; each finishes a part
// of the columns. An initial value other than zero is added once, to the sum.

// CHECK-LABEL: fusion_tile.program @share
// CHECK-SAME: cluster = 4
// CHECK: %[[RANK:.*]] = fusion_tile.cluster_rank
// CHECK: %[[BEGIN:.*]] = arith.muli %[[RANK]], %c128
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[BEGIN]] to
// CHECK: %[[PART:.*]] = fusion_tile.cluster_reduce %[[SUM]] along 1 : tensor<64x128xf32> -> tensor<64x32xf32>
// CHECK: %[[INIT:.*]] = fusion_tile.load {{.*}} -> tensor<64x32xf32>
// CHECK: %[[ALL:.*]] = arith.addf %[[INIT]], %[[PART]]
// CHECK: fusion_tile.store %[[ALL]]
func.func @main(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>, %i: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %r = fusion.kernel @share ins(%a, %b, %i : tensor<512x512xbf16>, tensor<512x512xbf16>, tensor<512x512xf32>) -> (tensor<512x512xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 128>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4, split = 4>>} {
  ^bb0(%x: tensor<512x512xbf16>, %y: tensor<512x512xbf16>, %f: tensor<512x512xf32>):
    %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%f : tensor<512x512xf32>) {
    ^bb1(%u: bf16, %v: bf16, %o: f32):
      %s = arith.extf %u : bf16 to f32
      %t = arith.extf %v : bf16 to f32
      %p = arith.mulf %s, %t : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<512x512xf32>
    fusion.yield %m : tensor<512x512xf32>
  }
  return %r : tensor<512x512xf32>
}

// -----

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// The extent ends within a tile but at the end of one of its parts: the parts
// after that one have nothing to load or to store.

// CHECK-LABEL: fusion_tile.program @rest
// CHECK: fusion_tile.cluster_reduce %{{.*}} -> tensor<64x32xf32>
// CHECK: fusion_tile.load {{.*}} checked [false, true] : {{.*}} -> tensor<64x32xf32>
// CHECK: fusion_tile.store {{.*}} checked [false, true]
func.func @main(%a: tensor<512x512xbf16>, %b: tensor<512x544xbf16>, %i: tensor<512x544xf32>) -> tensor<512x544xf32> {
  %r = fusion.kernel @rest ins(%a, %b, %i : tensor<512x512xbf16>, tensor<512x544xbf16>, tensor<512x544xf32>) -> (tensor<512x544xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 128>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4, split = 4>>} {
  ^bb0(%x: tensor<512x512xbf16>, %y: tensor<512x544xbf16>, %f: tensor<512x544xf32>):
    %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x512xbf16>, tensor<512x544xbf16>) outs(%f : tensor<512x544xf32>) {
    ^bb1(%u: bf16, %v: bf16, %o: f32):
      %s = arith.extf %u : bf16 to f32
      %t = arith.extf %v : bf16 to f32
      %p = arith.mulf %s, %t : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<512x544xf32>
    fusion.yield %m : tensor<512x544xf32>
  }
  return %r : tensor<512x544xf32>
}

// -----

// Batch and sequence are one axis: memory is addressed by rows of both.

// CHECK-LABEL: fusion_tile.program @merged
// CHECK-DAG: %[[X:.*]] = fusion_tile.view %{{.*}}[] {{.*}} to <148x256xbf16>
// CHECK-DAG: %[[R:.*]] = fusion_tile.view %{{.*}}[] {{.*}} to <148x512xf32>
// CHECK: fusion_tile.load %[[X]]{{.*}} checked [true, false] : {{.*}} -> tensor<64x64xbf16>
// CHECK: fusion_tile.dot
// CHECK: fusion_tile.store %{{.*}}, %[[R]]{{.*}} checked [true, false]
func.func @main(%a: tensor<4x37x256xbf16>, %b: tensor<512x256xi8>) -> tensor<4x37x512xf32> {
  %r = fusion.kernel @merged ins(%a, %b : tensor<4x37x256xbf16>, tensor<512x256xi8>) -> (tensor<4x37x512xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<merged, tile = 1>, #fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 128>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4>>} {
  ^bb0(%x: tensor<4x37x256xbf16>, %y: tensor<512x256xi8>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x37x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x37x512xf32>) -> tensor<4x37x512xf32>
    %m = linalg.generic {indexing_maps = [affine_map<(b, s, j, k) -> (b, s, k)>, affine_map<(b, s, j, k) -> (j, k)>, affine_map<(b, s, j, k) -> (b, s, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %y : tensor<4x37x256xbf16>, tensor<512x256xi8>) outs(%f : tensor<4x37x512xf32>) {
    ^bb1(%u: bf16, %v: i8, %o: f32):
      %s = arith.extf %u : bf16 to f32
      %t = arith.sitofp %v : i8 to f32
      %p = arith.mulf %s, %t : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<4x37x512xf32>
    fusion.yield %m : tensor<4x37x512xf32>
  }
  return %r : tensor<4x37x512xf32>
}

// -----

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#d = affine_map<(i, j) -> (i, j)>

// Two products over the same loops are one loop with two dots, which share the
// operand that they have in common.

// CHECK-LABEL: fusion_tile.program @gate
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: %[[X:.*]] = fusion_tile.load {{.*}} <512x512xbf16> -> tensor<64x64xbf16>
// CHECK: fusion_tile.dot %[[X]],
// CHECK: fusion_tile.dot %[[X]],
// CHECK: scf.yield
// CHECK-NOT: fusion_tile.dot
// CHECK: fusion_tile.store
func.func @main(%a: tensor<512x512xbf16>, %b: tensor<512x256xbf16>, %g: tensor<512x256xbf16>) -> tensor<512x256xf32> {
  %r = fusion.kernel @gate ins(%a, %b, %g : tensor<512x512xbf16>, tensor<512x256xbf16>, tensor<512x256xbf16>) -> (tensor<512x256xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 64>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4>>} {
  ^bb0(%x: tensor<512x512xbf16>, %y: tensor<512x256xbf16>, %z: tensor<512x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x512xbf16>, tensor<512x256xbf16>) outs(%f : tensor<512x256xf32>) {
    ^bb1(%u: bf16, %v: bf16, %o: f32):
      %s = arith.extf %u : bf16 to f32
      %t = arith.extf %v : bf16 to f32
      %p = arith.mulf %s, %t : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<512x256xf32>
    %n = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %z : tensor<512x512xbf16>, tensor<512x256xbf16>) outs(%f : tensor<512x256xf32>) {
    ^bb1(%u: bf16, %v: bf16, %o: f32):
      %s = arith.extf %u : bf16 to f32
      %t = arith.extf %v : bf16 to f32
      %p = arith.mulf %s, %t : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<512x256xf32>
    %w = linalg.generic {indexing_maps = [#d, #d, #d], iterator_types = ["parallel", "parallel"]} ins(%m, %n : tensor<512x256xf32>, tensor<512x256xf32>) outs(%e : tensor<512x256xf32>) {
    ^bb1(%u: f32, %v: f32, %o: f32):
      %p = arith.mulf %u, %v : f32
      linalg.yield %p : f32
    } -> tensor<512x256xf32>
    fusion.yield %w : tensor<512x256xf32>
  }
  return %r : tensor<512x256xf32>
}

// -----

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j, k)>
#c = affine_map<(i, j, k) -> (i, j)>

// The program asks for tf32 in one function, and not in the other.

// CHECK-LABEL: fusion_tile.program @asked
// CHECK: fusion_tile.dot {{.*}} tf32 : tensor<64x32xf32>
// CHECK-LABEL: fusion_tile.program @full
// CHECK: fusion_tile.dot
// CHECK-NOT: tf32
func.func @asks(%a: tensor<512x512xf32>, %b: tensor<256x512xf32>) -> tensor<512x256xf32> attributes {fusion.tf32} {
  %r = fusion.kernel @asked ins(%a, %b : tensor<512x512xf32>, tensor<256x512xf32>) -> (tensor<512x256xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 64>, #fusion.axis<loop, tile = 32>], warps = 4, mma = #fusion.mma<wgmma, stages = 4>>} {
  ^bb0(%x: tensor<512x512xf32>, %y: tensor<256x512xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x512xf32>, tensor<256x512xf32>) outs(%f : tensor<512x256xf32>) {
    ^bb1(%u: f32, %v: f32, %o: f32):
      %p = arith.mulf %u, %v : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<512x256xf32>
    fusion.yield %m : tensor<512x256xf32>
  }
  return %r : tensor<512x256xf32>
}
func.func @does_not(%a: tensor<512x512xf32>, %b: tensor<256x512xf32>) -> tensor<512x256xf32> {
  %r = fusion.kernel @full ins(%a, %b : tensor<512x512xf32>, tensor<256x512xf32>) -> (tensor<512x256xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 64>, #fusion.axis<loop, tile = 32>], warps = 4>} {
  ^bb0(%x: tensor<512x512xf32>, %y: tensor<256x512xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x512xf32>, tensor<256x512xf32>) outs(%f : tensor<512x256xf32>) {
    ^bb1(%u: f32, %v: f32, %o: f32):
      %p = arith.mulf %u, %v : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<512x256xf32>
    fusion.yield %m : tensor<512x256xf32>
  }
  return %r : tensor<512x256xf32>
}
