// Lists of flags: each warp counts all of them, the first one writes the list.

// RUN: fusion-opt %s --split-input-file --fusion-convert-tile-to-nvvm | FileCheck %s

// A lane has 64 of 2048 bytes: four accesses of 16, two words of bits.
// CHECK-LABEL: llvm.func @list
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-2: llvm.intr.ctpop
// CHECK-NOT: llvm.intr.ctpop
// CHECK-COUNT-5: nvvm.shfl.sync{{ *}}up
// CHECK: nvvm.shfl.sync{{ *}}idx
// CHECK: scf.if
// CHECK: scf.while
// CHECK: llvm.intr.cttz
// CHECK: llvm.store %{{.*}} : i32, !llvm.ptr<3>
// CHECK: scf.while
// CHECK-NOT: scf.while
// An element is read by all threads.
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
!flags = !fusion_tile.buffer<2048xi8, #fusion_tile.shared_layout<"{bytes=1, align=16, offsets=[[1,2,4,8,16,32,64,128,256,512,1024]]}">>
!list = !fusion_tile.buffer<2048xi32, #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64,128,256,512,1024,2048,4096]]}">>
fusion_tile.program @list(%r: !llvm.ptr<1>) attributes {num_warps = 8 : i64, index_bits = 32 : i64, shared_bytes = 10240 : i64} {
  %x = fusion_tile.view %r[] : !llvm.ptr<1> to !fusion_tile.view<16xi32>
  %flags = fusion_tile.alloc at 0 : !flags
  %list = fusion_tile.alloc at 2048 : !list
  %count = fusion_tile.list_flags %flags into %list : !flags, !list
  fusion_tile.barrier
  %c1 = arith.constant 1 : index
  %last = arith.subi %count, %c1 : index
  %element = fusion_tile.local_element %list[%last] : !list
  %i = gpu.block_id x
  fusion_tile.store %element, %x[affine_map<()[s0] -> (s0)>] (%i) checked [true] : i32, !fusion_tile.view<16xi32>
  fusion_tile.return
}

// -----

// Of 128 flags a lane has four: one word.
// CHECK-LABEL: llvm.func @few
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
// CHECK-NOT: llvm.load
// CHECK: arith.muli %{{.*}}, %c270549120_i32
// CHECK: arith.shrui %{{.*}}, %c28_i32
// CHECK: llvm.intr.ctpop
// CHECK: llvm.store
!flags = !fusion_tile.buffer<128xi8, #fusion_tile.shared_layout<"{bytes=1, align=16, offsets=[[1,2,4,8,16,32,64]]}">>
!list = !fusion_tile.buffer<128xi32, #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64,128,256]]}">>
fusion_tile.program @few(%r: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, shared_bytes = 1024 : i64} {
  %flags = fusion_tile.alloc at 0 : !flags
  %list = fusion_tile.alloc at 128 : !list
  %count = fusion_tile.list_flags %flags into %list : !flags, !list
  fusion_tile.return
}
