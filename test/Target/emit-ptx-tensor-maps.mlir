// RUN: fusion-opt %s --fusion-ptx-split-kernels -o %t
// RUN: FileCheck %s --check-prefix=ATTR < %t
// RUN: fusion-opt %t --fusion-target-emit-ptx="chip=sm_90a print line-info=false" \
// RUN:   -o /dev/null | FileCheck %s

// A tensor map is a parameter by value that the kernel uses in place: no copy
// of it goes to local memory. What launches need to know stays on the kernel.
// ATTR: llvm.func @prefetch
// ATTR-SAME: llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant
// ATTR-SAME: fusion_tile.cluster = 2 : i64
// ATTR-SAME: fusion_tile.tensor_maps = [{base = 0 : i64

// CHECK: .visible .entry prefetch(
// CHECK-NEXT: .param .u64 .ptr .global .align 1 prefetch_param_0,
// CHECK-NEXT: .param .align 64 .b8 prefetch_param_1[128],
// CHECK-NEXT: .param .align 64 .b8 prefetch_param_2[128]
// CHECK-NEXT: )
// CHECK-NEXT: .reqntid 160
// CHECK-NOT: .local
// CHECK-DAG: mov.b64 [[MAP:%rd[0-9]+]], prefetch_param_2;
// CHECK-DAG: cvta.param.u64 [[GENERIC:%rd[0-9]+]], [[MAP]];
// CHECK: cp.async.bulk.prefetch.tensor.2d.L2.global.tile {{\[}}[[GENERIC]],
gpu.module @kernels {
  llvm.func @prefetch(
      %x: !llvm.ptr<1>,
      %a: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>,
                     llvm.align = 64 : i64, nvvm.grid_constant},
      %b: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>,
                     llvm.align = 64 : i64, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 160, 1, 1>,
                  fusion_tile.cluster = 2 : i64,
                  fusion_tile.tensor_maps = [{parameter = 0 : i64, base = 0 : i64}]} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    nvvm.cp.async.bulk.tensor.prefetch %b, box[%zero, %zero] : !llvm.ptr
    llvm.return
  }
}
