// RUN: rm -rf %t && fusion-compile %s --dump-phases-to=%t -o %t.fpk
// RUN: ls %t | FileCheck %s --check-prefix=FILES
// RUN: FileCheck %s --check-prefix=PLAN < %t/02-plan.mlir
// RUN: cmp %t/07-package.fpk %t.fpk

// One file a phase, one a kernel.
// FILES: 01-input.mlir
// FILES-NEXT: 02-plan.mlir
// FILES-NEXT: 03-schedule.mlir
// FILES-NEXT: 04-tile.mlir
// FILES-NEXT: 05-gpu.mlir
// FILES-NEXT: 06-ptx.mlir
// FILES-NEXT: 07-package.fpk
// FILES-NEXT: {{[a-z_0-9]+}}.ptx
// FILES-NOT: {{.}}
// PLAN: fusion.target = #fusion.target<chip = "sm_90a">
// PLAN: fusion.kernel
// PLAN-NOT: schedule

// A run to one phase and the dump of it are the same, and so are two runs.
// RUN: fusion-compile %s --compile-to=tile -o %t.tile
// RUN: diff %t.tile %t/04-tile.mlir
// RUN: fusion-compile %s -o %t.again
// RUN: cmp %t.fpk %t.again

// Packages do not depend on where the program lies.
// RUN: mkdir -p %t.elsewhere && cp %s %t.elsewhere
// RUN: fusion-compile %t.elsewhere/compile-to.mlir -o %t.moved
// RUN: cmp %t.fpk %t.moved
func.func @relu(%x: tensor<24x40xf32>) -> tensor<24x40xf32> {
  %zero = arith.constant dense<0.0> : tensor<24x40xf32>
  %y = arith.maximumf %x, %zero : tensor<24x40xf32>
  return %y : tensor<24x40xf32>
}
