// Group normalisation over 4 groups of 3 channels (NCHW), then silu.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// One read and one write of 6,720 bytes, and 96 of scale and bias.
// CHECK: traffic: 40.77 kB unfused -> 13.54 kB
// CHECK: {{^}}verified

func.func @group_norm_silu(%x: tensor<2x12x10x14xbf16>, %scale: tensor<12xf32>,
                           %bias: tensor<12xf32>) -> tensor<2x12x10x14xbf16> {
  %normal = fusion.group_norm %x scale(%scale) bias(%bias) groups(4) eps(1.0e-5)
      : (tensor<2x12x10x14xbf16>, tensor<12xf32>, tensor<12xf32>)
      -> tensor<2x12x10x14xbf16>
  %y = fusion.silu %normal : tensor<2x12x10x14xbf16>
  return %y : tensor<2x12x10x14xbf16>
}
