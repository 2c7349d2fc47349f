// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s

// What a row's last sweep alone needs is made there: beside the two rows that a
// thread keeps, neither their logarithms nor exponentials take registers, and a KL
// divergence of rows reads them once.
// CHECK-LABEL: func.func @kl
// CHECK-SAME: bytes_after = 549{{[0-9]+}} : i64, {{.*}}kernels_after = 2 : i64
func.func @kl(%x: tensor<3277x4192xf16>, %y: tensor<3277x4192xf16>) -> tensor<f32> {
  %0 = arith.extf %x : tensor<3277x4192xf16> to tensor<3277x4192xf32>
  %1 = fusion.log_softmax %0 axis(1) : tensor<3277x4192xf32>
  %2 = arith.extf %y : tensor<3277x4192xf16> to tensor<3277x4192xf32>
  %3 = fusion.log_softmax %2 axis(1) : tensor<3277x4192xf32>
  %4 = math.exp %3 : tensor<3277x4192xf32>
  %5 = arith.subf %3, %1 : tensor<3277x4192xf32>
  %6 = arith.mulf %4, %5 : tensor<3277x4192xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%6 : tensor<3277x4192xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
  return %s : tensor<f32>
}
