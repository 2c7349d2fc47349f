// RUN: fusion-opt %s --fusion-target-emit-ptx="print line-info=true" \
// RUN:   -o /dev/null | FileCheck %s
// RUN: fusion-opt %s --fusion-target-emit-ptx="print line-info=false" \
// RUN:   -o /dev/null | FileCheck %s --check-prefix=NONE

// NONE-NOT: .loc
// NONE-NOT: .file
// NONE-NOT: .section

// The target line stays free of "debug", with which ptxas would not optimise.
// CHECK: .target sm_90a{{$}}
// CHECK-LABEL: .entry k(
// The innermost place counts, and of several the first.
// CHECK: .loc [[MODEL:[0-9]+]] 12 7
// CHECK-NEXT: mul.lo.s32
// CHECK: .loc [[LAYER:[0-9]+]] 3 1
// CHECK-NEXT: xor.b32
// CHECK: .loc [[MODEL]] 20 4
// CHECK-NEXT: st.global
// Folders are not named: the text is the same wherever it was compiled.
// CHECK-NOT: .section
// CHECK-DAG: .file [[MODEL]] "model.mlir"
// CHECK-DAG: .file [[LAYER]] "layer.mlir"
gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<1>, %x: i32) attributes {nvvm.kernel} {
    %a = llvm.mul %x, %x : i32 loc(fused["/home/me/model.mlir":12:7, "/home/me/model.mlir":13:1])
    %b = llvm.xor %a, %x : i32 loc(callsite("layer.mlir":3:1 at "model.mlir":15:2))
    llvm.store %b, %p : i32, !llvm.ptr<1> loc("named"("model.mlir":20:4))
    llvm.return loc(unknown)
  } loc("/home/me/model.mlir":10:1)
}
