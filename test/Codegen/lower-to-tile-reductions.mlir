// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The row lives in one tile: it is read once, masked before it is reduced.

// CHECK-LABEL: fusion_tile.program @resident
// CHECK: %[[X:.*]] = fusion_tile.load {{.*}} checked [false, true] : <?x100xf32> -> tensor<128xf32>
// CHECK-NOT: fusion_tile.load
// CHECK: arith.select
// CHECK: %[[M:.*]] = fusion_tile.reduce %{{.*}} along 0 : tensor<128xf32> -> f32
// CHECK: arith.maximumf
// CHECK: fusion_tile.splat %[[M]] : f32 -> tensor<128xf32>
// CHECK: arith.subf %[[X]]
// CHECK: fusion_tile.store {{.*}} checked [false, true]

// The block walks the row: the reduction accumulates whole chunks and reduces
// across threads once; the result needs a second walk.

// CHECK-LABEL: fusion_tile.program @walked
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<32xf32>)
// CHECK:   fusion_tile.load
// CHECK:   arith.select
// CHECK:   arith.maximumf %[[ACC]]
// CHECK:   scf.yield
// CHECK: fusion_tile.reduce %{{.*}} along 0 : tensor<32xf32> -> f32
// CHECK: scf.for
// CHECK:   fusion_tile.load
// CHECK:   arith.subf
// CHECK:   fusion_tile.store
func.func @main(%x: tensor<?x100xf32>) -> (tensor<?x100xf32>, tensor<?x100xf32>) {
  %0 = fusion.kernel @resident ins(%x : tensor<?x100xf32>) -> (tensor<?x100xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 128>], warps = 1>} {
  ^bb0(%a: tensor<?x100xf32>):
    %c0 = arith.constant 0 : index
    %d = tensor.dim %a, %c0 : tensor<?x100xf32>
    %ninf = arith.constant 0xFF800000 : f32
    %e1 = tensor.empty(%d) : tensor<?xf32>
    %f1 = linalg.fill ins(%ninf : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
    %e = tensor.empty(%d) : tensor<?x100xf32>
    %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<?x100xf32>) outs(%f1 : tensor<?xf32>) {
    ^bb1(%u: f32, %o: f32):
      %s = arith.maximumf %u, %o : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %m : tensor<?x100xf32>, tensor<?xf32>) outs(%e : tensor<?x100xf32>) {
    ^bb1(%u: f32, %v: f32, %o: f32):
      %s = arith.subf %u, %v : f32
      linalg.yield %s : f32
    } -> tensor<?x100xf32>
    fusion.yield %p : tensor<?x100xf32>
  }
  %1 = fusion.kernel @walked ins(%0 : tensor<?x100xf32>) -> (tensor<?x100xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 32>], warps = 1>} {
  ^bb0(%a: tensor<?x100xf32>):
    %c0 = arith.constant 0 : index
    %d = tensor.dim %a, %c0 : tensor<?x100xf32>
    %ninf = arith.constant 0xFF800000 : f32
    %e1 = tensor.empty(%d) : tensor<?xf32>
    %f1 = linalg.fill ins(%ninf : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
    %e = tensor.empty(%d) : tensor<?x100xf32>
    %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<?x100xf32>) outs(%f1 : tensor<?xf32>) {
    ^bb1(%u: f32, %o: f32):
      %s = arith.maximumf %u, %o : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %m : tensor<?x100xf32>, tensor<?xf32>) outs(%e : tensor<?x100xf32>) {
    ^bb1(%u: f32, %v: f32, %o: f32):
      %s = arith.subf %u, %v : f32
      linalg.yield %s : f32
    } -> tensor<?x100xf32>
    fusion.yield %p : tensor<?x100xf32>
  }
  return %0, %1 : tensor<?x100xf32>, tensor<?x100xf32>
}

// -----

// Elements that can only be combined one after the other run in the order of
// the loop: a polynomial by Horner's rule.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: fusion_tile.program @horner
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: scf.for {{.*}} step %[[ONE]] iter_args({{.*}}) -> (tensor<64xf32>)
// CHECK:   fusion_tile.load {{.*}} -> tensor<64xf32>
// CHECK: fusion_tile.store
func.func @main(%x: tensor<64x10xf32>) -> tensor<64xf32> {
  %r = fusion.kernel @horner ins(%x : tensor<64x10xf32>) -> (tensor<64xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<full, tile = 16>], warps = 2>} {
  ^bb0(%a: tensor<64x10xf32>):
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<64x10xf32>) outs(%f : tensor<64xf32>) {
    ^bb1(%u: f32, %sum: f32):
      %s = arith.mulf %sum, %half : f32
      %t = arith.addf %s, %u : f32
      linalg.yield %t : f32
    } -> tensor<64xf32>
    fusion.yield %m : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----

// A contraction with its epilogue: the accumulator is a tile, the depth a loop.

// CHECK-LABEL: fusion_tile.program @matmul
// CHECK: %[[ACC:.*]] = scf.for {{.*}} iter_args(%[[C:.*]] = %{{.*}}) -> (tensor<32x64xf32>)
// CHECK:   %[[A:.*]] = fusion_tile.load {{.*}} -> tensor<32x16xbf16>
// CHECK:   %[[B:.*]] = fusion_tile.load {{.*}} -> tensor<64x16xbf16>
// CHECK:   %[[D:.*]] = fusion_tile.dot %[[A]], %[[B]], %[[C]] : tensor<32x16xbf16>, tensor<64x16xbf16> -> tensor<32x64xf32>
// CHECK:   scf.yield %[[D]]
// CHECK: arith.maximumf %[[ACC]]
// CHECK: fusion_tile.store
func.func @main(%a: tensor<128x512xbf16>, %b: tensor<512x256xbf16>) -> tensor<128x256xf32> {
  %r = fusion.kernel @matmul ins(%a, %b : tensor<128x512xbf16>, tensor<512x256xbf16>) -> (tensor<128x256xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 32>, #fusion.axis<grid, tile = 64>, #fusion.axis<loop, tile = 16>], warps = 4>} {
  ^bb0(%x: tensor<128x512xbf16>, %y: tensor<512x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<128x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
    %m = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<128x512xbf16>, tensor<512x256xbf16>) outs(%f : tensor<128x256xf32>) {
    ^bb1(%u: bf16, %v: bf16, %o: f32):
      %s = arith.extf %u : bf16 to f32
      %t = arith.extf %v : bf16 to f32
      %p = arith.mulf %s, %t : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<128x256xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<128x256xf32>) outs(%e : tensor<128x256xf32>) {
    ^bb1(%u: f32, %o: f32):
      %t = arith.maximumf %u, %zero : f32
      linalg.yield %t : f32
    } -> tensor<128x256xf32>
    fusion.yield %0 : tensor<128x256xf32>
  }
  return %r : tensor<128x256xf32>
}
