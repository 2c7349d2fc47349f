// RUN: fusion-opt %s --fusion-tile-specialize-warps --cse --split-input-file | FileCheck %s

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#transposed = affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>

// Operands of products that feed each other, computed of no product, go through
// buffers: one that stays before the loop, others in each turn. Each is as its
// source is in memory: the last one's columns lie side by side.

// CHECK-LABEL: fusion_tile.program @prepared
// CHECK-DAG: %[[Q:[^ ,]+]] = fusion_tile.alloc : <64x64xf16, #fusion_tile.shared_layout<"{{.*}}offsets={{\[\[}}144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
// CHECK-DAG: %[[V:[^ ,]+]] = fusion_tile.alloc : <64x64xf16, #fusion_tile.shared_layout<"{{.*}}offsets={{\[\[}}2,4,8,16,32,64],[144,288,576,1024,2048,4096]]}">>
// CHECK: consumer
// CHECK: %[[SCALED:[^ ,]+]] = arith.mulf
// CHECK-NEXT: fusion_tile.local_store %[[SCALED]], %[[A:[^ ,]+]] :
// CHECK: scf.for
// CHECK-NOT: fusion_tile.local_store %{{.*}}, %[[A]]
// CHECK: %[[K8:[^ ,]+]] = fusion_tile.local_load %{{.*}} : <64x64xf8E4M3FN
// CHECK: %[[K16:[^ ,]+]] = arith.extf %[[K8]]
// CHECK: fusion_tile.local_store %[[K16]], %[[B:[^ ,]+]] :
// CHECK: fusion_tile.mma_async %[[A]], %[[B]], %{{[^ ]*}} :
// CHECK: %[[V8:[^ ,]+]] = fusion_tile.local_load %{{.*}} : <64x64xf8E4M3FN
// CHECK: fusion_tile.release
// CHECK: %[[V16:[^ ,]+]] = arith.extf %[[V8]]
// CHECK: fusion_tile.local_store %[[V16]], %[[C:[^ ,]+]] :
// CHECK: fusion_tile.mma_async %{{.*}}, %[[C]], %{{[^ ]*}} :
// CHECK: } producer {
fusion_tile.program @prepared(%pq: !llvm.ptr<1>, %pk: !llvm.ptr<1>, %pv: !llvm.ptr<1>, %po: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %q = fusion_tile.view %pq[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf16>
  %k = fusion_tile.view %pk[] {shape = affine_map<() -> (512, 64)>} : !llvm.ptr<1> to !fusion_tile.view<512x64xf8E4M3FN>
  %v = fusion_tile.view %pv[] {shape = affine_map<() -> (512, 64)>} : !llvm.ptr<1> to !fusion_tile.view<512x64xf8E4M3FN>
  %o = fusion_tile.view %po[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %factor = arith.constant dense<0.125> : tensor<64x64xf16>
  %loaded = fusion_tile.load %q[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x64xf16> -> tensor<64x64xf16>
  %queries = arith.mulf %loaded, %factor : tensor<64x64xf16>
  %sum = scf.for %i = %c0 to %c512 step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %k8 = fusion_tile.load %k[#tile] (%i, %c0) checked [false, false] : !fusion_tile.view<512x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %k16 = arith.extf %k8 : tensor<64x64xf8E4M3FN> to tensor<64x64xf16>
    %s = fusion_tile.dot %queries, %k16, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %w = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %v8 = fusion_tile.load %v[#transposed] (%i) checked [false, false] : !fusion_tile.view<512x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %v16 = arith.extf %v8 : tensor<64x64xf8E4M3FN> to tensor<64x64xf16>
    %d = fusion_tile.dot %w, %v16, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  fusion_tile.store %sum, %o[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#transposed = affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>

// Eight rows are the columns of instructions: what is computed of the first
// product goes through a buffer as well.

// CHECK-LABEL: fusion_tile.program @few
// CHECK: consumer
// CHECK: scf.for
// CHECK: fusion_tile.local_store %{{.*}}, %[[K:[^ ,]+]] : tensor<64x64xf16>
// CHECK: %[[S:[^ ,]+]] = fusion_tile.mma_async %{{.*}}, %[[K]], %{{.*}} swapped
// CHECK: fusion_tile.local_store %{{.*}}, %[[W:[^ ,]+]] : tensor<8x64xf16>
// CHECK: fusion_tile.mma_async %[[W]], %{{.*}}, %{{.*}} swapped
fusion_tile.program @few(%pq: !llvm.ptr<1>, %pk: !llvm.ptr<1>, %pv: !llvm.ptr<1>, %po: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %q = fusion_tile.view %pq[] {shape = affine_map<() -> (8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<8x64xf16>
  %k = fusion_tile.view %pk[] {shape = affine_map<() -> (512, 64)>} : !llvm.ptr<1> to !fusion_tile.view<512x64xf8E4M3FN>
  %v = fusion_tile.view %pv[] {shape = affine_map<() -> (512, 64)>} : !llvm.ptr<1> to !fusion_tile.view<512x64xf16>
  %o = fusion_tile.view %po[] {shape = affine_map<() -> (8, 64)>} : !llvm.ptr<1> to !fusion_tile.view<8x64xf32>
  %init = arith.constant dense<0.0> : tensor<8x64xf32>
  %queries = fusion_tile.load %q[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<8x64xf16> -> tensor<8x64xf16>
  %sum = scf.for %i = %c0 to %c512 step %c64 iter_args(%acc = %init) -> (tensor<8x64xf32>) {
    %k8 = fusion_tile.load %k[#tile] (%i, %c0) checked [false, false] : !fusion_tile.view<512x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %k16 = arith.extf %k8 : tensor<64x64xf8E4M3FN> to tensor<64x64xf16>
    %s = fusion_tile.dot %queries, %k16, %init : tensor<8x64xf16>, tensor<64x64xf16> -> tensor<8x64xf32>
    %w = arith.truncf %s : tensor<8x64xf32> to tensor<8x64xf16>
    %values = fusion_tile.load %v[#transposed] (%i) checked [false, false] : !fusion_tile.view<512x64xf16> -> tensor<64x64xf16>
    %d = fusion_tile.dot %w, %values, %acc : tensor<8x64xf16>, tensor<64x64xf16> -> tensor<8x64xf32>
    scf.yield %d : tensor<8x64xf32>
  }
  fusion_tile.store %sum, %o[#tile] (%c0, %c0) checked [false, false] : tensor<8x64xf32>, !fusion_tile.view<8x64xf32>
  fusion_tile.return
}
