// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-allocate-shared-memory),fusion-convert-tile-to-nvvm)' | FileCheck %s

#b = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64,8192]]}">

// The kernel says what the launch needs to know of the map; coordinates and
// offsets are passed from the fastest dimension on; a copy for each 64 channels.

// CHECK-LABEL: llvm.func @windows
// CHECK-SAME: %[[KH:[a-z0-9]+]]: i64, %[[KW:[a-z0-9]+]]: i64
// CHECK-SAME: fusion_tile.tensor_maps = [{base = 0 : i64, box = array<i64: 1, 1, 64, 64>, element = f16, element_strides = array<i64: 1, 2, 1, 1>, im2col = {channels = 64 : i64, lower = array<i64: -1, -2>, pixels = 64 : i64, upper = array<i64: 3, 4>}, parameter = {{[0-9]+}} : i64, shape = #{{.*}}, swizzle = 3 : i32}]
// CHECK: %[[W32:.*]] = arith.trunci %[[KW]] : i64 to i32
// CHECK: %[[W:.*]] = arith.trunci %[[W32]] : i32 to i16
// CHECK: %[[H32:.*]] = arith.trunci %[[KH]] : i64 to i32
// CHECK: %[[H:.*]] = arith.trunci %[[H32]] : i32 to i16
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} im2col[%[[W]], %[[H]]] {mode = #nvvm.tma_load_mode<im2col>}
// CHECK: %[[C:.*]] = arith.addi %{{.*}}, %c64_i32 : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%[[C]], {{.*}} im2col[%[[W]], %[[H]]] {mode = #nvvm.tma_load_mode<im2col>}
// CHECK-NOT: nvvm.cp.async.bulk.tensor
fusion_tile.program @windows(%a: !llvm.ptr<1>, %kh: index, %kw: index) attributes {num_warps = 4, extra_warps = 1} {
  %c0 = arith.constant 0 : index
  %va = fusion_tile.view %a[] {shape = affine_map<() -> (2, 14, 13, 128)>} : !llvm.ptr<1> to !fusion_tile.view<2x14x13x128xf16>
  %ma = fusion_tile.tensor_map %va {element_strides = array<i64: 1, 2, 1, 1>, im2col = #fusion_tile.im2col<lower = [-1, -2], upper = [3, 4]>} : !fusion_tile.view<2x14x13x128xf16> -> !fusion_tile.tensor_map<1x1x64x64xf16, b128>
  %ring = fusion_tile.make_ring : <2, [!fusion_tile.buffer<64x128xf16, #b>]>
  fusion_tile.specialize consumer {
  } producer {
    %x = fusion_tile.acquire %ring[%c0] : !fusion_tile.ring<2, [!fusion_tile.buffer<64x128xf16, #b>]> -> !fusion_tile.buffer<64x128xf16, #b>
    fusion_tile.async_load %ma[%c0, %c0, %c0, %c0] offset[%kh, %kw] into %x signals %ring[%c0] dims [2, 3] : !fusion_tile.tensor_map<1x1x64x64xf16, b128>, !fusion_tile.buffer<64x128xf16, #b>, !fusion_tile.ring<2, [!fusion_tile.buffer<64x128xf16, #b>]>
  }
  fusion_tile.return
}

// A tile along the channels at two elements of each window: a copy of all rows
// for each.

#t = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[2,4,8,16,32,64,8192],[144,288,576,1024,2048,4096]]}">

// CHECK-LABEL: llvm.func @pieces
// CHECK-SAME: %[[KH:[a-z0-9]+]]: i64, %[[KW:[a-z0-9]+]]: i64
// CHECK: %[[NEXT:.*]] = arith.addi %[[KW]]
// CHECK: %[[A32:.*]] = arith.trunci %[[KW]] : i64 to i32
// CHECK: %[[A:.*]] = arith.trunci %[[A32]] : i32 to i16
// CHECK: %[[H32:.*]] = arith.trunci %[[KH]] : i64 to i32
// CHECK: %[[H:.*]] = arith.trunci %[[H32]] : i32 to i16
// CHECK: %[[B32:.*]] = arith.trunci %[[NEXT]] : i64 to i32
// CHECK: %[[B:.*]] = arith.trunci %[[B32]] : i32 to i16
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} im2col[%[[A]], %[[H]]] {mode = #nvvm.tma_load_mode<im2col>}
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} im2col[%[[B]], %{{.*}}] {mode = #nvvm.tma_load_mode<im2col>}
// CHECK-NOT: nvvm.cp.async.bulk.tensor
fusion_tile.program @pieces(%a: !llvm.ptr<1>, %kh: index, %kw: index) attributes {num_warps = 4, extra_warps = 1} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %next = arith.addi %kw, %c1 : index
  %va = fusion_tile.view %a[] {shape = affine_map<() -> (2, 14, 13, 64)>} : !llvm.ptr<1> to !fusion_tile.view<2x14x13x64xf16>
  %ma = fusion_tile.tensor_map %va {im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, -1]>} : !fusion_tile.view<2x14x13x64xf16> -> !fusion_tile.tensor_map<1x1x64x64xf16, b128>
  %ring = fusion_tile.make_ring : <2, [!fusion_tile.buffer<128x64xf16, #t>]>
  fusion_tile.specialize consumer {
  } producer {
    %x = fusion_tile.acquire %ring[%c0] : !fusion_tile.ring<2, [!fusion_tile.buffer<128x64xf16, #t>]> -> !fusion_tile.buffer<128x64xf16, #t>
    fusion_tile.async_load %ma[%c0, %c0, %c0, %c0, %c0, %c0, %c0, %c0] offset[%kh, %kw, %kh, %next] into %x signals %ring[%c0] dims [3, 2] along 0 : !fusion_tile.tensor_map<1x1x64x64xf16, b128>, !fusion_tile.buffer<128x64xf16, #t>, !fusion_tile.ring<2, [!fusion_tile.buffer<128x64xf16, #t>]>
  }
  fusion_tile.return
}
