// RUN: fusion-opt %s --fusion-tile-specialize-warps --cse | FileCheck %s

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#transposed = affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>

// A mask of bits, which are bytes in memory, comes with the operands of each step.

// CHECK-LABEL: fusion_tile.program @mask
// CHECK: %[[BYTES:.*]] = fusion_tile.view %{{.*}} : !llvm.ptr<1> to <64x512xi8>
// CHECK: fusion_tile.tensor_map %[[BYTES]]
// CHECK: fusion_tile.make_ring : <2, [{{.*}}!fusion_tile.buffer<64x64xi8
// CHECK: consumer
// CHECK: fusion_tile.wait
// CHECK: fusion_tile.mma_async
// CHECK: %[[MASK:.*]] = fusion_tile.local_load %{{.*}} : <64x64xi8
// CHECK: arith.cmpi ne, %[[MASK]]
// CHECK: arith.select
// CHECK: producer
// CHECK-NOT: xi1
fusion_tile.program @mask(%pq: !llvm.ptr<1>, %pk: !llvm.ptr<1>, %pm: !llvm.ptr<1>, %po: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %q = fusion_tile.view %pq[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xbf16>
  %k = fusion_tile.view %pk[] {shape = affine_map<() -> (512, 64)>} : !llvm.ptr<1> to !fusion_tile.view<512x64xbf16>
  %m = fusion_tile.view %pm[] {shape = affine_map<() -> (64, 512)>} : !llvm.ptr<1> to !fusion_tile.view<64x512xi1>
  %o = fusion_tile.view %po[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %queries = fusion_tile.load %q[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x64xbf16> -> tensor<64x64xbf16>
  %sum = scf.for %i = %c0 to %c512 step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %a = fusion_tile.load %k[#tile] (%i, %c0) checked [false, false] : !fusion_tile.view<512x64xbf16> -> tensor<64x64xbf16>
    %s = fusion_tile.dot %queries, %a, %init : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %bits = fusion_tile.load %m[#tile] (%c0, %i) checked [false, false] : !fusion_tile.view<64x512xi1> -> tensor<64x64xi1>
    %t = arith.select %bits, %s, %init : tensor<64x64xi1>, tensor<64x64xf32>
    %w = arith.truncf %t : tensor<64x64xf32> to tensor<64x64xbf16>
    %b = fusion_tile.load %k[#transposed] (%i) checked [false, false] : !fusion_tile.view<512x64xbf16> -> tensor<64x64xbf16>
    %d = fusion_tile.dot %w, %b, %acc : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  fusion_tile.store %sum, %o[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}
