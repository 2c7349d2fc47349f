// Attention at the edges of what it is defined for: nothing to attend to, masks
// that are added as finite numbers, and parts of one tensor of a length that is
// known at run time only.

// RUN: fusion-compile %s --target=sm_90a -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%s --entry=nothing --device=emulator --random --seed=1 --verify | FileCheck %s
// RUN: fusion-run %s --target=sm_80 --entry=nothing --device=emulator --random --seed=1 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=unknown --device=emulator --random --seed=2 --dim=arg1.1=0 --dim=arg2.1=0 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=unknown --device=emulator --random --seed=2 --dim=arg1.1=1 --dim=arg2.1=1 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=left --device=emulator --random --seed=3 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=lowest --device=emulator --random --seed=4 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=packed --device=emulator --random --seed=6 --dim=arg0.1=70 --verify | FileCheck %s

// CHECK: {{^}}verified

// A sum of no values is zero, whatever it would be divided by.
func.func @nothing(%q: tensor<2x17x64xf16>, %k: tensor<2x0x64xf16>, %v: tensor<2x0x64xf16>) -> tensor<2x17x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<2x17x64xf16>, tensor<2x0x64xf16>, tensor<2x0x64xf16>) -> tensor<2x17x64xf16>
  return %o : tensor<2x17x64xf16>
}
func.func @unknown(%q: tensor<2x17x64xf16>, %k: tensor<2x?x64xf16>, %v: tensor<2x?x64xf16>) -> tensor<2x17x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<2x17x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<2x17x64xf16>
  return %o : tensor<2x17x64xf16>
}

// Keys on the left are padding: a walk sees nothing else at first.
func.func @left(%q: tensor<2x40x64xf16>, %k: tensor<2x257x64xf16>, %v: tensor<2x257x64xf16>) -> tensor<2x40x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<2x40x64xf16>, tensor<2x257x64xf16>, tensor<2x257x64xf16>) -> tensor<2x40x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %zero = arith.constant 0.0 : f32
    %mask = arith.constant -1.0e+09 : f32
    %begin = arith.constant 129 : index
    %isPadding = arith.cmpi slt, %j, %begin : index
    %y = arith.select %isPadding, %mask, %zero : f32
    %z = arith.addf %x, %y : f32
    fusion.yield %z : f32
  }
  return %o : tensor<2x40x64xf16>
}

// The lowest number of the format, in a bias that all heads share.
func.func @lowest(%q: tensor<2x40x64xbf16>, %k: tensor<2x257x64xbf16>, %v: tensor<2x257x64xbf16>, %bias: tensor<40x257xf32>) -> tensor<2x40x64xbf16> {
  %e = tensor.empty() : tensor<2x40x257xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%bias : tensor<40x257xf32>) outs(%e : tensor<2x40x257xf32>) {
  ^bb0(%x: f32, %old: f32):
    %mask = arith.constant -3.3895314e+38 : f32
    %begin = arith.constant 130 : index
    %j = linalg.index 2 : index
    %isPadding = arith.cmpi slt, %j, %begin : index
    %y = arith.select %isPadding, %mask, %x : f32
    linalg.yield %y : f32
  } -> tensor<2x40x257xf32>
  %o = fusion.attention %q, %k, %v bias(%m) : (tensor<2x40x64xbf16>, tensor<2x257x64xbf16>, tensor<2x257x64xbf16>, tensor<2x40x257xf32>) -> tensor<2x40x64xbf16>
  return %o : tensor<2x40x64xbf16>
}

// Queries, keys and values lie side by side.
func.func @packed(%x: tensor<1x?x3x2x64xf16>) -> tensor<2x?x64xf16> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<1x?x3x2x64xf16>
  %q0 = tensor.extract_slice %x[0, 0, 0, 0, 0] [1, %n, 1, 2, 64] [1, 1, 1, 1, 1] : tensor<1x?x3x2x64xf16> to tensor<?x2x64xf16>
  %k0 = tensor.extract_slice %x[0, 0, 1, 0, 0] [1, %n, 1, 2, 64] [1, 1, 1, 1, 1] : tensor<1x?x3x2x64xf16> to tensor<?x2x64xf16>
  %v0 = tensor.extract_slice %x[0, 0, 2, 0, 0] [1, %n, 1, 2, 64] [1, 1, 1, 1, 1] : tensor<1x?x3x2x64xf16> to tensor<?x2x64xf16>
  %e = tensor.empty(%n) : tensor<2x?x64xf16>
  %q = linalg.transpose ins(%q0 : tensor<?x2x64xf16>) outs(%e : tensor<2x?x64xf16>) permutation = [1, 0, 2]
  %k = linalg.transpose ins(%k0 : tensor<?x2x64xf16>) outs(%e : tensor<2x?x64xf16>) permutation = [1, 0, 2]
  %v = linalg.transpose ins(%v0 : tensor<?x2x64xf16>) outs(%e : tensor<2x?x64xf16>) permutation = [1, 0, 2]
  %o = fusion.attention %q, %k, %v : (tensor<2x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<2x?x64xf16>
  return %o : tensor<2x?x64xf16>
}
