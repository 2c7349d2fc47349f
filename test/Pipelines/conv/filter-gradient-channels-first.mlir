// Of images whose channels are first, which kernels of their own permute.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-run %s --device=emulator --random --seed=2 --asynchrony=early --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: im2col

#x = affine_map<(k, c, r, s, n, p, q) -> (n, c, p + r, q + s)>
#dy = affine_map<(k, c, r, s, n, p, q) -> (n, k, p, q)>
#w = affine_map<(k, c, r, s, n, p, q) -> (k, c, r, s)>

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @main(%x: tensor<6x64x28x28xbf16>, %dy: tensor<6x64x28x28xbf16>) -> tensor<64x64x3x3xbf16> {
    %z = arith.constant 0.0 : bf16
    %zf = arith.constant 0.0 : f32
    %xp = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %z : bf16
    } : tensor<6x64x28x28xbf16> to tensor<6x64x30x30xbf16>
    %e = tensor.empty() : tensor<64x64x3x3xf32>
    %f = linalg.fill ins(%zf : f32) outs(%e : tensor<64x64x3x3xf32>) -> tensor<64x64x3x3xf32>
    %dw = linalg.generic {indexing_maps = [#x, #dy, #w], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%xp, %dy : tensor<6x64x30x30xbf16>, tensor<6x64x28x28xbf16>) outs(%f : tensor<64x64x3x3xf32>) {
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %aw = arith.extf %a : bf16 to f32
      %bw = arith.extf %b : bf16 to f32
      %m = arith.mulf %aw, %bw : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<64x64x3x3xf32>
    %t = arith.truncf %dw : tensor<64x64x3x3xf32> to tensor<64x64x3x3xbf16>
    return %t : tensor<64x64x3x3xbf16>
  }
}
