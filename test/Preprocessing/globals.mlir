// RUN: fusion-opt %s --fusion-input-globals | FileCheck %s

// CHECK-NOT: ml_program
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = arith.constant dense<[1.0{{.*}}, 2.0{{.*}}]> : tensor<2xf32>
// CHECK: %[[OPEN:.*]] = tensor.cast %{{.*}} : tensor<2xf32> to tensor<?xf32>
// CHECK: return %[[W]], %[[OPEN]]
ml_program.global private mutable @unused(dense<0> : tensor<i64>) : tensor<i64>
ml_program.global private @w(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @open(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<?xf32>
func.func @main() -> (tensor<2xf32>, tensor<?xf32>) {
  %w = ml_program.global_load_const @w : tensor<2xf32>
  %open = ml_program.global_load @open : tensor<?xf32>
  return %w, %open : tensor<2xf32>, tensor<?xf32>
}
