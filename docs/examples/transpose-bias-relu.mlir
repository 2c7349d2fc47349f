// relu(transpose(x) + b), the result contiguous.
//
// The transpose is no kernel of its own: the tile is turned in shared memory
// between the load and the store, so both sides stay coalesced.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// x and b read, y written; unfused the transpose is written and read.
// CHECK: traffic: 174.40 kB unfused -> 87.36 kB
// CHECK: {{^}}verified

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

func.func @transpose_bias_relu(%x: tensor<80x136xf32>, %b: tensor<80xf32>)
    -> tensor<136x80xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<136x80xf32>
  %turned = linalg.transpose ins(%x : tensor<80x136xf32>)
      outs(%empty : tensor<136x80xf32>) permutation = [1, 0]
  %y = linalg.generic {indexing_maps = [#ij, #j, #ij],
                       iterator_types = ["parallel", "parallel"]}
      ins(%turned, %b : tensor<136x80xf32>, tensor<80xf32>)
      outs(%empty : tensor<136x80xf32>) {
  ^bb0(%v: f32, %bias: f32, %out: f32):
    %sum = arith.addf %v, %bias : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<136x80xf32>
  return %y : tensor<136x80xf32>
}
