// RUN: fusion-opt %s --fusion-convert-tile-to-nvvm --split-input-file | FileCheck %s

// One 16-byte load for four elements; constants of registers stay in the
// address's last step; what is past the end is zero and not touched.

#l = #fusion_tile.layout<"{reg=[[1],[2],[128]], lane=[[4],[8],[16],[32],[64]], warp=[], shape=[256]}">

// CHECK: llvm.mlir.global external @fusion_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: llvm.func @copy(%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64})
// CHECK-SAME: fusion_tile.shared_bytes = 0
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>
// CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: %[[P:.*]] = llvm.getelementptr %arg0[%{{.*}}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
// CHECK: llvm.inline_asm asm_dialect = att "mov.b32 $0, 0; mov.b32 $1, 0; mov.b32 $2, 0; mov.b32 $3, 0; @$5 ld.global.nc.v4.b32 {$0, $1, $2, $3}, [$4+$6];", "=&r,=&r,=&r,=&r,l,b,n" %[[P]], %[[IN]], %{{.*}}
// CHECK: scf.if
// CHECK:   llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
fusion_tile.program @copy(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<200xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<200xf32>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [true] : !fusion_tile.view<200xf32> -> tensor<256xf32, #l>
  fusion_tile.store %t, %y[affine_map<(a) -> (a)>] () checked [true] : tensor<256xf32, #l>, !fusion_tile.view<200xf32>
  fusion_tile.return
}

// -----

// A reduction in a warp: registers first, then five butterflies; one thread
// writes the result.

#l = #fusion_tile.layout<"{reg=[[32]], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[64]}">

// CHECK-LABEL: llvm.func @sum
// CHECK: arith.addf
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: scf.if
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
fusion_tile.program @sum(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 64 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<1xf32>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<64xf32> -> tensor<64xf32, #l>
  %s = fusion_tile.reduce %t along 0 : tensor<64xf32, #l> -> f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %s, %y[affine_map<() -> (0)>] () checked [false] : f32, !fusion_tile.view<1xf32>
  fusion_tile.return
}

// -----

// One bit is a byte in memory.

#l = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">

// CHECK-LABEL: llvm.func @bits
// CHECK: %[[B:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i8
// CHECK: arith.cmpi ne, %[[B]]
// CHECK: %[[E:.*]] = arith.extui %{{.*}} : i1 to i8
// CHECK: llvm.store %[[E]]
fusion_tile.program @bits(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<32xi1>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<32xi1>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<32xi1> -> tensor<32xi1, #l>
  fusion_tile.store %t, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<32xi1, #l>, !fusion_tile.view<32xi1>
  fusion_tile.return
}

// -----

// The 16 bytes at the end of memory are moved at once where all of them are in
// bounds, and element by element where a part is.

// CHECK-LABEL: llvm.func @divided
// CHECK: %[[FIRST:.*]] = arith.cmpi ult
// CHECK: %[[LAST:.*]] = arith.cmpi ult
// CHECK: %[[PART:.*]] = arith.xori %[[FIRST]], %[[LAST]] : i1
// CHECK: %[[WHOLE:.*]] = arith.andi %[[FIRST]], %[[LAST]] : i1
// CHECK: ld.global.nc.v4.b32 {{.*}} %{{.*}}, %[[WHOLE]],
// CHECK: %{{.*}}:4 = scf.if %[[PART]]
// CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr<1> -> f16
// CHECK: %[[PART:.*]] = arith.xori
// CHECK: %[[WHOLE:.*]] = arith.andi
// CHECK: scf.if %[[PART]]
// CHECK-COUNT-8: llvm.store %{{.*}} : f16, !llvm.ptr<1>
// CHECK: scf.if %[[WHOLE]]
// CHECK-NEXT: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
fusion_tile.program @divided(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<251xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<251xf16>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [true] : !fusion_tile.view<251xf16> -> tensor<256xf16, #fusion_tile.layout<"{reg=[[1],[2],[4]], lane=[[8],[16],[32],[64],[128]], warp=[], shape=[256]}">>
  fusion_tile.store %t, %y[affine_map<(a) -> (a)>] () checked [true] : tensor<256xf16, #fusion_tile.layout<"{reg=[[1],[2],[4]], lane=[[8],[16],[32],[64],[128]], warp=[], shape=[256]}">>, !fusion_tile.view<251xf16>
  fusion_tile.return
}

// -----

// Registers past what a crop keeps are zero; those of which a lane has an element
// that is kept are not.

#rows = #fusion_tile.layout<"{reg=[[0,1],[0,2]], lane=[[1,0],[2,0],[4,0],[8,0],[16,0]], warp=[], shape=[32,4]}">
#apart = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64],[128,256]]}">

// CHECK-LABEL: llvm.func @cropped(
// CHECK-SAME: %[[X:.*]]: f32)
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-COUNT-3: llvm.store %[[X]], {{.*}} : f32, !llvm.ptr<3>
// CHECK: llvm.store %[[ZERO]], {{.*}} : f32, !llvm.ptr<3>
// CHECK-LABEL: llvm.func @cropped_lanes(
// CHECK-SAME: %[[X:.*]]: f32)
// CHECK-COUNT-4: llvm.store %[[X]], {{.*}} : f32, !llvm.ptr<3>
fusion_tile.program @cropped(%x: f32) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %t = fusion_tile.splat %x : f32 -> tensor<32x4xf32, #rows>
  %c = fusion_tile.crop %t to [32, 3] : tensor<32x4xf32, #rows>
  %b = fusion_tile.alloc at 0 : <32x4xf32, #apart>
  fusion_tile.local_store %c, %b : tensor<32x4xf32, #rows>, <32x4xf32, #apart>
  fusion_tile.return
}
fusion_tile.program @cropped_lanes(%x: f32) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %t = fusion_tile.splat %x : f32 -> tensor<32x4xf32, #rows>
  %c = fusion_tile.crop %t to [31, 4] : tensor<32x4xf32, #rows>
  %b = fusion_tile.alloc at 0 : <32x4xf32, #apart>
  fusion_tile.local_store %c, %b : tensor<32x4xf32, #rows>, <32x4xf32, #apart>
  fusion_tile.return
}
