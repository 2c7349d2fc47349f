// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --canonicalize --cse | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-codegen-lower-to-tile,fusion_tile.program(canonicalize,cse,fusion-tile-shrink-loads,fusion-tile-split-epilogue,canonicalize,cse))' | FileCheck %s --check-prefix=CHUNKS

// What comes from a product is computed once: a read in which a bit of the
// column is flipped exchanges elements of the tile, the bias in them included.

// CHECK-LABEL: fusion_tile.program @exchanged
// CHECK: %[[M:.*]] = scf.for {{.*}} -> (tensor<64x128xf32>)
// CHECK: fusion_tile.dot
// CHECK-NOT: fusion_tile.dot
// CHECK: %[[B:.*]] = arith.addf %[[M]],
// CHECK: %[[X:.*]] = fusion_tile.exchange %[[B]] along 1 by 64 : tensor<64x128xf32>
// CHECK: %[[W:.*]] = fusion_tile.load {{.*}} -> tensor<64x128xf32>
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[W]]
// CHECK: arith.addf %[[B]], %[[P]]
// CHECK-NOT: arith.addf

// Chunks are each other's operands; what both read of the vector of factors is
// one load, since the tile begins at a multiple of 128.

// CHUNKS-DAG: #[[BOX:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1)>
// CHUNKS-LABEL: fusion_tile.program @exchanged
// CHUNKS: %[[M:.*]] = scf.for
// CHUNKS: %[[S0:.*]] = fusion_tile.slice %[[M]] [0, 0]
// CHUNKS: %[[B0:.*]] = arith.addf %[[S0]],
// CHUNKS: %[[S1:.*]] = fusion_tile.slice %[[M]] [0, 64]
// CHUNKS: %[[B1:.*]] = arith.addf %[[S1]],
// CHUNKS: %[[W:.*]] = fusion_tile.load %{{.*}}[#[[BOX]]] {{.*}} -> tensor<64x64xf32>
// CHUNKS: %[[P0:.*]] = arith.mulf %[[B1]], %[[W]]
// CHUNKS: arith.addf %[[B0]], %[[P0]]
// CHUNKS: fusion_tile.store
// CHUNKS: %[[P1:.*]] = arith.mulf %[[B0]], %[[W]]
// CHUNKS: arith.addf %[[B1]], %[[P1]]
// CHUNKS: fusion_tile.store
// CHUNKS-NOT: fusion_tile.exchange

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>

func.func @main(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>, %bias: tensor<512xf32>, %angle: tensor<512x64xf32>) -> tensor<512x512xf32> {
  %r = fusion.kernel @exchanged ins(%a, %b, %bias, %angle : tensor<512x512xbf16>, tensor<512x512xbf16>, tensor<512xf32>, tensor<512x64xf32>) -> (tensor<512x512xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 128>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4, columns = 64>>} {
  ^bb0(%x: tensor<512x512xbf16>, %y: tensor<512x512xbf16>, %v: tensor<512xf32>, %w: tensor<512x64xf32>):
    %zero = arith.constant 0.0 : f32
    %c64 = arith.constant 64 : index
    %e = tensor.empty() : tensor<512x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%f : tensor<512x512xf32>) {
    ^bb1(%s: bf16, %t: bf16, %o: f32):
      %p = arith.extf %s : bf16 to f32
      %q = arith.extf %t : bf16 to f32
      %pq = arith.mulf %p, %q : f32
      %sum = arith.addf %o, %pq : f32
      linalg.yield %sum : f32
    } -> tensor<512x512xf32>
    %n = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %v : tensor<512x512xf32>, tensor<512xf32>) outs(%e : tensor<512x512xf32>) {
    ^bb1(%s: f32, %t: f32, %o: f32):
      %sum = arith.addf %s, %t : f32
      linalg.yield %sum : f32
    } -> tensor<512x512xf32>
    %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) {
    ^bb1(%own: f32, %o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %p = arith.xori %j, %c64 : index
      %other = tensor.extract %n[%i, %p] : tensor<512x512xf32>
      %h = arith.remui %j, %c64 : index
      %factor = tensor.extract %w[%i, %h] : tensor<512x64xf32>
      %s = arith.mulf %other, %factor : f32
      %t = arith.addf %own, %s : f32
      linalg.yield %t : f32
    } -> tensor<512x512xf32>
    fusion.yield %z : tensor<512x512xf32>
  }
  return %r : tensor<512x512xf32>
}
