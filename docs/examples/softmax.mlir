// Softmax over the rows of a matrix, written as the four loops it consists of:
//   m = max_j x,  e = exp(x - m),  s = sum_j e,  y = e / s.
//
// All four share the row, so one kernel reads x once and writes y once.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// x or e is read four times and written twice, 256 bytes of row results are
// written twice and read twice; fused, x is read and y written once.
// CHECK: traffic: 308.22 kB unfused -> 102.40 kB
// CHECK: {{^}}verified

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @softmax(%x: tensor<64x200xf32>) -> tensor<64x200xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x200xf32>
  %row = tensor.empty() : tensor<64xf32>

  %max_init = linalg.fill ins(%lowest : f32) outs(%row : tensor<64xf32>)
      -> tensor<64xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x200xf32>) outs(%max_init : tensor<64xf32>) {
  ^bb0(%v: f32, %m: f32):
    %larger = arith.maximumf %v, %m : f32
    linalg.yield %larger : f32
  } -> tensor<64xf32>

  %exp = linalg.generic {indexing_maps = [#ij, #i, #ij],
                         iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<64x200xf32>, tensor<64xf32>)
      outs(%empty : tensor<64x200xf32>) {
  ^bb0(%v: f32, %m: f32, %out: f32):
    %centred = arith.subf %v, %m : f32
    %e = math.exp %centred : f32
    linalg.yield %e : f32
  } -> tensor<64x200xf32>

  %sum_init = linalg.fill ins(%zero : f32) outs(%row : tensor<64xf32>)
      -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i],
                         iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<64x200xf32>) outs(%sum_init : tensor<64xf32>) {
  ^bb0(%e: f32, %s: f32):
    %total = arith.addf %e, %s : f32
    linalg.yield %total : f32
  } -> tensor<64xf32>

  %y = linalg.generic {indexing_maps = [#ij, #i, #ij],
                       iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<64x200xf32>, tensor<64xf32>)
      outs(%empty : tensor<64x200xf32>) {
  ^bb0(%e: f32, %s: f32, %out: f32):
    %share = arith.divf %e, %s : f32
    linalg.yield %share : f32
  } -> tensor<64x200xf32>
  return %y : tensor<64x200xf32>
}
