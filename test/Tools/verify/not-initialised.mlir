// A tensor that nothing wrote is read or returned: the place is named.

// RUN: split-file %s %t
// RUN: not fusion-compile %t/product.mlir -o %t/x.fpk 2>&1 | FileCheck %s --check-prefix=PRODUCT
// RUN: not fusion-run %t/product.mlir --random --device=emulator --verify 2>&1 | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: product.mlir:4:8: error: FUS-1015: 'linalg.matmul' reads operand #2, a tensor.empty that nothing wrote; write the tensor first, as by linalg.fill
// RUN: not fusion-compile %t/result.mlir -o %t/x.fpk 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: result.mlir:4:3: error: FUS-1015: 'func.return' returns operand #0
// RUN: not fusion-compile %t/part.mlir -o %t/x.fpk 2>&1 | FileCheck %s --check-prefix=PART
// PART: part.mlir:{{[0-9]+}}:8: error: FUS-1015: 'linalg.generic' reads operand #0
// RUN: fusion-run %t/written.mlir --random --device=emulator --verify | FileCheck %s --check-prefix=WRITTEN
// WRITTEN: {{^}}verified

//--- product.mlir
func.func @f(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>) -> tensor<8x8xf32> {
  // No fill.
  %e = tensor.empty() : tensor<8x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
//--- result.mlir
func.func @f(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %s = tensor.expand_shape %e [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  return %s : tensor<2x4xf32>
}
//--- part.mlir
#id = affine_map<(i) -> (i)>
func.func @f() -> tensor<4xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %s = tensor.extract_slice %e[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %o = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%s : tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
//--- written.mlir
#id = affine_map<(i) -> (i)>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %o = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
