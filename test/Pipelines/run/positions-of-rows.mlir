// Positions as floats where a block has one row: a number, not a tile.

// RUN: fusion-run %s --target=sm_100 --device=emulator --random --seed=245 --verify | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%x0: tensor<129x8xf16>, %x1: tensor<129xi32>) -> (tensor<f16>, tensor<129x8xf16>) {
  %v1 = tensor.generate  {
  ^bb0(%ga: index, %gb: index):
    %gi = arith.index_cast %ga : index to i32
    %gf = arith.sitofp %gi : i32 to f16
    tensor.yield %gf : f16
  } : tensor<129x8xf16>
  %v2 = fusion.layer_norm %v1 bias(%x0) axis(0) eps(1.0e-3) : (tensor<129x8xf16>, tensor<129x8xf16>) -> tensor<129x8xf16>
  %v3 = fusion.cross_entropy mean %v1, %x1 axis(1) : (tensor<129x8xf16>, tensor<129xi32>) -> tensor<f16>
  return %v3, %v2 : tensor<f16>, tensor<129x8xf16>
}
