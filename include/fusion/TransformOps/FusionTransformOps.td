//===- FusionTransformOps.td - Scripts of plans --------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the ops by which scripts of the transform dialect plan,
// schedule and compile kernels.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TRANSFORMOPS_FUSIONTRANSFORMOPS_TD
#define FUSION_TRANSFORMOPS_FUSIONTRANSFORMOPS_TD

include "fusion/Dialect/Fusion/FusionAttrs.td"
include "fusion/TransformOps/FusionTransformEnums.td"
include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class FusionTransformOp<string mnemonic>
    : Op<Transform_Dialect, "fusion." # mnemonic,
         [DeclareOpInterfaceMethods<TransformOpInterface>,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]>;

def FusionContractOp : FusionTransformOp<"contract"> {
  let summary = "Says which ops are to share a kernel, or not to";
  let description = [{
    Puts a contract on each op of `target`, which a plan made afterwards keeps or
    fails with:

    - `must`: the op is computed in the kernels of all that read it, and its
      results are not read from memory (`fusion.must`);
    - `never`: the op has a kernel of its own (`fusion.never`);
    - `must` with other ops: all ops of both handles share one kernel
      (`fusion.together`);
    - `never` with other ops: no op of the one handle shares a kernel with an op
      of the other (`fusion.apart`).

    An op cannot have both `must` and `never`: then, where an op computes no
    tensor, and where ops of both handles are of several functions, this fails
    (silenceable, FUS-1430), and no op has got a contract.

    Reads the handles and modifies the payload.

    ```mlir
    module attributes {transform.with_named_sequence} {
      transform.named_sequence @__transform_main(%root: !transform.any_op) {
        %func = transform.structured.match ops{["func.func"]} in %root
            : (!transform.any_op) -> !transform.any_op
        %exp = transform.structured.match ops{["linalg.exp"]} in %func
            : (!transform.any_op) -> !transform.any_op
        %sum = transform.structured.match ops{["linalg.reduce"]} in %func
            : (!transform.any_op) -> !transform.any_op
        transform.fusion.contract never %exp with %sum
            : !transform.any_op, !transform.any_op
        transform.yield
      }
    }
    ```
  }];
  let arguments = (ins
    FusionContractKind:$kind,
    TransformHandleTypeInterface:$target,
    Optional<TransformHandleTypeInterface>:$other
  );
  let assemblyFormat = [{
    $kind $target (`with` $other^)? attr-dict `:` type($target)
    (`,` type($other)^)?
  }];
}

def FusionPlanOp : FusionTransformOp<"plan"> {
  let summary = "Forms the kernels of functions";
  let description = [{
    Plans each function of `target`, as the pipeline `fusion-plan` does: ops in
    the normal form that the input phase leaves become `fusion.kernel` ops.
    Contracts on the ops are kept; with `max_kernels` a function gets so many
    kernels at most. What the plan fuses for a contract or that limit alone the
    ledger and remarks call "asked for by a script". `print_ledger` prints the
    ledger of each function on standard error.

    `target_chip` is the chip to plan for; the module's `fusion.target` without
    it, and sm_90a without that.

    Consumes the handle. `planned` are the functions, `kernels` their kernels in
    the order in which they run.

    Fails (silenceable) where an op of `target` is no function of one block with
    a body or has kernels already (FUS-1430), and where planning refuses it, with
    the code of that, such as FUS-2006 for a contract that cannot be kept. That
    function is then as it was.

    ```mlir
    module attributes {transform.with_named_sequence} {
      transform.named_sequence @__transform_main(%root: !transform.any_op) {
        %func = transform.structured.match ops{["func.func"]} in %root
            : (!transform.any_op) -> !transform.any_op
        %planned, %kernels = transform.fusion.plan %func max_kernels = 2
            : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
        transform.yield
      }
    }
    ```
  }];
  let arguments = (ins
    TransformHandleTypeInterface:$target,
    OptionalAttr<I64Attr>:$max_kernels,
    OptionalAttr<StrAttr>:$target_chip,
    UnitAttr:$fast_numerics,
    UnitAttr:$print_ledger
  );
  let results = (outs
    TransformHandleTypeInterface:$planned,
    TransformHandleTypeInterface:$kernels
  );
  let assemblyFormat = [{
    $target (`max_kernels` `=` $max_kernels^)?
    (`target_chip` `=` $target_chip^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def FusionScheduleOp : FusionTransformOp<"schedule"> {
  let summary = "Chooses the schedules of kernels";
  let description = [{
    Gives each kernel of `target` a schedule, in the place of one that it has:
    `exactly` that one; or of those that the compiler knows for the kernel, the
    one predicted to be fastest that is as asked. Where none is, the fastest that
    is a schedule with these tiles and warps in the place of its own, if it is
    none of tensor cores:

    - `tile_sizes`: a tile for each iteration dimension of the kernel, in the
      order of `axes` of `#fusion.schedule`; 0 for any;
    - `warps` of a block;
    - `stages`: chunks of what is walked that are in flight or in use at once, of
      the products (`#fusion.mma`) or of the axis that has most.

    Whatever comes later obeys it: `fusion-schedule-select` leaves schedules
    alone that are there. The kernel's `estimate` is that of the schedule where
    it has a price. A remark named `scripted-schedule` says what was asked for.

    Reads the handle and modifies the payload.

    Fails (silenceable) where an op of `target` is no kernel (FUS-1430), and where
    no schedule is as asked (FUS-1431): a tile is no power of two; `tile_sizes` or
    `exactly` have another number of dimensions than the kernel; a dimension is
    covered in another way (`grid`, `full`, `loop`, ...) than in any schedule
    that the compiler knows, or what has to be whole (`full`) is not as large.
    That kernel is then as it was.

    ```mlir
    module attributes {transform.with_named_sequence} {
      transform.named_sequence @__transform_main(%root: !transform.any_op) {
        %kernels = transform.structured.match ops{["fusion.kernel"]} in %root
            : (!transform.any_op) -> !transform.any_op
        transform.fusion.schedule %kernels tile_sizes = [0, 64] warps = 4
            : !transform.any_op
        transform.yield
      }
    }
    ```
  }];
  let arguments = (ins
    TransformHandleTypeInterface:$target,
    OptionalAttr<DenseI64ArrayAttr>:$tile_sizes,
    OptionalAttr<I64Attr>:$warps,
    OptionalAttr<I64Attr>:$stages,
    OptionalAttr<Fusion_ScheduleAttr>:$exactly
  );
  let assemblyFormat = [{
    $target (`tile_sizes` `=` $tile_sizes^)? (`warps` `=` $warps^)?
    (`stages` `=` $stages^)? (`exactly` `(` qualified($exactly)^ `)`)? attr-dict `:`
    type($target)
  }];
  let hasVerifier = 1;
}

def FusionEmitOp : FusionTransformOp<"emit"> {
  let summary = "Compiles the kernels of modules to PTX";
  let description = [{
    Runs the phases from `schedule` to `ptx` on each module of `target`: kernels
    without a schedule get one, and each different kernel becomes a `gpu.module`
    with its text as `fusion_tile.ptx`. Functions keep their kernels, which name
    their programs, so that `compileToPackage` and the pipelines go on from
    there.

    Consumes the handle; `emitted` are the modules, `gpu_modules` those that were
    made.

    Fails where an op of `target` is no module (silenceable, FUS-1430), and for
    good where a phase fails, with the code of that: the module is then somewhere
    in between.

    ```mlir
    module attributes {transform.with_named_sequence} {
      transform.named_sequence @__transform_main(%root: !transform.any_op) {
        %emitted, %gpu = transform.fusion.emit %root
            : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
        transform.yield
      }
    }
    ```
  }];
  let arguments = (ins
    TransformHandleTypeInterface:$target,
    OptionalAttr<StrAttr>:$target_chip,
    UnitAttr:$fast_numerics,
    UnitAttr:$line_info
  );
  let results = (outs
    TransformHandleTypeInterface:$emitted,
    TransformHandleTypeInterface:$gpu_modules
  );
  let assemblyFormat = [{
    $target (`target_chip` `=` $target_chip^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // FUSION_TRANSFORMOPS_FUSIONTRANSFORMOPS_TD
