// A residual add followed by RMS normalisation; both are results:
//   h = x + r,  y = h / sqrt(mean_j(h^2) + eps) * g.
//
// h has two users, the norm and the caller: it is written once and never read
// back.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// Fused: x, r, g read, h and y written. Unfused, h is read twice more, and the
// 48 sums are written and read.
// CHECK: traffic: 111.36 kB unfused -> 74.11 kB
// CHECK: {{^}}verified

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

func.func @residual_rmsnorm(%x: tensor<48x192xbf16>, %r: tensor<48x192xbf16>,
                            %g: tensor<192xbf16>)
    -> (tensor<48x192xbf16>, tensor<48x192xbf16>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<48x192xbf16>
  %row = tensor.empty() : tensor<48xf32>
  %h = arith.addf %x, %r : tensor<48x192xbf16>

  %init = linalg.fill ins(%zero : f32) outs(%row : tensor<48xf32>)
      -> tensor<48xf32>
  %squares = linalg.generic {indexing_maps = [#ij, #i],
                             iterator_types = ["parallel", "reduction"]}
      ins(%h : tensor<48x192xbf16>) outs(%init : tensor<48xf32>) {
  ^bb0(%v: bf16, %acc: f32):
    %wide = arith.extf %v : bf16 to f32
    %square = arith.mulf %wide, %wide : f32
    %sum = arith.addf %square, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<48xf32>

  %y = linalg.generic {indexing_maps = [#ij, #i, #j, #ij],
                       iterator_types = ["parallel", "parallel"]}
      ins(%h, %squares, %g
          : tensor<48x192xbf16>, tensor<48xf32>, tensor<192xbf16>)
      outs(%empty : tensor<48x192xbf16>) {
  ^bb0(%v: bf16, %s: f32, %scale: bf16, %out: bf16):
    %count = arith.constant 192.0 : f32
    %eps = arith.constant 1.0e-5 : f32
    %mean = arith.divf %s, %count : f32
    %guarded = arith.addf %mean, %eps : f32
    %inverse = math.rsqrt %guarded : f32
    %wide = arith.extf %v : bf16 to f32
    %wide_scale = arith.extf %scale : bf16 to f32
    %normal = arith.mulf %wide, %inverse : f32
    %scaled = arith.mulf %normal, %wide_scale : f32
    %rounded = arith.truncf %scaled : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<48x192xbf16>
  return %h, %y : tensor<48x192xbf16>, tensor<48x192xbf16>
}
