// What phases leave becomes a binary by MLIR's own pass; targets of other
// makers are refused.

// RUN: fusion-opt %s --fusion-to-ptx --nvvm-attach-target=chip=sm_90a --gpu-module-to-binary=format=isa | FileCheck %s
// CHECK: gpu.binary @exp [#gpu.object<#nvvm.target<chip = "sm_90a">
// CHECK-SAME: .target sm_90a

// RUN: not fusion-opt %s --fusion-to-ptx --rocdl-attach-target --gpu-module-to-binary=format=isa 2>&1 >/dev/null | FileCheck %s --check-prefix=ROCDL
// RUN: not fusion-opt %s --fusion-to-ptx --xevm-attach-target --gpu-module-to-binary=format=isa 2>&1 >/dev/null | FileCheck %s --check-prefix=XEVM
// RUN: not fusion-opt %s --fusion-to-ptx --spirv-attach-target --gpu-module-to-binary=format=isa 2>&1 >/dev/null | FileCheck %s --check-prefix=SPIRV
// ROCDL: error: FUS-3403: {{.*}} which 'rocdl' has no code for; attach an 'nvvm' target
// XEVM: error: FUS-3403: {{.*}} which 'xevm' has no code for
// SPIRV: error: FUS-3403: {{.*}} which 'spirv' has no code for

func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = math.exp %x : tensor<64xf32>
  return %y : tensor<64xf32>
}
