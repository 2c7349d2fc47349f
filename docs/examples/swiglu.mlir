// SwiGLU's pointwise half in bf16: silu(gate) * up, with silu(g) = g * 1 / (1 + exp(-g)).
//
// The arithmetic is in f32; silu is rounded to bf16 before the product, as the
// unfused program would, and stays in registers all the same.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// Two operands and a result of 19,968 bytes; unfused silu is written and read.
// CHECK: traffic: 99.84 kB unfused -> 59.90 kB
// CHECK: {{^}}verified

#ij = affine_map<(i, j) -> (i, j)>

func.func @swiglu(%gate: tensor<48x208xbf16>, %up: tensor<48x208xbf16>)
    -> tensor<48x208xbf16> {
  %empty = tensor.empty() : tensor<48x208xbf16>
  %silu = linalg.generic {indexing_maps = [#ij, #ij],
                          iterator_types = ["parallel", "parallel"]}
      ins(%gate : tensor<48x208xbf16>) outs(%empty : tensor<48x208xbf16>) {
  ^bb0(%g: bf16, %out: bf16):
    %one = arith.constant 1.0 : f32
    %wide = arith.extf %g : bf16 to f32
    %negative = arith.negf %wide : f32
    %exp = math.exp %negative : f32
    %denominator = arith.addf %exp, %one : f32
    %value = arith.divf %wide, %denominator : f32
    %rounded = arith.truncf %value : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<48x208xbf16>
  %y = linalg.generic {indexing_maps = [#ij, #ij, #ij],
                       iterator_types = ["parallel", "parallel"]}
      ins(%silu, %up : tensor<48x208xbf16>, tensor<48x208xbf16>)
      outs(%empty : tensor<48x208xbf16>) {
  ^bb0(%s: bf16, %u: bf16, %out: bf16):
    %product = arith.mulf %s, %u : bf16
    linalg.yield %product : bf16
  } -> tensor<48x208xbf16>
  return %y : tensor<48x208xbf16>
}
