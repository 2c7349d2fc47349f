// A reduction of the leading dimension, widened on the way.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify

func.func @colsum(%x: tensor<75x130xbf16>) -> tensor<130xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<130xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<130xf32>) -> tensor<130xf32>
  %r = linalg.generic {indexing_maps=[affine_map<(i,j)->(i,j)>,affine_map<(i,j)->(j)>], iterator_types=["reduction","parallel"]} ins(%x: tensor<75x130xbf16>) outs(%f: tensor<130xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %p = arith.addf %o, %w : f32
    linalg.yield %p : f32
  } -> tensor<130xf32>
  return %r : tensor<130xf32>
}
