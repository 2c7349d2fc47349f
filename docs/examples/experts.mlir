// The first half of a mixture of experts: rows are sorted by expert, and where
// the rows of each begin is known at run time. Two products, a gate and a bias of
// each expert are one kernel, whose blocks walk the tiles of all experts.

// RUN: fusion-run %s --target=sm_90a --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// CHECK: {{^}}verified

func.func @experts(%x: tensor<512x256xbf16>, %gate: tensor<4x256x384xbf16>,
                   %up: tensor<4x256x384xbf16>, %bias: tensor<4x384xbf16>)
    -> tensor<512x384xbf16> {
  // Mostly an argument; here the experts have 100, 0, 300 and 112 rows.
  %offsets = arith.constant dense<[0, 100, 100, 400, 512]> : tensor<5xi32>
  %g = fusion.grouped_matmul %x, %gate offsets(%offsets)
      : (tensor<512x256xbf16>, tensor<4x256x384xbf16>, tensor<5xi32>)
      -> tensor<512x384xf32>
  %u = fusion.grouped_matmul %x, %up offsets(%offsets) bias(%bias)
      : (tensor<512x256xbf16>, tensor<4x256x384xbf16>, tensor<5xi32>,
         tensor<4x384xbf16>) -> tensor<512x384xf32>
  %s = fusion.silu %g : tensor<512x384xf32>
  %y = arith.mulf %s, %u : tensor<512x384xf32>
  %r = arith.truncf %y : tensor<512x384xf32> to tensor<512x384xbf16>
  return %r : tensor<512x384xbf16>
}
