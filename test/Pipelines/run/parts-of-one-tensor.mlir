// Results that read one tensor in spaces of different sizes.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify

func.func @parts(%x: tensor<32x32x2xf16>, %u: tensor<2x2x2xf16>) -> (tensor<32x32x2xf16>, tensor<32x32x2xf16>, tensor<33x32x2xf16>, tensor<64x32x2xf16>, tensor<12x32x2xf16>) {
  %zero = arith.constant 0.0 : f16
  %n = arith.negf %x : tensor<32x32x2xf16>
  %v = tensor.insert_slice %u into %x[7, 5, 0][2, 2, 2][1, 1, 1] : tensor<2x2x2xf16> into tensor<32x32x2xf16>
  %p = tensor.pad %x low[0, 0, 0] high[1, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f16
  } : tensor<32x32x2xf16> to tensor<33x32x2xf16>
  %c = tensor.concat dim(0) %x, %n : (tensor<32x32x2xf16>, tensor<32x32x2xf16>) -> tensor<64x32x2xf16>
  %s = tensor.extract_slice %x[0, 0, 0] [12, 32, 2] [1, 1, 1] : tensor<32x32x2xf16> to tensor<12x32x2xf16>
  %a = math.absf %s : tensor<12x32x2xf16>
  return %v, %n, %p, %c, %a : tensor<32x32x2xf16>, tensor<32x32x2xf16>, tensor<33x32x2xf16>, tensor<64x32x2xf16>, tensor<12x32x2xf16>
}
