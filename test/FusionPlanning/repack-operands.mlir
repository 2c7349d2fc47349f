// RUN: fusion-opt %s --fusion-to-plan | FileCheck %s
// RUN: fusion-opt %s --fusion-to-plan --remarks-filter='fusion.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: fusion-opt %s --fusion-to-plan=target=sm_80 | FileCheck %s --check-prefix=SM80

// Operands that keep a product from warpgroups are laid out anew by kernels of
// their own, where that pays.

// No other chip has the products that need it.
// SM80-NOT: fusion.repack

#rows = affine_map<(i, j, k) -> (i, k)>
#columns = affine_map<(i, j, k) -> (j, k)>
#result = affine_map<(i, j, k) -> (i, j)>

// Both have the contracted dimension innermost: it is padded, and the product
// has more terms.
// REMARK: Passed{{.*}}repack-operand{{.*}}Function=contracted
// CHECK-LABEL: func @contracted
// CHECK: fusion.kernel @pad ins(%arg0
// CHECK: tensor.pad
// CHECK: {fusion.repack = "misaligned-rows"} : tensor<1024x1001xbf16> to tensor<1024x1024xbf16>
// CHECK: fusion.kernel @pad{{.*}} ins(%arg1
// CHECK: tensor<1000x1001xbf16> to tensor<1000x1024xbf16>
// CHECK: fusion.kernel @matmul ins(%{{[0-9]}}, %{{[0-9]}} : tensor<1024x1024xbf16>, tensor<1000x1024xbf16>)
// CHECK-NOT: tensor.pad
// CHECK: return
func.func @contracted(%x: tensor<1024x1001xbf16>, %w: tensor<1000x1001xbf16>) -> tensor<1024x1000xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1000xf32>) -> tensor<1024x1000xf32>
  %m = linalg.matmul indexing_maps = [#rows, #columns, #result]
      ins(%x, %w : tensor<1024x1001xbf16>, tensor<1000x1001xbf16>) outs(%f : tensor<1024x1000xf32>) -> tensor<1024x1000xf32>
  return %m : tensor<1024x1000xf32>
}

// Only one is written anew: the other, whose rows lie along its own dimension,
// gets its zeros where it is read.
// CHECK-LABEL: func @one
// CHECK: fusion.kernel @pad{{.*}} ins(%arg0
// CHECK: to tensor<1024x1024xbf16>
// CHECK: fusion.kernel @pad_matmul{{.*}} ins(%arg1, %{{.*}} : tensor<1001x1024xbf16>, tensor<1024x1024xbf16>)
// CHECK: tensor.pad
// CHECK: } : tensor<1001x1024xbf16> to tensor<1024x1024xbf16>
func.func @one(%x: tensor<1024x1001xbf16>, %w: tensor<1001x1024xbf16>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %m = linalg.matmul ins(%x, %w : tensor<1024x1001xbf16>, tensor<1001x1024xbf16>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %m : tensor<1024x1024xf32>
}

// Rows along a dimension that the product keeps are cut where they are read.
// CHECK-LABEL: func @kept
// CHECK: fusion.kernel @pad{{.*}} ins(%arg1
// CHECK: to tensor<1024x1024xbf16>
// CHECK: fusion.kernel @slice_matmul{{.*}} ins(%{{.*}}, %arg0 : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> (tensor<1024x1001xf32>)
// CHECK: tensor.extract_slice {{.*}}[0, 0] [1024, 1001] [1, 1]
func.func @kept(%x: tensor<1024x1024xbf16>, %w: tensor<1024x1001xbf16>) -> tensor<1024x1001xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1001xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1001xf32>) -> tensor<1024x1001xf32>
  %m = linalg.matmul ins(%x, %w : tensor<1024x1024xbf16>, tensor<1024x1001xbf16>) outs(%f : tensor<1024x1001xf32>) -> tensor<1024x1001xf32>
  return %m : tensor<1024x1001xf32>
}

// Elements of other than 16 bits have one major.
// REMARK: Passed{{.*}}repack-operand{{.*}}Function=major
// CHECK-LABEL: func @major
// CHECK: fusion.kernel @transpose ins(%arg1
// CHECK: fusion.repack = "operand-major"
// CHECK: fusion.kernel @matmul{{.*}} ins(%arg0, %{{.*}} : tensor<2048x2048xi8>, tensor<2048x2048xi8>)
func.func @major(%x: tensor<2048x2048xi8>, %w: tensor<2048x2048xi8>) -> tensor<2048x2048xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2048x2048xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<2048x2048xi32>) -> tensor<2048x2048xi32>
  %m = linalg.matmul ins(%x, %w : tensor<2048x2048xi8>, tensor<2048x2048xi8>) outs(%f : tensor<2048x2048xi32>) -> tensor<2048x2048xi32>
  return %m : tensor<2048x2048xi32>
}

// A cast before the product goes along with the repack; an operand of two
// products is written once.
// CHECK-LABEL: func @shared
// CHECK: fusion.kernel @{{.*}}pad{{.*}} ins(%arg0
// CHECK: arith.truncf
// CHECK: fusion.repack
// CHECK-COUNT-2: fusion.repack
// CHECK-NOT: fusion.repack
// CHECK: return
func.func @shared(%x: tensor<1024x1001xf32>, %v: tensor<1000x1001xbf16>, %w: tensor<512x1001xbf16>) -> (tensor<1024x1000xf32>, tensor<1024x512xf32>) {
  %zero = arith.constant 0.0 : f32
  %b = arith.truncf %x : tensor<1024x1001xf32> to tensor<1024x1001xbf16>
  %e = tensor.empty() : tensor<1024x1000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1000xf32>) -> tensor<1024x1000xf32>
  %m = linalg.matmul indexing_maps = [#rows, #columns, #result]
      ins(%b, %v : tensor<1024x1001xbf16>, tensor<1000x1001xbf16>) outs(%f : tensor<1024x1000xf32>) -> tensor<1024x1000xf32>
  %e2 = tensor.empty() : tensor<1024x512xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %m2 = linalg.matmul indexing_maps = [#rows, #columns, #result]
      ins(%b, %w : tensor<1024x1001xbf16>, tensor<512x1001xbf16>) outs(%f2 : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %m, %m2 : tensor<1024x1000xf32>, tensor<1024x512xf32>
}

// Too small to pay.
// REMARK: Missed{{.*}}repack-too-dear{{.*}}Function=small
// CHECK-LABEL: func @small
// CHECK-NOT: fusion.repack
// CHECK: return
func.func @small(%x: tensor<64x33xbf16>, %w: tensor<64x33xbf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul indexing_maps = [#rows, #columns, #result]
      ins(%x, %w : tensor<64x33xbf16>, tensor<64x33xbf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m : tensor<64x64xf32>
}

// How many rows there are need not be known, where nothing is cut or transposed.
// CHECK-LABEL: func @some
// CHECK: fusion.kernel @pad{{.*}} ins(%arg0{{.*}} -> (tensor<?x1024xbf16>)
// CHECK: fusion.kernel @pad{{.*}} ins(%arg1{{.*}} -> (tensor<1000x1024xbf16>)
// CHECK: return
func.func @some(%x: tensor<?x1001xbf16>, %w: tensor<1000x1001xbf16>, %e: tensor<?x1000xf32>) -> tensor<?x1000xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x1000xf32>) -> tensor<?x1000xf32>
  %m = linalg.matmul indexing_maps = [#rows, #columns, #result]
      ins(%x, %w : tensor<?x1001xbf16>, tensor<1000x1001xbf16>) outs(%f : tensor<?x1000xf32>) -> tensor<?x1000xf32>
  return %m : tensor<?x1000xf32>
}

// What the program wants alone stays as it is.
// CHECK-LABEL: func @never
// CHECK-NOT: fusion.repack
// CHECK: return
func.func @never(%x: tensor<1024x1001xbf16>, %w: tensor<1000x1001xbf16>) -> tensor<1024x1000xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1000xf32>) -> tensor<1024x1000xf32>
  %m = linalg.matmul indexing_maps = [#rows, #columns, #result] {fusion.never}
      ins(%x, %w : tensor<1024x1001xbf16>, tensor<1000x1001xbf16>) outs(%f : tensor<1024x1000xf32>) -> tensor<1024x1000xf32>
  return %m : tensor<1024x1000xf32>
}

// Sizes of rows have to be known.
// REMARK: Missed{{.*}}dynamic-rows{{.*}}Function=dynamic
// CHECK-LABEL: func @dynamic
// CHECK-NOT: fusion.repack
// CHECK: return
func.func @dynamic(%x: tensor<1024x?xbf16>, %w: tensor<1024x?xbf16>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %m = linalg.matmul indexing_maps = [#rows, #columns, #result]
      ins(%x, %w : tensor<1024x?xbf16>, tensor<1024x?xbf16>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %m : tensor<1024x1024xf32>
}
