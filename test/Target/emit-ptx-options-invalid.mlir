// RUN: not fusion-opt %s --fusion-target-emit-ptx="chip=sm_55" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not fusion-opt %s --fusion-target-emit-ptx="ptx-version=79" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not fusion-opt %s --fusion-target-emit-ptx="chip=sm_120 ptx-version=80" 2>&1 | FileCheck %s --check-prefix=OLD

// CHIP: error: FUS-0701: unknown chip 'sm_55'; use one of sm_80, sm_86
// UNKNOWN: error: FUS-0702: unknown PTX version 7.9; use 7.0 to 7.8
// OLD: error: FUS-0702: PTX version 8.0 does not know sm_120; use 8.7 or later
gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
}
