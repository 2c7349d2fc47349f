// Layer normalisation of the last axis with scale and bias, one op.
//
// It decomposes into two reductions and a pointwise map over the same rows:
// one kernel reads x once and writes y once.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// CHECK: {{^}}verified

func.func @layer_norm(%x: tensor<48x192xf32>, %scale: tensor<192xf32>,
                      %bias: tensor<192xf32>) -> tensor<48x192xf32> {
  %y = fusion.layer_norm %x scale(%scale) bias(%bias) axis(1) eps(1.0e-5)
      : (tensor<48x192xf32>, tensor<192xf32>, tensor<192xf32>)
      -> tensor<48x192xf32>
  return %y : tensor<48x192xf32>
}
