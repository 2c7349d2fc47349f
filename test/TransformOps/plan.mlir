// RUN: fusion-opt %s --transform-interpreter='entry-point=apart'  2>%t.apart | FileCheck %s --check-prefix=APART
// RUN: FileCheck %s --check-prefix=LEDGER --input-file=%t.apart
// RUN: fusion-opt %s --transform-interpreter='entry-point=free' | FileCheck %s --check-prefix=FREE
// RUN: fusion-opt %s --transform-interpreter='entry-point=limit' 2>%t.limit | FileCheck %s --check-prefix=LIMIT
// RUN: FileCheck %s --check-prefix=ASKED --input-file=%t.limit
// RUN: fusion-opt %s --transform-interpreter='entry-point=together' 2>%t.together | FileCheck %s --check-prefix=TOGETHER
// RUN: FileCheck %s --check-prefix=ASKED --input-file=%t.together
// RUN: fusion-opt %s --transform-interpreter='entry-point=never' | FileCheck %s --check-prefix=NEVER

// A script says what shares a kernel; the ledger says that it was asked for.
// Functions that it does not name stay as they are.

module attributes {transform.with_named_sequence} {
  // FREE-LABEL: func.func @pointwise
  // FREE: fusion.kernel @exp_neg_tanh ins
  // FREE-NOT: fusion.kernel
  // FREE-LABEL: func.func @row
  // FREE-NOT: fusion.kernel

  // APART-LABEL: func.func @pointwise
  // APART: fusion.kernel @exp ins
  // APART-NOT: fusion.apart
  // APART: fusion.kernel @neg_tanh ins
  // APART-NOT: fusion.apart
  // LEDGER: "accepted": false,
  // LEDGER: "detail": "'exp' apart from 'tanh'",
  // LEDGER: "reason": "contract-never",

  // NEVER-LABEL: func.func @pointwise
  // NEVER: fusion.kernel @exp ins
  // NEVER: fusion.kernel @neg ins
  // NEVER: fusion.kernel @tanh ins
  func.func @pointwise(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %e = tensor.empty() : tensor<1024x1024xf32>
    %0 = linalg.exp ins(%x : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %1 = linalg.negf ins(%0 : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %2 = linalg.tanh ins(%1 : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    return %2 : tensor<1024x1024xf32>
  }

  // By prices alone these are two kernels.
  // LIMIT-LABEL: func.func @row
  // LIMIT-SAME: fusion.max_kernels = 1 : i64
  // LIMIT: fusion.kernel
  // LIMIT-NOT: fusion.kernel
  // TOGETHER-LABEL: func.func @row
  // TOGETHER: fusion.kernel
  // TOGETHER-NOT: fusion.kernel
  // ASKED: "accepted": true,
  // ASKED: "detail": "asked for by a script",
  func.func @row(%x: tensor<8x1048576xf64>) -> tensor<8x1048576xf64> {
    %zero = arith.constant 0.0 : f64
    %e = tensor.empty() : tensor<8x1048576xf64>
    %er = tensor.empty() : tensor<8xf64>
    %f = linalg.fill ins(%zero : f64) outs(%er : tensor<8xf64>) -> tensor<8xf64>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<8x1048576xf64>) outs(%f : tensor<8xf64>) dimensions = [1]
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<8x1048576xf64>, tensor<8xf64>) outs(%e : tensor<8x1048576xf64>) {
    ^bb0(%a: f64, %b: f64, %o: f64):
      %0 = arith.mulf %a, %b : f64
      linalg.yield %0 : f64
    } -> tensor<8x1048576xf64>
    return %y : tensor<8x1048576xf64>
  }

  transform.named_sequence @free(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} attributes {sym_name = "pointwise"} in %root : (!transform.any_op) -> !transform.any_op
    %planned, %kernels = transform.fusion.plan %func : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
  transform.named_sequence @apart(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} attributes {sym_name = "pointwise"} in %root : (!transform.any_op) -> !transform.any_op
    %exp = transform.structured.match ops{["linalg.exp"]} in %func : (!transform.any_op) -> !transform.any_op
    %tanh = transform.structured.match ops{["linalg.tanh"]} in %func : (!transform.any_op) -> !transform.any_op
    transform.fusion.contract never %exp with %tanh : !transform.any_op, !transform.any_op
    %planned, %kernels = transform.fusion.plan %func target_chip = "sm_90a" {print_ledger} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
  transform.named_sequence @never(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} attributes {sym_name = "pointwise"} in %root : (!transform.any_op) -> !transform.any_op
    %neg = transform.structured.match ops{["linalg.negf"]} in %func : (!transform.any_op) -> !transform.any_op
    transform.fusion.contract never %neg : !transform.any_op
    %planned, %kernels = transform.fusion.plan %func : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
  transform.named_sequence @limit(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} attributes {sym_name = "row"} in %root : (!transform.any_op) -> !transform.any_op
    %planned, %kernels = transform.fusion.plan %func max_kernels = 1 {print_ledger} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
  transform.named_sequence @together(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} attributes {sym_name = "row"} in %root : (!transform.any_op) -> !transform.any_op
    %sum = transform.structured.match ops{["linalg.reduce"]} in %func : (!transform.any_op) -> !transform.any_op
    %mul = transform.structured.match ops{["linalg.generic"]} in %func : (!transform.any_op) -> !transform.any_op
    transform.fusion.contract must %sum with %mul : !transform.any_op, !transform.any_op
    %planned, %kernels = transform.fusion.plan %func {print_ledger} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
