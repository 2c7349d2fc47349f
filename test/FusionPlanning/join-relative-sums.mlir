// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --remarks-filter='fusion-plan' -o - 2> %t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.log

// Sums of terms that are linear in logarithms of softmax statistics are had with
// these, in one reduction; not what depends on them in another way, and not
// where blocks keep rows.

// REMARK-DAG: [Passed] relative-sum {{.*}} Function=divergence {{.*}}became one reduction, which moves the sum
// REMARK-DAG: [Passed] relative-sum {{.*}} Function=mean
// REMARK-DAG: [Passed] relative-sum {{.*}} Function=probabilities
// REMARK-DAG: [Passed] relative-sum {{.*}} Function=beside
// REMARK-DAG: [Passed] relative-sum {{.*}} Function=quotient
// REMARK-DAG: [Missed] no-repair {{.*}} Function=square
// REMARK-DAG: [Missed] no-repair {{.*}} Function=twice
// REMARK-DAG: [Missed] no-repair {{.*}} Function=choice
// REMARK-DAG: [Missed] no-repair {{.*}} Function=chain
// REMARK-DAG: [Missed] no-repair {{.*}} Function=constant
// REMARK-DAG: [Missed] no-repair {{.*}} Function=scaled

// The maximum and the sum of either, and the sum.
// CHECK-LABEL: func.func @divergence
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: %[[M:.*]]:5 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
// CHECK: linalg.generic {{.*}} ins(%[[M]]#4, %[[M]]#1, %[[M]]#0, %[[M]]#2, %{{[^,]*}}, %{{[^,]*}} :
func.func @divergence(%x: tensor<4x300000x8xf32>, %y: tensor<4x300000x8xf32>) -> tensor<4x8xf32> {
  %q = fusion.log_softmax %x axis(1) : tensor<4x300000x8xf32>
  %l = fusion.log_softmax %y axis(1) : tensor<4x300000x8xf32>
  %p = math.exp %l : tensor<4x300000x8xf32>
  %d = arith.subf %l, %q : tensor<4x300000x8xf32>
  %t = arith.mulf %p, %d : tensor<4x300000x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<4x300000x8xf32>) outs(%f : tensor<4x8xf32>) dimensions = [1]
  return %s : tensor<4x8xf32>
}

// The rest of what the sum reduces comes behind.
// CHECK-LABEL: func.func @mean
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: :5 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
func.func @mean(%x: tensor<4x300000x8xf32>, %y: tensor<4x300000x8xf32>) -> tensor<f32> {
  %q = fusion.log_softmax %x axis(1) : tensor<4x300000x8xf32>
  %l = fusion.log_softmax %y axis(1) : tensor<4x300000x8xf32>
  %p = math.exp %l : tensor<4x300000x8xf32>
  %d = arith.subf %l, %q : tensor<4x300000x8xf32>
  %t = arith.mulf %p, %d : tensor<4x300000x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<4x300000x8xf32>) outs(%f : tensor<f32>) dimensions = [0, 1, 2]
  return %s : tensor<f32>
}

// With weights that are given, their sum is a state of its own.
// CHECK-LABEL: func.func @probabilities
// CHECK: :4 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
func.func @probabilities(%x: tensor<4x300000x8xf32>, %y: tensor<4x300000x8xf32>) -> tensor<4x8xf32> {
  %q = fusion.log_softmax %x axis(1) : tensor<4x300000x8xf32>
  %l = math.log %y : tensor<4x300000x8xf32>
  %d = arith.subf %l, %q : tensor<4x300000x8xf32>
  %t = arith.mulf %y, %d : tensor<4x300000x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<4x300000x8xf32>) outs(%f : tensor<4x8xf32>) dimensions = [1]
  return %s : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @beside
// CHECK: :4 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
func.func @beside(%x: tensor<4x300000x8xf32>, %y: tensor<4x300000x8xf32>) -> tensor<4x8xf32> {
  %q = fusion.log_softmax %x axis(1) : tensor<4x300000x8xf32>
  %l = math.log %y : tensor<4x300000x8xf32>
  %a = arith.mulf %y, %l : tensor<4x300000x8xf32>
  %b = arith.mulf %y, %q : tensor<4x300000x8xf32>
  %t = arith.subf %a, %b : tensor<4x300000x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<4x300000x8xf32>) outs(%f : tensor<4x8xf32>) dimensions = [1]
  return %s : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @quotient
// CHECK: :3 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
func.func @quotient(%x: tensor<4x300000x8xf32>) -> tensor<4x8xf32> {
  %p = fusion.softmax %x axis(1) : tensor<4x300000x8xf32>
  %q = fusion.log_softmax %x axis(1) : tensor<4x300000x8xf32>
  %t = arith.mulf %p, %q : tensor<4x300000x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<4x300000x8xf32>) outs(%f : tensor<4x8xf32>) dimensions = [1]
  return %s : tensor<4x8xf32>
}

// Of rows that blocks keep there is no second sweep.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: :5 = linalg.generic
func.func @kept(%x: tensor<4096x1024xf32>, %y: tensor<4096x1024xf32>) -> tensor<4096xf32> {
  %q = fusion.log_softmax %x axis(1) : tensor<4096x1024xf32>
  %l = fusion.log_softmax %y axis(1) : tensor<4096x1024xf32>
  %p = math.exp %l : tensor<4096x1024xf32>
  %d = arith.subf %l, %q : tensor<4096x1024xf32>
  %t = arith.mulf %p, %d : tensor<4096x1024xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<4096x1024xf32>) outs(%f : tensor<4096xf32>) dimensions = [1]
  return %s : tensor<4096xf32>
}

// CHECK-LABEL: func.func @square
// CHECK-NOT: :{{[345]}} = linalg.generic
func.func @square(%x: tensor<4x300000x8xf32>, %y: tensor<4x300000x8xf32>) -> tensor<4x8xf32> {
  %q = fusion.log_softmax %x axis(1) : tensor<4x300000x8xf32>
  %m = arith.mulf %q, %q : tensor<4x300000x8xf32>
  %t = arith.mulf %y, %m : tensor<4x300000x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<4x300000x8xf32>) outs(%f : tensor<4x8xf32>) dimensions = [1]
  return %s : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @twice
func.func @twice(%x: tensor<4x300000x8xf32>, %y: tensor<4x300000x8xf32>) -> tensor<4x8xf32> {
  %q = fusion.log_softmax %x axis(1) : tensor<4x300000x8xf32>
  %l = fusion.log_softmax %y axis(1) : tensor<4x300000x8xf32>
  %t = arith.mulf %l, %q : tensor<4x300000x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<4x300000x8xf32>) outs(%f : tensor<4x8xf32>) dimensions = [1]
  return %s : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @choice
func.func @choice(%x: tensor<4x300000x8xf32>, %y: tensor<4x300000x8xf32>) -> tensor<4x8xf32> {
  %q = fusion.log_softmax %x axis(1) : tensor<4x300000x8xf32>
  %zeros = arith.constant dense<0.0> : tensor<4x300000x8xf32>
  %c = arith.cmpf ogt, %y, %zeros : tensor<4x300000x8xf32>
  %t = arith.select %c, %q, %zeros : tensor<4x300000x8xi1>, tensor<4x300000x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<4x300000x8xf32>) outs(%f : tensor<4x8xf32>) dimensions = [1]
  return %s : tensor<4x8xf32>
}

// The statistics of one need those of the other.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<4x300000x8xf32>, %y: tensor<4x300000x8xf32>) -> tensor<4x8xf32> {
  %p = fusion.log_softmax %x axis(1) : tensor<4x300000x8xf32>
  %w = arith.addf %p, %y : tensor<4x300000x8xf32>
  %q = fusion.log_softmax %w axis(1) : tensor<4x300000x8xf32>
  %t = arith.mulf %y, %q : tensor<4x300000x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<4x300000x8xf32>) outs(%f : tensor<4x8xf32>) dimensions = [1]
  return %s : tensor<4x8xf32>
}

// A constant may be as large as what it is added to.
// CHECK-LABEL: func.func @constant
func.func @constant(%x: tensor<4x300000x8xf32>, %y: tensor<4x300000x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %q = fusion.log_softmax %x axis(1) : tensor<4x300000x8xf32>
  %w = tensor.empty() : tensor<4x300000x8xf32>
  %b = linalg.broadcast ins(%c : tensor<4x8xf32>) outs(%w : tensor<4x300000x8xf32>) dimensions = [1]
  %d = arith.addf %q, %b : tensor<4x300000x8xf32>
  %t = arith.mulf %y, %d : tensor<4x300000x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<4x300000x8xf32>) outs(%f : tensor<4x8xf32>) dimensions = [1]
  return %s : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @scaled
func.func @scaled(%x: tensor<4x300000x8xf32>, %y: tensor<4x300000x8xf32>) -> tensor<4x8xf32> {
  %q = fusion.log_softmax %x axis(1) : tensor<4x300000x8xf32>
  %half = arith.constant dense<0.5> : tensor<4x300000x8xf32>
  %h = arith.mulf %q, %half : tensor<4x300000x8xf32>
  %d = arith.subf %y, %h : tensor<4x300000x8xf32>
  %t = arith.mulf %y, %d : tensor<4x300000x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.reduce { arith.addf } ins(%t : tensor<4x300000x8xf32>) outs(%f : tensor<4x8xf32>) dimensions = [1]
  return %s : tensor<4x8xf32>
}
