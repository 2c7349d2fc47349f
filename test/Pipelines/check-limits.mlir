// RUN: fusion-opt %s --fusion-gpu-check-limits=target=sm_90a | FileCheck %s

// The option counts for more than what the module says: sm_90a has the room
// that sm_80 has not. Nothing is changed.
// CHECK: chip = "sm_80"
// CHECK: llvm.func @large() attributes {fusion_tile.shared_bytes = 180000 : i64, nvvm.kernel}
module attributes {fusion.target = #fusion.target<chip = "sm_80">} {
  gpu.module @kernels {
    llvm.func @large() attributes {nvvm.kernel, fusion_tile.shared_bytes = 180000 : i64} {
      llvm.return
    }
  }
}
