// RUN: fusion-opt %s --fusion-plan-form-kernels --remarks-filter='fusion.*' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: fusion-opt %s --fusion-plan-form-kernels --fusion-schedule-select=target=sm_90a | FileCheck %s --check-prefix=SCHEDULE

// Products over the same loops share them.

#id = affine_map<(d0, d1) -> (d0, d1)>

// Counted by hand: x 4096x4096, two weights 4096x14336 read, the result
// 4096x14336 written, 2 bytes each. Neither product is written.
// CHECK-LABEL: func @gated
// CHECK-SAME: bytes_after = 385875968 : i64
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: fusion.kernel
// CHECK-NOT: fusion.kernel
// SCHEDULE-LABEL: func @gated
// SCHEDULE: mma = #fusion.mma<wgmma
func.func @gated(%x: tensor<4096x4096xbf16>, %w: tensor<4096x14336xbf16>, %u: tensor<4096x14336xbf16>) -> tensor<4096x14336xbf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4096x14336xf32>
  %eo = tensor.empty() : tensor<4096x14336xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
  %g = linalg.matmul ins(%x, %w : tensor<4096x4096xbf16>, tensor<4096x14336xbf16>) outs(%f : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
  %h = linalg.matmul ins(%x, %u : tensor<4096x4096xbf16>, tensor<4096x14336xbf16>) outs(%f : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %h : tensor<4096x14336xf32>, tensor<4096x14336xf32>) outs(%eo : tensor<4096x14336xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %0 = arith.negf %a : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.mulf %3, %b : f32
    %5 = arith.truncf %4 : f32 to bf16
    linalg.yield %5 : bf16
  } -> tensor<4096x14336xbf16>
  return %r : tensor<4096x14336xbf16>
}

// Three products and the sum of their results: one kernel.
// CHECK-LABEL: func @three
// CHECK-SAME: kernels_after = 1 : i64
// SCHEDULE-LABEL: func @three
// SCHEDULE: mma = #fusion.mma<wgmma
func.func @three(%x: tensor<1024x1024xbf16>, %q: tensor<1024x1024xbf16>, %k: tensor<1024x1024xbf16>, %v: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %eo = tensor.empty() : tensor<1024x1024xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %a = linalg.matmul ins(%x, %q : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %b = linalg.matmul ins(%x, %k : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %c = linalg.matmul ins(%x, %v : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c : tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%eo : tensor<1024x1024xbf16>) {
  ^bb0(%p: f32, %s: f32, %t: f32, %o: bf16):
    %0 = arith.mulf %p, %s : f32
    %1 = arith.addf %0, %t : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<1024x1024xbf16>
  return %r : tensor<1024x1024xbf16>
}

// Two linear maps of few rows, both results: x is read once, one launch saved.
// CHECK-LABEL: func @two_results
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: %[[K:.*]]:2 = fusion.kernel
func.func @two_results(%x: tensor<128x1024xbf16>, %w: tensor<1024x512xbf16>, %u: tensor<1024x512xbf16>) -> (tensor<128x512xf32>, tensor<128x512xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x512xf32>) -> tensor<128x512xf32>
  %g = linalg.matmul ins(%x, %w : tensor<128x1024xbf16>, tensor<1024x512xbf16>) outs(%f : tensor<128x512xf32>) -> tensor<128x512xf32>
  %h = linalg.matmul ins(%x, %u : tensor<128x1024xbf16>, tensor<1024x512xbf16>) outs(%f : tensor<128x512xf32>) -> tensor<128x512xf32>
  return %g, %h : tensor<128x512xf32>, tensor<128x512xf32>
}

// Another depth is walked behind the first one, for the same tile.
// CHECK-LABEL: func @low_rank
// CHECK-SAME: kernels_after = 1 : i64
func.func @low_rank(%x: tensor<1024x1024xbf16>, %w: tensor<1024x1024xbf16>, %y: tensor<1024x64xbf16>, %u: tensor<64x1024xbf16>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %m = linalg.matmul ins(%x, %w : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %n = linalg.matmul ins(%y, %u : tensor<1024x64xbf16>, tensor<64x1024xbf16>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %s = linalg.add ins(%m, %n : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %s : tensor<1024x1024xf32>
}

// Five sums do not fit beside each other; four do.
// REMARK: accumulator-limit {{.*}}Function=five{{.*}}5 contractions, the limit is 4
// CHECK-LABEL: func @five
// CHECK-SAME: kernels_after = {{[23]}} : i64
func.func @five(%x: tensor<256x256xbf16>, %a: tensor<256x256xbf16>, %b: tensor<256x256xbf16>, %c: tensor<256x256xbf16>, %d: tensor<256x256xbf16>, %g: tensor<256x256xbf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %0 = linalg.matmul ins(%x, %a : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = linalg.matmul ins(%x, %b : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %2 = linalg.matmul ins(%x, %c : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %3 = linalg.matmul ins(%x, %d : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %4 = linalg.matmul ins(%x, %g : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %1, %2, %3, %4 : tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32, %t: f32, %u: f32, %o: f32):
    %5 = arith.mulf %p, %q : f32
    %6 = arith.mulf %s, %t : f32
    %7 = arith.addf %5, %6 : f32
    %8 = arith.addf %7, %u : f32
    linalg.yield %8 : f32
  } -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}
