// Whether all elements of a row are minus infinity is asked of their maximum.

// RUN: fusion-opt %s --fusion-plan-form-kernels --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#kept = affine_map<(i, j) -> (i, 0)>

// CHECK-LABEL: func.func @masked
// CHECK: arith.maximumf
// CHECK-NOT: arith.andi
// CHECK: arith.cmpf oeq
func.func @masked(%x: tensor<512x256xf16>) -> (tensor<512xf32>, tensor<512x1xi1>) {
  %lowest = arith.constant 0xFF800000 : f32
  %deep = arith.constant 0xFFF0000000000000 : f64
  %true = arith.constant true
  %we = tensor.empty() : tensor<512x256xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<512x256xf16>) outs(%we : tensor<512x256xf32>) {
  ^bb0(%a: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<512x256xf32>
  %me = tensor.empty() : tensor<512xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%me : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%w : tensor<512x256xf32>) outs(%m0 : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<512xf32>
  %ie = tensor.empty() : tensor<512x256xi1>
  %i = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<512x256xf16>) outs(%ie : tensor<512x256xi1>) {
  ^bb0(%a: f16, %o: i1):
    %0 = arith.extf %a : f16 to f64
    %1 = arith.cmpf oeq, %0, %deep : f64
    linalg.yield %1 : i1
  } -> tensor<512x256xi1>
  %ae = tensor.empty() : tensor<512x1xi1>
  %a0 = linalg.fill ins(%true : i1) outs(%ae : tensor<512x1xi1>) -> tensor<512x1xi1>
  %all = linalg.generic {indexing_maps = [#id, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%i : tensor<512x256xi1>) outs(%a0 : tensor<512x1xi1>) {
  ^bb0(%a: i1, %o: i1):
    %0 = arith.andi %a, %o : i1
    linalg.yield %0 : i1
  } -> tensor<512x1xi1>
  return %m, %all : tensor<512xf32>, tensor<512x1xi1>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The maximum of other elements says nothing.
// CHECK-LABEL: func.func @other
// CHECK: arith.andi
func.func @other(%x: tensor<512x256xf32>, %y: tensor<512x256xf32>) -> (tensor<512xf32>, tensor<512xi1>) {
  %lowest = arith.constant 0xFF800000 : f32
  %true = arith.constant true
  %me = tensor.empty() : tensor<512xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%me : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<512x256xf32>) outs(%m0 : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<512xf32>
  %ae = tensor.empty() : tensor<512xi1>
  %a0 = linalg.fill ins(%true : i1) outs(%ae : tensor<512xi1>) -> tensor<512xi1>
  %all = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x256xf32>) outs(%a0 : tensor<512xi1>) {
  ^bb0(%a: f32, %o: i1):
    %0 = arith.cmpf oeq, %a, %lowest : f32
    %1 = arith.andi %0, %o : i1
    linalg.yield %1 : i1
  } -> tensor<512xi1>
  return %m, %all : tensor<512xf32>, tensor<512xi1>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Nor does a maximum say whether all elements are finite ones.
// CHECK-LABEL: func.func @finite
// CHECK: arith.andi
func.func @finite(%x: tensor<512x256xf32>) -> (tensor<512xf32>, tensor<512xi1>) {
  %lowest = arith.constant 0xFF800000 : f32
  %one = arith.constant 1.0 : f32
  %true = arith.constant true
  %me = tensor.empty() : tensor<512xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%me : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x256xf32>) outs(%m0 : tensor<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<512xf32>
  %ae = tensor.empty() : tensor<512xi1>
  %a0 = linalg.fill ins(%true : i1) outs(%ae : tensor<512xi1>) -> tensor<512xi1>
  %all = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x256xf32>) outs(%a0 : tensor<512xi1>) {
  ^bb0(%a: f32, %o: i1):
    %0 = arith.cmpf oeq, %a, %one : f32
    %1 = arith.andi %0, %o : i1
    linalg.yield %1 : i1
  } -> tensor<512xi1>
  return %m, %all : tensor<512xf32>, tensor<512xi1>
}
