// RUN: fusion-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{num_warps must be a power of two from 1 to 32, got 3}}
tile.program @warps() attributes {num_warps = 3 : i64} {
  tile.return
}

// -----

// expected-error @below {{a tile program has no results}}
tile.program @results() -> index attributes {num_warps = 1 : i64} {
  tile.return
}

// -----

tile.program @sizes(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{expects one size for each dynamic dimension}}
  %v = tile.view %p[] : !llvm.ptr<1> to !tile.view<?x4xf32>
  tile.return
}

// -----

tile.program @rank(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64} {
  %v = tile.view %p[] : !llvm.ptr<1> to !tile.view<8x4xf32>
  // expected-error @below {{map has 1 results, the view has rank 2}}
  %t = tile.load %v[affine_map<(a) -> (a)>] () checked [false, false] : !tile.view<8x4xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.program @power(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64} {
  %v = tile.view %p[] : !llvm.ptr<1> to !tile.view<12xf32>
  // expected-error @below {{tile sizes must be static powers of two, got 'tensor<12xf32>'}}
  %t = tile.load %v[affine_map<(a) -> (a)>] () checked [false] : !tile.view<12xf32> -> tensor<12xf32>
  tile.return
}

// -----

tile.program @layout(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64} {
  %v = tile.view %p[] : !llvm.ptr<1> to !tile.view<64xf32>
  // expected-error @below {{layout covers size 32 along dimension 0}}
  %t = tile.load %v[affine_map<(a) -> (a)>] () checked [false] : !tile.view<64xf32> -> tensor<64xf32, #tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">>
  tile.return
}

// -----

// expected-error @+1 {{malformed linear layout}}
func.func private @text(tensor<32xf32, #tile.layout<"{reg=oops}">>)

// -----

tile.program @dot(%a: tensor<16x8xf32>, %b: tensor<32x4xf32>, %c: tensor<16x32xf32>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{shapes do not multiply}}
  %d = tile.dot %a, %b, %c : tensor<16x8xf32>, tensor<32x4xf32> -> tensor<16x32xf32>
  tile.return
}

// -----

tile.program @broadcast(%a: tensor<16xf32>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{operand size 16 differs from result size 8 of dimension 0}}
  %d = tile.broadcast %a dims [0] : tensor<16xf32> -> tensor<8x4xf32>
  tile.return
}

// -----

tile.program @reduce(%a: tensor<16x4xf32>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{result 0 does not match its operand}}
  %d = tile.reduce %a along 0 : tensor<16x4xf32> -> tensor<16xf32> {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  }
  tile.return
}
