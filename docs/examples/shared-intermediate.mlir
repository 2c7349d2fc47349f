// An intermediate with a second user: h = x + r is a result of its own and the
// input of gelu(h) * g (tanh form). One kernel writes h once and keeps using
// it from registers.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// CHECK: {{^}}verified

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

func.func @shared_intermediate(%x: tensor<40x120xf32>, %r: tensor<40x120xf32>,
                               %g: tensor<120xf32>)
    -> (tensor<40x120xf32>, tensor<40x120xf32>) {
  %empty = tensor.empty() : tensor<40x120xf32>
  %h = arith.addf %x, %r : tensor<40x120xf32>
  %y = linalg.generic {indexing_maps = [#ij, #j, #ij],
                       iterator_types = ["parallel", "parallel"]}
      ins(%h, %g : tensor<40x120xf32>, tensor<120xf32>)
      outs(%empty : tensor<40x120xf32>) {
  ^bb0(%v: f32, %scale: f32, %out: f32):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %cubic = arith.constant 0.044715 : f32
    %root = arith.constant 0.7978845608 : f32
    %square = arith.mulf %v, %v : f32
    %cube = arith.mulf %square, %v : f32
    %bend = arith.mulf %cube, %cubic : f32
    %inner = arith.addf %v, %bend : f32
    %argument = arith.mulf %inner, %root : f32
    %tanh = math.tanh %argument : f32
    %gate = arith.addf %tanh, %one : f32
    %scaled = arith.mulf %v, %half : f32
    %gelu = arith.mulf %scaled, %gate : f32
    %result = arith.mulf %gelu, %scale : f32
    linalg.yield %result : f32
  } -> tensor<40x120xf32>
  return %h, %y : tensor<40x120xf32>, tensor<40x120xf32>
}
