// RUN: fusion-opt %s --pass-pipeline='builtin.module(gpu.module(fusion-ptx-opaque-floats))' | FileCheck %s

// Floats go through empty assembly, those of 16 bits as integers; integers and
// pointers do not. Constants of 16 bits become literals of 32.

// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME: (%[[P:.*]]: !llvm.ptr, %[[X:.*]]: f32, %[[H:.*]]: f16, %[[I:.*]]: i32)
gpu.module @kernels {
  llvm.func @kernel(%p: !llvm.ptr, %x: f32, %h: f16, %i: i32) {
    // CHECK: %[[S:.*]] = llvm.fadd %[[X]], %[[X]]
    // CHECK: %[[HIDDEN:.*]] = llvm.inline_asm "", "=f,0" %[[S]] : (f32) -> f32
    %s = llvm.fadd %x, %x : f32
    // CHECK: llvm.store %[[HIDDEN]]
    llvm.store %s, %p : f32, !llvm.ptr
    // CHECK: %[[N:.*]] = llvm.fneg %[[H]]
    // CHECK: %[[BITS:.*]] = llvm.bitcast %[[N]] : f16 to i16
    // CHECK: %[[ASM:.*]] = llvm.inline_asm "", "=h,0" %[[BITS]] : (i16) -> i16
    // CHECK: %[[BACK:.*]] = llvm.bitcast %[[ASM]] : i16 to f16
    %n = llvm.fneg %h : f16
    // CHECK: llvm.store %[[BACK]]
    llvm.store %n, %p : f16, !llvm.ptr
    // CHECK: %[[C:.*]] = llvm.mlir.constant(1.500000e+00 : f32) : f32
    // CHECK: %[[WIDE:.*]] = llvm.inline_asm "", "=f,0" %[[C]]
    // CHECK: llvm.fptrunc %[[WIDE]] : f32 to bf16
    %c = llvm.mlir.constant(1.5 : bf16) : bf16
    llvm.store %c, %p : bf16, !llvm.ptr
    // CHECK: %[[J:.*]] = llvm.add
    // CHECK-NEXT: llvm.store %[[J]]
    %j = llvm.add %i, %i : i32
    llvm.store %j, %p : i32, !llvm.ptr
    llvm.return
  }
}
