// Layer normalisation with an affine map, for any number of rows, written as
// plain loops: y = (x - mean) / sqrt(var + eps) * gamma + beta.

// One package, five sizes.
// RUN: fusion-compile %s -o %t.fpk --target=sm_90a --explain | FileCheck %s --check-prefix=PLAN
// PLAN: kernels: {{[0-9]+}} unfused -> 1{{$}}
// RUN: fusion-run %t.fpk --reference=%s --device=emulator --random --dim=rows=1 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --device=emulator --random --dim=rows=7 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --device=emulator --random --dim=rows=64 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --device=emulator --random --dim=rows=129 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --device=emulator --random --dim=rows=300 --verify | FileCheck %s
// CHECK: {{^}}verified

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

func.func @layer_norm(
    %x: tensor<?x160xf32> {fusion.dims = ["rows", "_"]},
    %gamma: tensor<160xf32>, %beta: tensor<160xf32>) -> tensor<?x160xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x160xf32>
  %empty = tensor.empty(%rows) : tensor<?x160xf32>
  %row = tensor.empty(%rows) : tensor<?xf32>
  %row_init = linalg.fill ins(%zero : f32) outs(%row : tensor<?xf32>)
      -> tensor<?xf32>

  %sum = linalg.generic {indexing_maps = [#ij, #i],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x160xf32>) outs(%row_init : tensor<?xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %s = arith.addf %v, %acc : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>

  %centred = linalg.generic {indexing_maps = [#ij, #i, #ij],
                             iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<?x160xf32>, tensor<?xf32>)
      outs(%empty : tensor<?x160xf32>) {
  ^bb0(%v: f32, %s: f32, %out: f32):
    %count = arith.constant 160.0 : f32
    %mean = arith.divf %s, %count : f32
    %d = arith.subf %v, %mean : f32
    linalg.yield %d : f32
  } -> tensor<?x160xf32>

  %squares = linalg.generic {indexing_maps = [#ij, #i],
                             iterator_types = ["parallel", "reduction"]}
      ins(%centred : tensor<?x160xf32>) outs(%row_init : tensor<?xf32>) {
  ^bb0(%d: f32, %acc: f32):
    %square = arith.mulf %d, %d : f32
    %s = arith.addf %square, %acc : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>

  %y = linalg.generic {indexing_maps = [#ij, #i, #j, #j, #ij],
                       iterator_types = ["parallel", "parallel"]}
      ins(%centred, %squares, %gamma, %beta
          : tensor<?x160xf32>, tensor<?xf32>, tensor<160xf32>, tensor<160xf32>)
      outs(%empty : tensor<?x160xf32>) {
  ^bb0(%d: f32, %s: f32, %g: f32, %b: f32, %out: f32):
    %count = arith.constant 160.0 : f32
    %eps = arith.constant 1.0e-5 : f32
    %var = arith.divf %s, %count : f32
    %guarded = arith.addf %var, %eps : f32
    %inverse = math.rsqrt %guarded : f32
    %normal = arith.mulf %d, %inverse : f32
    %scaled = arith.mulf %normal, %g : f32
    %shifted = arith.addf %scaled, %b : f32
    linalg.yield %shifted : f32
  } -> tensor<?x160xf32>
  return %y : tensor<?x160xf32>
}
