// Rotary embedding of a product's rows: pairs are exchanged within the tile, in
// one kernel, whichever instructions make the product.

// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=halves --asynchrony=late | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=halves | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=adjacent --asynchrony=early | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=adjacent | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=batched_bias | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=batched_bias | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=one_row | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=one_row | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=heads_first | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=heads_first | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=spelled_out | FileCheck %s --check-prefix=ONE
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=spelled_out | FileCheck %s --check-prefix=ONE
// ONE: launches: 1,
// ONE: verified

// Heads of 96 columns have pairs that differ in no bit.
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=odd_heads | FileCheck %s --check-prefix=TWO
// TWO: launches: 2,
// TWO: verified

// Rows are no multiple of any tile.
func.func @halves(%x: tensor<200x96xbf16>, %w: tensor<96x512xbf16>, %cos: tensor<200x64xf32>, %sin: tensor<200x64xf32>) -> tensor<1x200x4x128xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<200x512xf32>) -> tensor<200x512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<200x96xbf16>, tensor<96x512xbf16>) outs(%f : tensor<200x512xf32>) -> tensor<200x512xf32>
  %r = tensor.expand_shape %m [[0, 1], [2, 3]] output_shape [1, 200, 4, 128] : tensor<200x512xf32> into tensor<1x200x4x128xf32>
  %y = fusion.rope %r, %cos, %sin seq_axis(1) : tensor<1x200x4x128xf32>, tensor<200x64xf32>, tensor<200x64xf32>
  %t = arith.truncf %y : tensor<1x200x4x128xf32> to tensor<1x200x4x128xbf16>
  return %t : tensor<1x200x4x128xbf16>
}

func.func @adjacent(%x: tensor<200x96xf16>, %w: tensor<96x192xf16>, %cos: tensor<200x32xf32>, %sin: tensor<200x32xf32>) -> tensor<1x200x3x64xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<200x192xf32>) -> tensor<200x192xf32>
  %m = linalg.matmul ins(%x, %w : tensor<200x96xf16>, tensor<96x192xf16>) outs(%f : tensor<200x192xf32>) -> tensor<200x192xf32>
  %r = tensor.expand_shape %m [[0, 1], [2, 3]] output_shape [1, 200, 3, 64] : tensor<200x192xf32> into tensor<1x200x3x64xf32>
  %y = fusion.rope interleaved %r, %cos, %sin seq_axis(1) : tensor<1x200x3x64xf32>, tensor<200x32xf32>, tensor<200x32xf32>
  %t = arith.truncf %y : tensor<1x200x3x64xf32> to tensor<1x200x3x64xf16>
  return %t : tensor<1x200x3x64xf16>
}

// A bias before the rotation is exchanged with the sums; positions of two
// sequences.
func.func @batched_bias(%x: tensor<144x64xbf16>, %w: tensor<64x256xbf16>, %b: tensor<256xf32>, %cos: tensor<72x32xf32>, %sin: tensor<72x32xf32>) -> tensor<2x72x4x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<144x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<144x256xf32>) -> tensor<144x256xf32>
  %m = linalg.matmul ins(%x, %w : tensor<144x64xbf16>, tensor<64x256xbf16>) outs(%f : tensor<144x256xf32>) -> tensor<144x256xf32>
  %bb = linalg.broadcast ins(%b : tensor<256xf32>) outs(%e : tensor<144x256xf32>) dimensions = [0]
  %s = arith.addf %m, %bb : tensor<144x256xf32>
  %r = tensor.expand_shape %s [[0, 1], [2, 3]] output_shape [2, 72, 4, 64] : tensor<144x256xf32> into tensor<2x72x4x64xf32>
  %y = fusion.rope %r, %cos, %sin seq_axis(1) : tensor<2x72x4x64xf32>, tensor<72x32xf32>, tensor<72x32xf32>
  %t = arith.truncf %y : tensor<2x72x4x64xf32> to tensor<2x72x4x64xbf16>
  return %t : tensor<2x72x4x64xbf16>
}

// Few rows: warps share the depth.
func.func @one_row(%x: tensor<8x1024xbf16>, %w: tensor<256x1024xbf16>, %cos: tensor<8x64xf32>, %sin: tensor<8x64xf32>) -> tensor<8x2x128xbf16> attributes {fusion.max_kernels = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x256xf32>) -> tensor<8x256xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %w : tensor<8x1024xbf16>, tensor<256x1024xbf16>) outs(%f : tensor<8x256xf32>) -> tensor<8x256xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [8, 2, 128] : tensor<8x256xf32> into tensor<8x2x128xf32>
  %y = fusion.rope %r, %cos, %sin seq_axis(0) : tensor<8x2x128xf32>, tensor<8x64xf32>, tensor<8x64xf32>
  %t = arith.truncf %y : tensor<8x2x128xf32> to tensor<8x2x128xbf16>
  return %t : tensor<8x2x128xbf16>
}

func.func @odd_heads(%x: tensor<72x64xbf16>, %w: tensor<64x192xbf16>, %cos: tensor<72x48xf32>, %sin: tensor<72x48xf32>) -> tensor<72x2x96xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<72x192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<72x192xf32>) -> tensor<72x192xf32>
  %m = linalg.matmul ins(%x, %w : tensor<72x64xbf16>, tensor<64x192xbf16>) outs(%f : tensor<72x192xf32>) -> tensor<72x192xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [72, 2, 96] : tensor<72x192xf32> into tensor<72x2x96xf32>
  %y = fusion.rope %r, %cos, %sin seq_axis(0) : tensor<72x2x96xf32>, tensor<72x48xf32>, tensor<72x48xf32>
  %t = arith.truncf %y : tensor<72x2x96xf32> to tensor<72x2x96xbf16>
  return %t : tensor<72x2x96xbf16>
}

// Stored by heads: the product is made along the dimensions of the result.
func.func @heads_first(%x: tensor<192x96xbf16>, %w: tensor<96x512xbf16>, %cos: tensor<96x64xf32>, %sin: tensor<96x64xf32>) -> tensor<2x4x96x128xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<192x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<192x512xf32>) -> tensor<192x512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<192x96xbf16>, tensor<96x512xbf16>) outs(%f : tensor<192x512xf32>) -> tensor<192x512xf32>
  %r = tensor.expand_shape %m [[0, 1], [2, 3]] output_shape [2, 96, 4, 128] : tensor<192x512xf32> into tensor<2x96x4x128xf32>
  %y = fusion.rope %r, %cos, %sin seq_axis(1) : tensor<2x96x4x128xf32>, tensor<96x64xf32>, tensor<96x64xf32>
  %t = arith.truncf %y : tensor<2x96x4x128xf32> to tensor<2x96x4x128xbf16>
  %eo = tensor.empty() : tensor<2x4x96x128xbf16>
  %o = linalg.transpose ins(%t : tensor<2x96x4x128xbf16>) outs(%eo : tensor<2x4x96x128xbf16>) permutation = [0, 2, 1, 3]
  return %o : tensor<2x4x96x128xbf16>
}

// As programs spell it that have no operation for it: slices, a negation and a
// concatenation, with cosines for all columns.
func.func @spelled_out(%x: tensor<192x96xbf16>, %w: tensor<96x256xbf16>, %cos: tensor<96x64xf32>, %sin: tensor<96x64xf32>) -> tensor<2x96x4x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<192x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<192x256xf32>) -> tensor<192x256xf32>
  %m = linalg.matmul ins(%x, %w : tensor<192x96xbf16>, tensor<96x256xbf16>) outs(%f : tensor<192x256xf32>) -> tensor<192x256xf32>
  %q = tensor.expand_shape %m [[0, 1], [2, 3]] output_shape [2, 96, 4, 64] : tensor<192x256xf32> into tensor<2x96x4x64xf32>
  %lo = tensor.extract_slice %q[0, 0, 0, 0] [2, 96, 4, 32] [1, 1, 1, 1] : tensor<2x96x4x64xf32> to tensor<2x96x4x32xf32>
  %hi = tensor.extract_slice %q[0, 0, 0, 32] [2, 96, 4, 32] [1, 1, 1, 1] : tensor<2x96x4x64xf32> to tensor<2x96x4x32xf32>
  %neg = arith.negf %hi : tensor<2x96x4x32xf32>
  %rot = tensor.concat dim(3) %neg, %lo : (tensor<2x96x4x32xf32>, tensor<2x96x4x32xf32>) -> tensor<2x96x4x64xf32>
  %e4 = tensor.empty() : tensor<2x96x4x64xf32>
  %bc = linalg.broadcast ins(%cos : tensor<96x64xf32>) outs(%e4 : tensor<2x96x4x64xf32>) dimensions = [0, 2]
  %bs = linalg.broadcast ins(%sin : tensor<96x64xf32>) outs(%e4 : tensor<2x96x4x64xf32>) dimensions = [0, 2]
  %a = arith.mulf %q, %bc : tensor<2x96x4x64xf32>
  %b = arith.mulf %rot, %bs : tensor<2x96x4x64xf32>
  %s = arith.addf %a, %b : tensor<2x96x4x64xf32>
  %t = arith.truncf %s : tensor<2x96x4x64xf32> to tensor<2x96x4x64xbf16>
  return %t : tensor<2x96x4x64xbf16>
}
