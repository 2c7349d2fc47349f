// RUN: fusion-opt %s --fusion-input --fusion-plan-form-kernels=fast-numerics --remarks-filter='fusion.*' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=FAST < %t
// RUN: fusion-opt %s --fusion-input --fusion-plan-form-kernels --remarks-filter='fusion.*' 2>&1 >%t2 | FileCheck %s --check-prefix=PRECISE
// RUN: FileCheck %s --check-prefix=KEPT < %t2

// A factor that a product does not contract moves past it.

// The norm without a gain: the product reads x itself, a light kernel computes
// the statistics.
// FAST: scale-past-product {{.*}}Function=norm
// PRECISE: scale-rounding {{.*}}Function=norm
// CHECK-LABEL: func @norm(
// CHECK-SAME: %[[X:arg0]]: tensor<4096x4096xbf16>
// CHECK: %[[S:.*]] = fusion.kernel {{.*}} ins(%[[X]] : tensor<4096x4096xbf16>) -> (tensor<4096xf32>)
// CHECK: fusion.kernel @matmul{{.*}} ins(%[[X]],
// CHECK-NOT: fusion.kernel
// KEPT-LABEL: func @norm(
// KEPT: fusion.kernel {{.*}}-> (tensor<4096x4096xbf16>)
func.func @norm(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %n = fusion.rms_norm %x axis(1) eps(1.0e-6) : (tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %m = linalg.matmul ins(%n, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %o = arith.truncf %m : tensor<4096x4096xf32> to tensor<4096x4096xbf16>
  return %o : tensor<4096x4096xbf16>
}

// A quotient: the sum of a softmax's row divides the product.
// FAST: scale-past-product {{.*}}Function=quotient
// CHECK-LABEL: func @quotient(
// CHECK: arith.mulf
// CHECK: arith.divf
func.func @quotient(%p: tensor<4096x4096xbf16>, %s: tensor<4096xf32>, %v: tensor<4096x4096xbf16>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %ep = tensor.empty() : tensor<4096x4096xbf16>
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<4096x4096xbf16>, tensor<4096xf32>) outs(%ep : tensor<4096x4096xbf16>) {
  ^bb0(%c: bf16, %b: f32, %o: bf16):
    %a = arith.extf %c : bf16 to f32
    %0 = arith.divf %a, %b : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<4096x4096xbf16>
  %m = linalg.matmul ins(%q, %v : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %m : tensor<4096x4096xf32>
}

// A factor along the contracted dimension stays.
// FAST-NOT: scale-past-product {{.*}}Function=contracted
// PRECISE-NOT: scale-rounding {{.*}}Function=contracted
func.func @contracted(%x: tensor<512x1024xf32>, %g: tensor<1024xf32>, %w: tensor<1024x512xbf16>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %ep = tensor.empty() : tensor<512x1024xbf16>
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %g : tensor<512x1024xf32>, tensor<1024xf32>) outs(%ep : tensor<512x1024xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<512x1024xbf16>
  %m = linalg.matmul ins(%q, %w : tensor<512x1024xbf16>, tensor<1024x512xbf16>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
