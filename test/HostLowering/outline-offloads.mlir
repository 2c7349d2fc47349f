// RUN: fusion-opt %s --fusion-outline-offloads | FileCheck %s
// RUN: fusion-opt %s --fusion-outline-offloads=find-all | FileCheck %s --check-prefix=ALL

// A region takes what it reads; sizes of that, and constants, it computes itself.
// CHECK-LABEL: func.func @region(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[S:.*]]: f32)
// CHECK: %[[Y:.*]] = call @region_offload_0(%[[X]], %[[S]]) : (tensor<?x8xf32>, f32) -> tensor<?x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @region(%x: tensor<?x8xf32>, %s: f32) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %y = scf.execute_region -> tensor<?x8xf32> {
    %e = tensor.empty(%m) : tensor<?x8xf32>
    %f = linalg.fill ins(%s : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
    %0 = arith.mulf %x, %f : tensor<?x8xf32>
    scf.yield %0 : tensor<?x8xf32>
  } {fusion.offload}
  return %y : tensor<?x8xf32>
}

// Runs end where another op reads a result; what does not, stays in place. A
// name that is taken is not given again.
// CHECK-LABEL: func.func @runs
// CHECK-NOT: call @runs_offload
// ALL-LABEL: func.func @runs(
// ALL-SAME: %[[X:.*]]: tensor<4xf32>, %[[M:.*]]: memref<4xf32>
// ALL: memref.load %[[M]]
// ALL: %[[Y:.*]]:2 = call @runs_offload_1(%[[X]])
// ALL: tensor.extract %[[Y]]#0
// ALL: memref.store
// ALL: %[[Z:.*]] = call @runs_offload_2(%[[Y]]#1)
// ALL: return %[[Z]]
func.func @runs(%x: tensor<4xf32>, %m: memref<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %0 = math.exp %x : tensor<4xf32>
  %l = memref.load %m[%c0] : memref<4xf32>
  %1 = arith.addf %0, %x : tensor<4xf32>
  %v = tensor.extract %0[%c0] : tensor<4xf32>
  %s = arith.addf %v, %l : f32
  memref.store %s, %m[%c0] : memref<4xf32>
  %2 = math.tanh %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @runs_offload_0()

// Shapes and constants alone are no work, and other dialects' ops stay.
// ALL-LABEL: func.func @nothing
// ALL-NOT: call
// ALL: return
func.func @nothing(%x: tensor<2x3xf32>, %c: complex<f32>) -> (tensor<6xf32>, complex<f32>) {
  %y = tensor.collapse_shape %x [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %d = complex.mul %c, %c : complex<f32>
  return %y, %d : tensor<6xf32>, complex<f32>
}

// Inside loops too.
// ALL-LABEL: func.func @loop
// ALL: scf.for
// ALL: call @loop_offload_0(%{{.*}}) : (tensor<8xf32>) -> tensor<8xf32>
// ALL: scf.yield
func.func @loop(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    %0 = math.tanh %a : tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// CHECK: func.func private @region_offload_0(%[[A:.*]]: tensor<?x8xf32>, %[[B:.*]]: f32) -> tensor<?x8xf32> attributes {fusion.offload}
// CHECK: tensor.dim %[[A]]
// CHECK: tensor.empty
// CHECK: linalg.fill ins(%[[B]]
// CHECK: arith.mulf %[[A]]
