// Attention whose features are no multiple of 8: rows of 16 bytes are written
// anew for all of its operands together, since they then share a walk.

// RUN: fusion-compile %s --target=sm_90a --explain -o %t.fpk | FileCheck %s --check-prefix=PLAN
// RUN: fusion-run %t.fpk --reference=%s --entry=odd --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=odd --device=emulator --asynchrony=early --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=grouped --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=few --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=values --device=emulator --random --seed=5 --verify | FileCheck %s

// RUN: fusion-compile %s --target=sm_90a --compile-to=tile -o - | FileCheck %s --check-prefix=TILES

// CHECK: {{^}}verified

// PLAN: @odd for sm_90a: {{.*}} -> 4 kernels
// PLAN: kernel matmul_mul_softmax {{.*}}slice, {{.*}}products by wgmma
// PLAN-COUNT-2: fused repack {{.*}} repack-operand, {{.*}} (shared-walk)
func.func @odd(%q: tensor<6x700x11xbf16>, %k: tensor<6x900x11xbf16>, %v: tensor<6x900x11xbf16>) -> tensor<6x700x11xbf16> {
  %o = fusion.attention %q, %k, %v : (tensor<6x700x11xbf16>, tensor<6x900x11xbf16>, tensor<6x900x11xbf16>) -> tensor<6x700x11xbf16>
  return %o : tensor<6x700x11xbf16>
}
// PLAN: @grouped for sm_90a: {{.*}} -> 4 kernels
func.func @grouped(%q: tensor<2x8x500x31xf16>, %k: tensor<2x4x500x31xf16>, %v: tensor<2x4x500x31xf16>) -> tensor<2x8x500x31xf16> {
  %o = fusion.attention %q, %k, %v causal(top_left) : (tensor<2x8x500x31xf16>, tensor<2x4x500x31xf16>, tensor<2x4x500x31xf16>) -> tensor<2x8x500x31xf16>
  return %o : tensor<2x8x500x31xf16>
}
// Values alone: queries and keys are as copies take them.
// PLAN: @values for sm_90a: {{.*}} -> 2 kernels
func.func @values(%q: tensor<6x700x64xf16>, %k: tensor<6x900x64xf16>, %v: tensor<6x900x20xf16>) -> tensor<6x700x20xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<6x700x64xf16>, tensor<6x900x64xf16>, tensor<6x900x20xf16>) -> tensor<6x700x20xf16>
  return %o : tensor<6x700x20xf16>
}
// Tiles of 16 features, of which there are 4.
// PLAN: @few for sm_90a: {{.*}} -> 4 kernels
// TILES: fusion_tile.program @matmul_mul_compare_select_softmax_1
// TILES: fusion_tile.mma_async {{.*}} -> tensor<{{[0-9]+x[0-9]+}}xf32
// TILES: fusion_tile.mma_async {{.*}} -> tensor<{{[0-9]+}}x16xf32
func.func @few(%q: tensor<24x1000x4xbf16>, %k: tensor<24x1000x4xbf16>, %v: tensor<24x1000x4xbf16>) -> tensor<24x1000x4xbf16> {
  %o = fusion.attention %q, %k, %v causal(top_left) : (tensor<24x1000x4xbf16>, tensor<24x1000x4xbf16>, tensor<24x1000x4xbf16>) -> tensor<24x1000x4xbf16>
  return %o : tensor<24x1000x4xbf16>
}
