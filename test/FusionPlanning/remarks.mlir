// RUN: fusion-opt %s --fusion-plan-form-kernels=target=sm_89 --remarks-filter='fusion.*' \
// RUN:   -o /dev/null 2>&1 | FileCheck %s
// RUN: fusion-opt %s --fusion-plan-form-kernels="target=sm_89 print-ledger" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=JSON
// RUN: fusion-opt %s --fusion-plan-form-kernels=target=sm_89 --remark-format=yaml \
// RUN:   --remarks-filter='fusion.*' --remarks-output-file=%t.yaml -o /dev/null
// RUN: FileCheck %s --check-prefix=YAML --input-file=%t.yaml

// Every candidate, taken or refused, with its reason and its numbers.

// CHECK: remark: [Passed] into-consumer | Category:fusion-plan | Function=f |
// CHECK-SAME: Registers={{[0-9]+}}
// CHECK-SAME: Remark="matmul -> exp: the producer is computed inside its consumer's kernel
// CHECK-SAME: SavedBytes=32768
// CHECK: remark: [Missed] reduction-of-contraction | Category:fusion-plan | Function=f |
// CHECK-SAME: Remark="matmul_exp -> sum: a reduction runs along a result dimension of a contraction
// CHECK: remark: [Analysis] totals | Category:fusion-plan | Function=f |
// CHECK-SAME: BytesAfter=65792, BytesBefore=98560, KernelsAfter=2, KernelsBefore=3

// YAML: --- !Passed
// YAML: Name: into-consumer
// YAML: - SavedBytes: '32768'
// YAML: --- !Missed
// YAML: Name: reduction-of-contraction

// JSON: "bytes_after": 65792
// JSON: "bytes_before": 98560
// JSON: "candidates": [
// JSON: "accepted": true,
// JSON: "reason": "into-consumer",
// JSON: "saved_bytes": 32768
// JSON: "accepted": false,
// JSON: "reason": "reduction-of-contraction",
// JSON: "function": "f"
// JSON: "kernels": [
// JSON: "name": "matmul_exp"
// JSON: "kernels_after": 2,
// JSON: "kernels_before": 3,
// JSON: "target": "sm_89"
func.func @f(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %er = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %h = linalg.exp ins(%m : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = linalg.reduce { arith.addf } ins(%h : tensor<64x64xf32>) outs(%fr : tensor<64xf32>) dimensions = [1]
  return %s : tensor<64xf32>
}
