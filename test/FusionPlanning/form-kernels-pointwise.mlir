// RUN: fusion-opt %s --fusion-plan-form-kernels | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#t = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func @chain
// CHECK-SAME: bytes_after = 12582912 : i64, bytes_before = 29360128 : i64, kernels_after = 1 : i64, kernels_before = 3 : i64
// CHECK: %[[K:.*]] = fusion.kernel @add_exp_mul ins(%arg0, %arg1 :
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<1024x1024xf32>, %[[Y:.*]]: tensor<1024x1024xf32>):
// CHECK: linalg.add ins(%[[X]], %[[Y]] :
// CHECK: linalg.exp
// CHECK: %[[R:.*]] = linalg.mul
// CHECK: fusion.yield %[[R]]
// CHECK: return %[[K]]
func.func @chain(%x: tensor<1024x1024xf32>, %y: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %e = tensor.empty() : tensor<1024x1024xf32>
  %0 = linalg.add ins(%x, %y : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = linalg.exp ins(%0 : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %2 = linalg.mul ins(%1, %1 : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %2 : tensor<1024x1024xf32>
}

// An intermediate that leaves the function is still written, once.
// CHECK-LABEL: func @escaping_intermediate
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: %[[K:.*]]:2 = fusion.kernel @add_exp
// CHECK: fusion.yield
// CHECK: return %[[K]]#0, %[[K]]#1
func.func @escaping_intermediate(%x: tensor<1024x1024xf32>, %y: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %e = tensor.empty() : tensor<1024x1024xf32>
  %0 = linalg.add ins(%x, %y : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = linalg.exp ins(%0 : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0, %1 : tensor<1024x1024xf32>, tensor<1024x1024xf32>
}

// CHECK-LABEL: func @transpose_add
// CHECK-SAME: kernels_after = 1 : i64, kernels_before = 2 : i64
func.func @transpose_add(%x: tensor<512x1024xf32>, %y: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
  %e = tensor.empty() : tensor<1024x512xf32>
  %0 = linalg.transpose ins(%x : tensor<512x1024xf32>) outs(%e : tensor<1024x512xf32>) permutation = [1, 0]
  %1 = linalg.add ins(%0, %y : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %1 : tensor<1024x512xf32>
}

// exp(x) at two places, once exchanged: computed twice, stored nowhere.
// CHECK-LABEL: func @self_transpose
// CHECK-SAME: kernels_after = 1 : i64, kernels_before = 2 : i64
func.func @self_transpose(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %e = tensor.empty() : tensor<1024x1024xf32>
  %0 = linalg.exp ins(%x : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = linalg.generic {indexing_maps = [#id, #t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %0 : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1024x1024xf32>
  return %1 : tensor<1024x1024xf32>
}

// Both branches of a diamond end up in one kernel.
// CHECK-LABEL: func @diamond
// CHECK-SAME: kernels_after = 1 : i64, kernels_before = 4 : i64
func.func @diamond(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %e = tensor.empty() : tensor<1024x1024xf32>
  %0 = linalg.exp ins(%x : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = linalg.log ins(%0 : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %2 = linalg.abs ins(%0 : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %3 = linalg.add ins(%1, %2 : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %3 : tensor<1024x1024xf32>
}

// One branch goes through a column sum, which no kernel with the rest can hold:
// the last op waits for it and must not share a kernel with the first.
// CHECK-LABEL: func @diamond_with_barrier
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: %[[A:.*]] = fusion.kernel @exp_sum
// CHECK: fusion.kernel @exp_add{{.*}} ins({{.*}}%[[A]]
func.func @diamond_with_barrier(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %er = tensor.empty() : tensor<1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<1024xf32>) -> tensor<1024xf32>
  %0 = linalg.exp ins(%x : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<1024x1024xf32>) outs(%f : tensor<1024xf32>) dimensions = [0]
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %1 : tensor<1024x1024xf32>, tensor<1024xf32>) outs(%e : tensor<1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1024x1024xf32>
  return %2 : tensor<1024x1024xf32>
}

// Nothing in common: two kernels.
// CHECK-LABEL: func @independent
// CHECK-SAME: kernels_after = 2 : i64
func.func @independent(%x: tensor<64x1024xf32>, %y: tensor<32x100xf32>) -> (tensor<64x1024xf32>, tensor<32x100xf32>) {
  %e = tensor.empty() : tensor<64x1024xf32>
  %e2 = tensor.empty() : tensor<32x100xf32>
  %0 = linalg.exp ins(%x : tensor<64x1024xf32>) outs(%e : tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %1 = linalg.exp ins(%y : tensor<32x100xf32>) outs(%e2 : tensor<32x100xf32>) -> tensor<32x100xf32>
  return %0, %1 : tensor<64x1024xf32>, tensor<32x100xf32>
}

// Two readers of one tensor read it once.
// CHECK-LABEL: func @siblings
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: fusion.kernel @{{.*}} ins(%arg0 : tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>)
func.func @siblings(%x: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %e = tensor.empty() : tensor<1024x1024xf32>
  %0 = linalg.exp ins(%x : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = linalg.abs ins(%x : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0, %1 : tensor<1024x1024xf32>, tensor<1024x1024xf32>
}

// rotate_half: slices and a concatenation are only coordinates.
// CHECK-LABEL: func @rope
// CHECK-SAME: kernels_after = 1 : i64, kernels_before = 6 : i64
// CHECK: tensor.extract_slice
// CHECK: tensor.concat
func.func @rope(%x: tensor<4x512x128xf32>, %c: tensor<512x128xf32>) -> tensor<4x512x128xf32> {
  %e = tensor.empty() : tensor<4x512x128xf32>
  %eh = tensor.empty() : tensor<4x512x64xf32>
  %lo = tensor.extract_slice %x[0, 0, 0] [4, 512, 64] [1, 1, 1] : tensor<4x512x128xf32> to tensor<4x512x64xf32>
  %hi = tensor.extract_slice %x[0, 0, 64] [4, 512, 64] [1, 1, 1] : tensor<4x512x128xf32> to tensor<4x512x64xf32>
  %neg = linalg.negf ins(%hi : tensor<4x512x64xf32>) outs(%eh : tensor<4x512x64xf32>) -> tensor<4x512x64xf32>
  %rot = tensor.concat dim(2) %neg, %lo : (tensor<4x512x64xf32>, tensor<4x512x64xf32>) -> tensor<4x512x128xf32>
  %bc = linalg.broadcast ins(%c : tensor<512x128xf32>) outs(%e : tensor<4x512x128xf32>) dimensions = [0]
  %r = linalg.mul ins(%rot, %bc : tensor<4x512x128xf32>, tensor<4x512x128xf32>) outs(%e : tensor<4x512x128xf32>) -> tensor<4x512x128xf32>
  return %r : tensor<4x512x128xf32>
}

// A pad and what reads it.
// CHECK-LABEL: func @pad_add
// CHECK-SAME: kernels_after = 1 : i64
func.func @pad_add(%x: tensor<100x100xf32>, %y: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %p = tensor.pad %x low[14, 14] high[14, 14] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<100x100xf32> to tensor<128x128xf32>
  %r = linalg.add ins(%p, %y : tensor<128x128xf32>, tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}

// A reshape between kernels is a view; inside one it goes with the tensor.
// CHECK-LABEL: func @reshape_between
// CHECK: fusion.kernel @exp_abs
// CHECK: tensor.collapse_shape
// CHECK: fusion.yield
// CHECK: return
func.func @reshape_between(%x: tensor<64x16x8xf32>) -> tensor<1024x8xf32> {
  %e = tensor.empty() : tensor<64x16x8xf32>
  %e2 = tensor.empty() : tensor<1024x8xf32>
  %0 = linalg.exp ins(%x : tensor<64x16x8xf32>) outs(%e : tensor<64x16x8xf32>) -> tensor<64x16x8xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<64x16x8xf32> into tensor<1024x8xf32>
  %2 = linalg.abs ins(%1 : tensor<1024x8xf32>) outs(%e2 : tensor<1024x8xf32>) -> tensor<1024x8xf32>
  return %2 : tensor<1024x8xf32>
}

// A constant tensor is a kernel only where it leaves the function.
// CHECK-LABEL: func @returned_fill
// CHECK-SAME: kernels_after = 2 : i64
// CHECK-DAG: fusion.kernel @fill ->
// CHECK-DAG: fusion.kernel @add{{.*}} ins(%arg0 : tensor<8xf32>)
func.func @returned_fill(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %0 = linalg.add ins(%x, %f : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %f, %0 : tensor<8xf32>, tensor<8xf32>
}

// Nothing to compute, nothing to launch.
// CHECK-LABEL: func @identity
// CHECK-NOT: fusion.kernel
// CHECK: return %arg0
func.func @identity(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// A large constant is an operand, a constant of one value is not.
// CHECK-LABEL: func @constants
// CHECK: %[[C:.*]] = arith.constant dense<[1.0{{.*}}, 2.0
// CHECK: fusion.kernel @{{.*}} ins(%{{.*}}, %[[C]] :
// CHECK: arith.constant dense<3.0
func.func @constants(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = arith.constant dense<3.0> : tensor<4x2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %0 = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1)>, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %c, %s : tensor<4x2xf32>, tensor<2xf32>, tensor<4x2xf32>) outs(%e : tensor<4x2xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %1, %d : f32
    linalg.yield %2 : f32
  } -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// Sizes are taken from tensors that the kernel has; a scalar argument is an
// operand; an element of a tensor is read inside.
// CHECK-LABEL: func @dynamic
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: fusion.kernel @{{.*}} ins(%arg0, %arg2, %arg1 : tensor<?x?xf32>, tensor<1xf32>, f32)
// CHECK: tensor.dim
// CHECK: tensor.extract
func.func @dynamic(%x: tensor<?x?xf32>, %s: f32, %t: tensor<1xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = tensor.dim %x, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%d0, %d1) : tensor<?x?xf32>
  %u = tensor.extract %t[%c0] : tensor<1xf32>
  %0 = linalg.exp ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  // The size of an intermediate is that of its argument.
  %d2 = tensor.dim %0, %c0 : tensor<?x?xf32>
  %e2 = tensor.empty(%d2, %d1) : tensor<?x?xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<?x?xf32>) outs(%e2 : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %2 = arith.mulf %a, %s : f32
    %3 = arith.addf %2, %u : f32
    linalg.yield %3 : f32
  } -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
