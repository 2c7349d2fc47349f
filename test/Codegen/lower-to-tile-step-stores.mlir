// RUN: fusion-opt %s --fusion-codegen-lower-to-tile | FileCheck %s

// What varies along a walk is stored in each of its steps; what the walk adds up,
// behind it.

// CHECK-LABEL: fusion_tile.program @stored
// CHECK: %[[S:.*]] = scf.for %[[K:.*]] = {{.*}} step
// CHECK: %[[G:.*]] = arith.truncf {{.*}} tensor<64x32xf16>
// CHECK: fusion_tile.dot %[[G]],
// CHECK: fusion_tile.store %[[G]], %{{.*}}[#{{.*}}] (%{{.*}}, %[[K]]) {{.*}} tensor<64x32xf16>
// CHECK: scf.yield
// CHECK: fusion_tile.store %[[S]],
#mnk_mk = affine_map<(m, n, k) -> (m, k)>
#mnk_nk = affine_map<(m, n, k) -> (n, k)>
#mnk_kn = affine_map<(m, n, k) -> (k, n)>
#mnk_mn = affine_map<(m, n, k) -> (m, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @stored(%q: tensor<256x64xf16>, %k: tensor<256x64xf16>, %v: tensor<256x64xf16>) -> (tensor<256x256xf16>, tensor<256x64xf32>) {
  %0:2 = fusion.kernel @stored ins(%q, %k, %v : tensor<256x64xf16>, tensor<256x64xf16>, tensor<256x64xf16>) -> (tensor<256x256xf16>, tensor<256x64xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<sequential, tile = 32>, #fusion.axis<grid, tile = 64>, #fusion.axis<full, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 2>>} {
  ^bb0(%a: tensor<256x64xf16>, %b: tensor<256x64xf16>, %c: tensor<256x64xf16>):
    %zero = arith.constant 0.0 : f32
    %se = tensor.empty() : tensor<256x256xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<256x256xf32>) -> tensor<256x256xf32>
    %s = linalg.matmul indexing_maps = [#mnk_mk, #mnk_nk, #mnk_mn] ins(%a, %b : tensor<256x64xf16>, tensor<256x64xf16>) outs(%s0 : tensor<256x256xf32>) -> tensor<256x256xf32>
    %ge = tensor.empty() : tensor<256x256xf16>
    %g = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<256x256xf32>) outs(%ge : tensor<256x256xf16>) {
    ^bb1(%in: f32, %out: f16):
      %t = arith.truncf %in : f32 to f16
      linalg.yield %t : f16
    } -> tensor<256x256xf16>
    %oe = tensor.empty() : tensor<256x64xf32>
    %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<256x64xf32>) -> tensor<256x64xf32>
    %o = linalg.matmul indexing_maps = [#mnk_mk, #mnk_kn, #mnk_mn] ins(%g, %c : tensor<256x256xf16>, tensor<256x64xf16>) outs(%o0 : tensor<256x64xf32>) -> tensor<256x64xf32>
    fusion.yield %g, %o : tensor<256x256xf16>, tensor<256x64xf32>
  }
  return %0#0, %0#1 : tensor<256x256xf16>, tensor<256x64xf32>
}
