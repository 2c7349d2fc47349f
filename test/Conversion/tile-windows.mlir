// RUN: fusion-opt %s --pass-pipeline='builtin.module(tile.program(tile-allocate-shared-memory),fusion-convert-tile-to-nvvm)' | FileCheck %s

#b = #tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64,8192]]}">

// The kernel says what the launch needs to know of the map; coordinates and
// offsets are passed from the fastest dimension on; a copy for each 64 channels.

// CHECK-LABEL: llvm.func @windows
// CHECK-SAME: %[[KH:[a-z0-9]+]]: i64, %[[KW:[a-z0-9]+]]: i64
// CHECK-SAME: tile.tensor_maps = [{base = 0 : i64, box = array<i64: 1, 1, 64, 64>, element = f16, element_strides = array<i64: 1, 2, 1, 1>, im2col = {channels = 64 : i64, lower = array<i64: -1, -2>, pixels = 64 : i64, upper = array<i64: 3, 4>}, parameter = {{[0-9]+}} : i64, shape = #{{.*}}, swizzle = 3 : i32}]
// CHECK: %[[W32:.*]] = arith.trunci %[[KW]] : i64 to i32
// CHECK: %[[W:.*]] = arith.trunci %[[W32]] : i32 to i16
// CHECK: %[[H32:.*]] = arith.trunci %[[KH]] : i64 to i32
// CHECK: %[[H:.*]] = arith.trunci %[[H32]] : i32 to i16
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} im2col[%[[W]], %[[H]]] {mode = #nvvm.tma_load_mode<im2col>}
// CHECK: %[[C:.*]] = arith.addi %{{.*}}, %c64_i32 : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%[[C]], {{.*}} im2col[%[[W]], %[[H]]] {mode = #nvvm.tma_load_mode<im2col>}
// CHECK-NOT: nvvm.cp.async.bulk.tensor
tile.program @windows(%a: !llvm.ptr<1>, %kh: index, %kw: index) attributes {num_warps = 4, extra_warps = 1} {
  %c0 = arith.constant 0 : index
  %va = tile.view %a[] {shape = affine_map<() -> (2, 14, 13, 128)>} : !llvm.ptr<1> to !tile.view<2x14x13x128xf16>
  %ma = tile.tensor_map %va {element_strides = array<i64: 1, 2, 1, 1>, im2col = #tile.im2col<lower = [-1, -2], upper = [3, 4]>} : !tile.view<2x14x13x128xf16> -> !tile.tensor_map<1x1x64x64xf16, b128>
  %ring = tile.make_ring : <2, [!tile.buffer<64x128xf16, #b>]>
  tile.specialize consumer {
  } producer {
    %x = tile.acquire %ring[%c0] : !tile.ring<2, [!tile.buffer<64x128xf16, #b>]> -> !tile.buffer<64x128xf16, #b>
    tile.async_load %ma[%c0, %c0, %c0, %c0] offset[%kh, %kw] into %x signals %ring[%c0] dims [2, 3] : !tile.tensor_map<1x1x64x64xf16, b128>, !tile.buffer<64x128xf16, #b>, !tile.ring<2, [!tile.buffer<64x128xf16, #b>]>
  }
  tile.return
}
