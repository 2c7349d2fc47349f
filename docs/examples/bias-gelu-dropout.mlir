// dropout(gelu(x + b), 0.1): the mask is drawn from the seed, the op's id and
// the element's index alone, so it is the same however the op is fused.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// CHECK: {{^}}verified

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

func.func @bias_gelu_dropout(%x: tensor<48x200xbf16>, %b: tensor<200xbf16>,
                             %seed: i64) -> tensor<48x200xbf16> {
  %empty = tensor.empty() : tensor<48x200xbf16>
  %biased = linalg.generic {indexing_maps = [#ij, #j, #ij],
                            iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<48x200xbf16>, tensor<200xbf16>)
      outs(%empty : tensor<48x200xbf16>) {
  ^bb0(%v: bf16, %bias: bf16, %out: bf16):
    %sum = arith.addf %v, %bias : bf16
    linalg.yield %sum : bf16
  } -> tensor<48x200xbf16>
  %gelu = fusion.gelu %biased : tensor<48x200xbf16>
  %y = fusion.dropout %gelu, %seed probability(0.1) op_id(1)
      : tensor<48x200xbf16>
  return %y : tensor<48x200xbf16>
}
