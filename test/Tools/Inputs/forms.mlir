// Operations that have several forms, of which a kernel takes the one that its
// chip and its other operations allow. A sign or a size, which differs where
// floats are simplified, has all compared without.

//--- products.mlir
// Products of f32 are three of tf32, whose factors are split by their bits.
func.func @products(%x: tensor<2x7x12x8xf32>, %k: tensor<8x1x2x8xf32>,
                    %b: tensor<8xf32>) -> tensor<2x5x11x8xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}>
      : () -> tensor<1xf32>
  %r = tosa.conv2d %x, %k, %b, %z, %z
      {acc_type = f32, pad = array<i64: 1, 1, 0, 0>,
       stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}
      : (tensor<2x7x12x8xf32>, tensor<8x1x2x8xf32>, tensor<8xf32>,
         tensor<1xf32>, tensor<1xf32>) -> tensor<2x5x11x8xf32>
  return %r : tensor<2x5x11x8xf32>
}

//--- logistic.mlir
// 1 / (1 + exp(x)) is a reciprocal where it stands in one kernel.
func.func @logistic(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %e = math.exp %x : tensor<64xf32>
  %s = arith.addf %e, %one : tensor<64xf32>
  %r = arith.divf %one, %s : tensor<64xf32>
  %half = arith.truncf %x : tensor<64xf32> to tensor<64xf16>
  %back = arith.extf %half : tensor<64xf16> to tensor<64xf32>
  %size = math.copysign %x, %back : tensor<64xf32>
  return %r, %size : tensor<64xf32>, tensor<64xf32>
}

//--- narrow.mlir
// A sum of bf16 is fma with the bits of 1.0 on sm_86, where it is not rounded
// from one of f32.
func.func @narrow(%x: tensor<7x64xbf16>, %y: tensor<32x64xbf16>,
                  %z: tensor<7x32xbf16>, %b: tensor<32xbf16>)
    -> (tensor<224xbf16>, tensor<7x32xbf16>) {
  %m = linalg.matmul
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
                       affine_map<(i, j, k) -> (j, k)>,
                       affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %y : tensor<7x64xbf16>, tensor<32x64xbf16>)
      outs(%z : tensor<7x32xbf16>) -> tensor<7x32xbf16>
  %e = tensor.empty() : tensor<7x32xbf16>
  %a = linalg.elementwise kind=#linalg.elementwise_kind<add>
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>]
      ins(%m, %b : tensor<7x32xbf16>, tensor<32xbf16>)
      outs(%e : tensor<7x32xbf16>) -> tensor<7x32xbf16>
  %s = arith.addf %a, %z : tensor<7x32xbf16>
  %t = arith.addf %s, %s : tensor<7x32xbf16>
  %f = tensor.collapse_shape %s [[0, 1]] : tensor<7x32xbf16>
      into tensor<224xbf16>
  return %f, %t : tensor<224xbf16>, tensor<7x32xbf16>
}

//--- counts.mlir
// How many elements a window has is a constant where the kernel knows it.
func.func @counts(%x: tensor<2x2x11x7xf32>)
    -> (tensor<2x1x5x7xf32>, tensor<2x2x11x7xf32>) {
  %p = fusion.pool avg nhwc %x window [1, 3]
      {strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 1>}
      : (tensor<2x2x11x7xf32>) -> tensor<2x1x5x7xf32>
  %square = arith.mulf %x, %x : tensor<2x2x11x7xf32>
  %size = math.absf %square : tensor<2x2x11x7xf32>
  return %p, %size : tensor<2x1x5x7xf32>, tensor<2x2x11x7xf32>
}

//--- small.mlir
// Floats of 8 bits are made of the bits of others: a mask of the sign, or a
// magnitude, by what the loaded number is to LLVM.
func.func @small(%x: tensor<15x77x8xf32>)
    -> (tensor<15x77x8xf8E5M2>, tensor<15x77x8xf32>) {
  %one = arith.constant dense<1.0> : tensor<15x77x8xf32>
  %s = arith.addf %x, %one : tensor<15x77x8xf32>
  %t = arith.truncf %s : tensor<15x77x8xf32> to tensor<15x77x8xf8E5M2>
  %half = arith.truncf %x : tensor<15x77x8xf32> to tensor<15x77x8xf16>
  %back = arith.extf %half : tensor<15x77x8xf16> to tensor<15x77x8xf32>
  %sign = math.copysign %x, %back : tensor<15x77x8xf32>
  return %t, %sign : tensor<15x77x8xf8E5M2>, tensor<15x77x8xf32>
}

//--- extended.mlir
// A product of 8-bit floats extends them in the instruction, or before it.
func.func @extended(%x: tensor<1x4x4xf8E4M3FN>, %y: tensor<1x4x4xf8E4M3FN>,
                    %z: tensor<4x1xf32>, %s: tensor<64xf32>)
    -> (tensor<4xf32>, tensor<64xf32>) {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x4xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<1x4x4xf32>)
      -> tensor<1x4x4xf32>
  %m = linalg.batch_matmul
      indexing_maps = [affine_map<(b, i, j, k) -> (b, k, i)>,
                       affine_map<(b, i, j, k) -> (b, j, k)>,
                       affine_map<(b, i, j, k) -> (b, i, j)>]
      ins(%x, %y : tensor<1x4x4xf8E4M3FN>, tensor<1x4x4xf8E4M3FN>)
      outs(%f : tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %g = tensor.empty() : tensor<4xf32>
  %h = linalg.fill ins(%c : f32) outs(%g : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic
      {indexing_maps = [affine_map<(b, i, k) -> (b, i, k)>,
                        affine_map<(b, i, k) -> (k, b)>,
                        affine_map<(b, i, k) -> (i)>],
       iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%m, %z : tensor<1x4x4xf32>, tensor<4x1xf32>)
      outs(%h : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %half = arith.truncf %s : tensor<64xf32> to tensor<64xf16>
  %back = arith.extf %half : tensor<64xf16> to tensor<64xf32>
  %sign = math.copysign %s, %back : tensor<64xf32>
  return %r, %sign : tensor<4xf32>, tensor<64xf32>
}

//--- cut.mlir
// The larger of two integers is that of registers, of rows that go element by
// element.
func.func @cut(%x: tensor<5x129xf64>, %w: tensor<5x131xi8>)
    -> tensor<5x129xi8> {
  %c = arith.fptosi %x : tensor<5x129xf64> to tensor<5x129xi8>
  %y = tensor.extract_slice %w[0, 1] [5, 129] [1, 1] : tensor<5x131xi8> to tensor<5x129xi8>
  %z = math.ctlz %y : tensor<5x129xi8>
  %r = arith.maxui %z, %c : tensor<5x129xi8>
  return %r : tensor<5x129xi8>
}
