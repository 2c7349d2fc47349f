// The most and the least of a part of a view.

// RUN: fusion-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: fusion_tile.program @find
fusion_tile.program @find(%base: !llvm.ptr<1>, %n: index, %i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %ends = fusion_tile.view %base[%n] : !llvm.ptr<1> to !fusion_tile.view<?x400xi64>
  // CHECK: fusion_tile.find_bound %{{.*}}[%{{.*}}, %{{.*}}] sizes [1, 64] : <?x400xi64>
  %most = fusion_tile.find_bound %ends[%i, %i] sizes [1, 64] : !fusion_tile.view<?x400xi64>
  // CHECK: fusion_tile.find_bound least %{{.*}}[%{{.*}}, %{{.*}}] sizes [2, 8] : <?x400xi64>
  %least = fusion_tile.find_bound least %ends[%i, %i] sizes [2, 8] : !fusion_tile.view<?x400xi64>
  // CHECK: arith.addi {{.*}} : i64
  %both = arith.addi %most, %least : i64
  fusion_tile.return
}

// -----

fusion_tile.program @type(%base: !llvm.ptr<1>, %i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %ends = fusion_tile.view %base[] : !llvm.ptr<1> to !fusion_tile.view<9xi16>
  // expected-error @below {{takes a view of i32 or i64 with dimensions, got '!fusion_tile.view<9xi16>'}}
  %most = fusion_tile.find_bound %ends[%i] sizes [4] : !fusion_tile.view<9xi16>
  fusion_tile.return
}

// -----

fusion_tile.program @rank(%base: !llvm.ptr<1>, %i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %ends = fusion_tile.view %base[] : !llvm.ptr<1> to !fusion_tile.view<9x9xi32>
  // expected-error @below {{takes a begin and a size for each of 2 dimensions}}
  %most = fusion_tile.find_bound %ends[%i, %i] sizes [4] : !fusion_tile.view<9x9xi32>
  fusion_tile.return
}

// -----

fusion_tile.program @empty(%base: !llvm.ptr<1>, %i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %ends = fusion_tile.view %base[] : !llvm.ptr<1> to !fusion_tile.view<9xi32>
  // expected-error @below {{takes a part of 1 to 2^30 elements}}
  %most = fusion_tile.find_bound %ends[%i] sizes [0] : !fusion_tile.view<9xi32>
  fusion_tile.return
}

// -----

fusion_tile.program @large(%base: !llvm.ptr<1>, %i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %ends = fusion_tile.view %base[] : !llvm.ptr<1> to !fusion_tile.view<9x9xi32>
  // expected-error @below {{takes a part of 1 to 2^30 elements}}
  %most = fusion_tile.find_bound %ends[%i, %i] sizes [65536, 65536] : !fusion_tile.view<9x9xi32>
  fusion_tile.return
}
