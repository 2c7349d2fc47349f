// Schedules that ask blocks to share tiles where they cannot.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --split-input-file --verify-diagnostics

func.func @whole(%a: tensor<1024x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<1024x256xf32> {
  // expected-error @below {{FUS-3121: the schedule shares tiles among the blocks of the grid ('stream'), but all rounds are whole}}
  %r = fusion.kernel @whole ins(%a, %b : tensor<1024x256xbf16>, tensor<256x256xbf16>) -> (tensor<1024x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 256>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 4, blocks = 4, stream = 1>>} {
  ^bb0(%x: tensor<1024x256xbf16>, %w: tensor<256x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1024x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x256xf32>) -> tensor<1024x256xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<1024x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<1024x256xf32>) -> tensor<1024x256xf32>
    fusion.yield %p : tensor<1024x256xf32>
  }
  return %r : tensor<1024x256xf32>
}

// -----

func.func @single(%a: tensor<128x64xbf16>, %b: tensor<512x64xbf16>) -> tensor<128x512xf32> {
  // expected-error @below {{FUS-3121: the schedule shares tiles among the blocks of the grid ('stream'), but there are 4 of them for 2 chunks}}
  %r = fusion.kernel @single ins(%a, %b : tensor<128x64xbf16>, tensor<512x64xbf16>) -> (tensor<128x512xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 256>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 4, blocks = 4, stream = 1>>} {
  ^bb0(%x: tensor<128x64xbf16>, %w: tensor<512x64xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<128x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x512xf32>) -> tensor<128x512xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<128x64xbf16>, tensor<512x64xbf16>) outs(%f : tensor<128x512xf32>) -> tensor<128x512xf32>
    fusion.yield %p : tensor<128x512xf32>
  }
  return %r : tensor<128x512xf32>
}

// -----

func.func @many(%a: tensor<384x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<384x256xf32> {
  // expected-error @below {{FUS-3121: the schedule shares tiles among the blocks of the grid ('stream'), but there are 2000 of them for 12 chunks}}
  %r = fusion.kernel @many ins(%a, %b : tensor<384x256xbf16>, tensor<256x256xbf16>) -> (tensor<384x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 256>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 4, blocks = 2000, stream = 1>>} {
  ^bb0(%x: tensor<384x256xbf16>, %w: tensor<256x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<384x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<384x256xf32>) -> tensor<384x256xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<384x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<384x256xf32>) -> tensor<384x256xf32>
    fusion.yield %p : tensor<384x256xf32>
  }
  return %r : tensor<384x256xf32>
}

// -----

func.func @signals(%a: tensor<13440000x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<13440000x256xf32> {
  // expected-error @below {{FUS-3121: the schedule shares tiles among the blocks of the grid ('stream'), but there are too many of them to signal to each other}}
  %r = fusion.kernel @signals ins(%a, %b : tensor<13440000x256xbf16>, tensor<256x256xbf16>) -> (tensor<13440000x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 256>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 4, blocks = 70000, stream = 1>>} {
  ^bb0(%x: tensor<13440000x256xbf16>, %w: tensor<256x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<13440000x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<13440000x256xf32>) -> tensor<13440000x256xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<13440000x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<13440000x256xf32>) -> tensor<13440000x256xf32>
    fusion.yield %p : tensor<13440000x256xf32>
  }
  return %r : tensor<13440000x256xf32>
}

// -----

func.func @dynamic(%a: tensor<?x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?x256xbf16>
  // expected-error @below {{FUS-3121: the schedule shares tiles among the blocks of the grid ('stream'), but sizes are not known at compile time}}
  %r = fusion.kernel @dynamic ins(%a, %b, %d : tensor<?x256xbf16>, tensor<256x256xbf16>, index) -> (tensor<?x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 64>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 4, blocks = 4, stream = 1>>} {
  ^bb0(%x: tensor<?x256xbf16>, %w: tensor<256x256xbf16>, %n: index):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty(%n) : tensor<?x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<?x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<?x256xf32>) -> tensor<?x256xf32>
    fusion.yield %p : tensor<?x256xf32>
  }
  return %r : tensor<?x256xf32>
}

// -----

func.func @nested(%a: tensor<512x4x64xbf16>, %b: tensor<256x4x64xbf16>) -> tensor<512x256xf32> {
  // expected-error @below {{FUS-3121: the schedule shares tiles among the blocks of the grid ('stream'), but the contraction has loops in each other}}
  %r = fusion.kernel @nested ins(%a, %b : tensor<512x4x64xbf16>, tensor<256x4x64xbf16>) -> (tensor<512x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 64>, #fusion.axis<loop, tile = 1>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 4, blocks = 7, stream = 1>>} {
  ^bb0(%x: tensor<512x4x64xbf16>, %w: tensor<256x4x64xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %p = linalg.contract indexing_maps = [affine_map<(m, n, j, k) -> (m, j, k)>, affine_map<(m, n, j, k) -> (n, j, k)>, affine_map<(m, n, j, k) -> (m, n)>] ins(%x, %w : tensor<512x4x64xbf16>, tensor<256x4x64xbf16>) outs(%f : tensor<512x256xf32>) -> tensor<512x256xf32>
    fusion.yield %p : tensor<512x256xf32>
  }
  return %r : tensor<512x256xf32>
}
