// RUN: fusion-opt %s --fusion-convert-tile-to-nvvm --canonicalize --split-input-file | FileCheck %s
// RUN: fusion-opt %s --fusion-convert-tile-to-nvvm=plain-factors --split-input-file | FileCheck %s --check-prefix=PLAIN

// Integers of 8 bits become pairs of bf16: 16 bytes are 8 pairs, of bytes two
// apart in a word, of which two need a shift. Nothing is converted singly.

#c = #fusion_tile.layout<"{reg=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,8]}">
#a = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4],[0,8],[8,0]], lane=[[0,16],[0,32],[1,0],[2,0],[4,0]], warp=[], shape=[16,64]}">
#b = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4],[0,8]], lane=[[0,16],[0,32],[1,0],[2,0],[4,0]], warp=[], shape=[8,64]}">

// PLAIN-LABEL: llvm.func @bytes
// PLAIN-NOT: lop3
// PLAIN: arith.sitofp
// CHECK-LABEL: llvm.func @bytes
// CHECK-DAG: %[[MASK:.*]] = arith.constant 8323199 : i32
// CHECK-DAG: %[[TOP:.*]] = arith.constant 8388736 : i32
// CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK: %[[ROW:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} {{.*}}-> vector<16xi8>
// CHECK-NOT: arith.sitofp
// CHECK: %[[WORDS:.*]] = llvm.bitcast %[[ROW]] : vector<16xi8> to vector<4xi32>
// CHECK: %[[WORD:.*]] = llvm.extractelement %[[WORDS]][%{{.*}} : i32]
// CHECK: %[[LOW:.*]] = llvm.inline_asm {{.*}}"lop3.b32 {{.*}} %[[WORD]], %[[MASK]],
// CHECK: %[[L:.*]] = llvm.bitcast %[[LOW]] : i32 to vector<2xbf16>
// CHECK: %[[HIGH:.*]] = llvm.inline_asm {{.*}}"lop3.b32 {{.*}} %[[WORD]], %[[TOP]],
// CHECK: %[[H:.*]] = llvm.bitcast %[[HIGH]] : i32 to vector<2xbf16>
// CHECK: arith.addf %[[L]], %[[H]] : vector<2xbf16>
// CHECK: arith.shrui %{{.*}}, %[[EIGHT]] : i32
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"
// CHECK-NOT: arith.sitofp
fusion_tile.program @bytes(%p: !llvm.ptr<1>, %w: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %v = fusion_tile.view %w[] : !llvm.ptr<1> to !fusion_tile.view<16x64xi8>
  %u = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x64xbf16>
  %r = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<16x8xf32>
  %x = fusion_tile.load %v[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<16x64xi8> -> tensor<16x64xi8, #a>
  %f = arith.sitofp %x : tensor<16x64xi8, #a> to tensor<16x64xbf16, #a>
  %y = fusion_tile.load %u[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<8x64xbf16> -> tensor<8x64xbf16, #b>
  %z = fusion_tile.splat %zero : f32 -> tensor<16x8xf32, #c>
  %d = fusion_tile.dot %f, %y, %z : tensor<16x64xbf16, #a>, tensor<8x64xbf16, #b> -> tensor<16x8xf32, #c>
  fusion_tile.store %d, %r[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x8xf32, #c>, !fusion_tile.view<16x8xf32>
  fusion_tile.return
}

// -----

// Two numbers of 4 bits in a byte: pairs are four numbers apart, so that one
// shift places both. The factor, rounded once as in f32, multiplies both.

#c = #fusion_tile.layout<"{reg=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,8]}">
#s = #fusion_tile.layout<"{reg=[[0,1],[0,2],[8,0]], lane=[[0,4],[0,8],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">
#a = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4],[8,0]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[], shape=[16,32]}">
#b = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[], shape=[8,32]}">

// CHECK-LABEL: llvm.func @nibbles
// CHECK-DAG: %[[MASK:.*]] = arith.constant 983055 : i32
// CHECK-DAG: %[[BASE:.*]] = arith.constant 1124614920 : i32
// CHECK-DAG: %[[OFF:.*]] = arith.constant dense<-1.360000e+02> : vector<2xbf16>
// CHECK-NOT: arith.sitofp
// CHECK: %[[ROW:.*]] = llvm.load %{{.*}} -> vector<4xi8>
// CHECK: %[[WORD:.*]] = llvm.bitcast %[[ROW]] : vector<4xi8> to i32
// CHECK: %[[BITS:.*]] = llvm.inline_asm {{.*}}"lop3.b32 {{.*}} %[[WORD]], %[[MASK]], %[[BASE]]
// CHECK: %[[PAIR:.*]] = llvm.bitcast %[[BITS]] : i32 to vector<2xbf16>
// CHECK: %[[NUMBERS:.*]] = arith.addf %[[PAIR]], %[[OFF]]
// CHECK: arith.mulf %[[NUMBERS]], %{{.*}} : vector<2xbf16>
// CHECK-NOT: arith.truncf
// CHECK-NOT: arith.sitofp
fusion_tile.program @nibbles(%p: !llvm.ptr<1>, %w: !llvm.ptr<1>, %o: !llvm.ptr<1>, %factor: bf16) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %four = arith.constant 4 : i32
  %end = arith.constant 28 : i32
  %v = fusion_tile.view %w[] : !llvm.ptr<1> to !fusion_tile.view<16x16xi8>
  %u = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x32xbf16>
  %r = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<16x8xf32>
  %stored = fusion_tile.load %v[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<16x16xi8> -> tensor<16x16xi8, #s>
  %x = fusion_tile.repeat %stored along 1 : tensor<16x16xi8, #s> -> tensor<16x32xi8, #a>
  %wide = arith.extui %x : tensor<16x32xi8, #a> to tensor<16x32xi32, #a>
  %i = fusion_tile.index affine_map<(i, j) -> (j mod 2)> () : tensor<16x32xindex, #a>
  %odd = arith.index_cast %i : tensor<16x32xindex, #a> to tensor<16x32xi32, #a>
  %fours = fusion_tile.splat %four : i32 -> tensor<16x32xi32, #a>
  %ends = fusion_tile.splat %end : i32 -> tensor<16x32xi32, #a>
  %t0 = arith.muli %odd, %fours : tensor<16x32xi32, #a>
  %t1 = arith.subi %ends, %t0 : tensor<16x32xi32, #a>
  %t2 = arith.shli %wide, %t1 : tensor<16x32xi32, #a>
  %t3 = arith.shrsi %t2, %ends : tensor<16x32xi32, #a>
  %t4 = arith.sitofp %t3 : tensor<16x32xi32, #a> to tensor<16x32xf32, #a>
  %factors = fusion_tile.splat %factor : bf16 -> tensor<16x32xbf16, #a>
  %t5 = arith.extf %factors : tensor<16x32xbf16, #a> to tensor<16x32xf32, #a>
  %t6 = arith.mulf %t4, %t5 : tensor<16x32xf32, #a>
  %f = arith.truncf %t6 : tensor<16x32xf32, #a> to tensor<16x32xbf16, #a>
  %y = fusion_tile.load %u[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<8x32xbf16> -> tensor<8x32xbf16, #b>
  %z = fusion_tile.splat %zero : f32 -> tensor<16x8xf32, #c>
  %d = fusion_tile.dot %f, %y, %z : tensor<16x32xbf16, #a>, tensor<8x32xbf16, #b> -> tensor<16x8xf32, #c>
  fusion_tile.store %d, %r[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x8xf32, #c>, !fusion_tile.view<16x8xf32>
  fusion_tile.return
}
