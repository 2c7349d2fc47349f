// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --verify-diagnostics
// A tile that begins in one granule and ends in the next would be of both.

func.func @main(%a: tensor<1000x512xf32>) -> tensor<11x512xf32> {
  // expected-error @below {{FUS-3119: granules of 96 elements along dimension 0 are walked in tiles of 64, which do not divide them}}
  %r = fusion.kernel @sums ins(%a : tensor<1000x512xf32>) -> (tensor<11x512xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<loop, tile = 64>, #fusion.axis<grid, tile = 512, vector = 4>], warps = 4>} {
  ^bb0(%x: tensor<1000x512xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<11x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<11x512xf32>) -> tensor<11x512xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i floordiv 96, j)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<1000x512xf32>) outs(%f : tensor<11x512xf32>) {
    ^bb1(%u: f32, %o: f32):
      %s = arith.addf %o, %u : f32
      linalg.yield %s : f32
    } -> tensor<11x512xf32>
    fusion.yield %c : tensor<11x512xf32>
  }
  return %r : tensor<11x512xf32>
}
