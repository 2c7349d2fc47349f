// Products of one tile that walk depths of their own, one after the other: added
// as they are, rounded before, and multiplied. The smaller depth is a single step,
// before the loop of the other one or behind it, and the last step of each is not
// full.

// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=2 --verify --entry=added | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=2 --verify --entry=first_is_short | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=2 --verify --entry=rounded | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=2 --verify --entry=scaled | FileCheck %s
// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s --check-prefix=PLAN
// CHECK: launches: 1,
// CHECK: verified

#id = affine_map<(d0, d1) -> (d0, d1)>

// PLAN-LABEL: func.func @added
// PLAN: fusion.kernel
// PLAN-SAME: mma = #fusion.mma<wgmma
// PLAN-NOT: fusion.kernel
func.func @added(%x0: tensor<300x200xbf16>, %w0: tensor<200x200xbf16>, %x1: tensor<300x24xbf16>, %w1: tensor<24x200xbf16>) -> tensor<300x200xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x200xf32>
  %eo = tensor.empty() : tensor<300x200xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<300x200xf32>) -> tensor<300x200xf32>
  %y0 = linalg.matmul ins(%x0, %w0 : tensor<300x200xbf16>, tensor<200x200xbf16>) outs(%f : tensor<300x200xf32>) -> tensor<300x200xf32>
  %y1 = linalg.matmul ins(%x1, %w1 : tensor<300x24xbf16>, tensor<24x200xbf16>) outs(%f : tensor<300x200xf32>) -> tensor<300x200xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y0, %y1 : tensor<300x200xf32>, tensor<300x200xf32>) outs(%eo : tensor<300x200xbf16>) {
  ^bb0(%p0: f32, %p1: f32, %o: bf16):
    %s = arith.addf %p1, %p0 : f32
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<300x200xbf16>
  return %r : tensor<300x200xbf16>
}

// PLAN-LABEL: func.func @first_is_short
// PLAN: fusion.kernel
// PLAN-SAME: mma = #fusion.mma<wgmma
// PLAN-NOT: fusion.kernel
func.func @first_is_short(%x0: tensor<300x40xbf16>, %w0: tensor<40x200xbf16>, %x1: tensor<300x328xbf16>, %w1: tensor<328x200xbf16>) -> tensor<300x200xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x200xf32>
  %eo = tensor.empty() : tensor<300x200xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<300x200xf32>) -> tensor<300x200xf32>
  %y0 = linalg.matmul ins(%x0, %w0 : tensor<300x40xbf16>, tensor<40x200xbf16>) outs(%f : tensor<300x200xf32>) -> tensor<300x200xf32>
  %y1 = linalg.matmul ins(%x1, %w1 : tensor<300x328xbf16>, tensor<328x200xbf16>) outs(%f : tensor<300x200xf32>) -> tensor<300x200xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y0, %y1 : tensor<300x200xf32>, tensor<300x200xf32>) outs(%eo : tensor<300x200xbf16>) {
  ^bb0(%p0: f32, %p1: f32, %o: bf16):
    %s = arith.addf %p1, %p0 : f32
    %r = arith.truncf %s : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<300x200xbf16>
  return %r : tensor<300x200xbf16>
}

// PLAN-LABEL: func.func @rounded
// PLAN: fusion.kernel
// PLAN-SAME: mma = #fusion.mma<wgmma
// PLAN-NOT: fusion.kernel
func.func @rounded(%x0: tensor<300x136xf16>, %w0: tensor<136x200xf16>, %x1: tensor<300x24xf16>, %w1: tensor<24x200xf16>, %x2: tensor<300x72xf16>, %w2: tensor<72x200xf16>) -> tensor<300x200xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x200xf32>
  %eo = tensor.empty() : tensor<300x200xf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<300x200xf32>) -> tensor<300x200xf32>
  %y0 = linalg.matmul ins(%x0, %w0 : tensor<300x136xf16>, tensor<136x200xf16>) outs(%f : tensor<300x200xf32>) -> tensor<300x200xf32>
  %y1 = linalg.matmul ins(%x1, %w1 : tensor<300x24xf16>, tensor<24x200xf16>) outs(%f : tensor<300x200xf32>) -> tensor<300x200xf32>
  %y2 = linalg.matmul ins(%x2, %w2 : tensor<300x72xf16>, tensor<72x200xf16>) outs(%f : tensor<300x200xf32>) -> tensor<300x200xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y0, %y1, %y2 : tensor<300x200xf32>, tensor<300x200xf32>, tensor<300x200xf32>) outs(%eo : tensor<300x200xf16>) {
  ^bb0(%p0: f32, %p1: f32, %p2: f32, %o: f16):
    %n0 = arith.truncf %p0 : f32 to f16
    %n1 = arith.truncf %p1 : f32 to f16
    %n2 = arith.truncf %p2 : f32 to f16
    %two = arith.constant 2.0 : f16
    %s = arith.mulf %n1, %two : f16
    %t = arith.addf %n0, %s : f16
    %r = arith.addf %t, %n2 : f16
    linalg.yield %r : f16
  } -> tensor<300x200xf16>
  return %r : tensor<300x200xf16>
}

// PLAN-LABEL: func.func @scaled
// PLAN: fusion.kernel
// PLAN-SAME: mma = #fusion.mma<wgmma
// PLAN-NOT: fusion.kernel
func.func @scaled(%x0: tensor<300x200xbf16>, %w0: tensor<200x200xbf16>, %x1: tensor<300x264xbf16>, %w1: tensor<264x200xbf16>) -> tensor<300x200xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x200xf32>
  %eo = tensor.empty() : tensor<300x200xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<300x200xf32>) -> tensor<300x200xf32>
  %y0 = linalg.matmul ins(%x0, %w0 : tensor<300x200xbf16>, tensor<200x200xbf16>) outs(%f : tensor<300x200xf32>) -> tensor<300x200xf32>
  %y1 = linalg.matmul ins(%x1, %w1 : tensor<300x264xbf16>, tensor<264x200xbf16>) outs(%f : tensor<300x200xf32>) -> tensor<300x200xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y0, %y1 : tensor<300x200xf32>, tensor<300x200xf32>) outs(%eo : tensor<300x200xbf16>) {
  ^bb0(%p0: f32, %p1: f32, %o: bf16):
    %n0 = arith.truncf %p0 : f32 to bf16
    %0 = arith.extf %n0 : bf16 to f32
    %1 = math.tanh %p1 : f32
    %2 = arith.mulf %0, %1 : f32
    %r = arith.truncf %2 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<300x200xbf16>
  return %r : tensor<300x200xbf16>
}
