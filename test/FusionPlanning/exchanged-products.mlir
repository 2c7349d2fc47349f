// RUN: fusion-opt %s --fusion-plan-form-kernels | FileCheck %s
// RUN: fusion-opt %s --fusion-plan-form-kernels=target=sm_80 | FileCheck %s
// RUN: fusion-opt %s --fusion-plan-form-kernels --remarks-filter='fusion.*' 2>&1 | FileCheck %s --check-prefix=REMARK

// A read of a product's result in which a bit of the coordinate is flipped is
// an exchange of elements of one tile: one kernel. It stays two where it is no
// bit, where no tile reaches that far, and where no tensor core makes the
// product.

// REMARK: [Passed] into-consumer {{.*}}Function=halves
// REMARK: [Missed] reduction-coordinates {{.*}}Function=no_bit
// REMARK: [Missed] exchange-of-contraction {{.*}}Function=too_wide {{.*}}among each 512 elements
// REMARK: [Missed] exchange-of-contraction {{.*}}Function=no_tensor_cores

// CHECK-LABEL: func.func @halves(
// CHECK-COUNT-1: fusion.kernel
// CHECK-NOT: fusion.kernel
// CHECK-LABEL: func.func @no_bit(
// CHECK-COUNT-2: fusion.kernel
// CHECK-LABEL: func.func @too_wide(
// CHECK-COUNT-2: fusion.kernel
// CHECK-LABEL: func.func @no_tensor_cores(
// CHECK-COUNT-2: fusion.kernel

#id = affine_map<(m, n) -> (m, n)>

func.func @halves(%x: tensor<512x256xbf16>, %w: tensor<256x1024xbf16>) -> tensor<512x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %m = linalg.matmul ins(%x, %w : tensor<512x256xbf16>, tensor<256x1024xbf16>) outs(%f : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %c64 = arith.constant 64 : index
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<512x1024xf32>) outs(%e : tensor<512x1024xf32>) {
  ^bb0(%own: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %p = arith.xori %j, %c64 : index
    %other = tensor.extract %m[%i, %p] : tensor<512x1024xf32>
    %s = arith.addf %own, %other : f32
    linalg.yield %s : f32
  } -> tensor<512x1024xf32>
  return %r : tensor<512x1024xf32>
}

func.func @no_bit(%x: tensor<512x256xbf16>, %w: tensor<256x960xbf16>) -> tensor<512x960xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x960xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x960xf32>) -> tensor<512x960xf32>
  %m = linalg.matmul ins(%x, %w : tensor<512x256xbf16>, tensor<256x960xbf16>) outs(%f : tensor<512x960xf32>) -> tensor<512x960xf32>
  %c48 = arith.constant 48 : index
  %c96 = arith.constant 96 : index
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<512x960xf32>) outs(%e : tensor<512x960xf32>) {
  ^bb0(%own: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %h = arith.divui %j, %c96 : index
    %start = arith.muli %h, %c96 : index
    %q = arith.addi %j, %c48 : index
    %p = arith.remui %q, %c96 : index
    %there = arith.addi %start, %p : index
    %other = tensor.extract %m[%i, %there] : tensor<512x960xf32>
    %s = arith.addf %own, %other : f32
    linalg.yield %s : f32
  } -> tensor<512x960xf32>
  return %r : tensor<512x960xf32>
}

func.func @too_wide(%x: tensor<512x256xbf16>, %w: tensor<256x1024xbf16>) -> tensor<512x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %m = linalg.matmul ins(%x, %w : tensor<512x256xbf16>, tensor<256x1024xbf16>) outs(%f : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %c256 = arith.constant 256 : index
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<512x1024xf32>) outs(%e : tensor<512x1024xf32>) {
  ^bb0(%own: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %p = arith.xori %j, %c256 : index
    %other = tensor.extract %m[%i, %p] : tensor<512x1024xf32>
    %s = arith.addf %own, %other : f32
    linalg.yield %s : f32
  } -> tensor<512x1024xf32>
  return %r : tensor<512x1024xf32>
}

func.func @no_tensor_cores(%x: tensor<512x256xi32>, %w: tensor<256x1024xi32>) -> tensor<512x1024xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<512x1024xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<512x1024xi32>) -> tensor<512x1024xi32>
  %m = linalg.matmul ins(%x, %w : tensor<512x256xi32>, tensor<256x1024xi32>) outs(%f : tensor<512x1024xi32>) -> tensor<512x1024xi32>
  %c64 = arith.constant 64 : index
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<512x1024xi32>) outs(%e : tensor<512x1024xi32>) {
  ^bb0(%own: i32, %o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %p = arith.xori %j, %c64 : index
    %other = tensor.extract %m[%i, %p] : tensor<512x1024xi32>
    %s = arith.addi %own, %other : i32
    linalg.yield %s : i32
  } -> tensor<512x1024xi32>
  return %r : tensor<512x1024xi32>
}
