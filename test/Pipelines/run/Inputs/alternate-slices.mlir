// What alternate-slices.mlir computes.

#q = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#k = affine_map<(b, h, m, n, k) -> (b, h, n, k)>
#v = affine_map<(b, h, m, n, k) -> (b, h, k, n)>
#s = affine_map<(b, h, m, n, k) -> (b, h, m, n)>
#p = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#o = affine_map<(b, h, m, n, k) -> (b, h, m, n)>
#id = affine_map<(b, h, m, n) -> (b, h, m, n)>
func.func @causal(%q: tensor<2x3x128x64xf16>, %k: tensor<2x3x128x64xf16>, %v: tensor<2x3x128x64xf16>) -> tensor<2x3x128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x3x128x128xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<2x3x128x128xf32>) -> tensor<2x3x128x128xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x3x128x64xf16>, tensor<2x3x128x64xf16>) outs(%s0 : tensor<2x3x128x128xf32>) {
  ^bb1(%a: f16, %b: f16, %sum: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %product = arith.mulf %a1, %b1 : f32
    %r = arith.addf %sum, %product : f32
    linalg.yield %r : f32
  } -> tensor<2x3x128x128xf32>
  %ge = tensor.empty() : tensor<2x3x128x128xf16>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x3x128x128xf32>) outs(%ge : tensor<2x3x128x128xf16>) {
  ^bb1(%x: f32, %out: f16):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %isSeen = arith.cmpi sle, %j, %i : index
    %r = arith.select %isSeen, %x, %zero : f32
    %t = arith.truncf %r : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x3x128x128xf16>
  %oe = tensor.empty() : tensor<2x3x128x64xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x3x128x64xf32>) -> tensor<2x3x128x64xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%g, %v : tensor<2x3x128x128xf16>, tensor<2x3x128x64xf16>) outs(%o0 : tensor<2x3x128x64xf32>) {
  ^bb1(%a: f16, %b: f16, %sum: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %product = arith.mulf %a1, %b1 : f32
    %r = arith.addf %sum, %product : f32
    linalg.yield %r : f32
  } -> tensor<2x3x128x64xf32>
  return %o : tensor<2x3x128x64xf32>
}
