// Rotary position embedding, written with slices: x * cos + rotate_half(x) * sin,
// where rotate_half([a, b]) = [-b, a] on the halves of the last axis.
//
// The slices and the concatenation are index arithmetic in one kernel; no half
// is ever stored by itself.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// CHECK: {{^}}verified

#bhsd = affine_map<(b, h, s, d) -> (b, h, s, d)>
#sd = affine_map<(b, h, s, d) -> (s, d)>

func.func @rope(%x: tensor<2x4x24x32xbf16>, %cos: tensor<24x32xbf16>,
                %sin: tensor<24x32xbf16>) -> tensor<2x4x24x32xbf16> {
  %first = tensor.extract_slice %x[0, 0, 0, 0] [2, 4, 24, 16] [1, 1, 1, 1]
      : tensor<2x4x24x32xbf16> to tensor<2x4x24x16xbf16>
  %second = tensor.extract_slice %x[0, 0, 0, 16] [2, 4, 24, 16] [1, 1, 1, 1]
      : tensor<2x4x24x32xbf16> to tensor<2x4x24x16xbf16>
  %negated = arith.negf %second : tensor<2x4x24x16xbf16>
  %rotated = tensor.concat dim(3) %negated, %first
      : (tensor<2x4x24x16xbf16>, tensor<2x4x24x16xbf16>)
      -> tensor<2x4x24x32xbf16>
  %empty = tensor.empty() : tensor<2x4x24x32xbf16>
  %y = linalg.generic
      {indexing_maps = [#bhsd, #bhsd, #sd, #sd, #bhsd],
       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %rotated, %cos, %sin
          : tensor<2x4x24x32xbf16>, tensor<2x4x24x32xbf16>,
            tensor<24x32xbf16>, tensor<24x32xbf16>)
      outs(%empty : tensor<2x4x24x32xbf16>) {
  ^bb0(%v: bf16, %r: bf16, %c: bf16, %s: bf16, %out: bf16):
    %wide_v = arith.extf %v : bf16 to f32
    %wide_r = arith.extf %r : bf16 to f32
    %wide_c = arith.extf %c : bf16 to f32
    %wide_s = arith.extf %s : bf16 to f32
    %vc = arith.mulf %wide_v, %wide_c : f32
    %rs = arith.mulf %wide_r, %wide_s : f32
    %sum = arith.addf %vc, %rs : f32
    %rounded = arith.truncf %sum : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<2x4x24x32xbf16>
  return %y : tensor<2x4x24x32xbf16>
}
