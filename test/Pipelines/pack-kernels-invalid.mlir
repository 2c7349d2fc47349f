// RUN: fusion-opt %s --split-input-file --verify-diagnostics --fusion-gpu-pack-kernels

// Kernels that cannot start together with others say so.

func.func @exchange(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{FUS-3129: the kernel cannot start in one launch with others}}
  %0 = fusion.kernel @a ins(%x : tensor<8xf32>) -> (tensor<8xf32>) attributes {launch = #fusion.launch<0, time_us = 2.0>, program = @a} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
gpu.module @kernels {
  llvm.func @a(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, fusion_tile.grid = affine_map<() -> (3)>, fusion_tile.together = 3 : i64} {
    llvm.return
  }
}

// -----

func.func @dynamic(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{FUS-3129: the kernel cannot start in one launch with others}}
  %0 = fusion.kernel @a ins(%x : tensor<8xf32>) -> (tensor<8xf32>) attributes {launch = #fusion.launch<0, time_us = 2.0>, program = @a} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
gpu.module @kernels {
  llvm.func @a(%x: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, fusion_tile.grid = affine_map<()[s] -> (s)>} {
    llvm.return
  }
}

// -----

func.func @no_code(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{FUS-4006: kernel has no code}}
  %0 = fusion.kernel @a ins(%x : tensor<8xf32>) -> (tensor<8xf32>) attributes {launch = #fusion.launch<0, time_us = 2.0>} {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
gpu.module @kernels {
}
