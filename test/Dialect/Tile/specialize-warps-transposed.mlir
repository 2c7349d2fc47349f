// RUN: fusion-opt %s --fusion-tile-specialize-warps --cse --split-input-file | FileCheck %s

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#transposed = affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>

// Keys are contracted with queries along their columns, and then weighed along
// their rows: both products read one tile of each step.

// CHECK-LABEL: fusion_tile.program @keys
// CHECK: %[[RING:.*]] = fusion_tile.make_ring : <2, [!fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{{[^"]*}}">>]>
// CHECK: consumer
// CHECK: %[[KEYS:.*]] = fusion_tile.wait %[[RING]]
// CHECK: fusion_tile.mma_async %{{.*}}, %[[KEYS]],
// CHECK: %[[ROWS:.*]] = fusion_tile.transpose_buffer %[[KEYS]]
// CHECK: fusion_tile.mma_async %{{.*}}, %[[ROWS]],
// CHECK: producer
// CHECK: fusion_tile.acquire %[[RING]]
// CHECK-NEXT: fusion_tile.async_load
// CHECK-NOT: fusion_tile.async_load
// CHECK: } producer {
fusion_tile.program @keys(%pq: !llvm.ptr<1>, %pk: !llvm.ptr<1>, %po: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %q = fusion_tile.view %pq[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xbf16>
  %k = fusion_tile.view %pk[] {shape = affine_map<() -> (512, 64)>} : !llvm.ptr<1> to !fusion_tile.view<512x64xbf16>
  %o = fusion_tile.view %po[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %queries = fusion_tile.load %q[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x64xbf16> -> tensor<64x64xbf16>
  %sum = scf.for %i = %c0 to %c512 step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %a = fusion_tile.load %k[#tile] (%i, %c0) checked [false, false] : !fusion_tile.view<512x64xbf16> -> tensor<64x64xbf16>
    %s = fusion_tile.dot %queries, %a, %init : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %w = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xbf16>
    %b = fusion_tile.load %k[#transposed] (%i) checked [false, false] : !fusion_tile.view<512x64xbf16> -> tensor<64x64xbf16>
    %d = fusion_tile.dot %w, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  fusion_tile.store %sum, %o[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#transposed = affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>

// The step before is another tile, and so is that of another tensor.

// CHECK-LABEL: fusion_tile.program @before
// CHECK: fusion_tile.make_ring : <2, [!fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{{[^"]*}}">>, !fusion_tile.buffer<64x64xbf16
// CHECK-NOT: transpose_buffer
fusion_tile.program @before(%pq: !llvm.ptr<1>, %pk: !llvm.ptr<1>, %po: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %q = fusion_tile.view %pq[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xbf16>
  %k = fusion_tile.view %pk[] {shape = affine_map<() -> (512, 64)>} : !llvm.ptr<1> to !fusion_tile.view<512x64xbf16>
  %o = fusion_tile.view %po[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %queries = fusion_tile.load %q[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x64xbf16> -> tensor<64x64xbf16>
  %sum = scf.for %i = %c64 to %c512 step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %a = fusion_tile.load %k[#tile] (%i, %c0) checked [false, false] : !fusion_tile.view<512x64xbf16> -> tensor<64x64xbf16>
    %s = fusion_tile.dot %queries, %a, %init : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %w = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xbf16>
    %before = arith.subi %i, %c64 : index
    %b = fusion_tile.load %k[#transposed] (%before) checked [false, false] : !fusion_tile.view<512x64xbf16> -> tensor<64x64xbf16>
    %d = fusion_tile.dot %w, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  fusion_tile.store %sum, %o[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}
