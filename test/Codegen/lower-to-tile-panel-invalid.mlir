// Schedules that let blocks reduce rows together where they cannot.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --split-input-file --verify-diagnostics

func.func @remainder(%a: tensor<512x256xbf16>, %b: tensor<200x256xbf16>) -> tensor<512x200xf32> {
  // expected-error @below {{FUS-3125: the schedule lets blocks of the grid share a dimension ('full' or 'split'), but its tiles do not divide the dimension}}
  %r = fusion.kernel @remainder ins(%a, %b : tensor<512x256xbf16>, tensor<200x256xbf16>) -> (tensor<512x200xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<full, tile = 64>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 3, columns = 32, group = 1, blocks = 8>>} {
  ^bb0(%x: tensor<512x256xbf16>, %w: tensor<200x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x200xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x200xf32>) -> tensor<512x200xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<512x256xbf16>, tensor<200x256xbf16>) outs(%f : tensor<512x200xf32>) -> tensor<512x200xf32>
    %v = tensor.empty() : tensor<512xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<512xf32>) -> tensor<512xf32>
    %s = linalg.reduce { arith.addf } ins(%p : tensor<512x200xf32>) outs(%g : tensor<512xf32>) dimensions = [1]
    %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<512x200xf32>, tensor<512xf32>) outs(%e : tensor<512x200xf32>) {
    ^bb1(%i: f32, %j: f32, %o: f32):
      %d = arith.divf %i, %j : f32
      linalg.yield %d : f32
    } -> tensor<512x200xf32>
    fusion.yield %y : tensor<512x200xf32>
  }
  return %r : tensor<512x200xf32>
}

// -----

func.func @uneven(%a: tensor<512x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<512x256xf32> {
  // expected-error @below {{FUS-3125: the schedule lets blocks of the grid share a dimension ('full' or 'split'), but there are 6 of them, no multiple of 4}}
  %r = fusion.kernel @uneven ins(%a, %b : tensor<512x256xbf16>, tensor<256x256xbf16>) -> (tensor<512x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<full, tile = 64>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 3, columns = 32, group = 1, blocks = 6>>} {
  ^bb0(%x: tensor<512x256xbf16>, %w: tensor<256x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<512x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<512x256xf32>) -> tensor<512x256xf32>
    %v = tensor.empty() : tensor<512xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<512xf32>) -> tensor<512xf32>
    %s = linalg.reduce { arith.addf } ins(%p : tensor<512x256xf32>) outs(%g : tensor<512xf32>) dimensions = [1]
    %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<512x256xf32>, tensor<512xf32>) outs(%e : tensor<512x256xf32>) {
    ^bb1(%i: f32, %j: f32, %o: f32):
      %d = arith.divf %i, %j : f32
      linalg.yield %d : f32
    } -> tensor<512x256xf32>
    fusion.yield %y : tensor<512x256xf32>
  }
  return %r : tensor<512x256xf32>
}

// -----

func.func @groups_of_rows(%a: tensor<512x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<512x256xf32> {
  // expected-error @below {{FUS-3125: the schedule lets blocks of the grid share a dimension ('full' or 'split'), but they do not walk rows of tiles one by one}}
  %r = fusion.kernel @groups_of_rows ins(%a, %b : tensor<512x256xbf16>, tensor<256x256xbf16>) -> (tensor<512x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<full, tile = 64>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 3, columns = 32, group = 2, blocks = 8>>} {
  ^bb0(%x: tensor<512x256xbf16>, %w: tensor<256x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<512x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<512x256xf32>) -> tensor<512x256xf32>
    %v = tensor.empty() : tensor<512xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<512xf32>) -> tensor<512xf32>
    %s = linalg.reduce { arith.addf } ins(%p : tensor<512x256xf32>) outs(%g : tensor<512xf32>) dimensions = [1]
    %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<512x256xf32>, tensor<512xf32>) outs(%e : tensor<512x256xf32>) {
    ^bb1(%i: f32, %j: f32, %o: f32):
      %d = arith.divf %i, %j : f32
      linalg.yield %d : f32
    } -> tensor<512x256xf32>
    fusion.yield %y : tensor<512x256xf32>
  }
  return %r : tensor<512x256xf32>
}

// -----

func.func @stream(%a: tensor<640x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<640x256xf32> {
  // expected-error @below {{FUS-3125: the schedule lets blocks of the grid share a dimension ('full' or 'split'), but they do not walk rows of tiles one by one}}
  %r = fusion.kernel @stream ins(%a, %b : tensor<640x256xbf16>, tensor<256x256xbf16>) -> (tensor<640x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<full, tile = 64>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 3, columns = 32, group = 1, blocks = 8, stream = 1>>} {
  ^bb0(%x: tensor<640x256xbf16>, %w: tensor<256x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<640x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<640x256xf32>) -> tensor<640x256xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<640x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<640x256xf32>) -> tensor<640x256xf32>
    %v = tensor.empty() : tensor<640xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<640xf32>) -> tensor<640xf32>
    %s = linalg.reduce { arith.addf } ins(%p : tensor<640x256xf32>) outs(%g : tensor<640xf32>) dimensions = [1]
    %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<640x256xf32>, tensor<640xf32>) outs(%e : tensor<640x256xf32>) {
    ^bb1(%i: f32, %j: f32, %o: f32):
      %d = arith.divf %i, %j : f32
      linalg.yield %d : f32
    } -> tensor<640x256xf32>
    fusion.yield %y : tensor<640x256xf32>
  }
  return %r : tensor<640x256xf32>
}

// -----

func.func @nothing(%a: tensor<512x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<512x256xf32> {
  // expected-error @below {{FUS-3125: the schedule lets blocks of the grid share a dimension ('full' or 'split'), but nothing is reduced along it}}
  %r = fusion.kernel @nothing ins(%a, %b : tensor<512x256xbf16>, tensor<256x256xbf16>) -> (tensor<512x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<full, tile = 64>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 3, columns = 32, group = 1, blocks = 8>>} {
  ^bb0(%x: tensor<512x256xbf16>, %w: tensor<256x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<512x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<512x256xf32>) -> tensor<512x256xf32>
    fusion.yield %p : tensor<512x256xf32>
  }
  return %r : tensor<512x256xf32>
}

// -----

func.func @memory(%a: tensor<262144x256xbf16>, %b: tensor<512x256xbf16>) -> tensor<262144x512xf32> {
  // expected-error @below {{FUS-3125: the schedule lets blocks of the grid share a dimension ('full' or 'split'), but what they exchange takes 8404992 bytes, more than the 2097152 there are}}
  %r = fusion.kernel @memory ins(%a, %b : tensor<262144x256xbf16>, tensor<512x256xbf16>) -> (tensor<262144x512xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<full, tile = 16>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 3, columns = 16, group = 1, blocks = 4096>>} {
  ^bb0(%x: tensor<262144x256xbf16>, %w: tensor<512x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<262144x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<262144x512xf32>) -> tensor<262144x512xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<262144x256xbf16>, tensor<512x256xbf16>) outs(%f : tensor<262144x512xf32>) -> tensor<262144x512xf32>
    %v = tensor.empty() : tensor<262144xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<262144xf32>) -> tensor<262144xf32>
    %s = linalg.reduce { arith.addf } ins(%p : tensor<262144x512xf32>) outs(%g : tensor<262144xf32>) dimensions = [1]
    %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<262144x512xf32>, tensor<262144xf32>) outs(%e : tensor<262144x512xf32>) {
    ^bb1(%i: f32, %j: f32, %o: f32):
      %d = arith.divf %i, %j : f32
      linalg.yield %d : f32
    } -> tensor<262144x512xf32>
    fusion.yield %y : tensor<262144x512xf32>
  }
  return %r : tensor<262144x512xf32>
}

// -----

func.func @other_cluster(%x: tensor<8x3000xf32>) -> tensor<8xf32> {
  // expected-error @below {{FUS-3125: the schedule lets blocks of the grid share a dimension ('full' or 'split'), but there are 3 of them, and a cluster has 4}}
  %r = fusion.kernel @other_cluster ins(%x : tensor<8x3000xf32>) -> (tensor<8xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 1024, vector = 4, cluster = 4>], warps = 4>} {
  ^bb0(%u: tensor<8x3000xf32>):
    %zero = arith.constant 0.0 : f32
    %v = tensor.empty() : tensor<8xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %s = linalg.reduce { arith.addf } ins(%u : tensor<8x3000xf32>) outs(%g : tensor<8xf32>) dimensions = [1]
    fusion.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

func.func @scan_in_cluster(%x: tensor<4x65536xf32>) -> tensor<4x65536xf32> {
  // expected-error @below {{FUS-3125: the schedule lets blocks of the grid share a dimension ('full' or 'split'), but a cluster's blocks exchange what they reduce outside of loops, and nothing else}}
  %r = fusion.kernel @scan_in_cluster ins(%x : tensor<4x65536xf32>) -> (tensor<4x65536xf32>) attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 1024, vector = 4, split = 8, cluster = 8>], warps = 4>} {
  ^bb0(%u: tensor<4x65536xf32>):
    %zero = arith.constant 0.0 : f32
    %y = fusion.scan ins(%u : tensor<4x65536xf32>) inits(%zero : f32) axis(1) -> tensor<4x65536xf32> {
    ^bb1(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      fusion.yield %c : f32
    }
    fusion.yield %y : tensor<4x65536xf32>
  }
  return %r : tensor<4x65536xf32>
}
