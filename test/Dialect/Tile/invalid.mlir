// RUN: fusion-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{num_warps must be a power of two from 1 to 32, got 3}}
fusion_tile.program @warps() attributes {num_warps = 3 : i64} {
  fusion_tile.return
}

// -----

// expected-error @below {{a tile program has no results}}
fusion_tile.program @results() -> index attributes {num_warps = 1 : i64} {
  fusion_tile.return
}

// -----

fusion_tile.program @sizes(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{expects one size for each dynamic dimension}}
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<?x4xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @rank(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64} {
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x4xf32>
  // expected-error @below {{map has 1 results, the view has rank 2}}
  %t = fusion_tile.load %v[affine_map<(a) -> (a)>] () checked [false, false] : !fusion_tile.view<8x4xf32> -> tensor<4xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @power(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64} {
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<12xf32>
  // expected-error @below {{tile sizes must be static powers of two, got 'tensor<12xf32>'}}
  %t = fusion_tile.load %v[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<12xf32> -> tensor<12xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @layout(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64} {
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  // expected-error @below {{layout covers size 32 along dimension 0}}
  %t = fusion_tile.load %v[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<64xf32> -> tensor<64xf32, #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">>
  fusion_tile.return
}

// -----

// expected-error @+1 {{malformed linear layout}}
func.func private @text(tensor<32xf32, #fusion_tile.layout<"{reg=oops}">>)

// -----

fusion_tile.program @dot(%a: tensor<16x8xf32>, %b: tensor<32x4xf32>, %c: tensor<16x32xf32>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{shapes do not multiply}}
  %d = fusion_tile.dot %a, %b, %c : tensor<16x8xf32>, tensor<32x4xf32> -> tensor<16x32xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @broadcast(%a: tensor<16xf32>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{operand size 16 differs from result size 8 of dimension 0}}
  %d = fusion_tile.broadcast %a dims [0] : tensor<16xf32> -> tensor<8x4xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @reduce(%a: tensor<16x4xf32>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{result 0 does not match its operand}}
  %d = fusion_tile.reduce %a along 0 : tensor<16x4xf32> -> tensor<16xf32> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    fusion_tile.yield %s : f32
  }
  fusion_tile.return
}

// -----

fusion_tile.program @windows(%a: !llvm.ptr<1>) attributes {num_warps = 4} {
  %v = fusion_tile.view %a[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf16>
  // expected-error@+1 {{windows need a view of rank 3 to 5, got 2}}
  %m = fusion_tile.tensor_map %v {im2col = #fusion_tile.im2col<lower = [0], upper = [0]>} : !fusion_tile.view<64x64xf16> -> !fusion_tile.tensor_map<64x64xf16, b128>
  fusion_tile.return
}

// -----

fusion_tile.program @windows(%a: !llvm.ptr<1>) attributes {num_warps = 4} {
  %v = fusion_tile.view %a[] {shape = affine_map<() -> (2, 8, 8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<2x8x8x64xf16>
  // expected-error@+1 {{the corners of a bounding box have 2 coordinates in a view of rank 4}}
  %m = fusion_tile.tensor_map %v {im2col = #fusion_tile.im2col<lower = [0], upper = [0]>} : !fusion_tile.view<2x8x8x64xf16> -> !fusion_tile.tensor_map<1x1x64x64xf16, b128>
  fusion_tile.return
}

// -----

fusion_tile.program @windows(%a: !llvm.ptr<1>) attributes {num_warps = 4} {
  %v = fusion_tile.view %a[] {shape = affine_map<() -> (2, 8, 8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<2x8x8x64xf16>
  // expected-error@+1 {{a box of pixels has one element along all dimensions but the last two}}
  %m = fusion_tile.tensor_map %v {im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, -1]>} : !fusion_tile.view<2x8x8x64xf16> -> !fusion_tile.tensor_map<1x8x64x64xf16, b128>
  fusion_tile.return
}

// -----

fusion_tile.program @windows(%a: !llvm.ptr<1>) attributes {num_warps = 4} {
  %v = fusion_tile.view %a[] {shape = affine_map<() -> (2, 8, 8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<2x8x8x64xf16>
  // expected-error@+1 {{images and channels are taken one by one}}
  %m = fusion_tile.tensor_map %v {element_strides = array<i64: 2, 1, 1, 1>, im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, -1]>} : !fusion_tile.view<2x8x8x64xf16> -> !fusion_tile.tensor_map<1x1x64x64xf16, b128>
  fusion_tile.return
}

// -----

fusion_tile.program @windows(%a: !llvm.ptr<1>) attributes {num_warps = 4} {
  %v = fusion_tile.view %a[] {shape = affine_map<() -> (2, 8, 8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<2x8x8x64xf16>
  // expected-error@+1 {{corners are from -128 to 127 with 2 dimensions of windows, got 128}}
  %m = fusion_tile.tensor_map %v {im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, 128]>} : !fusion_tile.view<2x8x8x64xf16> -> !fusion_tile.tensor_map<1x1x64x64xf16, b128>
  fusion_tile.return
}

// -----

#b = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">

fusion_tile.program @offsets(%a: !llvm.ptr<1>) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : index
  %v = fusion_tile.view %a[] {shape = affine_map<() -> (2, 8, 8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<2x8x8x64xf16>
  %m = fusion_tile.tensor_map %v {im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, -1]>} : !fusion_tile.view<2x8x8x64xf16> -> !fusion_tile.tensor_map<1x1x64x64xf16, b128>
  %ring = fusion_tile.make_ring : <2, [!fusion_tile.buffer<64x64xf16, #b>]>
  %x = fusion_tile.acquire %ring[%c0] : !fusion_tile.ring<2, [!fusion_tile.buffer<64x64xf16, #b>]> -> !fusion_tile.buffer<64x64xf16, #b>
  // expected-error@+1 {{expects 2 offsets, got 0}}
  fusion_tile.async_load %m[%c0, %c0, %c0, %c0] into %x signals %ring[%c0] dims [2, 3] : !fusion_tile.tensor_map<1x1x64x64xf16, b128>, !fusion_tile.buffer<64x64xf16, #b>, !fusion_tile.ring<2, [!fusion_tile.buffer<64x64xf16, #b>]>
  fusion_tile.return
}

// -----

#b = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">

fusion_tile.program @offsets_of_pieces(%a: !llvm.ptr<1>) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : index
  %v = fusion_tile.view %a[] {shape = affine_map<() -> (2, 8, 8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<2x8x8x64xf16>
  %m = fusion_tile.tensor_map %v {im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, -1]>} : !fusion_tile.view<2x8x8x64xf16> -> !fusion_tile.tensor_map<1x1x64x32xf16, b64>
  %ring = fusion_tile.make_ring : <2, [!fusion_tile.buffer<64x64xf16, #b>]>
  %x = fusion_tile.acquire %ring[%c0] : !fusion_tile.ring<2, [!fusion_tile.buffer<64x64xf16, #b>]> -> !fusion_tile.buffer<64x64xf16, #b>
  // expected-error@+1 {{expects 4 offsets, got 2}}
  fusion_tile.async_load %m[%c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0] offset[%c0, %c0] into %x signals %ring[%c0] dims [2, 3] along 1 : !fusion_tile.tensor_map<1x1x64x32xf16, b64>, !fusion_tile.buffer<64x64xf16, #b>, !fusion_tile.ring<2, [!fusion_tile.buffer<64x64xf16, #b>]>
  fusion_tile.return
}

// -----

#b = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">

fusion_tile.program @along_nothing(%a: !llvm.ptr<1>) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : index
  %v = fusion_tile.view %a[] {shape = affine_map<() -> (8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<8x64xf16>
  %m = fusion_tile.tensor_map %v : !fusion_tile.view<8x64xf16> -> !fusion_tile.tensor_map<32x64xf16, b128>
  %ring = fusion_tile.make_ring : <2, [!fusion_tile.buffer<64x64xf16, #b>]>
  %x = fusion_tile.acquire %ring[%c0] : !fusion_tile.ring<2, [!fusion_tile.buffer<64x64xf16, #b>]> -> !fusion_tile.buffer<64x64xf16, #b>
  // expected-error@+1 {{'along' names dimension 2, which the tile does not have}}
  fusion_tile.async_load %m[%c0, %c0, %c0, %c0] into %x signals %ring[%c0] dims [0, 1] along 2 : !fusion_tile.tensor_map<32x64xf16, b128>, !fusion_tile.buffer<64x64xf16, #b>, !fusion_tile.ring<2, [!fusion_tile.buffer<64x64xf16, #b>]>
  fusion_tile.return
}

// -----

#b = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">

fusion_tile.program @cut_boxes(%a: !llvm.ptr<1>) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : index
  %v = fusion_tile.view %a[] {shape = affine_map<() -> (8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<8x64xf16>
  %m = fusion_tile.tensor_map %v : !fusion_tile.view<8x64xf16> -> !fusion_tile.tensor_map<32x64xf16, b128>
  %ring = fusion_tile.make_ring : <2, [!fusion_tile.buffer<64x64xf16, #b>]>
  %x = fusion_tile.acquire %ring[%c0] : !fusion_tile.ring<2, [!fusion_tile.buffer<64x64xf16, #b>]> -> !fusion_tile.buffer<64x64xf16, #b>
  // expected-error@+1 {{expects coordinates of pieces that are whole boxes, got 8 for 64 elements in boxes of 32}}
  fusion_tile.async_load %m[%c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0] into %x signals %ring[%c0] dims [0, 1] along 0 : !fusion_tile.tensor_map<32x64xf16, b128>, !fusion_tile.buffer<64x64xf16, #b>, !fusion_tile.ring<2, [!fusion_tile.buffer<64x64xf16, #b>]>
  fusion_tile.return
}

// -----

#b = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">

fusion_tile.program @half_coordinates(%a: !llvm.ptr<1>) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : index
  %v = fusion_tile.view %a[] {shape = affine_map<() -> (8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<8x64xf16>
  %m = fusion_tile.tensor_map %v : !fusion_tile.view<8x64xf16> -> !fusion_tile.tensor_map<32x64xf16, b128>
  %ring = fusion_tile.make_ring : <2, [!fusion_tile.buffer<64x64xf16, #b>]>
  %x = fusion_tile.acquire %ring[%c0] : !fusion_tile.ring<2, [!fusion_tile.buffer<64x64xf16, #b>]> -> !fusion_tile.buffer<64x64xf16, #b>
  // expected-error@+1 {{expects 2 coordinates, got 3}}
  fusion_tile.async_load %m[%c0, %c0, %c0] into %x signals %ring[%c0] dims [0, 1] along 0 : !fusion_tile.tensor_map<32x64xf16, b128>, !fusion_tile.buffer<64x64xf16, #b>, !fusion_tile.ring<2, [!fusion_tile.buffer<64x64xf16, #b>]>
  fusion_tile.return
}

// -----

#b = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">

fusion_tile.program @no_pieces(%a: !llvm.ptr<1>) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : index
  %v = fusion_tile.view %a[] {shape = affine_map<() -> (8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<8x64xf16>
  %m = fusion_tile.tensor_map %v : !fusion_tile.view<8x64xf16> -> !fusion_tile.tensor_map<32x64xf16, b128>
  %ring = fusion_tile.make_ring : <2, [!fusion_tile.buffer<64x64xf16, #b>]>
  %x = fusion_tile.acquire %ring[%c0] : !fusion_tile.ring<2, [!fusion_tile.buffer<64x64xf16, #b>]> -> !fusion_tile.buffer<64x64xf16, #b>
  // expected-error@+1 {{expects coordinates of pieces that are whole boxes, got 0 for 64 elements in boxes of 32}}
  fusion_tile.async_load %m[] into %x signals %ring[%c0] dims [0, 1] along 0 : !fusion_tile.tensor_map<32x64xf16, b128>, !fusion_tile.buffer<64x64xf16, #b>, !fusion_tile.ring<2, [!fusion_tile.buffer<64x64xf16, #b>]>
  fusion_tile.return
}

// -----

fusion_tile.program @repeat(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %x = fusion_tile.splat %zero : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{does not repeat 'tensor<8x4xf32>' along dimension 0 to 'tensor<16x8xf32>'}}
  %y = fusion_tile.repeat %x along 0 : tensor<8x4xf32> -> tensor<16x8xf32>
  fusion_tile.return
}

// -----

#s = #fusion_tile.shared_layout<"{bytes=2, align=16, offsets=[[8],[2,4]]}">

fusion_tile.program @copy(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<2x4xf32>
  %b = fusion_tile.alloc stages 2 : !fusion_tile.buffer<2x4xbf16, #s>
  // expected-error @+1 {{buffer and view differ in element type}}
  fusion_tile.copy_start %v[affine_map<(i, j) -> (i, j)>] () checked [false, false] into %b by <"{reg=[], lane=[[0,1],[0,2],[1,0],[0,0],[0,0]], warp=[], shape=[2,4]}"> : !fusion_tile.view<2x4xf32>, !fusion_tile.buffer<2x4xbf16, #s>
  fusion_tile.return
}

// -----

fusion_tile.program @groups(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, extra_warps = 4 : i64} {
  // expected-error @+1 {{has 1 producers, the program has 0 extra warps for them}}
  fusion_tile.specialize {groups = 2 : i64} consumer {
  } producer {
  }
  fusion_tile.return
}

// -----

fusion_tile.program @groups(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, extra_warps = 8 : i64, cluster = 2 : i64} {
  // expected-error @+1 {{the blocks of a cluster have one group each}}
  fusion_tile.specialize {groups = 2 : i64} consumer {
  } producer {
  }
  fusion_tile.return
}

// -----

fusion_tile.program @groups(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, extra_warps = 31 : i64} {
  // expected-error @+1 {{has 1 to 4 groups, got 5}}
  fusion_tile.specialize {groups = 5 : i64} consumer {
  } producer {
  }
  fusion_tile.return
}

// -----

!half = !fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
fusion_tile.program @group_buffer() attributes {num_warps = 4 : i64, extra_warps = 9 : i64} {
  %c0 = arith.constant 0 : index
  %ring = fusion_tile.make_ring groups 3 : !fusion_tile.ring<2, [!half, !half, !half]>
  fusion_tile.specialize {groups = 3 : i64} consumer {
    %s:3 = fusion_tile.wait %ring[%c0] : !fusion_tile.ring<2, [!half, !half, !half]> -> !half, !half, !half
    // expected-error @+1 {{expects a buffer for each of 3 groups, got 2}}
    %own = fusion_tile.group_buffer %s#0, %s#1 : !half, !half -> !half
  } producer {
  }
  fusion_tile.return
}

// -----

!half = !fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
fusion_tile.program @group_buffer_alone() attributes {num_warps = 4 : i64, extra_warps = 5 : i64} {
  fusion_tile.specialize {groups = 2 : i64} consumer {
    %a = fusion_tile.alloc : !half
    // expected-error @+1 {{expects buffers of one stage}}
    %own = fusion_tile.group_buffer %a, %a : !half, !half -> !half
  } producer {
  }
  fusion_tile.return
}

// -----

!half = !fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
!wide = !fusion_tile.buffer<64x128xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64,8192]]}">>
fusion_tile.program @transpose_shape() attributes {num_warps = 4 : i64} {
  %a = fusion_tile.alloc : !wide
  // expected-error @+1 {{expects two dimensions that are exchanged}}
  %t = fusion_tile.transpose_buffer %a : !wide -> !half
  fusion_tile.return
}

// -----

!half = !fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
fusion_tile.program @transpose_places() attributes {num_warps = 4 : i64} {
  %a = fusion_tile.alloc : !half
  // expected-error @+1 {{expects elements where they are in}}
  %t = fusion_tile.transpose_buffer %a : !half -> !half
  fusion_tile.return
}

// -----

fusion_tile.program @ring_groups() attributes {num_warps = 4 : i64} {
  // expected-error @+1 {{several 'groups' read stages that are copied for one block}}
  %ring = fusion_tile.make_ring by_threads groups 2 : !fusion_tile.ring<2, []>
  fusion_tile.return
}

// -----

fusion_tile.program @group_number(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, extra_warps = 1 : i64} {
  fusion_tile.specialize consumer {
  } producer {
    // expected-error @+1 {{stands outside a consumer's role}}
    %g = fusion_tile.group_number
  }
  fusion_tile.return
}

// -----

fusion_tile.program @reshape(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0.0 : f32
  %x = fusion_tile.splat %zero : f32 -> tensor<8x4xf32>
  // expected-error @+1 {{operand and result differ in number of elements}}
  %y = fusion_tile.reshape %x : tensor<8x4xf32> -> tensor<8x8xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @dot_parts(%a: tensor<16x24xf32>, %b: tensor<32x24xf32>, %c: tensor<16x16x32xf32>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{a depth of 24 has no 16 equal parts}}
  %d = fusion_tile.dot %a, %b, %c : tensor<16x24xf32>, tensor<32x24xf32> -> tensor<16x16x32xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @turns_only() attributes {num_warps = 4} {
  %c0 = arith.constant 0 : index
  %ring = fusion_tile.make_ring : !fusion_tile.ring<2, []>
  // expected-error@+1 {{expects a ring 'by_threads'}}
  fusion_tile.copy_arrive %ring[%c0] : !fusion_tile.ring<2, []>
  fusion_tile.return
}

// -----

#b = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">

fusion_tile.program @buffers() attributes {num_warps = 4} {
  // expected-error@+1 {{'by_threads' has no buffers of its own}}
  %ring = fusion_tile.make_ring by_threads : <2, [!fusion_tile.buffer<64x64xf16, #b>]>
  fusion_tile.return
}

// -----

fusion_tile.program @exchange_too_far(%a: tensor<16x64xf32>) attributes {num_warps = 1} {
  // expected-error@+1 {{mask 64 leaves the 64 elements along dimension 1}}
  %x = fusion_tile.exchange %a along 1 by 64 : tensor<16x64xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @exchange_with_itself(%a: tensor<16x64xf32>) attributes {num_warps = 1} {
  // expected-error@+1 {{mask 0 leaves the 64 elements along dimension 1}}
  %x = fusion_tile.exchange %a along 1 by 0 : tensor<16x64xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @exchange_nowhere(%a: tensor<16x64xf32>) attributes {num_warps = 1} {
  // expected-error@+1 {{has no dimension 2}}
  %x = fusion_tile.exchange %a along 2 by 1 : tensor<16x64xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @crop_to_more(%a: tensor<16x64xf32>) attributes {num_warps = 1} {
  // expected-error@+1 {{size 65 is not one of 1 to 64}}
  %x = fusion_tile.crop %a to [16, 65] : tensor<16x64xf32>
  fusion_tile.return
}

// -----

fusion_tile.program @crop_along_one(%a: tensor<16x64xf32>) attributes {num_warps = 1} {
  // expected-error@+1 {{has a size for each dimension}}
  %x = fusion_tile.crop %a to [16] : tensor<16x64xf32>
  fusion_tile.return
}

// -----

func.func @stack_shape(%x: tensor<8xf32>) -> tensor<8x4xf32> {
  // expected-error @+1 {{result must have the operands along a last dimension}}
  %0 = fusion_tile.stack %x, %x : tensor<8xf32>, tensor<8xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
