// The rows of a product are summed in granules, and its factor is put together
// of heads, so that places within a granule are told apart as well.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @heads(%q: tensor<1x2x2x16x16xf32>, %k: tensor<1x2x2x16x16xf32>, %w: tensor<64x32xf32>, %x: tensor<32x32xf32>) -> tensor<32xf32> {
    %zero = arith.constant 0.0 : f32
    %c = tensor.concat dim(0) %q, %k : (tensor<1x2x2x16x16xf32>, tensor<1x2x2x16x16xf32>) -> tensor<2x2x2x16x16xf32>
    %te = tensor.empty() : tensor<2x16x2x2x16xf32>
    %t = linalg.transpose ins(%c : tensor<2x2x2x16x16xf32>) outs(%te : tensor<2x16x2x2x16xf32>) permutation = [1, 3, 0, 2, 4]
    %a = tensor.collapse_shape %t [[0, 1], [2, 3, 4]] : tensor<2x16x2x2x16xf32> into tensor<32x64xf32>
    %e = tensor.empty() : tensor<32x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
    %y = linalg.matmul ins(%a, %w : tensor<32x64xf32>, tensor<64x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
    %p = linalg.mul ins(%y, %x : tensor<32x32xf32>, tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
    %se = tensor.empty() : tensor<32xf32>
    %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<32xf32>) -> tensor<32xf32>
    %s = linalg.reduce { arith.addf } ins(%p : tensor<32x32xf32>) outs(%sf : tensor<32xf32>) dimensions = [0]
    return %s : tensor<32xf32>
  }
}
