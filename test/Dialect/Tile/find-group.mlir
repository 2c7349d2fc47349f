// The search for a tile of rows in groups.

// RUN: fusion-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: fusion_tile.program @find
fusion_tile.program @find(%base: !llvm.ptr<1>, %i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %offsets = fusion_tile.view %base[] : !llvm.ptr<1> to !fusion_tile.view<9xi32>
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = fusion_tile.find_group %{{.*}}[%{{.*}}] tile 64 rows 1000 : <9xi32>
  %group, %begin, %end, %total = fusion_tile.find_group %offsets[%i] tile 64 rows 1000 : !fusion_tile.view<9xi32>
  fusion_tile.return
}

// -----

fusion_tile.program @type(%base: !llvm.ptr<1>, %i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %offsets = fusion_tile.view %base[] : !llvm.ptr<1> to !fusion_tile.view<9xi64>
  // expected-error @below {{takes a view of at least two i32, got '!fusion_tile.view<9xi64>'}}
  %group, %begin, %end, %total = fusion_tile.find_group %offsets[%i] tile 64 rows 1000 : !fusion_tile.view<9xi64>
  fusion_tile.return
}

// -----

fusion_tile.program @size(%base: !llvm.ptr<1>, %i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %offsets = fusion_tile.view %base[] : !llvm.ptr<1> to !fusion_tile.view<1xi32>
  // expected-error @below {{takes a view of at least two i32}}
  %group, %begin, %end, %total = fusion_tile.find_group %offsets[%i] tile 64 rows 1000 : !fusion_tile.view<1xi32>
  fusion_tile.return
}

// -----

fusion_tile.program @tile(%base: !llvm.ptr<1>, %i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %offsets = fusion_tile.view %base[] : !llvm.ptr<1> to !fusion_tile.view<9xi32>
  // expected-error @below {{takes tiles of at least one of 1 to 2^30 rows}}
  %group, %begin, %end, %total = fusion_tile.find_group %offsets[%i] tile 0 rows 1000 : !fusion_tile.view<9xi32>
  fusion_tile.return
}
