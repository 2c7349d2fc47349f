// RUN: fusion-opt %s --fusion-ptx-split-kernels | FileCheck %s

// What a kernel uses goes with it, also what is used through others; the rest
// does not. The name is taken where another symbol has it.
// CHECK-LABEL: func.func @plain
// CHECK: gpu.module @plain_0
// CHECK-NOT: llvm.mlir.global
// CHECK: llvm.func @plain()
// CHECK: gpu.module @sharing
// CHECK-DAG: llvm.mlir.global external @fusion_shared
// CHECK-DAG: llvm.func @helper
// CHECK-NOT: unused
// CHECK: llvm.func @sharing()
// CHECK-NOT: gpu.module @kernels
func.func @plain() {
  return
}
gpu.module @kernels {
  llvm.mlir.global external @fusion_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.mlir.global external @unused() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  llvm.func @helper() -> !llvm.ptr<3> {
    %0 = llvm.mlir.addressof @fusion_shared : !llvm.ptr<3>
    llvm.return %0 : !llvm.ptr<3>
  }
  llvm.func @plain() attributes {nvvm.kernel} {
    llvm.return
  }
  llvm.func @sharing() attributes {nvvm.kernel} {
    %0 = llvm.call @helper() : () -> !llvm.ptr<3>
    llvm.return
  }
}
