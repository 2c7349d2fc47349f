// RUN: fusion-opt %s --fusion-convert-tile-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s
// RUN: fusion-opt %s --fusion-convert-tile-to-nvvm=plain-factors --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=PLAIN

// One instruction: A in the order of the PTX ISA, two elements a register.

#c = #fusion_tile.layout<"{reg=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,8]}">
#a = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">
#b = #fusion_tile.layout<"{reg=[[0,1],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[8,16]}">

// CHECK-LABEL: llvm.func @bf16
// CHECK-DAG: %[[X:.*]] = arith.constant 1.0
// CHECK-DAG: %[[Y:.*]] = arith.constant 2.0
// CHECK-COUNT-6: llvm.bitcast %{{.*}} : vector<2xbf16> to i32
// CHECK: %[[D:.*]] = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"({{.*}}) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK: llvm.extractvalue %[[D]][0]
// CHECK: llvm.extractvalue %[[D]][3]
// CHECK-NOT: math.fma
fusion_tile.program @bf16(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %one = arith.constant 1.0 : bf16
  %two = arith.constant 2.0 : bf16
  %zero = arith.constant 0.0 : f32
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x8xf32>
  %x = fusion_tile.splat %one : bf16 -> tensor<16x16xbf16, #a>
  %y = fusion_tile.splat %two : bf16 -> tensor<8x16xbf16, #b>
  %z = fusion_tile.splat %zero : f32 -> tensor<16x8xf32, #c>
  %d = fusion_tile.dot %x, %y, %z : tensor<16x16xbf16, #a>, tensor<8x16xbf16, #b> -> tensor<16x8xf32, #c>
  fusion_tile.store %d, %v[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x8xf32, #c>, !fusion_tile.view<16x8xf32>
  fusion_tile.return
}

// -----

// The transposed product: b has the instruction's rows. TF32 is rounded to.

#c = #fusion_tile.layout<"{reg=[[1,0],[0,8]], lane=[[2,0],[4,0],[0,1],[0,2],[0,4]], warp=[], shape=[8,16]}">
#a = #fusion_tile.layout<"{reg=[[0,4]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[], shape=[8,8]}">
#b = #fusion_tile.layout<"{reg=[[8,0],[0,4]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[], shape=[16,8]}">

// CHECK-LABEL: llvm.func @swapped
// CHECK-DAG: %[[X:.*]] = arith.constant 1.0
// CHECK-DAG: %[[Y:.*]] = arith.constant 2.0
// CHECK: llvm.call_intrinsic "llvm.nvvm.f2tf32.rna"(%[[Y]])
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.tf32"
fusion_tile.program @swapped(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %zero = arith.constant 0.0 : f32
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x16xf32>
  %x = fusion_tile.splat %one : f32 -> tensor<8x8xf32, #a>
  %y = fusion_tile.splat %two : f32 -> tensor<16x8xf32, #b>
  %z = fusion_tile.splat %zero : f32 -> tensor<8x16xf32, #c>
  %d = fusion_tile.dot %x, %y, %z tf32 : tensor<8x8xf32, #a>, tensor<16x8xf32, #b> -> tensor<8x16xf32, #c>
  fusion_tile.store %d, %v[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<8x16xf32, #c>, !fusion_tile.view<8x16xf32>
  fusion_tile.return
}

// -----

// f32 to its own precision: three products of two halves each, the smallest
// first, which an addition of f32 adds to the sums.

#c = #fusion_tile.layout<"{reg=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,8]}">
#a = #fusion_tile.layout<"{reg=[[8,0],[0,4]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[], shape=[16,8]}">
#b = #fusion_tile.layout<"{reg=[[0,4]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[], shape=[8,8]}">

// PLAIN-LABEL: llvm.func @split
// PLAIN: llvm.call_intrinsic "llvm.nvvm.f2tf32.rna"
// PLAIN: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.tf32"
// PLAIN-NOT: llvm.call_intrinsic "llvm.nvvm.mma
// PLAIN: llvm.return
// CHECK-LABEL: llvm.func @split
// CHECK-DAG: %[[X:.*]] = arith.constant 1.0
// CHECK-DAG: %[[SUM:.*]] = arith.constant 3.0
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[HIGH:.*]] = arith.andi
// CHECK-DAG: %[[REST:.*]] = arith.subf %[[X]],
// CHECK: %[[T:.*]] = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.tf32"({{.*}}, %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]])
// CHECK: %[[T0:.*]] = llvm.extractvalue %[[T]][0]
// CHECK: %[[U:.*]] = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.tf32"({{.*}}, %[[T0]],
// CHECK: %[[U0:.*]] = llvm.extractvalue %[[U]][0]
// CHECK: %[[V:.*]] = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.tf32"({{.*}}, %[[U0]],
// CHECK: %[[V0:.*]] = llvm.extractvalue %[[V]][0]
// CHECK: arith.addf %[[SUM]], %[[V0]]
// CHECK-NOT: llvm.call_intrinsic "llvm.nvvm.mma
fusion_tile.program @split(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 2>} {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x8xf32>
  %x = fusion_tile.splat %one : f32 -> tensor<16x8xf32, #a>
  %y = fusion_tile.splat %two : f32 -> tensor<8x8xf32, #b>
  %z = fusion_tile.splat %three : f32 -> tensor<16x8xf32, #c>
  %d = fusion_tile.dot %x, %y, %z : tensor<16x8xf32, #a>, tensor<8x8xf32, #b> -> tensor<16x8xf32, #c>
  fusion_tile.store %d, %v[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x8xf32, #c>, !fusion_tile.view<16x8xf32>
  fusion_tile.return
}

// -----

// In a program of another kind it is arithmetic, whatever the layouts.

#c = #fusion_tile.layout<"{reg=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,8]}">
#a = #fusion_tile.layout<"{reg=[[8,0],[0,4]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[], shape=[16,8]}">
#b = #fusion_tile.layout<"{reg=[[0,4]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[], shape=[8,8]}">

fusion_tile.program @not_split(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %one = arith.constant 1.0 : f32
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x8xf32>
  %x = fusion_tile.splat %one : f32 -> tensor<16x8xf32, #a>
  %y = fusion_tile.splat %one : f32 -> tensor<8x8xf32, #b>
  %z = fusion_tile.splat %one : f32 -> tensor<16x8xf32, #c>
  // expected-error @+1 {{FUS-3304: operands do not hold the rows and columns of the accumulator}}
  %d = fusion_tile.dot %x, %y, %z : tensor<16x8xf32, #a>, tensor<8x8xf32, #b> -> tensor<16x8xf32, #c>
  fusion_tile.store %d, %v[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x8xf32, #c>, !fusion_tile.view<16x8xf32>
  fusion_tile.return
}

// -----

// Operands that permute the depth differently are not those of an instruction.

#c = #fusion_tile.layout<"{reg=[[0,1]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[8,8]}">
#a = #fusion_tile.layout<"{reg=[], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[], shape=[8,4]}">
#b = #fusion_tile.layout<"{reg=[], lane=[[0,2],[0,1],[1,0],[2,0],[4,0]], warp=[], shape=[8,4]}">

fusion_tile.program @mismatch(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %one = arith.constant 1.0 : f64
  %x = fusion_tile.splat %one : f64 -> tensor<8x4xf64, #a>
  %y = fusion_tile.splat %one : f64 -> tensor<8x4xf64, #b>
  %z = fusion_tile.splat %one : f64 -> tensor<8x8xf64, #c>
  // expected-error @+1 {{FUS-3304}}
  %d = fusion_tile.dot %x, %y, %z : tensor<8x4xf64, #a>, tensor<8x4xf64, #b> -> tensor<8x8xf64, #c>
  fusion_tile.return
}
