// RUN: not fusion-opt %s --fusion-plan-form-kernels=target=sm_37 2>&1 \
// RUN:   | FileCheck %s

// CHECK: FUS-2001: unknown target 'sm_37'; the nearest known one is sm_80; known targets: sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, sm_100, sm_100a, sm_103, sm_110, sm_120, sm_121
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
