// A softmax that is zero in rows that a mask leaves nothing, the first seven here, in
// one walk; as PyTorch's importer prints it.

// RUN: fusion-compile %s --target=sm_90a --explain -o %t.fpk | FileCheck %s --check-prefix=PLAN
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=6 --verify | FileCheck %s
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=5 --verify | FileCheck %s

// PLAN: kernels: 20 unfused -> 1
// CHECK: {{^}}verified

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> ()>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
  func.func @main(%arg0: tensor<1x2x80x64xf16>, %arg1: tensor<1x2x80x64xf16>, %arg2: tensor<1x2x80x64xf16>, %arg3: tensor<1x1x80x80xi1>) -> tensor<1x2x80x64xf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i64 = arith.constant 0 : i64
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<1x2x80x80xf16>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_4 = arith.constant 0xFFF0000000000000 : f64
    %cst_5 = arith.constant 1.250000e-01 : f16
    %0 = tensor.empty() : tensor<1x2x64x80xf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<1x2x80x64xf16>) outs(%0 : tensor<1x2x64x80xf16>) permutation = [0, 1, 3, 2] 
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<1x2x80x64xf16> into tensor<2x80x64xf16>
    %collapsed_6 = tensor.collapse_shape %transposed [[0, 1], [2], [3]] : tensor<1x2x64x80xf16> into tensor<2x64x80xf16>
    %1 = tensor.empty() : tensor<2x80x80xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<2x80x80xf32>) -> tensor<2x80x80xf32>
    %3 = linalg.batch_matmul ins(%collapsed, %collapsed_6 : tensor<2x80x64xf16>, tensor<2x64x80xf16>) outs(%2 : tensor<2x80x80xf32>) -> tensor<2x80x80xf32>
    %4 = tensor.empty() : tensor<2x80x80xf16>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3 : tensor<2x80x80xf32>) outs(%4 : tensor<2x80x80xf16>) {
    ^bb0(%in: f32, %out: f16):
      %38 = arith.truncf %in : f32 to f16
      linalg.yield %38 : f16
    } -> tensor<2x80x80xf16>
    %expanded = tensor.expand_shape %5 [[0, 1], [2], [3]] output_shape [1, 2, 80, 80] : tensor<2x80x80xf16> into tensor<1x2x80x80xf16>
    %6 = tensor.empty() : tensor<1x2x80x80xf16>
    %7 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded : tensor<1x2x80x80xf16>) outs(%6 : tensor<1x2x80x80xf16>) {
    ^bb0(%in: f16, %out: f16):
      %38 = arith.mulf %in, %cst_5 : f16
      linalg.yield %38 : f16
    } -> tensor<1x2x80x80xf16>
    %me = tensor.empty() : tensor<1x1x80x80xi1>
    %msk = linalg.generic {indexing_maps = [affine_map<(a,b,c,d)->(a,b,c,d)>, affine_map<(a,b,c,d)->(a,b,c,d)>], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%arg3 : tensor<1x1x80x80xi1>) outs(%me : tensor<1x1x80x80xi1>) {
    ^bb0(%a: i1, %o: i1):
      %i = linalg.index 2 : index
      %c7 = arith.constant 7 : index
      %ge = arith.cmpi sge, %i, %c7 : index
      %r = arith.andi %a, %ge : i1
      linalg.yield %r : i1
    } -> tensor<1x1x80x80xi1>
    %8 = tensor.empty() : tensor<1x1x80x80xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map2, #map2, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%msk, %cst_2, %cst_3 : tensor<1x1x80x80xi1>, tensor<f32>, tensor<f32>) outs(%8 : tensor<1x1x80x80xf32>) {
    ^bb0(%in: i1, %in_11: f32, %in_12: f32, %out: f32):
      %38 = arith.select %in, %in_11, %in_12 : f32
      linalg.yield %38 : f32
    } -> tensor<1x1x80x80xf32>
    %10 = tensor.empty() : tensor<1x1x80x80xf16>
    %11 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9 : tensor<1x1x80x80xf32>) outs(%10 : tensor<1x1x80x80xf16>) {
    ^bb0(%in: f32, %out: f16):
      %38 = arith.truncf %in : f32 to f16
      linalg.yield %38 : f16
    } -> tensor<1x1x80x80xf16>
    %12 = linalg.generic {indexing_maps = [#map1, #map3, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7, %11 : tensor<1x2x80x80xf16>, tensor<1x1x80x80xf16>) outs(%6 : tensor<1x2x80x80xf16>) {
    ^bb0(%in: f16, %in_11: f16, %out: f16):
      %38 = arith.addf %in, %in_11 : f16
      linalg.yield %38 : f16
    } -> tensor<1x2x80x80xf16>
    %13 = tensor.empty() : tensor<1x2x80x80xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12 : tensor<1x2x80x80xf16>) outs(%13 : tensor<1x2x80x80xf32>) {
    ^bb0(%in: f16, %out: f32):
      %38 = arith.extf %in : f16 to f32
      linalg.yield %38 : f32
    } -> tensor<1x2x80x80xf32>
    %15 = tensor.empty() : tensor<1x2x80xi64>
    %16 = linalg.fill ins(%c0_i64 : i64) outs(%15 : tensor<1x2x80xi64>) -> tensor<1x2x80xi64>
    %17 = tensor.empty() : tensor<1x2x80xf32>
    %18 = linalg.fill ins(%cst_0 : f32) outs(%17 : tensor<1x2x80xf32>) -> tensor<1x2x80xf32>
    %19:2 = linalg.generic {indexing_maps = [#map1, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%14 : tensor<1x2x80x80xf32>) outs(%18, %16 : tensor<1x2x80xf32>, tensor<1x2x80xi64>) {
    ^bb0(%in: f32, %out: f32, %out_11: i64):
      %38 = linalg.index 3 : index
      %39 = arith.index_cast %38 : index to i64
      %40 = arith.maximumf %in, %out : f32
      %41 = arith.cmpf ogt, %in, %out : f32
      %42 = arith.select %41, %39, %out_11 : i64
      linalg.yield %40, %42 : f32, i64
    } -> (tensor<1x2x80xf32>, tensor<1x2x80xi64>)
    %expanded_7 = tensor.expand_shape %19#0 [[0], [1], [2, 3]] output_shape [1, 2, 80, 1] : tensor<1x2x80xf32> into tensor<1x2x80x1xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%14, %expanded_7 : tensor<1x2x80x80xf32>, tensor<1x2x80x1xf32>) outs(%13 : tensor<1x2x80x80xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %38 = arith.subf %in, %in_11 : f32
      linalg.yield %38 : f32
    } -> tensor<1x2x80x80xf32>
    %21 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20 : tensor<1x2x80x80xf32>) outs(%13 : tensor<1x2x80x80xf32>) {
    ^bb0(%in: f32, %out: f32):
      %38 = math.exp %in : f32
      linalg.yield %38 : f32
    } -> tensor<1x2x80x80xf32>
    %22 = tensor.empty() : tensor<1x2x80x1xf32>
    %23 = linalg.fill ins(%cst : f32) outs(%22 : tensor<1x2x80x1xf32>) -> tensor<1x2x80x1xf32>
    %24 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%21 : tensor<1x2x80x80xf32>) outs(%23 : tensor<1x2x80x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %38 = arith.addf %in, %out : f32
      linalg.yield %38 : f32
    } -> tensor<1x2x80x1xf32>
    %25 = linalg.generic {indexing_maps = [#map1, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%21, %24 : tensor<1x2x80x80xf32>, tensor<1x2x80x1xf32>) outs(%13 : tensor<1x2x80x80xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %38 = arith.divf %in, %in_11 : f32
      linalg.yield %38 : f32
    } -> tensor<1x2x80x80xf32>
    %26 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25 : tensor<1x2x80x80xf32>) outs(%6 : tensor<1x2x80x80xf16>) {
    ^bb0(%in: f32, %out: f16):
      %38 = arith.truncf %in : f32 to f16
      linalg.yield %38 : f16
    } -> tensor<1x2x80x80xf16>
    %27 = tensor.empty() : tensor<1x2x80x80xi1>
    %28 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12 : tensor<1x2x80x80xf16>) outs(%27 : tensor<1x2x80x80xi1>) {
    ^bb0(%in: f16, %out: i1):
      %38 = arith.extf %in : f16 to f64
      %39 = arith.cmpf oeq, %38, %cst_4 : f64
      linalg.yield %39 : i1
    } -> tensor<1x2x80x80xi1>
    %29 = tensor.empty() : tensor<1x2x80x1xi1>
    %30 = linalg.fill ins(%true : i1) outs(%29 : tensor<1x2x80x1xi1>) -> tensor<1x2x80x1xi1>
    %31 = linalg.generic {indexing_maps = [#map1, #map5], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%28 : tensor<1x2x80x80xi1>) outs(%30 : tensor<1x2x80x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %38 = arith.andi %in, %out : i1
      linalg.yield %38 : i1
    } -> tensor<1x2x80x1xi1>
    %32 = linalg.generic {indexing_maps = [#map5, #map1, #map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31, %cst_1, %26 : tensor<1x2x80x1xi1>, tensor<1x2x80x80xf16>, tensor<1x2x80x80xf16>) outs(%6 : tensor<1x2x80x80xf16>) {
    ^bb0(%in: i1, %in_11: f16, %in_12: f16, %out: f16):
      %38 = arith.select %in, %in_11, %in_12 : f16
      linalg.yield %38 : f16
    } -> tensor<1x2x80x80xf16>
    %collapsed_8 = tensor.collapse_shape %32 [[0, 1], [2], [3]] : tensor<1x2x80x80xf16> into tensor<2x80x80xf16>
    %collapsed_9 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<1x2x80x64xf16> into tensor<2x80x64xf16>
    %33 = tensor.empty() : tensor<2x80x64xf32>
    %34 = linalg.fill ins(%cst : f32) outs(%33 : tensor<2x80x64xf32>) -> tensor<2x80x64xf32>
    %35 = linalg.batch_matmul ins(%collapsed_8, %collapsed_9 : tensor<2x80x80xf16>, tensor<2x80x64xf16>) outs(%34 : tensor<2x80x64xf32>) -> tensor<2x80x64xf32>
    %36 = tensor.empty() : tensor<2x80x64xf16>
    %37 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%35 : tensor<2x80x64xf32>) outs(%36 : tensor<2x80x64xf16>) {
    ^bb0(%in: f32, %out: f16):
      %38 = arith.truncf %in : f32 to f16
      linalg.yield %38 : f16
    } -> tensor<2x80x64xf16>
    %expanded_10 = tensor.expand_shape %37 [[0, 1], [2], [3]] output_shape [1, 2, 80, 64] : tensor<2x80x64xf16> into tensor<1x2x80x64xf16>
    return %expanded_10 : tensor<1x2x80x64xf16>
  }
