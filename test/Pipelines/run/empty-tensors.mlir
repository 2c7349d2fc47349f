// Tensors without elements: what shares an operand with them is written all
// the same, and products, sums and paddings of nothing are what they start
// from.

// RUN: fusion-run %s --entry=siblings --device=emulator --random --seed=1 --verify
// RUN: fusion-run %s --entry=product --device=emulator --random --seed=1 --verify
// RUN: fusion-run %s --entry=rows --device=emulator --random --seed=1 --verify

func.func @siblings(%x: tensor<0x64xf32>, %y: tensor<64xf32>) -> (tensor<0x64xf32>, tensor<64xf32>, tensor<2x64xf32>) {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<0x64xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<0x64xf32>, tensor<64xf32>) outs(%e : tensor<0x64xf32>) {
  ^bb0(%p: f32, %q: f32, %z: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<0x64xf32>
  %b = arith.negf %y : tensor<64xf32>
  %c = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  } : tensor<0x64xf32> to tensor<2x64xf32>
  return %a, %b, %c : tensor<0x64xf32>, tensor<64xf32>, tensor<2x64xf32>
}

func.func @product(%x: tensor<0x32xbf16>, %w: tensor<32x64xbf16>, %u: tensor<64x0xf32>, %v: tensor<0x64xf32>, %b: tensor<64x64xf32>) -> (tensor<0x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<0x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<0x64xf32>) -> tensor<0x64xf32>
  %a = linalg.matmul ins(%x, %w : tensor<0x32xbf16>, tensor<32x64xbf16>) outs(%f : tensor<0x64xf32>) -> tensor<0x64xf32>
  %c = linalg.matmul ins(%u, %v : tensor<64x0xf32>, tensor<0x64xf32>) outs(%b : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %a, %c : tensor<0x64xf32>, tensor<64x64xf32>
}

func.func @rows(%x: tensor<64x0xf32>) -> (tensor<64xf32>, tensor<64x0xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x0xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%k: f32, %o: f32):
    %w = arith.addf %k, %o : f32
    linalg.yield %w : f32
  } -> tensor<64xf32>
  %n = arith.negf %x : tensor<64x0xf32>
  return %a, %n : tensor<64xf32>, tensor<64x0xf32>
}
