// RUN: not fusion-opt %s --transform-interpreter=entry-point=no_function 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not fusion-opt %s --transform-interpreter=entry-point=twice 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not fusion-opt %s --transform-interpreter=entry-point=no_kernel 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not fusion-opt %s --transform-interpreter=entry-point=no_module 2>&1 | FileCheck %s --check-prefix=MODULE
// RUN: not fusion-opt %s --transform-interpreter=entry-point=no_schedule 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not fusion-opt %s --transform-interpreter=entry-point=dimensions 2>&1 | FileCheck %s --check-prefix=DIMENSIONS
// RUN: not fusion-opt %s --transform-interpreter=entry-point=strategy 2>&1 | FileCheck %s --check-prefix=STRATEGY
// RUN: not fusion-opt %s --transform-interpreter=entry-point=both 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not fusion-opt %s --transform-interpreter=entry-point=shape 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not fusion-opt %s --transform-interpreter=entry-point=broken 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not fusion-opt %s --transform-interpreter=entry-point=whole 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not fusion-opt %s --transform-interpreter=entry-point=phase 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: fusion-opt %s --transform-interpreter=entry-point=silenced 2>&1 | FileCheck %s --check-prefix=SILENCED

// Failures have a code, and a script goes on from those that changed nothing.

// FUNCTION: error: FUS-1430: a plan is for functions of one block; match what
// FUNCTION: note: the op that is meant
// TWICE: error: FUS-1430: a function has kernels already
// KERNEL: error: FUS-1430: a schedule is for a fusion.kernel of a function
// MODULE: error: FUS-1430: PTX is emitted for modules
// SCHEDULE: error: FUS-1431: no schedule of 'exp_sum' has tile_sizes = [3, 0] warps = 64; it has {{[0-9]+}}, the fastest is #fusion.schedule<reduction
// DIMENSIONS: error: FUS-1431: tile sizes of 3 dimensions for 'exp_sum', which has 2; give one for each
// STRATEGY: error: FUS-1431: no schedule of 'exp_sum' covers its dimensions as the one asked for does; the fastest is #fusion.schedule<reduction
// WHOLE: error: FUS-1431: no schedule of 'exp_sum' covers its dimensions
// BOTH: error: FUS-1430: an op has 'fusion.must' already
// SHAPE: error: FUS-1430: a contract is for an op, in a function, that computes tensors
// BROKEN: error: {{.*}}FUS-2006: contract broken: 'exp' and 'sum' must share a kernel
// PHASE: error: FUS-2001: 

// SILENCED: func.func @rows(
// SILENCED-SAME: -> tensor<64xf32> {
// SILENCED: linalg.exp
// SILENCED: linalg.reduce
// SILENCED-NOT: fusion.kernel
// SILENCED: transform.named_sequence
module attributes {transform.with_named_sequence} {
  func.func @rows(%x: tensor<64x256xf32>) -> tensor<64xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x256xf32>
    %er = tensor.empty() : tensor<64xf32>
    %0 = linalg.exp ins(%x : tensor<64x256xf32>) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
    %s = linalg.reduce { arith.addf } ins(%0 : tensor<64x256xf32>) outs(%f : tensor<64xf32>) dimensions = [1]
    return %s : tensor<64xf32>
  }

  transform.named_sequence @no_function(%root: !transform.any_op) {
    %planned, %kernels = transform.fusion.plan %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
  transform.named_sequence @twice(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %planned, %kernels = transform.fusion.plan %func : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %again, %more = transform.fusion.plan %planned : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
  transform.named_sequence @no_kernel(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.fusion.schedule %func warps = 4 : !transform.any_op
    transform.yield
  }
  transform.named_sequence @no_module(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %emitted, %gpu = transform.fusion.emit %func : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
  transform.named_sequence @no_schedule(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %planned, %kernels = transform.fusion.plan %func : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.fusion.schedule %kernels tile_sizes = [3, 0] warps = 64 : !transform.any_op
    transform.yield
  }
  transform.named_sequence @dimensions(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %planned, %kernels = transform.fusion.plan %func : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.fusion.schedule %kernels tile_sizes = [1, 2, 3] : !transform.any_op
    transform.yield
  }
  transform.named_sequence @strategy(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %planned, %kernels = transform.fusion.plan %func : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.fusion.schedule %kernels exactly(#fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 16>], warps = 4>) : !transform.any_op
    transform.yield
  }
  transform.named_sequence @both(%root: !transform.any_op) {
    %exp = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.fusion.contract must %exp : !transform.any_op
    transform.fusion.contract never %exp : !transform.any_op
    transform.yield
  }
  transform.named_sequence @shape(%root: !transform.any_op) {
    %return = transform.structured.match ops{["func.return"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.fusion.contract must %return : !transform.any_op
    transform.yield
  }
  transform.named_sequence @broken(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %exp = transform.structured.match ops{["linalg.exp"]} in %func : (!transform.any_op) -> !transform.any_op
    %sum = transform.structured.match ops{["linalg.reduce"]} in %func : (!transform.any_op) -> !transform.any_op
    transform.fusion.contract must %exp with %sum : !transform.any_op, !transform.any_op
    transform.fusion.contract never %exp with %sum : !transform.any_op, !transform.any_op
    %planned, %kernels = transform.fusion.plan %func : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
  transform.named_sequence @whole(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %planned, %kernels = transform.fusion.plan %func : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.fusion.schedule %kernels exactly(#fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 64>], warps = 1>) : !transform.any_op
    transform.yield
  }
  transform.named_sequence @phase(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %planned, %kernels = transform.fusion.plan %func : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %emitted, %gpu = transform.fusion.emit %root target_chip = "sm_20" : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
  transform.named_sequence @silenced(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.sequence %func : !transform.any_op failures(suppress) {
    ^bb0(%arg: !transform.any_op):
      %exp = transform.structured.match ops{["linalg.exp"]} in %arg : (!transform.any_op) -> !transform.any_op
      %sum = transform.structured.match ops{["linalg.reduce"]} in %arg : (!transform.any_op) -> !transform.any_op
      transform.fusion.contract must %exp with %sum : !transform.any_op, !transform.any_op
      transform.fusion.contract never %exp with %sum : !transform.any_op, !transform.any_op
      %planned, %kernels = transform.fusion.plan %arg : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    }
    transform.yield
  }
}
