// REQUIRES: ptxas
// RUN: fusion-opt %s --fusion-target-emit-ptx="print assemble" -o /dev/null \
// RUN:   | FileCheck %s

// ptxas accepts the text, and says what the kernel costs.
// CHECK: // resources k: registers {{[1-9][0-9]*}}, stack 0, spill stores 0, spill loads 0, shared 512, barriers 1
gpu.module @m {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 : i64}
      : !llvm.array<128 x f32>
  llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %i = nvvm.read.ptx.sreg.tid.x : i32
    %last = llvm.mlir.constant(127 : i32) : i32
    %j = llvm.sub %last, %i : i32
    %x = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %s = llvm.getelementptr %tile[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %t = llvm.getelementptr %tile[%j] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %v = llvm.load %x : !llvm.ptr<1> -> f32
    llvm.store %v, %s : f32, !llvm.ptr<3>
    nvvm.barrier0
    %w = llvm.load %t : !llvm.ptr<3> -> f32
    llvm.store %w, %x : f32, !llvm.ptr<1>
    llvm.return
  }
}
