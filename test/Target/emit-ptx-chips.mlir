// RUN: fusion-opt %s --fusion-target-emit-ptx="print chip=sm_80" -o /dev/null | FileCheck %s --check-prefix=SM80
// RUN: fusion-opt %s --fusion-target-emit-ptx="print chip=sm_86" -o /dev/null | FileCheck %s --check-prefix=SM86
// RUN: fusion-opt %s --fusion-target-emit-ptx="print chip=sm_89" -o /dev/null | FileCheck %s --check-prefix=SM89
// RUN: fusion-opt %s --fusion-target-emit-ptx="print" -o /dev/null | FileCheck %s --check-prefix=SM90A
// RUN: fusion-opt %s --fusion-target-emit-ptx="print chip=sm_90a ptx-version=84" -o /dev/null | FileCheck %s --check-prefix=ASKED
// RUN: fusion-opt %s --fusion-target-emit-ptx="print chip=sm_100a" -o /dev/null | FileCheck %s --check-prefix=SM100A
// RUN: fusion-opt %s --fusion-target-emit-ptx="print chip=sm_120" -o /dev/null | FileCheck %s --check-prefix=SM120

// SM80: .version 7.8
// SM80: .target sm_80
// SM86: .version 7.8
// SM86: .target sm_86
// SM89: .version 8.4
// SM89: .target sm_89
// SM90A: .version 8.0
// SM90A: .target sm_90a
// ASKED: .version 8.4
// ASKED: .target sm_90a
// SM100A: .version 8.6
// SM100A: .target sm_100a
// SM120: .version 8.7
// SM120: .target sm_120
gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<1>, %x: vector<2xf32>) attributes {nvvm.kernel} {
    %b = llvm.fptrunc %x : vector<2xf32> to vector<2xbf16>
    llvm.store %b, %p : vector<2xbf16>, !llvm.ptr<1>
    llvm.return
  }
}
