// What scores are changed by passes through the ring of a walk, too: a bias for
// each score takes as much of a block's memory as it has bytes.

// RUN: fusion-compile %s --target=sm_90a --compile-to=tile -o - | FileCheck %s

// 64 keys a step where there are 128 without a bias.
// CHECK: fusion_tile.program @{{[a-z_]+}}
// CHECK: fusion_tile.make_ring {{.*}}x64xf32
// CHECK: fusion_tile.return
func.func @main(%q: tensor<2x16x1024x128xf16>, %k: tensor<2x16x1024x128xf16>, %v: tensor<2x16x1024x128xf16>, %b: tensor<2x16x1024x1024xf32>) -> tensor<2x16x1024x128xf16> {
  %0 = fusion.attention %q, %k, %v bias(%b) : (tensor<2x16x1024x128xf16>, tensor<2x16x1024x128xf16>, tensor<2x16x1024x128xf16>, tensor<2x16x1024x1024xf32>) -> tensor<2x16x1024x128xf16>
  return %0 : tensor<2x16x1024x128xf16>
}
