// RUN: fusion-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-lower-exchanges))"

fusion_tile.program @dimension(%a: tensor<16xf32>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{dimension 1 is outside the tile's rank}}
  %r, %t = fusion_tile.scan %a along 1 : tensor<16xf32> -> tensor<16xf32> totals f32 {
  ^bb0(%x: f32, %y: f32):
    fusion_tile.yield %x : f32
  }
  fusion_tile.return
}

// -----

fusion_tile.program @exclusive(%a: tensor<16xf32>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{an exclusive scan needs initial values}}
  %r, %t = fusion_tile.scan %a along 0 exclusive : tensor<16xf32> -> tensor<16xf32> totals f32 {
  ^bb0(%x: f32, %y: f32):
    fusion_tile.yield %x : f32
  }
  fusion_tile.return
}

// -----

fusion_tile.program @parts(%a: tensor<16xf32>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{dimension 0 has no 3 parts, a power of two of them}}
  %r, %t = fusion_tile.scan %a along 0 parts 3 : tensor<16xf32> -> tensor<16xf32> totals tensor<3xf32> {
  ^bb0(%x: f32, %y: f32):
    fusion_tile.yield %x : f32
  }
  fusion_tile.return
}

// -----

fusion_tile.program @total(%a: tensor<4x16xf32>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{total 0 does not match its operand}}
  %r, %t = fusion_tile.scan %a along 1 : tensor<4x16xf32> -> tensor<4x16xf32> totals tensor<16xf32> {
  ^bb0(%x: f32, %y: f32):
    fusion_tile.yield %x : f32
  }
  fusion_tile.return
}

// -----

fusion_tile.program @init(%a: tensor<4x16xf32>, %i: tensor<4xf16>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{initial value 0 does not match its operand}}
  %r, %t = fusion_tile.scan %a inits(%i : tensor<4xf16>) along 1 : tensor<4x16xf32> -> tensor<4x16xf32> totals tensor<4xf32> {
  ^bb0(%x: f32, %y: f32):
    fusion_tile.yield %x : f32
  }
  fusion_tile.return
}

// -----

fusion_tile.program @combiner(%a: tensor<16xf32>, %b: tensor<16xi32>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{combiner arguments must be the element types}}
  %r:2, %t:2 = fusion_tile.scan %a, %b along 0 : tensor<16xf32>, tensor<16xi32> -> tensor<16xf32>, tensor<16xi32> totals f32, i32 {
  ^bb0(%x: f32, %y: f32, %u: i32, %v: i32):
    fusion_tile.yield %x, %u : f32, i32
  }
  fusion_tile.return
}

// -----

// Lanes in another order than the elements.

#l = #fusion_tile.layout<"{reg=[], lane=[[2],[1],[4],[8],[16]], warp=[], shape=[32]}">
fusion_tile.program @lanes(%a: tensor<32xf32, #l>) attributes {num_warps = 1 : i64} {
  // expected-error @below {{FUS-3204: the layout cannot be scanned along dimension 0}}
  %r, %t = fusion_tile.scan %a along 0 : tensor<32xf32, #l> -> tensor<32xf32, #l> totals f32 {
  ^bb0(%x: f32, %y: f32):
    fusion_tile.yield %x : f32
  }
  fusion_tile.return
}

// -----

#l = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]], shape=[64]}">
fusion_tile.program @warps(%a: tensor<64xf32, #l>, %v: !fusion_tile.view<64xf32>) attributes {num_warps = 2 : i64} {
  // expected-error @below {{FUS-3205: warps share a scan that has no initial values or that is one of parts}}
  %r, %t = fusion_tile.scan %a along 0 : tensor<64xf32, #l> -> tensor<64xf32, #l> totals f32 {
  ^bb0(%x: f32, %y: f32):
    fusion_tile.yield %x : f32
  }
  fusion_tile.store %r, %v[affine_map<(i) -> (i)>] () checked [false] : tensor<64xf32, #l>, !fusion_tile.view<64xf32>
  fusion_tile.return
}
