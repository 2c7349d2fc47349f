// Where the two elements of an exchange are: in registers, in lanes or in warps,
// by the layout of the products, which computed weights make with rows and
// columns swapped.

// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=swapped_halves | FileCheck %s
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=swapped_halves | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=swapped_adjacent | FileCheck %s
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=swapped_adjacent | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=swapped_wide | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=small_heads | FileCheck %s
// CHECK: launches: 1,
// CHECK: verified

// Warps hold the rows of the instruction, which are columns: a layout between.
func.func @swapped_halves(%x: tensor<40x128xbf16>, %w: tensor<256x128xi8>, %sc: tensor<256xbf16>, %cos: tensor<40x32xf32>, %sin: tensor<40x32xf32>) -> tensor<40x4x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40x256xf32>) -> tensor<40x256xf32>
  %wf = arith.sitofp %w : tensor<256x128xi8> to tensor<256x128xbf16>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %wf : tensor<40x128xbf16>, tensor<256x128xbf16>) outs(%f : tensor<40x256xf32>) -> tensor<40x256xf32>
  %s32 = arith.extf %sc : tensor<256xbf16> to tensor<256xf32>
  %bb = linalg.broadcast ins(%s32 : tensor<256xf32>) outs(%e : tensor<40x256xf32>) dimensions = [0]
  %s = arith.mulf %m, %bb : tensor<40x256xf32>
  %r = tensor.expand_shape %s [[0], [1, 2]] output_shape [40, 4, 64] : tensor<40x256xf32> into tensor<40x4x64xf32>
  %y = fusion.rope %r, %cos, %sin seq_axis(0) : tensor<40x4x64xf32>, tensor<40x32xf32>, tensor<40x32xf32>
  %t = arith.truncf %y : tensor<40x4x64xf32> to tensor<40x4x64xbf16>
  return %t : tensor<40x4x64xbf16>
}
func.func @swapped_adjacent(%x: tensor<328x128xbf16>, %w: tensor<256x128xi8>, %cos: tensor<328x32xf32>, %sin: tensor<328x32xf32>) -> tensor<328x4x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<328x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<328x256xf32>) -> tensor<328x256xf32>
  %wf = arith.sitofp %w : tensor<256x128xi8> to tensor<256x128xbf16>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %wf : tensor<328x128xbf16>, tensor<256x128xbf16>) outs(%f : tensor<328x256xf32>) -> tensor<328x256xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [328, 4, 64] : tensor<328x256xf32> into tensor<328x4x64xf32>
  %y = fusion.rope interleaved %r, %cos, %sin seq_axis(0) : tensor<328x4x64xf32>, tensor<328x32xf32>, tensor<328x32xf32>
  %t = arith.truncf %y : tensor<328x4x64xf32> to tensor<328x4x64xbf16>
  return %t : tensor<328x4x64xbf16>
}
func.func @swapped_wide(%x: tensor<328x128xbf16>, %w: tensor<512x128xi8>, %cos: tensor<328x64xf32>, %sin: tensor<328x64xf32>) -> tensor<328x4x128xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<328x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<328x512xf32>) -> tensor<328x512xf32>
  %wf = arith.sitofp %w : tensor<512x128xi8> to tensor<512x128xbf16>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %wf : tensor<328x128xbf16>, tensor<512x128xbf16>) outs(%f : tensor<328x512xf32>) -> tensor<328x512xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [328, 4, 128] : tensor<328x512xf32> into tensor<328x4x128xf32>
  %y = fusion.rope %r, %cos, %sin seq_axis(0) : tensor<328x4x128xf32>, tensor<328x64xf32>, tensor<328x64xf32>
  %t = arith.truncf %y : tensor<328x4x128xf32> to tensor<328x4x128xbf16>
  return %t : tensor<328x4x128xbf16>
}
func.func @small_heads(%x: tensor<200x64xf32>, %w: tensor<64x128xf32>, %cos: tensor<200x8xf32>, %sin: tensor<200x8xf32>) -> tensor<200x8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<200x128xf32>) -> tensor<200x128xf32>
  %m = linalg.matmul ins(%x, %w : tensor<200x64xf32>, tensor<64x128xf32>) outs(%f : tensor<200x128xf32>) -> tensor<200x128xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [200, 8, 16] : tensor<200x128xf32> into tensor<200x8x16xf32>
  %y = fusion.rope %r, %cos, %sin seq_axis(0) : tensor<200x8x16xf32>, tensor<200x8xf32>, tensor<200x8xf32>
  return %y : tensor<200x8x16xf32>
}
