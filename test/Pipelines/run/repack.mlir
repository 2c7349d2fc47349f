// Operands laid out anew for tensor copies, and what is computed from them.

// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s
// RUN: fusion-compile %s -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%s --entry=contracted --device=emulator --asynchrony=late --random --seed=1 --verify
// RUN: fusion-run %t.fpk --reference=%s --entry=kept --device=emulator --asynchrony=early --random --seed=1 --verify
// RUN: fusion-run %t.fpk --reference=%s --entry=bytes --device=emulator --asynchrony=late --random --seed=1 --verify
// RUN: fusion-run %t.fpk --reference=%s --entry=float8 --device=emulator --asynchrony=late --random --seed=1 --verify
// RUN: fusion-run %t.fpk --reference=%s --entry=infinite --device=emulator --asynchrony=late --random --seed=1 --verify

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {

// CHECK-COUNT-5: fusion_tile.specialize

func.func @contracted(%x: tensor<263x1003xbf16>, %w: tensor<385x1003xbf16>, %b: tensor<385xf32>) -> tensor<263x385xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<263x385xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<263x385xf32>) -> tensor<263x385xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %w : tensor<263x1003xbf16>, tensor<385x1003xbf16>) outs(%f : tensor<263x385xf32>) -> tensor<263x385xf32>
  %bb = linalg.broadcast ins(%b : tensor<385xf32>) outs(%e : tensor<263x385xf32>) dimensions = [0]
  %s = arith.addf %m, %bb : tensor<263x385xf32>
  %t = arith.truncf %s : tensor<263x385xf32> to tensor<263x385xbf16>
  return %t : tensor<263x385xbf16>
}

// Rows of the one along the contracted, of the other along its own dimension.
func.func @kept(%x: tensor<263x1003xf16>, %w: tensor<1003x385xf16>) -> tensor<263x385xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<263x385xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<263x385xf32>) -> tensor<263x385xf32>
  %m = linalg.matmul ins(%x, %w : tensor<263x1003xf16>, tensor<1003x385xf16>) outs(%f : tensor<263x385xf32>) -> tensor<263x385xf32>
  return %m : tensor<263x385xf32>
}

func.func @bytes(%x: tensor<384x1003xi8>, %w: tensor<1003x320xi8>) -> tensor<384x320xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<384x320xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<384x320xi32>) -> tensor<384x320xi32>
  %m = linalg.matmul ins(%x, %w : tensor<384x1003xi8>, tensor<1003x320xi8>) outs(%f : tensor<384x320xi32>) -> tensor<384x320xi32>
  return %m : tensor<384x320xi32>
}

func.func @float8(%x: tensor<256x1003xf8E4M3FN>, %w: tensor<1003x257xf8E4M3FN>) -> tensor<256x257xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x257xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x257xf32>) -> tensor<256x257xf32>
  %m = linalg.matmul ins(%x, %w : tensor<256x1003xf8E4M3FN>, tensor<1003x257xf8E4M3FN>) outs(%f : tensor<256x257xf32>) -> tensor<256x257xf32>
  %t = arith.truncf %m : tensor<256x257xf32> to tensor<256x257xbf16>
  return %t : tensor<256x257xbf16>
}

// Infinities and NaNs in the last real terms stay in their rows and columns:
// what is added is zeros times zeros. Where they come from goes along.
func.func @infinite(%x: tensor<263x1003xbf16>, %w: tensor<385x1003xbf16>) -> tensor<263x385xbf16> {
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0x7F80 : bf16
  %nan = arith.constant 0x7FC0 : bf16
  %last = arith.constant 1002 : index
  %row = arith.constant 17 : index
  %column = arith.constant 250 : index
  %ex = tensor.empty() : tensor<263x1003xbf16>
  %xi = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<263x1003xbf16>) outs(%ex : tensor<263x1003xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %i = linalg.index 0 : index
    %k = linalg.index 1 : index
    %c = arith.cmpi eq, %i, %row : index
    %d = arith.cmpi eq, %k, %last : index
    %both = arith.andi %c, %d : i1
    %v = arith.select %both, %inf, %a : bf16
    linalg.yield %v : bf16
  } -> tensor<263x1003xbf16>
  %ew = tensor.empty() : tensor<385x1003xbf16>
  %wi = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<385x1003xbf16>) outs(%ew : tensor<385x1003xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %i = linalg.index 0 : index
    %k = linalg.index 1 : index
    %c = arith.cmpi eq, %i, %column : index
    %d = arith.cmpi eq, %k, %last : index
    %both = arith.andi %c, %d : i1
    %v = arith.select %both, %nan, %a : bf16
    linalg.yield %v : bf16
  } -> tensor<385x1003xbf16>
  %e = tensor.empty() : tensor<263x385xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<263x385xf32>) -> tensor<263x385xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%xi, %wi : tensor<263x1003xbf16>, tensor<385x1003xbf16>) outs(%f : tensor<263x385xf32>) -> tensor<263x385xf32>
  %t = arith.truncf %m : tensor<263x385xf32> to tensor<263x385xbf16>
  return %t : tensor<263x385xbf16>
}

}
