// RUN: fusion-opt %s --transform-interpreter --remarks-filter=fusion-schedule 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.err
// RUN: fusion-opt %s --transform-interpreter=entry-point=exactly | FileCheck %s --check-prefix=EXACTLY
// RUN: fusion-opt %s --transform-interpreter=entry-point=emit | FileCheck %s --check-prefix=EMIT

// A script chooses among the schedules of a kernel, or gives one, and compiles
// to PTX: what comes later obeys it.

module attributes {transform.with_named_sequence} {
  // CHECK: fusion.kernel @exp ins({{.*}} schedule = #fusion.schedule<pointwise, axes = [{{.*}}], warps = 2>
  // REMARK: scripted-schedule{{.*}}asked for by a script: warps = 2
  // EXACTLY: fusion.kernel @exp ins({{.*}} schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 16>], warps = 4>
  // EMIT: module attributes {
  // EMIT: fusion.kernel @exp {{.*}}program = @exp_0
  // EMIT: gpu.module @exp_0 attributes {asked_for, fusion_tile.ptx =
  // EMIT: llvm.func @exp_0({{.*}}nvvm.reqntid = array<i32: 128
  func.func @exp(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %e = tensor.empty() : tensor<1024x1024xf32>
    %0 = linalg.exp ins(%x : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    return %0 : tensor<1024x1024xf32>
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %planned, %kernels = transform.fusion.plan %func : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.fusion.schedule %kernels warps = 2 : !transform.any_op
    transform.yield
  }
  transform.named_sequence @exactly(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %planned, %kernels = transform.fusion.plan %func : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.fusion.schedule %kernels exactly(#fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 16>], warps = 4>) : !transform.any_op
    transform.yield
  }
  transform.named_sequence @emit(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %planned, %kernels = transform.fusion.plan %func : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.fusion.schedule %kernels exactly(#fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 16>], warps = 4>) : !transform.any_op
    %emitted, %gpu = transform.fusion.emit %root : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.annotate %gpu "asked_for" : !transform.any_op
    transform.yield
  }
}
