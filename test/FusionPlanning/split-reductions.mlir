// RUN: fusion-opt %s --fusion-input --fusion-plan-form-kernels --remarks-filter='fusion.*' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not=begun-by-tiles < %t
// RUN: fusion-opt %s --fusion-input --fusion-plan-form-kernels=target=sm_80 | FileCheck %s --check-prefix=WARPS

// A reduction along a dimension of a product that tiles divide: the tiles reduce
// granules, a light kernel finishes.

#id = affine_map<(i, j) -> (i, j)>

// Rows: 64 columns a granule. The matrix is written once, as its result's type.
// REMARK: begun-by-tiles {{.*}}Function=row_amax {{.*}}matmul -> reduce_max
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0, d1 floordiv 64)>
// CHECK-DAG: #[[COLUMNS:.*]] = affine_map<(d0, d1) -> (d0 floordiv 16, d1)>
// CHECK-LABEL: func @row_amax(
// CHECK: %[[P:.*]]:2 = fusion.kernel {{.*}} -> (tensor<4096x4096xbf16>, tensor<4096x64xf32>)
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[ROWS]]], iterator_types = ["parallel", "reduction"]}
// CHECK: arith.maximumf
// CHECK: fusion.kernel {{.*}} ins(%[[P]]#1 : tensor<4096x64xf32>) -> (tensor<4096xf32>)
// CHECK-NOT: fusion.kernel
// WARPS-LABEL: func @row_amax(
// WARPS: fusion.kernel {{.*}} -> (tensor<4096x4096xbf16>, tensor<4096x64xf32>)
func.func @row_amax(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>) -> (tensor<4096x4096xbf16>, tensor<4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %m = linalg.matmul ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %ev = tensor.empty() : tensor<4096xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%ev : tensor<4096xf32>) -> tensor<4096xf32>
  %fl = linalg.fill ins(%least : f32) outs(%ev : tensor<4096xf32>) -> tensor<4096xf32>
  %abs = math.absf %m : tensor<4096x4096xf32>
  %r = linalg.reduce { arith.maximumf } ins(%abs : tensor<4096x4096xf32>) outs(%fz : tensor<4096xf32>) dimensions = [1]
  %o = arith.truncf %m : tensor<4096x4096xf32> to tensor<4096x4096xbf16>
  return %o, %r : tensor<4096x4096xbf16>, tensor<4096xf32>
}

// Columns: the 16 rows of a warp.
// REMARK: begun-by-tiles {{.*}}Function=column_sums {{.*}}matmul -> sum
// CHECK-LABEL: func @column_sums(
// CHECK: %[[P:.*]]:2 = fusion.kernel {{.*}} -> (tensor<4096x4096xbf16>, tensor<256x4096xf32>)
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[COLUMNS]]], iterator_types = ["reduction", "parallel"]}
// CHECK: fusion.kernel {{.*}} ins(%[[P]]#1 : tensor<256x4096xf32>) -> (tensor<4096xf32>)
// CHECK-NOT: fusion.kernel
func.func @column_sums(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>) -> (tensor<4096x4096xbf16>, tensor<4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %m = linalg.matmul ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %ec = tensor.empty() : tensor<4096xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<4096xf32>) -> tensor<4096xf32>
  %r = linalg.reduce { arith.addf } ins(%m : tensor<4096x4096xf32>) outs(%fc : tensor<4096xf32>) dimensions = [0]
  %o = arith.truncf %m : tensor<4096x4096xf32> to tensor<4096x4096xbf16>
  return %o, %r : tensor<4096x4096xbf16>, tensor<4096xf32>
}

// A sum of exponentials relative to the row's maximum is made relative to the
// granule's: the matrix is not written. The finish brings the sums to the
// maximum of the row.
// REMARK: begun-by-tiles {{.*}}Function=log_sum_exp {{.*}}matmul -> sum
// CHECK-LABEL: func @log_sum_exp(
// CHECK: %[[P:.*]]:2 = fusion.kernel {{.*}} -> (tensor<4096x64xf32>, tensor<4096x64xf32>)
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}} ["parallel", "reduction"]
// CHECK: linalg.generic {indexing_maps = [#[[ROWS]], {{.*}} ins(%[[MAX]] :
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK: arith.subf
// CHECK: fusion.kernel {{.*}} ins(%[[P]]#0, %[[P]]#1 : tensor<4096x64xf32>, tensor<4096x64xf32>) -> (tensor<4096xf32>)
// CHECK: math.exp
// CHECK: arith.mulf
// CHECK-NOT: fusion.kernel
func.func @log_sum_exp(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %m = linalg.matmul ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %ev = tensor.empty() : tensor<4096xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%ev : tensor<4096xf32>) -> tensor<4096xf32>
  %fl = linalg.fill ins(%least : f32) outs(%ev : tensor<4096xf32>) -> tensor<4096xf32>
  %max = linalg.reduce { arith.maximumf } ins(%m : tensor<4096x4096xf32>) outs(%fl : tensor<4096xf32>) dimensions = [1]
  %shift = linalg.broadcast ins(%max : tensor<4096xf32>) outs(%e : tensor<4096x4096xf32>) dimensions = [1]
  %d = arith.subf %m, %shift : tensor<4096x4096xf32>
  %x = math.exp %d : tensor<4096x4096xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4096x4096xf32>) outs(%fz : tensor<4096xf32>) dimensions = [1]
  %l = math.log %s : tensor<4096xf32>
  %r = arith.addf %l, %max : tensor<4096xf32>
  return %r : tensor<4096xf32>
}

// What is reduced is used again: the blocks that have parts of a row finish it
// together, in the product's kernel. Single warps do not: there a kernel that has
// to read the rows anyway keeps them on chip, and nothing is gained by sums
// beside the product.
// CHECK-LABEL: func @softmax_4096(
// CHECK: fusion.kernel {{.*}} -> (tensor<4096x4096xbf16>)
// CHECK-NOT: fusion.kernel
// WARPS-LABEL: func @softmax_4096(
// WARPS: fusion.kernel {{.*}} -> (tensor<4096x4096xf32>)
// WARPS: fusion.kernel {{.*}} -> (tensor<4096x4096xbf16>)
// WARPS-NOT: fusion.kernel
func.func @softmax_4096(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %m = linalg.matmul ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %ev = tensor.empty() : tensor<4096xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%ev : tensor<4096xf32>) -> tensor<4096xf32>
  %fl = linalg.fill ins(%least : f32) outs(%ev : tensor<4096xf32>) -> tensor<4096xf32>
  %max = linalg.reduce { arith.maximumf } ins(%m : tensor<4096x4096xf32>) outs(%fl : tensor<4096xf32>) dimensions = [1]
  %shift = linalg.broadcast ins(%max : tensor<4096xf32>) outs(%e : tensor<4096x4096xf32>) dimensions = [1]
  %d = arith.subf %m, %shift : tensor<4096x4096xf32>
  %x = math.exp %d : tensor<4096x4096xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4096x4096xf32>) outs(%fz : tensor<4096xf32>) dimensions = [1]
  %sum = linalg.broadcast ins(%s : tensor<4096xf32>) outs(%e : tensor<4096x4096xf32>) dimensions = [1]
  %q = arith.divf %x, %sum : tensor<4096x4096xf32>
  %r = arith.truncf %q : tensor<4096x4096xf32> to tensor<4096x4096xbf16>
  return %r : tensor<4096x4096xbf16>
}

// Whole rows fit a tile: one kernel, on chips with warps' products as well.
// CHECK-LABEL: func @softmax_256(
// CHECK: fusion.kernel {{.*}} -> (tensor<4096x256xbf16>)
// CHECK-NOT: fusion.kernel
// WARPS-LABEL: func @softmax_256(
// WARPS: fusion.kernel {{.*}} -> (tensor<4096x256xbf16>)
// WARPS-NOT: fusion.kernel
// WARPS: return
func.func @softmax_256(%a: tensor<4096x1024xbf16>, %b: tensor<1024x256xbf16>) -> tensor<4096x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4096x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x256xf32>) -> tensor<4096x256xf32>
  %m = linalg.matmul ins(%a, %b : tensor<4096x1024xbf16>, tensor<1024x256xbf16>) outs(%f : tensor<4096x256xf32>) -> tensor<4096x256xf32>
  %ev = tensor.empty() : tensor<4096xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%ev : tensor<4096xf32>) -> tensor<4096xf32>
  %fl = linalg.fill ins(%least : f32) outs(%ev : tensor<4096xf32>) -> tensor<4096xf32>
  %max = linalg.reduce { arith.maximumf } ins(%m : tensor<4096x256xf32>) outs(%fl : tensor<4096xf32>) dimensions = [1]
  %shift = linalg.broadcast ins(%max : tensor<4096xf32>) outs(%e : tensor<4096x256xf32>) dimensions = [1]
  %d = arith.subf %m, %shift : tensor<4096x256xf32>
  %x = math.exp %d : tensor<4096x256xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4096x256xf32>) outs(%fz : tensor<4096xf32>) dimensions = [1]
  %sum = linalg.broadcast ins(%s : tensor<4096xf32>) outs(%e : tensor<4096x256xf32>) dimensions = [1]
  %q = arith.divf %x, %sum : tensor<4096x256xf32>
  %r = arith.truncf %q : tensor<4096x256xf32> to tensor<4096x256xbf16>
  return %r : tensor<4096x256xbf16>
}

// A dimension of unknown size has no number of granules.
// CHECK-LABEL: func @dynamic(
// CHECK: fusion.kernel
// CHECK-NOT: floordiv
// CHECK: return
func.func @dynamic(%a: tensor<4096x4096xbf16>, %b: tensor<4096x?xbf16>, %n: index) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<4096x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x?xf32>) -> tensor<4096x?xf32>
  %m = linalg.matmul ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x?xbf16>) outs(%f : tensor<4096x?xf32>) -> tensor<4096x?xf32>
  %ev = tensor.empty() : tensor<4096xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%ev : tensor<4096xf32>) -> tensor<4096xf32>
  %r = linalg.reduce { arith.addf } ins(%m : tensor<4096x?xf32>) outs(%fz : tensor<4096xf32>) dimensions = [1]
  return %r : tensor<4096xf32>
}

// Products that tensor cores do not make have tiles of any size.
// CHECK-LABEL: func @plain(
// CHECK: fusion.kernel {{.*}} -> (tensor<1024x1024xi32>)
// CHECK: fusion.kernel {{.*}} -> (tensor<1024xi32>)
func.func @plain(%a: tensor<1024x1024xi32>, %b: tensor<1024x1024xi32>) -> tensor<1024xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1024x1024xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1024x1024xi32>) -> tensor<1024x1024xi32>
  %m = linalg.matmul ins(%a, %b : tensor<1024x1024xi32>, tensor<1024x1024xi32>) outs(%f : tensor<1024x1024xi32>) -> tensor<1024x1024xi32>
  %ev = tensor.empty() : tensor<1024xi32>
  %fz = linalg.fill ins(%zero : i32) outs(%ev : tensor<1024xi32>) -> tensor<1024xi32>
  %r = linalg.reduce { arith.addi } ins(%m : tensor<1024x1024xi32>) outs(%fz : tensor<1024xi32>) dimensions = [1]
  return %r : tensor<1024xi32>
}
