// RUN: fusion-opt %s --fusion-gpu-check-limits --split-input-file \
// RUN:   --verify-diagnostics

module attributes {fusion.target = #fusion.target<chip = "sm_80">} {
  gpu.module @kernels {
    // expected-error @+1 {{FUS-3401: kernel 'large' needs 180000 bytes of shared memory a block, sm_80 gives 166912; choose smaller tiles in its schedule}}
    llvm.func @large() attributes {nvvm.kernel, fusion_tile.shared_bytes = 180000 : i64} {
      llvm.return
    }
    llvm.func @fits() attributes {nvvm.kernel, fusion_tile.shared_bytes = 166912 : i64} {
      llvm.return
    }
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{FUS-3402: kernel 'wide' has blocks of 2048 threads, sm_90a allows 1024; choose fewer warps in its schedule}}
  llvm.func @wide() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 2048, 1, 1>} {
    llvm.return
  }
}
