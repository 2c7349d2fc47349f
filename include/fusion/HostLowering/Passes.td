//===- Passes.td - Passes from programs to host code -------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the passes that compile parts of a module and leave host
// code that launches their kernels.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_HOSTLOWERING_PASSES_TD
#define FUSION_HOSTLOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineOffloadsPass : Pass<"fusion-outline-offloads", "::mlir::ModuleOp"> {
  let summary = "Makes functions of what is to run on the GPU";
  let description = [{
    Input: any module. Output: each `scf.execute_region` with `fusion.offload`
    is a call of a private function with that attribute, which has the region's
    ops and takes what they read from outside: ranked tensors, integers, floats
    and `index`. With `find-all`, so is each run of ops on tensors that the
    compiler takes, in every function that is not to be offloaded itself: a run
    goes on past other ops until one of them reads a result of it. Sizes that
    the ops are given as `tensor.dim` of what is passed, and arithmetic on them,
    are computed inside.

    ```mlir
    %y = scf.execute_region -> tensor<?x8xf32> {
      %0 = math.exp %x : tensor<?x8xf32>
      scf.yield %0 : tensor<?x8xf32>
    } {fusion.offload}
    ```
    becomes `%y = call @main_offload_0(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>`.
  }];
  let options = [
    Option<"findAll", "find-all", "bool", "false",
           "outline all runs of ops that the compiler takes">,
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def FusionToHostPass : Pass<"fusion-to-host", "::mlir::ModuleOp"> {
  let summary = "Compiles what is to be offloaded, and leaves host code that "
                "launches its kernels";
  let description = [{
    Input: a module of any dialects, in which functions with `fusion.offload`
    are tensor programs, and `scf.execute_region`s with it, which
    `fusion-outline-offloads` makes such functions first. Output: the same module,
    with the bodies of these functions replaced; all else is as it was. A function
    keeps its signature: its tensors are read and made as memrefs
    (`bufferization.to_buffer`, `bufferization.to_tensor`), so that the module
    goes on through upstream's one-shot bufferization and lowering to LLVM.

    Forms of what is left:

    - `runtime`: a call of the Fusion runtime (`fusionRtCallPackage` of
      `fusion-rt/HostCalls.h`), with the compiled package as a constant of the
      module; link `libfusion-rt.so`, or `libfusion-mgpu.so`, which has the functions of
      the other form too.
    - `gpu`: `gpu.binary`s with the kernels, `gpu.alloc`s for the buffers between
      them, and a `gpu.launch_func` for each launch in execution order; what
      sizes must fulfil is asserted (`cf.assert`). It goes on through upstream's
      `gpu-to-llvm` and runs on any library that has the functions which that
      calls (`mgpu...`), like `libfusion-mgpu.so`.

    Memory of tensors:

    - `host`: copied to the device and back by each call.
    - `device`: the memrefs' addresses are device addresses. Results are allocated
      with `gpu.alloc`, and whoever calls passes what was.

    Results belong to the caller. Upstream's buffer deallocation refuses functions
    with a `gpu.launch_func`, whose effects it does not know.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"\"",
           "chip to compile for; the module's fusion.target when empty, sm_90a "
           "when it has none">,
    Option<"form", "form", "std::string", "\"runtime\"",
           "what is left: 'runtime' or 'gpu'">,
    Option<"memory", "memory", "std::string", "\"host\"",
           "where tensors are: 'host' or 'device'">,
    Option<"findAll", "find-all", "bool", "false",
           "offload all runs of ops that the compiler takes">,
    Option<"partial", "partial", "bool", "false",
           "functions that the compiler refuses stay as they are, without their "
           "mark and with a remark; always with find-all">,
    Option<"fastNumerics", "fast-numerics", "bool", "false",
           "declared roundings may be dropped">,
  ];
}

#endif // FUSION_HOSTLOWERING_PASSES_TD
