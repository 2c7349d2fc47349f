// Sums along a dimension that one tensor, the first that is read, lies along in
// memory, while the other lies along the one that is kept: tiles of both.

// RUN: fusion-run %s --device=emulator --random --seed=3 --verify
// RUN: fusion-compile %s --compile-to=schedule -o - | FileCheck %s

// CHECK: #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 64, vector = 8>, #fusion.axis<loop, tile = 1, split = {{[0-9]+}}>, #fusion.axis<loop, tile = 64
// CHECK-NOT: fusion.kernel @

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @main(%x: tensor<48x72x203xbf16>, %dy: tensor<48x203x72xbf16>, %m: tensor<72xf32>) -> tensor<72xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<72xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<72xf32>) -> tensor<72xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(n, p, c) -> (n, c, p)>, affine_map<(n, p, c) -> (n, p, c)>, affine_map<(n, p, c) -> (c)>, affine_map<(n, p, c) -> (c)>], iterator_types = ["reduction", "reduction", "parallel"]} ins(%x, %dy, %m : tensor<48x72x203xbf16>, tensor<48x203x72xbf16>, tensor<72xf32>) outs(%f : tensor<72xf32>) {
    ^bb0(%a: bf16, %b: bf16, %mean: f32, %o: f32):
      %aw = arith.extf %a : bf16 to f32
      %bw = arith.extf %b : bf16 to f32
      %d = arith.subf %aw, %mean : f32
      %p = arith.mulf %bw, %d : f32
      %t = arith.addf %o, %p : f32
      linalg.yield %t : f32
    } -> tensor<72xf32>
    return %s : tensor<72xf32>
  }
}
