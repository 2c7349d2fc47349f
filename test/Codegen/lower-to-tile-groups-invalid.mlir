// Schedules whose tiles cannot have rows of one group.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --split-input-file --verify-diagnostics

#x = affine_map<(t, n, e, k) -> (t, k)>
#w = affine_map<(t, n, e, k) -> (e, k, n)>
#g = affine_map<(t, n, e, k) -> (t)>
#y = affine_map<(t, n, e, k) -> (t, n)>
#e = affine_map<(t, n) -> (t, n)>
#r = affine_map<(t, n) -> (t)>

func.func @three(%x: tensor<256x128xbf16>, %w: tensor<4x128x128xbf16>, %b: tensor<4x128xf32>, %o: tensor<5xi32>) -> tensor<256x128xf32> {
  // expected-error @below {{FUS-3122: the schedule has tiles of rows of one group each, but the rows' axis is no plain one of the grid, with a power of two as its tile}}
  %r = fusion.kernel @three ins(%x, %w, %b, %o : tensor<256x128xbf16>, tensor<4x128x128xbf16>, tensor<4x128xf32>, tensor<5xi32>) -> (tensor<256x128xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 96>, #fusion.axis<grid, tile = 128>, #fusion.axis<group, tile = 1>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4, columns = 64, group = 4, blocks = 8>>} {
  ^bb0(%0: tensor<256x128xbf16>, %1: tensor<4x128x128xbf16>, %2: tensor<4x128xf32>, %3: tensor<5xi32>):
    %zero = arith.constant 0.0 : f32
    %g = fusion.row_groups %3 : tensor<5xi32> -> tensor<256xi32>
    %e = tensor.empty() : tensor<256x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #g, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%0, %1, %g : tensor<256x128xbf16>, tensor<4x128x128xbf16>, tensor<256xi32>) outs(%f : tensor<256x128xf32>) {
    ^bb1(%u: bf16, %v: bf16, %h: i32, %s: f32):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i32
      %is = arith.cmpi eq, %h, %j : i32
      %a = arith.extf %u : bf16 to f32
      %c = arith.extf %v : bf16 to f32
      %m = arith.mulf %a, %c : f32
      %k = arith.select %is, %m, %zero : f32
      %q = arith.addf %s, %k : f32
      linalg.yield %q : f32
    } -> tensor<256x128xf32>
    %t = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%p, %g : tensor<256x128xf32>, tensor<256xi32>) outs(%e : tensor<256x128xf32>) {
    ^bb1(%u: f32, %h: i32, %s: f32):
      %last = arith.constant 3 : i32
      %in = arith.minsi %h, %last : i32
      %i = arith.index_cast %in : i32 to index
      %j = linalg.index 1 : index
      %c = tensor.extract %2[%i, %j] : tensor<4x128xf32>
      %a = arith.addf %u, %c : f32
      linalg.yield %a : f32
    } -> tensor<256x128xf32>
    fusion.yield %t : tensor<256x128xf32>
  }
  return %r : tensor<256x128xf32>
}

// -----

#x = affine_map<(t, n, e, k) -> (t, k)>
#w = affine_map<(t, n, e, k) -> (e, k, n)>
#g = affine_map<(t, n, e, k) -> (t)>
#y = affine_map<(t, n, e, k) -> (t, n)>
#e = affine_map<(t, n) -> (t, n)>
#r = affine_map<(t, n) -> (t)>

func.func @cluster(%x: tensor<256x128xbf16>, %w: tensor<4x128x128xbf16>, %b: tensor<4x128xf32>, %o: tensor<5xi32>) -> tensor<256x128xf32> {
  // expected-error @below {{FUS-3122: the schedule has tiles of rows of one group each, but the rows' axis is no plain one of the grid, with a power of two as its tile}}
  %r = fusion.kernel @cluster ins(%x, %w, %b, %o : tensor<256x128xbf16>, tensor<4x128x128xbf16>, tensor<4x128xf32>, tensor<5xi32>) -> (tensor<256x128xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 128>, #fusion.axis<group, tile = 1>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4, columns = 64, split = 2>>} {
  ^bb0(%0: tensor<256x128xbf16>, %1: tensor<4x128x128xbf16>, %2: tensor<4x128xf32>, %3: tensor<5xi32>):
    %zero = arith.constant 0.0 : f32
    %g = fusion.row_groups %3 : tensor<5xi32> -> tensor<256xi32>
    %e = tensor.empty() : tensor<256x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #g, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%0, %1, %g : tensor<256x128xbf16>, tensor<4x128x128xbf16>, tensor<256xi32>) outs(%f : tensor<256x128xf32>) {
    ^bb1(%u: bf16, %v: bf16, %h: i32, %s: f32):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i32
      %is = arith.cmpi eq, %h, %j : i32
      %a = arith.extf %u : bf16 to f32
      %c = arith.extf %v : bf16 to f32
      %m = arith.mulf %a, %c : f32
      %k = arith.select %is, %m, %zero : f32
      %q = arith.addf %s, %k : f32
      linalg.yield %q : f32
    } -> tensor<256x128xf32>
    %t = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%p, %g : tensor<256x128xf32>, tensor<256xi32>) outs(%e : tensor<256x128xf32>) {
    ^bb1(%u: f32, %h: i32, %s: f32):
      %last = arith.constant 3 : i32
      %in = arith.minsi %h, %last : i32
      %i = arith.index_cast %in : i32 to index
      %j = linalg.index 1 : index
      %c = tensor.extract %2[%i, %j] : tensor<4x128xf32>
      %a = arith.addf %u, %c : f32
      linalg.yield %a : f32
    } -> tensor<256x128xf32>
    fusion.yield %t : tensor<256x128xf32>
  }
  return %r : tensor<256x128xf32>
}

// -----

#x = affine_map<(t, n, e, k) -> (t, k)>
#w = affine_map<(t, n, e, k) -> (e, k, n)>
#g = affine_map<(t, n, e, k) -> (t)>
#y = affine_map<(t, n, e, k) -> (t, n)>
#e = affine_map<(t, n) -> (t, n)>
#r = affine_map<(t, n) -> (t)>

func.func @computed(%x: tensor<256x128xbf16>, %w: tensor<4x128x128xbf16>, %b: tensor<4x128xf32>, %o: tensor<5xi32>) -> tensor<256x128xf32> {
  // expected-error @below {{FUS-3122: the schedule has tiles of rows of one group each, but offsets of the groups are computed in the kernel}}
  %r = fusion.kernel @computed ins(%x, %w, %b, %o : tensor<256x128xbf16>, tensor<4x128x128xbf16>, tensor<4x128xf32>, tensor<5xi32>) -> (tensor<256x128xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 1>, #fusion.axis<group, tile = 1>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4, columns = 64, group = 4, blocks = 8>>} {
  ^bb0(%0: tensor<256x128xbf16>, %1: tensor<4x128x128xbf16>, %2: tensor<4x128xf32>, %3: tensor<5xi32>):
    %zero = arith.constant 0.0 : f32
    %d = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%3 : tensor<5xi32>) outs(%3 : tensor<5xi32>) {
    ^bb1(%u: i32, %s: i32):
      %q = arith.addi %u, %u : i32
      linalg.yield %q : i32
    } -> tensor<5xi32>
    %g = fusion.row_groups %d : tensor<5xi32> -> tensor<256xi32>
    %e = tensor.empty() : tensor<256x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #g, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%0, %1, %g : tensor<256x128xbf16>, tensor<4x128x128xbf16>, tensor<256xi32>) outs(%f : tensor<256x128xf32>) {
    ^bb1(%u: bf16, %v: bf16, %h: i32, %s: f32):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i32
      %is = arith.cmpi eq, %h, %j : i32
      %a = arith.extf %u : bf16 to f32
      %c = arith.extf %v : bf16 to f32
      %m = arith.mulf %a, %c : f32
      %k = arith.select %is, %m, %zero : f32
      %q = arith.addf %s, %k : f32
      linalg.yield %q : f32
    } -> tensor<256x128xf32>
    %t = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%p, %g : tensor<256x128xf32>, tensor<256xi32>) outs(%e : tensor<256x128xf32>) {
    ^bb1(%u: f32, %h: i32, %s: f32):
      %last = arith.constant 3 : i32
      %in = arith.minsi %h, %last : i32
      %i = arith.index_cast %in : i32 to index
      %j = linalg.index 1 : index
      %c = tensor.extract %2[%i, %j] : tensor<4x128xf32>
      %a = arith.addf %u, %c : f32
      linalg.yield %a : f32
    } -> tensor<256x128xf32>
    fusion.yield %t : tensor<256x128xf32>
  }
  return %r : tensor<256x128xf32>
}

// -----

func.func @none(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{FUS-3122: the schedule has tiles of rows of one group each, but it has no sum of what belongs to a row's group}}
  %r = fusion.kernel @none ins(%x : tensor<64xf32>) -> (tensor<64xf32>) attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<group, tile = 1>], warps = 1>} {
  ^bb0(%0: tensor<64xf32>):
    %e = tensor.empty() : tensor<64xf32>
    %t = linalg.exp ins(%0 : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    fusion.yield %t : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
