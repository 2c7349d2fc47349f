// RUN: fusion-opt %s --fusion-tile-specialize-warps --cse --fusion-tile-prepare-ahead --split-input-file | FileCheck %s

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#transposed = affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>

// What the second product reads is computed once the first one has begun, and
// what the first one reads of the next turn beside the second. The last turn
// reads its own stage once more, which is freed behind that.

// CHECK-LABEL: fusion_tile.program @prepared
// CHECK: consumer
// CHECK: %[[SOME:[^ ,]+]] = arith.cmpi slt
// CHECK-NEXT: scf.if %[[SOME]] {
// CHECK: fusion_tile.wait %[[RING:[0-9]+]][%c0
// CHECK: fusion_tile.local_store %{{.*}}, %[[K:[^ ,]+]] : tensor<64x64xf16>
// CHECK-NEXT: {{^ *[}]$}}
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[END:[^ ]*]] step %[[STEP:[^ ]*]] iter_args(%{{.*}} = %{{.*}}, %[[POSITION:[^ ]*]] = %
// CHECK-NOT: fusion_tile.local_store
// CHECK: %[[S:[^ ,]+]] = fusion_tile.mma_async %{{.*}}, %[[K]], %
// CHECK-NEXT: fusion_tile.mma_wait {{.*}}pending = 1
// CHECK: fusion_tile.local_store %{{.*}}, %[[V:[^ ,]+]] : tensor<64x64xf16>
// CHECK: fusion_tile.mma_wait %[[S]]
// CHECK: fusion_tile.mma_async %{{.*}}, %[[V]], %
// CHECK-NEXT: fusion_tile.mma_wait {{.*}}pending = 1
// CHECK: %[[NEXT:[^ ,]+]] = arith.addi %[[I]], %[[STEP]]
// CHECK: %[[HAS:[^ ,]+]] = arith.cmpi slt, %[[NEXT]], %[[END]]
// CHECK: %[[STAGE:[^ ,]+]] = arith.select %[[HAS]], %{{.*}}, %[[POSITION]] : index
// CHECK: fusion_tile.wait %[[RING]][%[[STAGE]]]
// CHECK: fusion_tile.local_store %{{.*}}, %[[K]] :
// CHECK-NEXT: fusion_tile.release %[[RING]][%[[POSITION]]]
// CHECK: fusion_tile.mma_wait %
// CHECK: scf.yield
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

// A product alone has nothing beside it.

// CHECK-LABEL: fusion_tile.program @single
// CHECK: consumer
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: fusion_tile.local_load
// CHECK: fusion_tile.mma_async
// CHECK-NOT: fusion_tile.local_load
// CHECK: scf.yield
fusion_tile.program @single(%pq: !llvm.ptr<1>, %pk: !llvm.ptr<1>, %pv: !llvm.ptr<1>, %po: !llvm.ptr<1>) attributes {
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
    %s = fusion_tile.dot %queries, %k16, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  fusion_tile.store %sum, %o[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#transposed = affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>

// What is computed of a product's result waits for that.

// CHECK-LABEL: fusion_tile.program @dependent
// CHECK: consumer
// CHECK: scf.for
// CHECK: fusion_tile.mma_async
// CHECK-NOT: fusion_tile.local_store
// CHECK: fusion_tile.mma_wait %
// CHECK: fusion_tile.local_store
// CHECK: fusion_tile.mma_async
fusion_tile.program @dependent(%pq: !llvm.ptr<1>, %pk: !llvm.ptr<1>, %pv: !llvm.ptr<1>, %po: !llvm.ptr<1>) attributes {
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
    %wide = arith.extf %v8 : tensor<64x64xf8E4M3FN> to tensor<64x64xf16>
    %v16 = arith.mulf %wide, %w : tensor<64x64xf16>
    %d = fusion_tile.dot %w, %v16, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  fusion_tile.store %sum, %o[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}
