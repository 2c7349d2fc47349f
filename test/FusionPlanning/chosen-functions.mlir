// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(fusion-plan-form-kernels,fusion-plan-raise-views,fusion-plan-collapse-dims,fusion-plan-flatten-results,fusion-schedule-select,fusion-schedule-pack-launches))' | FileCheck %s --check-prefix=ALL
// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(fusion-plan{target=sm_80},fusion-schedule{target=sm_80}))' | FileCheck %s --check-prefix=ALL
// RUN: fusion-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(fusion-plan-form-kernels)))' | FileCheck %s --check-prefix=CHOSEN
// RUN: fusion-opt %s --fusion-plan-form-kernels | FileCheck %s --check-prefix=MODULE
// RUN: not fusion-opt %s --pass-pipeline='builtin.module(gpu.module(fusion-plan-form-kernels))' 2>&1 | FileCheck %s --check-prefix=OTHER

// Passes of functions run on the functions of somebody's choice, of whatever
// dialect, and leave all others as they are. Run on the module they take its
// functions in order, and no two kernels have one name.

// ALL-NOT: fusion.target
// ALL-LABEL: func.func @first
// ALL-SAME: fusion.plan
// ALL: fusion.kernel @exp_add ins({{.*}}schedule
// ALL-LABEL: func.func @second
// ALL: fusion.kernel @exp_add ins({{.*}}schedule
// ALL-LABEL: gpu.func @third
// ALL: linalg.exp
// ALL-NOT: fusion.kernel

// CHOSEN-LABEL: func.func @first
// CHOSEN-NOT: fusion.kernel
// CHOSEN-LABEL: gpu.func @third
// CHOSEN: fusion.kernel @exp_add

// MODULE: fusion.kernel @exp_add ins
// MODULE: fusion.kernel @exp_add_1 ins
// MODULE-NOT: fusion.kernel

// OTHER: unable to schedule pass 'FormKernelsPass' on a PassManager intended to run on 'gpu.module'

func.func @first(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %0 = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.add ins(%0, %x : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

func.func @second(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %0 = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.add ins(%0, %x : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

gpu.module @other {
  gpu.func @third(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %0 = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = linalg.add ins(%0, %x : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    gpu.return %1 : tensor<64x64xf32>
  }
}
