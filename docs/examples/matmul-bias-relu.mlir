// One layer of a perceptron: relu(x @ w + b), 128 x 784 by 784 x 256.
//
// The bias and the relu run on the accumulator of the product before it is
// stored, so the two 128 x 256 intermediates never reach memory.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// Unfused: x, w read and a result written; that and the bias read, a result
// written; that read, a result written: 1,860,608 bytes. Fused, two writes and
// two reads of 128 x 256 are gone: 1,336,320.
// CHECK: traffic: 1.86 MB unfused -> 1.34 MB
// CHECK: {{^}}verified

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

func.func @matmul_bias_relu(%x: tensor<128x784xf32>, %w: tensor<784x256xf32>,
                            %b: tensor<256xf32>) -> tensor<128x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x256xf32>)
      -> tensor<128x256xf32>
  %product = linalg.matmul
      ins(%x, %w : tensor<128x784xf32>, tensor<784x256xf32>)
      outs(%init : tensor<128x256xf32>) -> tensor<128x256xf32>
  %biased = linalg.generic {indexing_maps = [#ij, #j, #ij],
                            iterator_types = ["parallel", "parallel"]}
      ins(%product, %b : tensor<128x256xf32>, tensor<256xf32>)
      outs(%empty : tensor<128x256xf32>) {
  ^bb0(%p: f32, %bias: f32, %out: f32):
    %sum = arith.addf %p, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<128x256xf32>
  %relu = linalg.generic {indexing_maps = [#ij, #ij],
                          iterator_types = ["parallel", "parallel"]}
      ins(%biased : tensor<128x256xf32>)
      outs(%empty : tensor<128x256xf32>) {
  ^bb0(%v: f32, %out: f32):
    %max = arith.maximumf %v, %zero : f32
    linalg.yield %max : f32
  } -> tensor<128x256xf32>
  return %relu : tensor<128x256xf32>
}
