// RUN: fusion-opt %s --fusion-convert-tile-to-nvvm | FileCheck %s

// A tile of four pieces of 16 rows: of the boxes of 8 rows two are in each, the
// second one eight rows behind where the piece starts.

!buf = !fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
!ring = !fusion_tile.ring<2, [!buf]>

// CHECK-LABEL: llvm.func @pieces
// CHECK-DAG: %[[C3:.*]] = arith.constant 13 : i32
// CHECK-DAG: %[[C5:.*]] = arith.constant 15 : i32
// CHECK-DAG: %[[C7:.*]] = arith.constant 17 : i32
// CHECK-DAG: %[[C9:.*]] = arith.constant 19 : i32
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%{{[^,]*}}, %[[R:[^,]*]], %[[C3]]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%{{[^,]*}}, %[[S:[^,]*]], %[[C3]]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%{{[^,]*}}, %{{[^,]*}}, %[[C5]]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%{{[^,]*}}, %{{[^,]*}}, %[[C5]]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%{{[^,]*}}, %{{[^,]*}}, %[[C7]]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%{{[^,]*}}, %{{[^,]*}}, %[[C7]]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%{{[^,]*}}, %{{[^,]*}}, %[[C9]]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} box[%{{[^,]*}}, %{{[^,]*}}, %[[C9]]]
// CHECK-NOT: nvvm.cp.async.bulk.tensor
fusion_tile.program @pieces(%a: !llvm.ptr<1>) attributes {num_warps = 4 : i64, extra_warps = 1 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c13 = arith.constant 13 : index
  %c15 = arith.constant 15 : index
  %c17 = arith.constant 17 : index
  %c19 = arith.constant 19 : index
  %v = fusion_tile.view %a[] {shape = affine_map<() -> (20, 16, 64)>} : !llvm.ptr<1> to !fusion_tile.view<20x16x64xbf16>
  %m = fusion_tile.tensor_map %v : !fusion_tile.view<20x16x64xbf16> -> !fusion_tile.tensor_map<1x8x64xbf16, b128>
  %ring = fusion_tile.make_ring at 0 : !ring
  fusion_tile.specialize consumer {
    %s = fusion_tile.wait %ring[%c0] : !ring -> !buf
    fusion_tile.release %ring[%c0] : !ring
  } producer {
    %s = fusion_tile.acquire %ring[%c0] : !ring -> !buf
    fusion_tile.async_load %m[%c13, %c0, %c0, %c15, %c0, %c0, %c17, %c0, %c0, %c19, %c0, %c0] into %s signals %ring[%c0] dims [1, 2] along 0 : !fusion_tile.tensor_map<1x8x64xbf16, b128>, !buf, !ring
  }
  fusion_tile.return
}
