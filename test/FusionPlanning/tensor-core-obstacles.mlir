// RUN: fusion-opt %s --fusion-plan-form-kernels --remarks-filter='fusion.*' 2>&1 | FileCheck %s
// RUN: fusion-opt %s --fusion-plan-form-kernels=target=sm_80 --remarks-filter='fusion.*' 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: fusion-opt %s --fusion-plan-form-kernels=print-ledger 2>&1 | FileCheck %s --check-prefix=LEDGER
// RUN: fusion-opt %s --fusion-plan-form-kernels='target=sm_89 print-ledger' 2>&1 | FileCheck %s --check-prefix=SM89

// What keeps products from warpgroups is said at the product.

// SM80: no-warpgroups {{.*}}Function=aligned
// LEDGER: "function": "aligned"
// LEDGER: "products": "wgmma"
// LEDGER: "function": "full_precision"
// LEDGER: "obstacle": "element-type"
// LEDGER: "products": "mma_sync"
// SM89: "function": "full_precision"
// SM89: "products": "other"
// LEDGER: "function": "misaligned"
// LEDGER: "obstacle": "misaligned-rows"
// LEDGER: "products": "mma_sync"

// CHECK-NOT: Missed{{.*}}Function=aligned
func.func @aligned(%x: tensor<256x128xbf16>, %w: tensor<128x256xbf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m = linalg.matmul ins(%x, %w : tensor<256x128xbf16>, tensor<128x256xbf16>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}

// CHECK: element-type {{.*}}Function=full_precision
func.func @full_precision(%x: tensor<256x128xf32>, %w: tensor<256x128xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %w : tensor<256x128xf32>, tensor<256x128xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}

// The same, but the program asks for tf32.
// CHECK-NOT: Missed{{.*}}Function=asked
func.func @asked(%x: tensor<256x128xf32>, %w: tensor<256x128xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] {fusion.tf32}
      ins(%x, %w : tensor<256x128xf32>, tensor<256x128xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}

// 8-bit elements have one major only.
// CHECK: operand-major {{.*}}Function=bytes
func.func @bytes(%x: tensor<256x128xi8>, %w: tensor<128x256xi8>) -> tensor<256x256xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<256x256xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<256x256xi32>) -> tensor<256x256xi32>
  %m = linalg.matmul ins(%x, %w : tensor<256x128xi8>, tensor<128x256xi8>) outs(%f : tensor<256x256xi32>) -> tensor<256x256xi32>
  return %m : tensor<256x256xi32>
}

// CHECK: misaligned-rows {{.*}}Function=misaligned
func.func @misaligned(%x: tensor<256x100xbf16>, %w: tensor<100x256xbf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m = linalg.matmul ins(%x, %w : tensor<256x100xbf16>, tensor<100x256xbf16>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}

// CHECK: dynamic-rows {{.*}}Function=dynamic
func.func @dynamic(%x: tensor<256x?xbf16>, %w: tensor<?x256xbf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m = linalg.matmul ins(%x, %w : tensor<256x?xbf16>, tensor<?x256xbf16>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}

// CHECK: several-sources {{.*}}Function=two_tensors
func.func @two_tensors(%x: tensor<256x128xbf16>, %y: tensor<256x128xbf16>, %w: tensor<128x256xbf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %ex = tensor.empty() : tensor<256x128xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %a = linalg.add {fusion.must} ins(%x, %y : tensor<256x128xbf16>, tensor<256x128xbf16>) outs(%ex : tensor<256x128xbf16>) -> tensor<256x128xbf16>
  %m = linalg.matmul ins(%a, %w : tensor<256x128xbf16>, tensor<128x256xbf16>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}

// CHECK: both-computed {{.*}}Function=two_computed
func.func @two_computed(%x: tensor<256x128xbf16>, %w: tensor<128x256xbf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %ex = tensor.empty() : tensor<256x128xbf16>
  %ew = tensor.empty() : tensor<128x256xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %a = linalg.exp {fusion.must} ins(%x : tensor<256x128xbf16>) outs(%ex : tensor<256x128xbf16>) -> tensor<256x128xbf16>
  %b = linalg.exp {fusion.must} ins(%w : tensor<128x256xbf16>) outs(%ew : tensor<128x256xbf16>) -> tensor<128x256xbf16>
  %m = linalg.matmul ins(%a, %b : tensor<256x128xbf16>, tensor<128x256xbf16>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}

// Images with channels first: no axis is contiguous along the channels.
// CHECK: addressing {{.*}}Function=convolution
func.func @convolution(%x: tensor<4x64x18x18xf16>, %w: tensor<64x64x3x3xf16>) -> tensor<4x64x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x64x16x16xf32>) -> tensor<4x64x16x16xf32>
  %c = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<4x64x18x18xf16>, tensor<64x64x3x3xf16>) outs(%f : tensor<4x64x16x16xf32>) -> tensor<4x64x16x16xf32>
  return %c : tensor<4x64x16x16xf32>
}

// Products of different depth share a ring, but not those of other types.
// CHECK: products-differ {{.*}}Function=two_types
func.func @two_types(%x: tensor<256x128xbf16>, %w: tensor<128x256xbf16>, %y: tensor<256x64xf16>, %u: tensor<64x256xf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m = linalg.matmul {fusion.must} ins(%x, %w : tensor<256x128xbf16>, tensor<128x256xbf16>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %n = linalg.matmul {fusion.must} ins(%y, %u : tensor<256x64xf16>, tensor<64x256xf16>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %s = linalg.add ins(%m, %n : tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %s : tensor<256x256xf32>
}

// The largest of sums is no sum of products.
// CHECK: not-a-product {{.*}}Function=max_plus
func.func @max_plus(%x: tensor<256x128xf32>, %w: tensor<128x256xf32>) -> tensor<256x256xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<256x128xf32>, tensor<128x256xf32>) outs(%f : tensor<256x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.maximumf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}

// A tensor map has at most five dimensions.
// CHECK: rank {{.*}}Function=six_dimensions
func.func @six_dimensions(%x: tensor<2x2x2x2x64x64xbf16>, %w: tensor<2x2x2x2x64x64xbf16>) -> tensor<2x2x2x2x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x2x2x64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x2x2x64x64xf32>) -> tensor<2x2x2x2x64x64xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, i, j, k) -> (a, b, c, d, i, k)>, affine_map<(a, b, c, d, i, j, k) -> (a, b, c, d, k, j)>, affine_map<(a, b, c, d, i, j, k) -> (a, b, c, d, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x2x2x2x64x64xbf16>, tensor<2x2x2x2x64x64xbf16>) outs(%f : tensor<2x2x2x2x64x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<2x2x2x2x64x64xf32>
  return %m : tensor<2x2x2x2x64x64xf32>
}

// What sums begin with does not change which dimensions places of windows are
// counted along.
// LEDGER: "function": "added_to"
// LEDGER: "products": "wgmma"
func.func @added_to(%x: tensor<8x18x18x64xbf16>, %w: tensor<3x3x64x64xbf16>, %c: tensor<8x16x16x64xf32>) -> tensor<8x16x16x64xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(n, h, w, f, p, q, c) -> (n, h + p, w + q, c)>, affine_map<(n, h, w, f, p, q, c) -> (p, q, c, f)>, affine_map<(n, h, w, f, p, q, c) -> (n, h, w, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<8x18x18x64xbf16>, tensor<3x3x64x64xbf16>) outs(%c : tensor<8x16x16x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x16x16x64xf32>
  return %r : tensor<8x16x16x64xf32>
}
