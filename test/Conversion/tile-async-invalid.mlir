// RUN: fusion-opt %s --fusion-convert-tile-to-nvvm --split-input-file --verify-diagnostics

// A part that other threads hold.

#l = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">
#h = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[0]], warp=[], shape=[16]}">
fusion_tile.program @slice(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %t = fusion_tile.splat %z : f32 -> tensor<32xf32, #l>
  // expected-error @+1 {{FUS-3308}}
  %s = fusion_tile.slice %t [16] : tensor<32xf32, #l> -> tensor<16xf32, #h>
  fusion_tile.return
}

// -----

// Sizes that the launch does not know.

fusion_tile.program @map(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  // expected-error @+1 {{FUS-3309}}
  %m = fusion_tile.tensor_map %x : !fusion_tile.view<64x64xf32> -> !fusion_tile.tensor_map<64x32xf32, b128>
  fusion_tile.return
}

// -----

!b = !fusion_tile.buffer<64x32xf32, #fusion_tile.shared_layout<"{bytes=4, align=1024, offsets=[[144,288,576,1024,2048,4096],[4,8,16,32,64]]}">>
fusion_tile.program @ring(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  // expected-error @+1 {{FUS-3310}}
  %r = fusion_tile.make_ring : !fusion_tile.ring<2, [!b]>
  fusion_tile.return
}

// -----

// The copy engine swizzles by 64 bytes, the buffer wants 128.

!b = !fusion_tile.buffer<64x32xf32, #fusion_tile.shared_layout<"{bytes=4, align=1024, offsets=[[144,288,576,1024,2048,4096],[4,8,16,32,64]]}">>
fusion_tile.program @copy(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, extra_warps = 1 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %x = fusion_tile.view %p[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %m = fusion_tile.tensor_map %x : !fusion_tile.view<64x64xf32> -> !fusion_tile.tensor_map<64x16xf32, b64>
  %r = fusion_tile.make_ring at 0 : !fusion_tile.ring<2, [!b]>
  fusion_tile.specialize consumer {
  } producer {
    %s = fusion_tile.acquire %r[%c0] : !fusion_tile.ring<2, [!b]> -> !b
    // expected-error @+1 {{FUS-3311}}
    fusion_tile.async_load %m[%c0, %c0] into %s signals %r[%c0] dims [0, 1] : !fusion_tile.tensor_map<64x16xf32, b64>, !b, !fusion_tile.ring<2, [!b]>
  }
  fusion_tile.return
}

// -----

// A swizzle that begins in the middle of its pattern.

!b = !fusion_tile.buffer<64x32xf32, #fusion_tile.shared_layout<"{bytes=4, align=1024, offsets=[[144,288,576,1024,2048,4096],[4,8,16,32,64]]}">>
#l = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,16],[32,0]], lane=[[0,4],[0,8],[1,0],[2,0],[4,0]], warp=[[8,0],[16,0]], shape=[64,32]}">
fusion_tile.program @place(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %t = fusion_tile.splat %z : f32 -> tensor<64x32xf32, #l>
  %x = fusion_tile.view %p[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %m = fusion_tile.tensor_map %x : !fusion_tile.view<64x64xf32> -> !fusion_tile.tensor_map<64x32xf32, b128>
  %b = fusion_tile.alloc at 256 : !b
  // expected-error @+1 {{FUS-3311}}
  fusion_tile.async_store %t, %m[%c0, %c0] through %b dims [0, 1] : tensor<64x32xf32, #l>, !fusion_tile.tensor_map<64x32xf32, b128>, !b
  fusion_tile.return
}

// -----

#acc = #fusion_tile.layout<"{reg=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,8]}">
!a = !fusion_tile.buffer<64x4xf64, #fusion_tile.shared_layout<"{bytes=8, align=1024, offsets=[[32,64,128,256,512,1024],[8,16]]}">>
!b = !fusion_tile.buffer<8x4xf64, #fusion_tile.shared_layout<"{bytes=8, align=1024, offsets=[[32,64,128],[8,16]]}">>
fusion_tile.program @kind(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %t = fusion_tile.splat %z : f32 -> tensor<64x8xf32, #acc>
  %a = fusion_tile.alloc at 0 : !a
  %b = fusion_tile.alloc at 2048 : !b
  // expected-error @+1 {{FUS-3312: wgmma has no product of 'f64' and 'f64' into 'f32'}}
  %f = fusion_tile.mma_async %a, %b, %t : !a, !b -> tensor<64x8xf32, #acc>
  fusion_tile.return
}

// -----

// A product where all threads run it, though some are no consumers.

#acc = #fusion_tile.layout<"{reg=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,8]}">
!a = !fusion_tile.buffer<64x16xbf16, #fusion_tile.shared_layout<"{bytes=2, align=256, offsets=[[32,64,144,256,512,1024],[2,4,8,16]]}">>
!b = !fusion_tile.buffer<8x16xbf16, #fusion_tile.shared_layout<"{bytes=2, align=256, offsets=[[32,64,144],[2,4,8,16]]}">>
fusion_tile.program @role(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, extra_warps = 1 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %t = fusion_tile.splat %z : f32 -> tensor<64x8xf32, #acc>
  %a = fusion_tile.alloc at 0 : !a
  %b = fusion_tile.alloc at 2048 : !b
  // expected-error @+1 {{FUS-3313}}
  %f = fusion_tile.mma_async %a, %b, %t : !a, !b -> tensor<64x8xf32, #acc>
  fusion_tile.return
}

// -----

#acc = #fusion_tile.layout<"{reg=[[0,1],[0,2]], lane=[[0,4],[1,0],[2,0],[4,0],[8,0]], warp=[[16,0],[32,0]], shape=[64,8]}">
!a = !fusion_tile.buffer<64x16xbf16, #fusion_tile.shared_layout<"{bytes=2, align=256, offsets=[[32,64,144,256,512,1024],[2,4,8,16]]}">>
!b = !fusion_tile.buffer<8x16xbf16, #fusion_tile.shared_layout<"{bytes=2, align=256, offsets=[[32,64,144],[2,4,8,16]]}">>
fusion_tile.program @accumulator(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %t = fusion_tile.splat %z : f32 -> tensor<64x8xf32, #acc>
  %a = fusion_tile.alloc at 0 : !a
  %b = fusion_tile.alloc at 2048 : !b
  // expected-error @+1 {{FUS-3314}}
  %f = fusion_tile.mma_async %a, %b, %t : !a, !b -> tensor<64x8xf32, #acc>
  fusion_tile.return
}

// -----

// Plain rows: no descriptor steps over them.

#acc = #fusion_tile.layout<"{reg=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,8]}">
!a = !fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[128,256,512,1024,2048,4096],[2,4,8,16,32,64]]}">>
!b = !fusion_tile.buffer<8x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576],[2,4,8,16,32,64]]}">>
fusion_tile.program @descriptor(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %t = fusion_tile.splat %z : f32 -> tensor<64x8xf32, #acc>
  %a = fusion_tile.alloc at 0 : !a
  %b = fusion_tile.alloc at 8192 : !b
  // expected-error @+1 {{FUS-3315}}
  %f = fusion_tile.mma_async %a, %b, %t : !a, !b -> tensor<64x8xf32, #acc>
  fusion_tile.return
}

// -----

#acc = #fusion_tile.layout<"{reg=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,8]}">
#a = #fusion_tile.layout<"{reg=[[0,1],[0,8],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,16]}">
!b = !fusion_tile.buffer<8x16xbf16, #fusion_tile.shared_layout<"{bytes=2, align=256, offsets=[[32,64,144],[2,4,8,16]]}">>
fusion_tile.program @operand(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %h = arith.constant 0.0 : bf16
  %z = arith.constant 0.0 : f32
  %t = fusion_tile.splat %z : f32 -> tensor<64x8xf32, #acc>
  %a = fusion_tile.splat %h : bf16 -> tensor<64x16xbf16, #a>
  %b = fusion_tile.alloc at 0 : !b
  // expected-error @+1 {{FUS-3316}}
  %f = fusion_tile.mma_async %a, %b, %t : tensor<64x16xbf16, #a>, !b -> tensor<64x8xf32, #acc>
  fusion_tile.return
}

// -----

#c = #fusion_tile.layout<"{reg=[[1,0,0],[0,8,0],[0,0,4]], lane=[[0,0,1],[0,0,2],[0,1,0],[0,2,0],[0,4,0]], warp=[], shape=[2,16,8]}">
#a = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,32]}">
#b = #fusion_tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[8,32]}">

// The parts of the depth are one warp's.
fusion_tile.program @parts(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %one = arith.constant 1.0 : bf16
  %zero = arith.constant 0.0 : f32
  %x = fusion_tile.splat %one : bf16 -> tensor<16x32xbf16, #a>
  %y = fusion_tile.splat %one : bf16 -> tensor<8x32xbf16, #b>
  %z = fusion_tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  // expected-error @+1 {{FUS-3323}}
  %d = fusion_tile.dot %x, %y, %z : tensor<16x32xbf16, #a>, tensor<8x32xbf16, #b> -> tensor<2x16x8xf32, #c>
  fusion_tile.return
}
