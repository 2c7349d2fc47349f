// The search for a tile of rows in groups.

// RUN: fusion-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: tile.program @find
tile.program @find(%base: !llvm.ptr<1>, %i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %offsets = tile.view %base[] : !llvm.ptr<1> to !tile.view<9xi32>
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = tile.find_group %{{.*}}[%{{.*}}] tile 64 rows 1000 : <9xi32>
  %group, %begin, %end, %total = tile.find_group %offsets[%i] tile 64 rows 1000 : !tile.view<9xi32>
  tile.return
}

// -----

tile.program @type(%base: !llvm.ptr<1>, %i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %offsets = tile.view %base[] : !llvm.ptr<1> to !tile.view<9xi64>
  // expected-error @below {{takes a view of at least two i32, got '!tile.view<9xi64>'}}
  %group, %begin, %end, %total = tile.find_group %offsets[%i] tile 64 rows 1000 : !tile.view<9xi64>
  tile.return
}

// -----

tile.program @size(%base: !llvm.ptr<1>, %i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %offsets = tile.view %base[] : !llvm.ptr<1> to !tile.view<1xi32>
  // expected-error @below {{takes a view of at least two i32}}
  %group, %begin, %end, %total = tile.find_group %offsets[%i] tile 64 rows 1000 : !tile.view<1xi32>
  tile.return
}

// -----

tile.program @tile(%base: !llvm.ptr<1>, %i: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %offsets = tile.view %base[] : !llvm.ptr<1> to !tile.view<9xi32>
  // expected-error @below {{takes tiles of at least one of 1 to 2^30 rows}}
  %group, %begin, %end, %total = tile.find_group %offsets[%i] tile 0 rows 1000 : !tile.view<9xi32>
  tile.return
}
