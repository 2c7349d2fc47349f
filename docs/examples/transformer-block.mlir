// One decoder block of a transformer in bf16, 32 positions of width 128 with 4
// heads of width 32 and an MLP of width 256:
//
//   h = x + out(attention(rope(q), rope(k), v)),  q, k, v = qkv(rmsnorm(x))
//   y = h + down(silu(gate(rmsnorm(h))) * up(rmsnorm(h)))
//
// Products accumulate in f32 and are rounded to bf16, as in training code. The
// weights have unit variance: each product is scaled by the root of its length.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 7{{$}}
// CHECK: {{^}}verified

func.func @transformer_block(
    %x: tensor<32x128xbf16>, %cos: tensor<32x16xf32>, %sin: tensor<32x16xf32>,
    %attention_scale: tensor<128xbf16>, %qkv_weight: tensor<128x384xbf16>,
    %out_weight: tensor<128x128xbf16>, %mlp_scale: tensor<128xbf16>,
    %gate_weight: tensor<128x256xbf16>, %up_weight: tensor<128x256xbf16>,
    %down_weight: tensor<256x128xbf16>) -> tensor<32x128xbf16> {
  %zero = arith.constant 0.0 : f32
  %empty_128 = tensor.empty() : tensor<32x128xf32>
  %empty_256 = tensor.empty() : tensor<32x256xf32>
  %empty_384 = tensor.empty() : tensor<32x384xf32>
  %zeros_128 = linalg.fill ins(%zero : f32) outs(%empty_128 : tensor<32x128xf32>)
      -> tensor<32x128xf32>
  %zeros_256 = linalg.fill ins(%zero : f32) outs(%empty_256 : tensor<32x256xf32>)
      -> tensor<32x256xf32>
  %zeros_384 = linalg.fill ins(%zero : f32) outs(%empty_384 : tensor<32x384xf32>)
      -> tensor<32x384xf32>

  // 1 / sqrt(128) for the products over 128, 1 / sqrt(256) for the last.
  %root_384 = arith.constant dense<0.0883883476> : tensor<32x384xf32>
  %root_256 = arith.constant dense<0.0883883476> : tensor<32x256xf32>
  %root_128 = arith.constant dense<0.0883883476> : tensor<32x128xf32>
  %root_long = arith.constant dense<0.0625> : tensor<32x128xf32>

  // RMSNorm and the joint projection to queries, keys and values.
  %normal = fusion.rms_norm %x scale(%attention_scale) axis(1) eps(1.0e-6)
      : (tensor<32x128xbf16>, tensor<128xbf16>) -> tensor<32x128xbf16>
  %qkv_wide = linalg.matmul
      ins(%normal, %qkv_weight : tensor<32x128xbf16>, tensor<128x384xbf16>)
      outs(%zeros_384 : tensor<32x384xf32>) -> tensor<32x384xf32>
  %qkv_unit = arith.mulf %qkv_wide, %root_384 : tensor<32x384xf32>
  %qkv = arith.truncf %qkv_unit : tensor<32x384xf32> to tensor<32x384xbf16>

  // Heads: [position, 3 * head * feature] to three of [head, position, feature].
  %split = tensor.expand_shape %qkv [[0], [1, 2, 3]]
      output_shape [32, 3, 4, 32]
      : tensor<32x384xbf16> into tensor<32x3x4x32xbf16>
  %heads_empty = tensor.empty() : tensor<3x4x32x32xbf16>
  %heads = linalg.transpose ins(%split : tensor<32x3x4x32xbf16>)
      outs(%heads_empty : tensor<3x4x32x32xbf16>) permutation = [1, 2, 0, 3]
  %q = tensor.extract_slice %heads[0, 0, 0, 0] [1, 4, 32, 32] [1, 1, 1, 1]
      : tensor<3x4x32x32xbf16> to tensor<1x4x32x32xbf16>
  %k = tensor.extract_slice %heads[1, 0, 0, 0] [1, 4, 32, 32] [1, 1, 1, 1]
      : tensor<3x4x32x32xbf16> to tensor<1x4x32x32xbf16>
  %v = tensor.extract_slice %heads[2, 0, 0, 0] [1, 4, 32, 32] [1, 1, 1, 1]
      : tensor<3x4x32x32xbf16> to tensor<1x4x32x32xbf16>
  %q_turned = fusion.rope %q, %cos, %sin seq_axis(2)
      : tensor<1x4x32x32xbf16>, tensor<32x16xf32>, tensor<32x16xf32>
  %k_turned = fusion.rope %k, %cos, %sin seq_axis(2)
      : tensor<1x4x32x32xbf16>, tensor<32x16xf32>, tensor<32x16xf32>

  // Causal attention, then back to [position, head * feature].
  %attended = fusion.attention %q_turned, %k_turned, %v causal(top_left)
      : (tensor<1x4x32x32xbf16>, tensor<1x4x32x32xbf16>,
         tensor<1x4x32x32xbf16>) -> tensor<1x4x32x32xbf16>
  %merged_empty = tensor.empty() : tensor<1x32x4x32xbf16>
  %merged = linalg.transpose ins(%attended : tensor<1x4x32x32xbf16>)
      outs(%merged_empty : tensor<1x32x4x32xbf16>) permutation = [0, 2, 1, 3]
  %context = tensor.collapse_shape %merged [[0, 1], [2, 3]]
      : tensor<1x32x4x32xbf16> into tensor<32x128xbf16>

  // Output projection and the first residual.
  %out_wide = linalg.matmul
      ins(%context, %out_weight : tensor<32x128xbf16>, tensor<128x128xbf16>)
      outs(%zeros_128 : tensor<32x128xf32>) -> tensor<32x128xf32>
  %out_unit = arith.mulf %out_wide, %root_128 : tensor<32x128xf32>
  %out = arith.truncf %out_unit : tensor<32x128xf32> to tensor<32x128xbf16>
  %h = arith.addf %x, %out : tensor<32x128xbf16>

  // RMSNorm and the SwiGLU MLP.
  %mlp_in = fusion.rms_norm %h scale(%mlp_scale) axis(1) eps(1.0e-6)
      : (tensor<32x128xbf16>, tensor<128xbf16>) -> tensor<32x128xbf16>
  %gate_wide = linalg.matmul
      ins(%mlp_in, %gate_weight : tensor<32x128xbf16>, tensor<128x256xbf16>)
      outs(%zeros_256 : tensor<32x256xf32>) -> tensor<32x256xf32>
  %up_wide = linalg.matmul
      ins(%mlp_in, %up_weight : tensor<32x128xbf16>, tensor<128x256xbf16>)
      outs(%zeros_256 : tensor<32x256xf32>) -> tensor<32x256xf32>
  %gate_unit = arith.mulf %gate_wide, %root_256 : tensor<32x256xf32>
  %gate = arith.truncf %gate_unit : tensor<32x256xf32> to tensor<32x256xbf16>
  %up_unit = arith.mulf %up_wide, %root_256 : tensor<32x256xf32>
  %up = arith.truncf %up_unit : tensor<32x256xf32> to tensor<32x256xbf16>
  %silu = fusion.silu %gate : tensor<32x256xbf16>
  %hidden = arith.mulf %silu, %up : tensor<32x256xbf16>
  %down_wide = linalg.matmul
      ins(%hidden, %down_weight : tensor<32x256xbf16>, tensor<256x128xbf16>)
      outs(%zeros_128 : tensor<32x128xf32>) -> tensor<32x128xf32>
  %down_unit = arith.mulf %down_wide, %root_long : tensor<32x128xf32>
  %down = arith.truncf %down_unit : tensor<32x128xf32> to tensor<32x128xbf16>
  %y = arith.addf %h, %down : tensor<32x128xbf16>
  return %y : tensor<32x128xbf16>
}
