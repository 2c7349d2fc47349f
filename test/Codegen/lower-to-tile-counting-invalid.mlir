// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --split-input-file --verify-diagnostics

// All but one row count.

#b = affine_map<(r, c, b) -> (b)>
#bc = affine_map<(r, c, b) -> (b, c)>
#rc = affine_map<(r, c, b) -> (r, c)>
func.func @others(%index: tensor<3000xi64>, %value: tensor<3000x64xf32>) -> tensor<100x64xf32> {
  %0 = fusion.kernel @others ins(%index, %value : tensor<3000xi64>, tensor<3000x64xf32>) -> (tensor<100x64xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 16>, #fusion.axis<grid, tile = 64, vector = 4>, #fusion.axis<loop, tile = 1, limited>], warps = 4>} {
  ^bb0(%x: tensor<3000xi64>, %y: tensor<3000x64xf32>):
    %none = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<100x64xf32>
    %init = linalg.fill ins(%none : f32) outs(%empty : tensor<100x64xf32>) -> tensor<100x64xf32>
    // expected-error@+1 {{FUS-3131: the schedule leaves out steps of a walk ('limited'), but no mask of data says of all that shares it which}}
    %sum = linalg.generic {indexing_maps = [#b, #bc, #rc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<3000xi64>, tensor<3000x64xf32>) outs(%init : tensor<100x64xf32>) {
    ^bb1(%i: i64, %v: f32, %before: f32):
      %row = linalg.index 0 : index
      %place = arith.index_cast %row : index to i64
      %counts = arith.cmpi ne, %i, %place : i64
      %own = arith.select %counts, %v, %none : f32
      %next = arith.addf %before, %own : f32
      linalg.yield %next : f32
    } -> tensor<100x64xf32>
    fusion.yield %sum : tensor<100x64xf32>
  }
  return %0 : tensor<100x64xf32>
}

// -----

// Sums along two dimensions are two walks.

#b = affine_map<(r, b, d) -> (b)>
#bd = affine_map<(r, b, d) -> (b, d)>
#r = affine_map<(r, b, d) -> (r)>
func.func @two(%index: tensor<3000xi64>, %value: tensor<3000x64xf32>) -> tensor<100xf32> {
  %0 = fusion.kernel @two ins(%index, %value : tensor<3000xi64>, tensor<3000x64xf32>) -> (tensor<100xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 16>, #fusion.axis<loop, tile = 1, limited>, #fusion.axis<loop, tile = 64>], warps = 4>} {
  ^bb0(%x: tensor<3000xi64>, %y: tensor<3000x64xf32>):
    %none = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<100xf32>
    %init = linalg.fill ins(%none : f32) outs(%empty : tensor<100xf32>) -> tensor<100xf32>
    // expected-error@+1 {{FUS-3131: the schedule leaves out elements of a walk ('limited') that is not the only one}}
    %sum = linalg.generic {indexing_maps = [#b, #bd, #r], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x, %y : tensor<3000xi64>, tensor<3000x64xf32>) outs(%init : tensor<100xf32>) {
    ^bb1(%i: i64, %v: f32, %before: f32):
      %row = linalg.index 0 : index
      %place = arith.index_cast %row : index to i64
      %counts = arith.cmpi eq, %i, %place : i64
      %own = arith.select %counts, %v, %none : f32
      %next = arith.addf %before, %own : f32
      linalg.yield %next : f32
    } -> tensor<100xf32>
    fusion.yield %sum : tensor<100xf32>
  }
  return %0 : tensor<100xf32>
}
