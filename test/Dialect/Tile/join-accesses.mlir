// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-join-accesses,cse))" --split-input-file | FileCheck %s

// Windows of four elements that begin two before every fourth one: accesses of
// four elements at multiples of four, each inside of a row or outside. Results
// of two places a thread are stored at once.

#lanes = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">

// CHECK-DAG: #[[$BEFORE:.*]] = affine_map<(d0, d1)[s0] -> (s0, d0 * 4 + d1 - 2)>
// CHECK-DAG: #[[$AT:.*]] = affine_map<(d0, d1)[s0] -> (s0, d0 * 4 + d1)>
// CHECK-DAG: #[[$PAIR:.*]] = affine_map<(d0, d1)[s0] -> (s0, d0 * 2 + d1)>
// CHECK-LABEL: fusion_tile.program @windows
// CHECK: %[[A:.*]] = fusion_tile.load %{{.*}}[#[[$BEFORE]]] {{.*}} checked [false, true] : <8x128xf16> -> tensor<32x2xf16
// CHECK: fusion_tile.slice %[[A]] [0, 0]
// CHECK: fusion_tile.slice %[[A]] [0, 1]
// CHECK: %[[B:.*]] = fusion_tile.load %{{.*}}[#[[$AT]]] {{.*}} checked [false, true] : <8x128xf16> -> tensor<32x4xf16
// CHECK: fusion_tile.slice %[[B]] [0, 0]
// CHECK: %[[U:.*]] = fusion_tile.reshape
// CHECK: fusion_tile.slice %[[B]] [0, 3]
// CHECK: %[[V:.*]] = fusion_tile.reshape
// CHECK-NOT: fusion_tile.load
// CHECK: %[[S:.*]] = fusion_tile.stack %[[U]], %[[V]]
// CHECK: fusion_tile.store %[[S]], %{{.*}}[#[[$PAIR]]] {{.*}} checked [false, true]
// CHECK-NOT: fusion_tile.store
fusion_tile.program @windows(%p: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %i = gpu.block_id x
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x128xf16>
  %w = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<8x64xf16>
  %a = fusion_tile.load %v[affine_map<(d0)[s0] -> (s0, d0 * 4 - 2)>] (%i) checked [false, true] : !fusion_tile.view<8x128xf16> -> tensor<32xf16, #lanes>
  %b = fusion_tile.load %v[affine_map<(d0)[s0] -> (s0, d0 * 4 - 1)>] (%i) checked [false, true] : !fusion_tile.view<8x128xf16> -> tensor<32xf16, #lanes>
  %c = fusion_tile.load %v[affine_map<(d0)[s0] -> (s0, d0 * 4)>] (%i) checked [false, false] : !fusion_tile.view<8x128xf16> -> tensor<32xf16, #lanes>
  %d = fusion_tile.load %v[affine_map<(d0)[s0] -> (s0, d0 * 4 + 3)>] (%i) checked [false, true] : !fusion_tile.view<8x128xf16> -> tensor<32xf16, #lanes>
  %e = arith.addf %a, %b : tensor<32xf16, #lanes>
  fusion_tile.store %c, %w[affine_map<(d0)[s0] -> (s0, d0 * 2)>] (%i) checked [false, true] : tensor<32xf16, #lanes>, !fusion_tile.view<8x64xf16>
  fusion_tile.store %d, %w[affine_map<(d0)[s0] -> (s0, d0 * 2 + 1)>] (%i) checked [false, true] : tensor<32xf16, #lanes>, !fusion_tile.view<8x64xf16>
  %f = arith.addf %e, %d : tensor<32xf16, #lanes>
  fusion_tile.return
}

// -----

// Left alone: rows of an odd number of elements, places that are no multiples
// of two, loads between which the block meets, a store whose neighbour is
// missing, and what is read in a program that writes it.

#lanes = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">

// CHECK-LABEL: fusion_tile.program @left_alone
// CHECK-NOT: tensor<32x2x
// CHECK: fusion_tile.return
fusion_tile.program @left_alone(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %i = gpu.block_id x
  %odd = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x127xf16>
  %even = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<8x128xf16>
  %w = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<8x64xf16>
  %a = fusion_tile.load %odd[affine_map<(d0)[s0] -> (s0, d0 * 2)>] (%i) checked [false, true] : !fusion_tile.view<8x127xf16> -> tensor<32xf16, #lanes>
  %b = fusion_tile.load %odd[affine_map<(d0)[s0] -> (s0, d0 * 2 + 1)>] (%i) checked [false, true] : !fusion_tile.view<8x127xf16> -> tensor<32xf16, #lanes>
  %c = fusion_tile.load %even[affine_map<(d0)[s0] -> (s0, d0 * 3)>] (%i) checked [false, true] : !fusion_tile.view<8x128xf16> -> tensor<32xf16, #lanes>
  %d = fusion_tile.load %even[affine_map<(d0)[s0] -> (s0, d0 * 3 + 1)>] (%i) checked [false, true] : !fusion_tile.view<8x128xf16> -> tensor<32xf16, #lanes>
  %e = fusion_tile.load %even[affine_map<(d0)[s0] -> (s0, d0 * 2)>] (%i) checked [false, true] : !fusion_tile.view<8x128xf16> -> tensor<32xf16, #lanes>
  fusion_tile.barrier
  %f = fusion_tile.load %even[affine_map<(d0)[s0] -> (s0, d0 * 2 + 1)>] (%i) checked [false, true] : !fusion_tile.view<8x128xf16> -> tensor<32xf16, #lanes>
  fusion_tile.store %a, %w[affine_map<(d0)[s0] -> (s0, d0 * 2)>] (%i) checked [false, true] : tensor<32xf16, #lanes>, !fusion_tile.view<8x64xf16>
  fusion_tile.store %b, %w[affine_map<(d0)[s0] -> (s0, d0 * 2 + 3)>] (%i) checked [false, true] : tensor<32xf16, #lanes>, !fusion_tile.view<8x64xf16>
  fusion_tile.return
}

// -----

#lanes = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">

// CHECK-LABEL: fusion_tile.program @in_place
// CHECK-NOT: tensor<32x2x
// CHECK: fusion_tile.return
fusion_tile.program @in_place(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<128xf16>
  %a = fusion_tile.load %v[affine_map<(d0) -> (d0 * 2)>] () checked [true] : !fusion_tile.view<128xf16> -> tensor<32xf16, #lanes>
  %b = fusion_tile.load %v[affine_map<(d0) -> (d0 * 2 + 1)>] () checked [true] : !fusion_tile.view<128xf16> -> tensor<32xf16, #lanes>
  fusion_tile.store %b, %v[affine_map<(d0) -> (d0 * 2)>] () checked [true] : tensor<32xf16, #lanes>, !fusion_tile.view<128xf16>
  fusion_tile.store %a, %v[affine_map<(d0) -> (d0 * 2 + 1)>] () checked [true] : tensor<32xf16, #lanes>, !fusion_tile.view<128xf16>
  fusion_tile.return
}
