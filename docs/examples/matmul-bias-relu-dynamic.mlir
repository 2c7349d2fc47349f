// relu(x @ w + b) for any number of rows: one package serves every batch size.

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
#j = affine_map<(i, j) -> (j)>

func.func @matmul_bias_relu(
    %x: tensor<?x48xf32> {fusion.dims = ["rows", "_"]},
    %w: tensor<48x40xf32>, %b: tensor<40xf32>) -> tensor<?x40xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x48xf32>
  %empty = tensor.empty(%rows) : tensor<?x40xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x40xf32>)
      -> tensor<?x40xf32>
  %product = linalg.matmul ins(%x, %w : tensor<?x48xf32>, tensor<48x40xf32>)
      outs(%init : tensor<?x40xf32>) -> tensor<?x40xf32>
  %relu = linalg.generic {indexing_maps = [#ij, #j, #ij],
                          iterator_types = ["parallel", "parallel"]}
      ins(%product, %b : tensor<?x40xf32>, tensor<40xf32>)
      outs(%empty : tensor<?x40xf32>) {
  ^bb0(%p: f32, %bias: f32, %out: f32):
    %sum = arith.addf %p, %bias : f32
    %max = arith.maximumf %sum, %zero : f32
    linalg.yield %max : f32
  } -> tensor<?x40xf32>
  return %relu : tensor<?x40xf32>
}
