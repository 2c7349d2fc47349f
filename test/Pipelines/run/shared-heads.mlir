// Heads that share keys and values however that is written: at the quotient of
// the head, and repeated for each head as importers write it. One row for each
// head as well.

// RUN: fusion-compile %s --target=sm_90a -o %t.fpk --explain | FileCheck %s --check-prefix=PLAN
// RUN: fusion-run %t.fpk --reference=%s --entry=quotient --device=emulator --random --seed=1 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=decode --device=emulator --random --seed=2 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=single --device=emulator --random --seed=3 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=torch --device=emulator --random --seed=4 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=masked --device=emulator --random --seed=5 --verify | FileCheck %s

// CHECK: {{^}}verified

// PLAN-COUNT-5: operations -> 1 kernel,

func.func @quotient(%q: tensor<2x8x40x64xbf16>, %K: tensor<2x2x56x64xbf16>, %V: tensor<2x2x56x64xbf16>) -> (tensor<2x8x40x64xbf16>) {
  %v1 = tensor.empty() : tensor<2x8x40x56xf32>
  %v2 = arith.constant 0.0 : f32
  %v3 = linalg.fill ins(%v2 : f32) outs(%v1 : tensor<2x8x40x56xf32>) -> tensor<2x8x40x56xf32>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 floordiv 4, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %K : tensor<2x8x40x64xbf16>, tensor<2x2x56x64xbf16>) outs(%v3 : tensor<2x8x40x56xf32>) {
  ^bb0(%a0: bf16, %a1: bf16, %o: f32):
    %ex = arith.extf %a0 : bf16 to f32
    %ey = arith.extf %a1 : bf16 to f32
    %m = arith.mulf %ex, %ey : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40x56xf32>
  %v5 = arith.constant 0.125 : f32
  %v6 = tensor.empty() : tensor<2x8x40x56xf32>
  %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v4 : tensor<2x8x40x56xf32>) outs(%v6 : tensor<2x8x40x56xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = arith.mulf %a0, %v5 : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40x56xf32>
  %v8 = arith.constant 0xFF800000 : f32
  %v9 = arith.constant 16 : index
  %v10 = tensor.empty() : tensor<2x8x40x56xf32>
  %v11 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v7 : tensor<2x8x40x56xf32>) outs(%v10 : tensor<2x8x40x56xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %ii = arith.addi %i, %v9 : index
    %c = arith.cmpi sle, %j, %ii : index
    %r = arith.select %c, %a0, %v8 : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40x56xf32>
  %v12 = tensor.empty() : tensor<2x8x40xf32>
  %v13 = arith.constant 0xFF800000 : f32
  %v14 = linalg.fill ins(%v13 : f32) outs(%v12 : tensor<2x8x40xf32>) -> tensor<2x8x40xf32>
  %v15 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v11 : tensor<2x8x40x56xf32>) outs(%v14 : tensor<2x8x40xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = arith.maximumf %a0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40xf32>
  %v16 = tensor.empty() : tensor<2x8x40x56xf32>
  %v17 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v11, %v15 : tensor<2x8x40x56xf32>, tensor<2x8x40xf32>) outs(%v16 : tensor<2x8x40x56xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %m = arith.subf %a0, %a1 : f32
    %r = math.exp %m : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40x56xf32>
  %v18 = tensor.empty() : tensor<2x8x40xf32>
  %v19 = arith.constant 0.0 : f32
  %v20 = linalg.fill ins(%v19 : f32) outs(%v18 : tensor<2x8x40xf32>) -> tensor<2x8x40xf32>
  %v21 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v17 : tensor<2x8x40x56xf32>) outs(%v20 : tensor<2x8x40xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = arith.addf %a0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40xf32>
  %v22 = tensor.empty() : tensor<2x8x40x56xf32>
  %v23 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v17, %v21 : tensor<2x8x40x56xf32>, tensor<2x8x40xf32>) outs(%v22 : tensor<2x8x40x56xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %r = arith.divf %a0, %a1 : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40x56xf32>
  %v24 = tensor.empty() : tensor<2x8x40x56xbf16>
  %v25 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v23 : tensor<2x8x40x56xf32>) outs(%v24 : tensor<2x8x40x56xbf16>) {
  ^bb0(%a0: f32, %o: bf16):
    %r = arith.truncf %a0 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<2x8x40x56xbf16>
  %v26 = tensor.empty() : tensor<2x8x40x64xf32>
  %v27 = arith.constant 0.0 : f32
  %v28 = linalg.fill ins(%v27 : f32) outs(%v26 : tensor<2x8x40x64xf32>) -> tensor<2x8x40x64xf32>
  %v29 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 floordiv 4, d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%v25, %V : tensor<2x8x40x56xbf16>, tensor<2x2x56x64xbf16>) outs(%v28 : tensor<2x8x40x64xf32>) {
  ^bb0(%a0: bf16, %a1: bf16, %o: f32):
    %ex = arith.extf %a0 : bf16 to f32
    %ey = arith.extf %a1 : bf16 to f32
    %m = arith.mulf %ex, %ey : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40x64xf32>
  %v30 = tensor.empty() : tensor<2x8x40x64xbf16>
  %v31 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v29 : tensor<2x8x40x64xf32>) outs(%v30 : tensor<2x8x40x64xbf16>) {
  ^bb0(%a0: f32, %o: bf16):
    %r = arith.truncf %a0 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<2x8x40x64xbf16>
  return %v31 : tensor<2x8x40x64xbf16>
}

func.func @decode(%q: tensor<2x8x1x64xbf16>, %K: tensor<2x2x300x64xbf16>, %V: tensor<2x2x300x64xbf16>) -> (tensor<2x8x1x64xbf16>) {
  %v1 = tensor.empty() : tensor<2x8x1x300xf32>
  %v2 = arith.constant 0.0 : f32
  %v3 = linalg.fill ins(%v2 : f32) outs(%v1 : tensor<2x8x1x300xf32>) -> tensor<2x8x1x300xf32>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 floordiv 4, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %K : tensor<2x8x1x64xbf16>, tensor<2x2x300x64xbf16>) outs(%v3 : tensor<2x8x1x300xf32>) {
  ^bb0(%a0: bf16, %a1: bf16, %o: f32):
    %ex = arith.extf %a0 : bf16 to f32
    %ey = arith.extf %a1 : bf16 to f32
    %m = arith.mulf %ex, %ey : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x8x1x300xf32>
  %v5 = arith.constant 0.125 : f32
  %v6 = tensor.empty() : tensor<2x8x1x300xf32>
  %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v4 : tensor<2x8x1x300xf32>) outs(%v6 : tensor<2x8x1x300xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = arith.mulf %a0, %v5 : f32
    linalg.yield %r : f32
  } -> tensor<2x8x1x300xf32>
  %v8 = tensor.empty() : tensor<2x8x1xf32>
  %v9 = arith.constant 0xFF800000 : f32
  %v10 = linalg.fill ins(%v9 : f32) outs(%v8 : tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
  %v11 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v7 : tensor<2x8x1x300xf32>) outs(%v10 : tensor<2x8x1xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = arith.maximumf %a0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2x8x1xf32>
  %v12 = tensor.empty() : tensor<2x8x1x300xf32>
  %v13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v7, %v11 : tensor<2x8x1x300xf32>, tensor<2x8x1xf32>) outs(%v12 : tensor<2x8x1x300xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %m = arith.subf %a0, %a1 : f32
    %r = math.exp %m : f32
    linalg.yield %r : f32
  } -> tensor<2x8x1x300xf32>
  %v14 = tensor.empty() : tensor<2x8x1xf32>
  %v15 = arith.constant 0.0 : f32
  %v16 = linalg.fill ins(%v15 : f32) outs(%v14 : tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
  %v17 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v13 : tensor<2x8x1x300xf32>) outs(%v16 : tensor<2x8x1xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = arith.addf %a0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2x8x1xf32>
  %v18 = tensor.empty() : tensor<2x8x1x300xf32>
  %v19 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v13, %v17 : tensor<2x8x1x300xf32>, tensor<2x8x1xf32>) outs(%v18 : tensor<2x8x1x300xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %r = arith.divf %a0, %a1 : f32
    linalg.yield %r : f32
  } -> tensor<2x8x1x300xf32>
  %v20 = tensor.empty() : tensor<2x8x1x300xbf16>
  %v21 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v19 : tensor<2x8x1x300xf32>) outs(%v20 : tensor<2x8x1x300xbf16>) {
  ^bb0(%a0: f32, %o: bf16):
    %r = arith.truncf %a0 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<2x8x1x300xbf16>
  %v22 = tensor.empty() : tensor<2x8x1x64xf32>
  %v23 = arith.constant 0.0 : f32
  %v24 = linalg.fill ins(%v23 : f32) outs(%v22 : tensor<2x8x1x64xf32>) -> tensor<2x8x1x64xf32>
  %v25 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 floordiv 4, d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%v21, %V : tensor<2x8x1x300xbf16>, tensor<2x2x300x64xbf16>) outs(%v24 : tensor<2x8x1x64xf32>) {
  ^bb0(%a0: bf16, %a1: bf16, %o: f32):
    %ex = arith.extf %a0 : bf16 to f32
    %ey = arith.extf %a1 : bf16 to f32
    %m = arith.mulf %ex, %ey : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x8x1x64xf32>
  %v26 = tensor.empty() : tensor<2x8x1x64xbf16>
  %v27 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v25 : tensor<2x8x1x64xf32>) outs(%v26 : tensor<2x8x1x64xbf16>) {
  ^bb0(%a0: f32, %o: bf16):
    %r = arith.truncf %a0 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<2x8x1x64xbf16>
  return %v27 : tensor<2x8x1x64xbf16>
}

// All heads have the same keys.
func.func @single(%q: tensor<2x8x40x64xf16>, %K: tensor<2x1x56x64xf16>, %V: tensor<2x1x56x64xf16>) -> (tensor<2x8x40x64xf16>) {
  %v2 = tensor.empty() : tensor<2x1x8x56x64xf16>
  %v1 = linalg.broadcast ins(%K : tensor<2x1x56x64xf16>) outs(%v2 : tensor<2x1x8x56x64xf16>) dimensions = [2]
  %v3 = tensor.collapse_shape %v1 [[0],[1,2],[3],[4]] : tensor<2x1x8x56x64xf16> into tensor<2x8x56x64xf16>
  %v5 = tensor.empty() : tensor<2x1x8x56x64xf16>
  %v4 = linalg.broadcast ins(%V : tensor<2x1x56x64xf16>) outs(%v5 : tensor<2x1x8x56x64xf16>) dimensions = [2]
  %v6 = tensor.collapse_shape %v4 [[0],[1,2],[3],[4]] : tensor<2x1x8x56x64xf16> into tensor<2x8x56x64xf16>
  %v7 = tensor.empty() : tensor<2x8x40x56xf32>
  %v8 = arith.constant 0.0 : f32
  %v9 = linalg.fill ins(%v8 : f32) outs(%v7 : tensor<2x8x40x56xf32>) -> tensor<2x8x40x56xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %v3 : tensor<2x8x40x64xf16>, tensor<2x8x56x64xf16>) outs(%v9 : tensor<2x8x40x56xf32>) {
  ^bb0(%a0: f16, %a1: f16, %o: f32):
    %ex = arith.extf %a0 : f16 to f32
    %ey = arith.extf %a1 : f16 to f32
    %m = arith.mulf %ex, %ey : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40x56xf32>
  %v11 = arith.constant 0.125 : f32
  %v12 = tensor.empty() : tensor<2x8x40x56xf32>
  %v13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v10 : tensor<2x8x40x56xf32>) outs(%v12 : tensor<2x8x40x56xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = arith.mulf %a0, %v11 : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40x56xf32>
  %v14 = tensor.empty() : tensor<2x8x40xf32>
  %v15 = arith.constant 0xFF800000 : f32
  %v16 = linalg.fill ins(%v15 : f32) outs(%v14 : tensor<2x8x40xf32>) -> tensor<2x8x40xf32>
  %v17 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v13 : tensor<2x8x40x56xf32>) outs(%v16 : tensor<2x8x40xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = arith.maximumf %a0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40xf32>
  %v18 = tensor.empty() : tensor<2x8x40x56xf32>
  %v19 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v13, %v17 : tensor<2x8x40x56xf32>, tensor<2x8x40xf32>) outs(%v18 : tensor<2x8x40x56xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %m = arith.subf %a0, %a1 : f32
    %r = math.exp %m : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40x56xf32>
  %v20 = tensor.empty() : tensor<2x8x40xf32>
  %v21 = arith.constant 0.0 : f32
  %v22 = linalg.fill ins(%v21 : f32) outs(%v20 : tensor<2x8x40xf32>) -> tensor<2x8x40xf32>
  %v23 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v19 : tensor<2x8x40x56xf32>) outs(%v22 : tensor<2x8x40xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = arith.addf %a0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40xf32>
  %v24 = tensor.empty() : tensor<2x8x40x56xf32>
  %v25 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v19, %v23 : tensor<2x8x40x56xf32>, tensor<2x8x40xf32>) outs(%v24 : tensor<2x8x40x56xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %r = arith.divf %a0, %a1 : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40x56xf32>
  %v26 = tensor.empty() : tensor<2x8x40x56xf16>
  %v27 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v25 : tensor<2x8x40x56xf32>) outs(%v26 : tensor<2x8x40x56xf16>) {
  ^bb0(%a0: f32, %o: f16):
    %r = arith.truncf %a0 : f32 to f16
    linalg.yield %r : f16
  } -> tensor<2x8x40x56xf16>
  %v28 = tensor.empty() : tensor<2x8x40x64xf32>
  %v29 = arith.constant 0.0 : f32
  %v30 = linalg.fill ins(%v29 : f32) outs(%v28 : tensor<2x8x40x64xf32>) -> tensor<2x8x40x64xf32>
  %v31 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%v27, %v6 : tensor<2x8x40x56xf16>, tensor<2x8x56x64xf16>) outs(%v30 : tensor<2x8x40x64xf32>) {
  ^bb0(%a0: f16, %a1: f16, %o: f32):
    %ex = arith.extf %a0 : f16 to f32
    %ey = arith.extf %a1 : f16 to f32
    %m = arith.mulf %ex, %ey : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x8x40x64xf32>
  %v32 = tensor.empty() : tensor<2x8x40x64xf16>
  %v33 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v31 : tensor<2x8x40x64xf32>) outs(%v32 : tensor<2x8x40x64xf16>) {
  ^bb0(%a0: f32, %o: f16):
    %r = arith.truncf %a0 : f32 to f16
    linalg.yield %r : f16
  } -> tensor<2x8x40x64xf16>
  return %v33 : tensor<2x8x40x64xf16>
}

// As PyTorch's importer writes it: repeated, transposed, and joined with the
// batch.
func.func @torch(%q: tensor<2x8x40x64xf16>, %k: tensor<2x2x56x64xf16>, %v: tensor<2x2x56x64xf16>) -> tensor<2x8x40x64xf16> {
  %zero = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %k5 = tensor.expand_shape %k [[0], [1, 2], [3], [4]] output_shape [2, 2, 1, 56, 64] : tensor<2x2x56x64xf16> into tensor<2x2x1x56x64xf16>
  %e5 = tensor.empty() : tensor<2x2x4x56x64xf16>
  %kb = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, 0, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%k5 : tensor<2x2x1x56x64xf16>) outs(%e5 : tensor<2x2x4x56x64xf16>) {
  ^bb0(%a: f16, %o: f16):
    linalg.yield %a : f16
  } -> tensor<2x2x4x56x64xf16>
  %kr = tensor.collapse_shape %kb [[0], [1, 2], [3], [4]] : tensor<2x2x4x56x64xf16> into tensor<2x8x56x64xf16>
  %v5 = tensor.expand_shape %v [[0], [1, 2], [3], [4]] output_shape [2, 2, 1, 56, 64] : tensor<2x2x56x64xf16> into tensor<2x2x1x56x64xf16>
  %vb = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, 0, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%v5 : tensor<2x2x1x56x64xf16>) outs(%e5 : tensor<2x2x4x56x64xf16>) {
  ^bb0(%a: f16, %o: f16):
    linalg.yield %a : f16
  } -> tensor<2x2x4x56x64xf16>
  %vr = tensor.collapse_shape %vb [[0], [1, 2], [3], [4]] : tensor<2x2x4x56x64xf16> into tensor<2x8x56x64xf16>
  %et = tensor.empty() : tensor<2x8x64x56xf16>
  %kt = linalg.transpose ins(%kr : tensor<2x8x56x64xf16>) outs(%et : tensor<2x8x64x56xf16>) permutation = [0, 1, 3, 2]
  %q3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x8x40x64xf16> into tensor<16x40x64xf16>
  %k3 = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x8x64x56xf16> into tensor<16x64x56xf16>
  %v3 = tensor.collapse_shape %vr [[0, 1], [2], [3]] : tensor<2x8x56x64xf16> into tensor<16x56x64xf16>
  %es = tensor.empty() : tensor<16x40x56xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<16x40x56xf32>) -> tensor<16x40x56xf32>
  %s = linalg.batch_matmul ins(%q3, %k3 : tensor<16x40x64xf16>, tensor<16x64x56xf16>) outs(%fs : tensor<16x40x56xf32>) -> tensor<16x40x56xf32>
  %s4 = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 8, 40, 56] : tensor<16x40x56xf32> into tensor<2x8x40x56xf32>
  %e4 = tensor.empty() : tensor<2x8x40x56xf32>
  %sc = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s4 : tensor<2x8x40x56xf32>) outs(%e4 : tensor<2x8x40x56xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %scale : f32
    linalg.yield %0 : f32
  } -> tensor<2x8x40x56xf32>
  %er = tensor.empty() : tensor<2x8x40xf32>
  %fm = linalg.fill ins(%ninf : f32) outs(%er : tensor<2x8x40xf32>) -> tensor<2x8x40xf32>
  %m = linalg.reduce { arith.maximumf } ins(%sc : tensor<2x8x40x56xf32>) outs(%fm : tensor<2x8x40xf32>) dimensions = [3]
  %m1 = tensor.expand_shape %m [[0], [1], [2, 3]] output_shape [2, 8, 40, 1] : tensor<2x8x40xf32> into tensor<2x8x40x1xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, 0)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sc, %m1 : tensor<2x8x40x56xf32>, tensor<2x8x40x1xf32>) outs(%e4 : tensor<2x8x40x56xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x8x40x56xf32>
  %fl = linalg.fill ins(%zero : f32) outs(%er : tensor<2x8x40xf32>) -> tensor<2x8x40xf32>
  %l = linalg.reduce { arith.addf } ins(%p : tensor<2x8x40x56xf32>) outs(%fl : tensor<2x8x40xf32>) dimensions = [3]
  %l1 = tensor.expand_shape %l [[0], [1], [2, 3]] output_shape [2, 8, 40, 1] : tensor<2x8x40xf32> into tensor<2x8x40x1xf32>
  %eh = tensor.empty() : tensor<2x8x40x56xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, 0)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p, %l1 : tensor<2x8x40x56xf32>, tensor<2x8x40x1xf32>) outs(%eh : tensor<2x8x40x56xf16>) {
  ^bb0(%a: f32, %b: f32, %o: f16):
    %0 = arith.divf %a, %b : f32
    %1 = arith.truncf %0 : f32 to f16
    linalg.yield %1 : f16
  } -> tensor<2x8x40x56xf16>
  %w3 = tensor.collapse_shape %w [[0, 1], [2], [3]] : tensor<2x8x40x56xf16> into tensor<16x40x56xf16>
  %eo = tensor.empty() : tensor<16x40x64xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<16x40x64xf32>) -> tensor<16x40x64xf32>
  %o3 = linalg.batch_matmul ins(%w3, %v3 : tensor<16x40x56xf16>, tensor<16x56x64xf16>) outs(%fo : tensor<16x40x64xf32>) -> tensor<16x40x64xf32>
  %o4 = tensor.expand_shape %o3 [[0, 1], [2], [3]] output_shape [2, 8, 40, 64] : tensor<16x40x64xf32> into tensor<2x8x40x64xf32>
  %eo4 = tensor.empty() : tensor<2x8x40x64xf16>
  %o = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%o4 : tensor<2x8x40x64xf32>) outs(%eo4 : tensor<2x8x40x64xf16>) {
  ^bb0(%a: f32, %o: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<2x8x40x64xf16>
  return %o : tensor<2x8x40x64xf16>
}

// A mask of which all heads have the same.
func.func @masked(%q: tensor<2x3x33x64xf16>, %k: tensor<2x3x70x64xf16>, %v: tensor<2x3x70x64xf16>, %msk: tensor<2x1x33x70xi1>) -> (tensor<2x3x33x64xf16>) {
  %v1 = tensor.empty() : tensor<2x3x33x70xf32>
  %v2 = arith.constant 0.0 : f32
  %v3 = linalg.fill ins(%v2 : f32) outs(%v1 : tensor<2x3x33x70xf32>) -> tensor<2x3x33x70xf32>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x3x33x64xf16>, tensor<2x3x70x64xf16>) outs(%v3 : tensor<2x3x33x70xf32>) {
  ^bb0(%a0: f16, %a1: f16, %o: f32):
    %ex = arith.extf %a0 : f16 to f32
    %ey = arith.extf %a1 : f16 to f32
    %m = arith.mulf %ex, %ey : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x33x70xf32>
  %v5 = arith.constant 0.125 : f32
  %v6 = tensor.empty() : tensor<2x3x33x70xf32>
  %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v4 : tensor<2x3x33x70xf32>) outs(%v6 : tensor<2x3x33x70xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = arith.mulf %a0, %v5 : f32
    linalg.yield %r : f32
  } -> tensor<2x3x33x70xf32>
  %v8 = arith.constant 0xFF800000 : f32
  %v9 = tensor.empty() : tensor<2x3x33x70xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v7, %msk : tensor<2x3x33x70xf32>, tensor<2x1x33x70xi1>) outs(%v9 : tensor<2x3x33x70xf32>) {
  ^bb0(%a0: f32, %a1: i1, %o: f32):
    %r = arith.select %a1, %a0, %v8 : f32
    linalg.yield %r : f32
  } -> tensor<2x3x33x70xf32>
  %v11 = tensor.empty() : tensor<2x3x33xf32>
  %v12 = arith.constant 0xFF800000 : f32
  %v13 = linalg.fill ins(%v12 : f32) outs(%v11 : tensor<2x3x33xf32>) -> tensor<2x3x33xf32>
  %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v10 : tensor<2x3x33x70xf32>) outs(%v13 : tensor<2x3x33xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = arith.maximumf %a0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2x3x33xf32>
  %v15 = tensor.empty() : tensor<2x3x33x70xf32>
  %v16 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v10, %v14 : tensor<2x3x33x70xf32>, tensor<2x3x33xf32>) outs(%v15 : tensor<2x3x33x70xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %m = arith.subf %a0, %a1 : f32
    %r = math.exp %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x33x70xf32>
  %v17 = tensor.empty() : tensor<2x3x33xf32>
  %v18 = arith.constant 0.0 : f32
  %v19 = linalg.fill ins(%v18 : f32) outs(%v17 : tensor<2x3x33xf32>) -> tensor<2x3x33xf32>
  %v20 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v16 : tensor<2x3x33x70xf32>) outs(%v19 : tensor<2x3x33xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %r = arith.addf %a0, %o : f32
    linalg.yield %r : f32
  } -> tensor<2x3x33xf32>
  %v21 = tensor.empty() : tensor<2x3x33x70xf32>
  %v22 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v16, %v20 : tensor<2x3x33x70xf32>, tensor<2x3x33xf32>) outs(%v21 : tensor<2x3x33x70xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %r = arith.divf %a0, %a1 : f32
    linalg.yield %r : f32
  } -> tensor<2x3x33x70xf32>
  %v23 = tensor.empty() : tensor<2x3x33x70xf16>
  %v24 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v22 : tensor<2x3x33x70xf32>) outs(%v23 : tensor<2x3x33x70xf16>) {
  ^bb0(%a0: f32, %o: f16):
    %r = arith.truncf %a0 : f32 to f16
    linalg.yield %r : f16
  } -> tensor<2x3x33x70xf16>
  %v25 = tensor.empty() : tensor<2x3x33x64xf32>
  %v26 = arith.constant 0.0 : f32
  %v27 = linalg.fill ins(%v26 : f32) outs(%v25 : tensor<2x3x33x64xf32>) -> tensor<2x3x33x64xf32>
  %v28 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%v24, %v : tensor<2x3x33x70xf16>, tensor<2x3x70x64xf16>) outs(%v27 : tensor<2x3x33x64xf32>) {
  ^bb0(%a0: f16, %a1: f16, %o: f32):
    %ex = arith.extf %a0 : f16 to f32
    %ey = arith.extf %a1 : f16 to f32
    %m = arith.mulf %ex, %ey : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<2x3x33x64xf32>
  %v29 = tensor.empty() : tensor<2x3x33x64xf16>
  %v30 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v28 : tensor<2x3x33x64xf32>) outs(%v29 : tensor<2x3x33x64xf16>) {
  ^bb0(%a0: f32, %o: f16):
    %r = arith.truncf %a0 : f32 to f16
    linalg.yield %r : f16
  } -> tensor<2x3x33x64xf16>
  return %v30 : tensor<2x3x33x64xf16>
}
