// RUN: fusion-opt %s --tile-specialize-warps --cse --split-input-file | FileCheck %s

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#transposed = affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>

// Keys are contracted with queries along their columns, and then weighed along
// their rows: both products read one tile of each step.

// CHECK-LABEL: tile.program @keys
// CHECK: %[[RING:.*]] = tile.make_ring : <2, [!tile.buffer<64x64xbf16, #tile.shared_layout<"{{[^"]*}}">>]>
// CHECK: consumer
// CHECK: %[[KEYS:.*]] = tile.wait %[[RING]]
// CHECK: tile.mma_async %{{.*}}, %[[KEYS]],
// CHECK: %[[ROWS:.*]] = tile.transpose_buffer %[[KEYS]]
// CHECK: tile.mma_async %{{.*}}, %[[ROWS]],
// CHECK: producer
// CHECK: tile.acquire %[[RING]]
// CHECK-NEXT: tile.async_load
// CHECK-NOT: tile.async_load
// CHECK: } producer {
tile.program @keys(%pq: !llvm.ptr<1>, %pk: !llvm.ptr<1>, %po: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %q = tile.view %pq[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !tile.view<64x64xbf16>
  %k = tile.view %pk[] {shape = affine_map<() -> (512, 64)>} : !llvm.ptr<1> to !tile.view<512x64xbf16>
  %o = tile.view %po[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %queries = tile.load %q[#tile] (%c0, %c0) checked [false, false] : !tile.view<64x64xbf16> -> tensor<64x64xbf16>
  %sum = scf.for %i = %c0 to %c512 step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %a = tile.load %k[#tile] (%i, %c0) checked [false, false] : !tile.view<512x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %queries, %a, %init : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %w = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xbf16>
    %b = tile.load %k[#transposed] (%i) checked [false, false] : !tile.view<512x64xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %w, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %o[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#transposed = affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>

// The step before is another tile, and so is that of another tensor.

// CHECK-LABEL: tile.program @before
// CHECK: tile.make_ring : <2, [!tile.buffer<64x64xbf16, #tile.shared_layout<"{{[^"]*}}">>, !tile.buffer<64x64xbf16
// CHECK-NOT: transpose_buffer
tile.program @before(%pq: !llvm.ptr<1>, %pk: !llvm.ptr<1>, %po: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %q = tile.view %pq[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !tile.view<64x64xbf16>
  %k = tile.view %pk[] {shape = affine_map<() -> (512, 64)>} : !llvm.ptr<1> to !tile.view<512x64xbf16>
  %o = tile.view %po[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %queries = tile.load %q[#tile] (%c0, %c0) checked [false, false] : !tile.view<64x64xbf16> -> tensor<64x64xbf16>
  %sum = scf.for %i = %c64 to %c512 step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %a = tile.load %k[#tile] (%i, %c0) checked [false, false] : !tile.view<512x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %queries, %a, %init : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %w = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xbf16>
    %before = arith.subi %i, %c64 : index
    %b = tile.load %k[#transposed] (%before) checked [false, false] : !tile.view<512x64xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %w, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %sum, %o[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}
