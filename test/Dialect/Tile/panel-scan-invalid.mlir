// RUN: fusion-opt %s --split-input-file --verify-diagnostics

fusion_tile.program @wide(%m: !llvm.ptr<1>, %i: index, %a: f64) attributes {num_warps = 1 : i64, together = 3 : i64} {
  // expected-error @below {{elements of type 'f64' do not fit beside the number of an exchange}}
  %b, %t = fusion_tile.panel_scan from %a through %m[%i, %i, %i] members 3 copies 2 at 16 of 64 : !llvm.ptr<1>, f64 {
  ^bb0(%u: f64, %v: f64):
    fusion_tile.yield %u : f64
  }
  fusion_tile.return
}

// -----

fusion_tile.program @shapes(%m: !llvm.ptr<1>, %i: index, %a: tensor<4xf32>, %c: tensor<8xf32>) attributes {num_warps = 1 : i64, together = 3 : i64} {
  // expected-error @below {{takes tiles of several shapes}}
  %b:2, %t:2 = fusion_tile.panel_scan from %a, %c through %m[%i, %i, %i] members 3 copies 2 at 16 of 640 : !llvm.ptr<1>, tensor<4xf32>, tensor<8xf32> {
  ^bb0(%u: f32, %v: f32, %w: f32, %x: f32):
    fusion_tile.yield %u, %v : f32, f32
  }
  fusion_tile.return
}

// -----

fusion_tile.program @members(%m: !llvm.ptr<1>, %i: index, %a: f32) attributes {num_warps = 1 : i64, together = 2 : i64} {
  // expected-error @below {{has other members than the program has blocks that wait for each other ('together' or 'cluster')}}
  %b, %t = fusion_tile.panel_scan from %a through %m[%i, %i, %i] members 3 copies 2 at 16 of 64 : !llvm.ptr<1>, f32 {
  ^bb0(%u: f32, %v: f32):
    fusion_tile.yield %u : f32
  }
  fusion_tile.return
}

// -----

fusion_tile.program @alone(%m: !llvm.ptr<1>, %i: index, %a: f32) attributes {num_warps = 1 : i64} {
  // expected-error @below {{needs two members and one copy at least}}
  %b, %t = fusion_tile.panel_scan from %a through %m[%i, %i, %i] members 1 copies 2 at 16 of 64 : !llvm.ptr<1>, f32 {
  ^bb0(%u: f32, %v: f32):
    fusion_tile.yield %u : f32
  }
  fusion_tile.return
}

// -----

// Two states of two copies for three members.

fusion_tile.program @small(%m: !llvm.ptr<1>, %i: index, %a: f32) attributes {num_warps = 1 : i64, together = 3 : i64} {
  // expected-error @below {{has 12 words from byte 16 on, of 96 bytes}}
  %b:2, %t:2 = fusion_tile.panel_scan from %a, %a through %m[%i, %i, %i] members 3 copies 2 at 16 of 96 : !llvm.ptr<1>, f32, f32 {
  ^bb0(%u: f32, %v: f32, %w: f32, %x: f32):
    fusion_tile.yield %u, %v : f32, f32
  }
  fusion_tile.return
}

// -----

fusion_tile.program @region(%m: !llvm.ptr<1>, %i: index, %a: f32) attributes {num_warps = 1 : i64, together = 3 : i64} {
  // expected-error @below {{combines two states of the values' elements to one}}
  %b, %t = fusion_tile.panel_scan from %a through %m[%i, %i, %i] members 3 copies 2 at 16 of 64 : !llvm.ptr<1>, f32 {
  ^bb0(%u: f32, %v: i32):
    fusion_tile.yield %u : f32
  }
  fusion_tile.return
}

// -----

// Three copies of a word for each of two members.

fusion_tile.program @published(%m: !llvm.ptr<1>, %i: index, %a: f32) attributes {num_warps = 1 : i64, together = 2 : i64} {
  // expected-error @below {{has 6 words from byte 16 on, of 48 bytes}}
  fusion_tile.panel_publish %a through %m[%i, %i, %i] members 2 copies 3 at 16 of 48 : !llvm.ptr<1>, f32
  fusion_tile.return
}
