// Elements of i16, and of i4, two a byte: pointwise ops, reductions, layouts,
// conversions, odd counts, dynamic sizes.

// RUN: fusion-run %s --entry=words --device=emulator --random --verify \
// RUN:   --int-range=-300:300 | FileCheck %s
// RUN: fusion-run %s --entry=halves --device=emulator --random --verify \
// RUN:   --int-range=-8:7 | FileCheck %s
// RUN: fusion-run %s --entry=odd --device=emulator --random --verify \
// RUN:   --int-range=-8:7 --dim=n=5 | FileCheck %s
// RUN: fusion-run %s --entry=dequantize --device=emulator --random --verify \
// RUN:   --int-range=-8:7 | FileCheck %s
// CHECK: verified

#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>

// The sum wraps, the transposed is converted.
func.func @words(%x: tensor<9x20xi16>, %y: tensor<9x20xi16>)
    -> (tensor<20x9xi16>, tensor<9xi16>, tensor<9x20xf32>) {
  %p = arith.muli %x, %y : tensor<9x20xi16>
  %e = tensor.empty() : tensor<20x9xi16>
  %t = linalg.transpose ins(%p : tensor<9x20xi16>) outs(%e : tensor<20x9xi16>)
      permutation = [1, 0]
  %zero = arith.constant 0 : i16
  %s = tensor.empty() : tensor<9xi16>
  %init = linalg.fill ins(%zero : i16) outs(%s : tensor<9xi16>) -> tensor<9xi16>
  %sum = linalg.reduce { arith.addi } ins(%p : tensor<9x20xi16>)
      outs(%init : tensor<9xi16>) dimensions = [1]
  %f = arith.sitofp %x : tensor<9x20xi16> to tensor<9x20xf32>
  return %t, %sum, %f : tensor<20x9xi16>, tensor<9xi16>, tensor<9x20xf32>
}

// Arithmetic is that of four bits.
func.func @halves(%x: tensor<6x32xi4>, %y: tensor<32x6xi4>)
    -> (tensor<6x32xi4>, tensor<6xi32>, tensor<6x32xi8>) {
  %c = arith.constant dense<3> : tensor<6x32xi4>
  %e = tensor.empty() : tensor<6x32xi4>
  %p = linalg.generic {indexing_maps = [#ij, #ji, #ij],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<6x32xi4>, tensor<32x6xi4>)
      outs(%e : tensor<6x32xi4>) {
  ^bb0(%a: i4, %b: i4, %o: i4):
    %m = arith.muli %a, %b : i4
    linalg.yield %m : i4
  } -> tensor<6x32xi4>
  %q = arith.addi %p, %c : tensor<6x32xi4>
  %zero = arith.constant 0 : i32
  %s = tensor.empty() : tensor<6xi32>
  %init = linalg.fill ins(%zero : i32) outs(%s : tensor<6xi32>) -> tensor<6xi32>
  %w = arith.extsi %q : tensor<6x32xi4> to tensor<6x32xi32>
  %sum = linalg.reduce { arith.addi } ins(%w : tensor<6x32xi32>)
      outs(%init : tensor<6xi32>) dimensions = [1]
  %u = arith.extui %x : tensor<6x32xi4> to tensor<6x32xi8>
  return %q, %sum, %u : tensor<6x32xi4>, tensor<6xi32>, tensor<6x32xi8>
}

// Rows share bytes.
func.func @odd(%x: tensor<?x3xi4> {fusion.dims = ["n", "_"]})
    -> (tensor<?x3xi4>, tensor<7xi4>) {
  %y = arith.addi %x, %x : tensor<?x3xi4>
  %k = arith.constant dense<[1, -2, 3, -4, 5, -6, 7]> : tensor<7xi4>
  return %y, %k : tensor<?x3xi4>, tensor<7xi4>
}

func.func @dequantize(%q: tensor<16x64xi4>, %s: tensor<16xf32>)
    -> tensor<16x64xf16> {
  %e = tensor.empty() : tensor<16x64xf16>
  %r = linalg.generic {indexing_maps = [#ij, affine_map<(i, j) -> (i)>, #ij],
                       iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<16x64xi4>, tensor<16xf32>)
      outs(%e : tensor<16x64xf16>) {
  ^bb0(%v: i4, %scale: f32, %o: f16):
    %f = arith.sitofp %v : i4 to f32
    %p = arith.mulf %f, %scale : f32
    %h = arith.truncf %p : f32 to f16
    linalg.yield %h : f16
  } -> tensor<16x64xf16>
  return %r : tensor<16x64xf16>
}
