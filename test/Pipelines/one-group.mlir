// A norm of one group: between tensors with and without the group's dimension,
// of one element, coordinates are what they are. As quotients they named the
// dimension that is walked, and each chunk reduced the whole row again.

// RUN: fusion-compile %s --target=sm_90a --compile-to=tile -o - | FileCheck %s
// RUN: sed 's/241x1151x8xbf16/7x9x8xbf16/g; s/tensor<241x/tensor<7x/' %s > %t.mlir
// RUN: fusion-run %t.mlir --device=emulator --random --verify | FileCheck %s --check-prefix=VERIFY

// VERIFY: {{^}}verified
// CHECK-LABEL: fusion_tile.program
// CHECK-NOT: step %c1 iter_args
// CHECK: fusion_tile.panel_reduce
// CHECK-NOT: step %c1 iter_args
func.func @main(%x: tensor<8x241x1151x8xbf16>, %y: tensor<8x241x1151x8xbf16>) -> tensor<8x241x1151x8xbf16> {
  %s = arith.addf %x, %y : tensor<8x241x1151x8xbf16>
  %n = fusion.group_norm %s groups(1) eps(1.000000e-05) : (tensor<8x241x1151x8xbf16>) -> tensor<8x241x1151x8xbf16>
  %g = fusion.gelu tanh %n : tensor<8x241x1151x8xbf16>
  return %g : tensor<8x241x1151x8xbf16>
}
