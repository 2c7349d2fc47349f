// REQUIRES: ptxas
// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion-expand-math,gpu.module(convert-scf-to-cf),convert-cf-to-llvm,gpu.module(convert-gpu-to-nvvm),convert-vector-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts,gpu.module(canonicalize,cse,fusion-target-emit-ptx{print assemble line-info=false}))' -o /dev/null | FileCheck %s

// Every function becomes PTX that ptxas takes, in registers alone.
// CHECK-NOT: __nv
// CHECK-NOT: .local
// CHECK: // resources {{.*}}spill stores 0, spill loads 0
// CHECK-NOT: spill stores {{[1-9]}}
gpu.module @functions {
  gpu.func @unary_f64(%p: !llvm.ptr<1>, %x0: f64) kernel {
    %x1 = math.exp %x0 : f64
    %x2 = math.exp2 %x1 : f64
    %x3 = math.expm1 %x2 : f64
    %x4 = math.log %x3 : f64
    %x5 = math.log2 %x4 : f64
    %x6 = math.log10 %x5 : f64
    %x7 = math.log1p %x6 : f64
    %x8 = math.sinh %x7 : f64
    %x9 = math.cosh %x8 : f64
    %x10 = math.tanh %x9 : f64
    %x11 = math.asinh %x10 : f64
    %x12 = math.acosh %x11 : f64
    %x13 = math.atanh %x12 : f64
    %x14 = math.sin %x13 : f64
    %x15 = math.cos %x14 : f64
    %x16 = math.tan %x15 : f64
    %x17 = math.asin %x16 : f64
    %x18 = math.acos %x17 : f64
    %x19 = math.atan %x18 : f64
    %x20 = math.erf %x19 : f64
    %x21 = math.erfc %x20 : f64
    %x22 = math.sqrt %x21 : f64
    %x23 = math.rsqrt %x22 : f64
    %x24 = math.cbrt %x23 : f64
    %x25 = math.absf %x24 : f64
    %x26 = math.ceil %x25 : f64
    %x27 = math.floor %x26 : f64
    %x28 = math.round %x27 : f64
    %x29 = math.roundeven %x28 : f64
    %x30 = math.trunc %x29 : f64
    llvm.store %x30, %p : f64, !llvm.ptr<1>
    gpu.return
  }
  gpu.func @binary_f64(%p: !llvm.ptr<1>, %x: f64, %y: f64, %n: i32) kernel {
    %a = math.powf %x, %y : f64
    %b = math.atan2 %a, %y : f64
    %c = arith.remf %b, %y : f64
    %d = math.copysign %c, %x : f64
    %e = math.fma %d, %x, %y : f64
    %f = math.fpowi %e, %n : f64, i32
    %g = arith.maximumf %f, %y : f64
    %h = arith.minnumf %g, %x : f64
    %i = math.clampf %h to [%x, %y] : f64
    llvm.store %i, %p : f64, !llvm.ptr<1>
    gpu.return
  }
  gpu.func @unary_f32(%p: !llvm.ptr<1>, %x0: f32) kernel {
    %x1 = math.exp %x0 : f32
    %x2 = math.exp2 %x1 : f32
    %x3 = math.expm1 %x2 : f32
    %x4 = math.log %x3 : f32
    %x5 = math.log2 %x4 : f32
    %x6 = math.log10 %x5 : f32
    %x7 = math.log1p %x6 : f32
    %x8 = math.sinh %x7 : f32
    %x9 = math.cosh %x8 : f32
    %x10 = math.tanh %x9 : f32
    %x11 = math.asinh %x10 : f32
    %x12 = math.acosh %x11 : f32
    %x13 = math.atanh %x12 : f32
    %x14 = math.sin %x13 : f32
    %x15 = math.cos %x14 : f32
    %x16 = math.tan %x15 : f32
    %x17 = math.asin %x16 : f32
    %x18 = math.acos %x17 : f32
    %x19 = math.atan %x18 : f32
    %x20 = math.erf %x19 : f32
    %x21 = math.erfc %x20 : f32
    %x22 = math.sqrt %x21 : f32
    %x23 = math.rsqrt %x22 : f32
    %x24 = math.cbrt %x23 : f32
    %x25 = math.absf %x24 : f32
    %x26 = math.ceil %x25 : f32
    %x27 = math.floor %x26 : f32
    %x28 = math.round %x27 : f32
    %x29 = math.roundeven %x28 : f32
    %x30 = math.trunc %x29 : f32
    llvm.store %x30, %p : f32, !llvm.ptr<1>
    gpu.return
  }
  gpu.func @binary_f32(%p: !llvm.ptr<1>, %x: f32, %y: f32, %n: i32) kernel {
    %a = math.powf %x, %y : f32
    %b = math.atan2 %a, %y : f32
    %c = arith.remf %b, %y : f32
    %d = math.copysign %c, %x : f32
    %e = math.fma %d, %x, %y : f32
    %f = math.fpowi %e, %n : f32, i32
    %g = arith.maximumf %f, %y : f32
    %h = arith.minnumf %g, %x : f32
    %i = math.clampf %h to [%x, %y] : f32
    llvm.store %i, %p : f32, !llvm.ptr<1>
    gpu.return
  }
  gpu.func @unary_bf16(%p: !llvm.ptr<1>, %x0: bf16) kernel {
    %x1 = math.exp %x0 : bf16
    %x2 = math.exp2 %x1 : bf16
    %x3 = math.expm1 %x2 : bf16
    %x4 = math.log %x3 : bf16
    %x5 = math.log2 %x4 : bf16
    %x6 = math.log10 %x5 : bf16
    %x7 = math.log1p %x6 : bf16
    %x8 = math.sinh %x7 : bf16
    %x9 = math.cosh %x8 : bf16
    %x10 = math.tanh %x9 : bf16
    %x11 = math.asinh %x10 : bf16
    %x12 = math.acosh %x11 : bf16
    %x13 = math.atanh %x12 : bf16
    %x14 = math.sin %x13 : bf16
    %x15 = math.cos %x14 : bf16
    %x16 = math.tan %x15 : bf16
    %x17 = math.asin %x16 : bf16
    %x18 = math.acos %x17 : bf16
    %x19 = math.atan %x18 : bf16
    %x20 = math.erf %x19 : bf16
    %x21 = math.erfc %x20 : bf16
    %x22 = math.sqrt %x21 : bf16
    %x23 = math.rsqrt %x22 : bf16
    %x24 = math.cbrt %x23 : bf16
    %x25 = math.absf %x24 : bf16
    %x26 = math.ceil %x25 : bf16
    %x27 = math.floor %x26 : bf16
    %x28 = math.round %x27 : bf16
    %x29 = math.roundeven %x28 : bf16
    %x30 = math.trunc %x29 : bf16
    llvm.store %x30, %p : bf16, !llvm.ptr<1>
    gpu.return
  }
  gpu.func @binary_bf16(%p: !llvm.ptr<1>, %x: bf16, %y: bf16, %n: i32) kernel {
    %a = math.powf %x, %y : bf16
    %b = math.atan2 %a, %y : bf16
    %c = arith.remf %b, %y : bf16
    %d = math.copysign %c, %x : bf16
    %e = math.fma %d, %x, %y : bf16
    %f = math.fpowi %e, %n : bf16, i32
    %g = arith.maximumf %f, %y : bf16
    %h = arith.minnumf %g, %x : bf16
    %i = math.clampf %h to [%x, %y] : bf16
    llvm.store %i, %p : bf16, !llvm.ptr<1>
    gpu.return
  }
  gpu.func @vectors(%p: !llvm.ptr<1> {llvm.align = 32 : i64}) kernel {
    %x = llvm.load %p {alignment = 32 : i64} : !llvm.ptr<1> -> vector<8xf32>
    %a = math.sin %x : vector<8xf32>
    %b = math.erf %a : vector<8xf32>
    %c = math.powf %b, %x : vector<8xf32>
    %d = arith.truncf %c : vector<8xf32> to vector<8xf8E4M3FN>
    %e = arith.extf %d : vector<8xf8E4M3FN> to vector<8xf32>
    llvm.store %e, %p {alignment = 32 : i64} : vector<8xf32>, !llvm.ptr<1>
    gpu.return
  }
  gpu.func @integers(%p: !llvm.ptr<1>, %x: i32, %y: i32) kernel {
    %a = math.ipowi %x, %y : i32
    %b = math.ctlz %a : i32
    %c = math.cttz %b : i32
    %d = math.ctpop %c : i32
    %e = math.absi %d : i32
    llvm.store %e, %p : i32, !llvm.ptr<1>
    gpu.return
  }
}
