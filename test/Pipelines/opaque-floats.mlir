// RUN: fusion-opt %s --pass-pipeline='builtin.module(gpu.module(fusion-ptx-opaque-floats))' | FileCheck %s

gpu.module @kernels {
  // Floats and their bits go through empty assembly; other integers and pointers
  // do not.

  // CHECK-LABEL: llvm.func @results
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr, %[[X:.*]]: f32, %[[I:.*]]: i32)
  llvm.func @results(%p: !llvm.ptr, %x: f32, %i: i32) {
    // CHECK: %[[S:.*]] = llvm.fadd %[[X]], %[[X]]
    // CHECK: %[[HIDDEN:.*]] = llvm.inline_asm "", "=f,0" %[[S]] : (f32) -> f32
    %s = llvm.fadd %x, %x : f32
    // CHECK: llvm.store %[[HIDDEN]]
    llvm.store %s, %p : f32, !llvm.ptr
    // CHECK: %[[J:.*]] = llvm.add
    // CHECK-NEXT: llvm.store %[[J]]
    %j = llvm.add %i, %i : i32
    llvm.store %j, %p : i32, !llvm.ptr
    // CHECK: %[[B:.*]] = llvm.bitcast %{{.*}} : f32 to i32
    // CHECK: llvm.inline_asm "", "=r,0" %[[B]] : (i32) -> i32
    %b = llvm.bitcast %x : f32 to i32
    llvm.store %b, %p : i32, !llvm.ptr
    // CHECK: %[[F:.*]] = llvm.bitcast %{{.*}} : i32 to f32
    // CHECK: llvm.inline_asm "", "=f,0" %[[F]] : (f32) -> f32
    %f = llvm.bitcast %i : i32 to f32
    llvm.store %f, %p : f32, !llvm.ptr
    // CHECK: %[[H:.*]] = llvm.load %{{.*}} -> f16
    // CHECK: %[[BITS:.*]] = llvm.bitcast %[[H]] : f16 to i16
    // CHECK: %[[ASM:.*]] = llvm.inline_asm "", "=h,0" %[[BITS]] : (i16) -> i16
    // CHECK: %[[BACK:.*]] = llvm.bitcast %[[ASM]] : i16 to f16
    // CHECK: llvm.store %[[BACK]]
    %h = llvm.load %p : !llvm.ptr -> f16
    llvm.store %h, %p : f16, !llvm.ptr
    llvm.return
  }

  // Literals are written as floats, those of 16 bits as the rounding of one of
  // 32; a vector of them has one each.

  // CHECK-LABEL: llvm.func @literals
  llvm.func @literals(%p: !llvm.ptr) {
    // CHECK: llvm.inline_asm "mov.f32 $0, 0f3F800000;", "=f"
    %one = llvm.mlir.constant(1.0 : f32) : f32
    llvm.store %one, %p : f32, !llvm.ptr
    // CHECK: llvm.inline_asm "mov.f64 $0, 0dBFF8000000000000;", "=d"
    %double = llvm.mlir.constant(-1.5 : f64) : f64
    llvm.store %double, %p : f64, !llvm.ptr
    // CHECK: %[[WIDE:.*]] = llvm.inline_asm "mov.f32 $0, 0f3FC00000;", "=f"
    // CHECK: llvm.fptrunc %[[WIDE]] : f32 to f16
    %half = llvm.mlir.constant(1.5 : f16) : f16
    llvm.store %half, %p : f16, !llvm.ptr
    // CHECK: %[[TWO:.*]] = llvm.inline_asm "mov.f32 $0, 0f40000000;", "=f"
    // CHECK: %[[CUT:.*]] = llvm.inline_asm "cvt.rn.bf16.f32 $0, $1;", "=h,f" %[[TWO]]
    // CHECK: %[[E:.*]] = llvm.bitcast %[[CUT]] : i16 to bf16
    // CHECK: llvm.insertelement %[[E]]
    // CHECK: llvm.inline_asm "mov.f32 $0, 0f40800000;"
    %pair = llvm.mlir.constant(dense<[2.0, 4.0]> : vector<2xbf16>) : vector<2xbf16>
    llvm.store %pair, %p : vector<2xbf16>, !llvm.ptr
    llvm.return
  }

  // Numbers of 16 bits are computed with in f32: LLVM writes a sum of bf16 as
  // fma with the bits of 1.0, and its conversion as a shift, on some chips.

  // CHECK-LABEL: llvm.func @narrow
  // CHECK-SAME: (%{{.*}}, %[[H:.*]]: f16, %[[B:.*]]: bf16)
  llvm.func @narrow(%p: !llvm.ptr, %h: f16, %b: bf16) {
    // CHECK: %[[BB:.*]] = llvm.bitcast %[[B]] : bf16 to i16
    // CHECK: %[[L:.*]] = llvm.inline_asm "cvt.f32.bf16 $0, $1;", "=f,h" %[[BB]]
    // CHECK: %[[R:.*]] = llvm.inline_asm "cvt.f32.bf16 $0, $1;"
    // CHECK: %[[S:.*]] = llvm.fadd %[[L]], %[[R]] {fastmathFlags = #llvm.fastmath<nnan>} : f32
    // CHECK: %[[HIDDEN:.*]] = llvm.inline_asm "", "=f,0" %[[S]]
    // CHECK: llvm.inline_asm "cvt.rn.bf16.f32 $0, $1;", "=h,f" %[[HIDDEN]]
    %s = llvm.fadd %b, %b {fastmathFlags = #llvm.fastmath<nnan>} : bf16
    llvm.store %s, %p : bf16, !llvm.ptr
    // CHECK: llvm.fpext %[[H]] : f16 to f32
    // CHECK: llvm.fcmp "olt" %{{.*}}, %{{.*}} : f32
    %c = llvm.fcmp "olt" %h, %h : f16
    llvm.store %c, %p : i1, !llvm.ptr
    // CHECK: llvm.fptrunc %{{.*}} : f64 to f32
    // CHECK: llvm.inline_asm "cvt.rn.bf16.f32 $0, $1;"
    %d = llvm.load %p : !llvm.ptr -> f64
    %cut = llvm.fptrunc %d : f64 to bf16
    llvm.store %cut, %p : bf16, !llvm.ptr
    llvm.return
  }

  // Conversions of integers, which LLVM may know, and extremes of f64, which it
  // makes of comparisons, are instructions.

  // CHECK-LABEL: llvm.func @instructions
  // CHECK-SAME: (%{{.*}}, %[[D:.*]]: f64, %[[I:.*]]: i8, %[[L:.*]]: i64)
  llvm.func @instructions(%p: !llvm.ptr, %d: f64, %i: i8, %l: i64) {
    // CHECK: llvm.inline_asm "max.f64 $0, $1, $2;", "=d,d,d" %[[D]], %[[D]]
    %m = llvm.intr.maximum(%d, %d) : (f64, f64) -> f64
    llvm.store %m, %p : f64, !llvm.ptr
    // CHECK: llvm.inline_asm "min.f64 $0, $1, $2;"
    %n = llvm.intr.minnum(%d, %d) : (f64, f64) -> f64
    llvm.store %n, %p : f64, !llvm.ptr
    // CHECK: %[[W:.*]] = llvm.sext %[[I]] : i8 to i32
    // CHECK: llvm.inline_asm "cvt.rn.f32.s32 $0, $1;", "=f,r" %[[W]]
    %s = llvm.sitofp %i : i8 to f32
    llvm.store %s, %p : f32, !llvm.ptr
    // CHECK: llvm.inline_asm "cvt.rn.f64.u64 $0, $1;", "=d,l" %[[L]]
    %u = llvm.uitofp %l : i64 to f64
    llvm.store %u, %p : f64, !llvm.ptr
    // CHECK: %[[C:.*]] = llvm.inline_asm "cvt.rzi.s32.f64 $0, $1;", "=r,d" %[[D]]
    // CHECK: llvm.trunc %[[C]] : i32 to i8
    %c = llvm.fptosi %d : f64 to i8
    llvm.store %c, %p : i8, !llvm.ptr
    llvm.return
  }

  // Intrinsics are such operations too, but for those of the chip.

  // CHECK-LABEL: llvm.func @intrinsics
  llvm.func @intrinsics(%p: !llvm.ptr, %b: bf16, %d: f64) {
    // CHECK: llvm.call_intrinsic "llvm.copysign"({{.*}}) : (f32, f32) -> f32
    // CHECK: llvm.inline_asm "cvt.rn.bf16.f32 $0, $1;"
    %s = llvm.call_intrinsic "llvm.copysign"(%b, %b) : (bf16, bf16) -> bf16
    llvm.store %s, %p : bf16, !llvm.ptr
    // CHECK: llvm.inline_asm "max.f64 $0, $1, $2;"
    %m = llvm.call_intrinsic "llvm.maxnum"(%d, %d) : (f64, f64) -> f64
    llvm.store %m, %p : f64, !llvm.ptr
    // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.bf16"({{.*}}) : (bf16) -> bf16
    %e = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.bf16"(%b) : (bf16) -> bf16
    llvm.store %e, %p : bf16, !llvm.ptr
    llvm.return
  }
}
