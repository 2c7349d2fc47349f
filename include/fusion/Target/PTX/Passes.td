//===- Passes.td - Passes of the PTX target ----------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the passes of the PTX target.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TARGET_PTX_PASSES
#define FUSION_TARGET_PTX_PASSES

include "mlir/Pass/PassBase.td"

def EmitPTXPass : Pass<"fusion-target-emit-ptx", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Write each gpu.module as PTX text";
  let description = [{
    Input: gpu.modules that hold only the LLVM dialect and NVVM operations.
    Output: the same modules, each with its PTX text in the attribute
    `fusion_tile.ptx`. The module's body is not changed. With `print` the text goes
    to standard output as well; with `assemble` ptxas, where there is one, must
    accept the text, and one comment line a kernel with its resources follows
    the printed text.

    ```mlir
    gpu.module @m { llvm.func @k() attributes {nvvm.kernel} { llvm.return } }
      ==>
    gpu.module @m attributes {fusion_tile.ptx = "...entry k()..."} { ... }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Chip to write for, as `ptxas -arch` spells it; the module's "
           "fusion.target when empty, sm_90a when it has none">,
    Option<"ptxVersion", "ptx-version", "unsigned", /*default=*/"0",
           "PTX ISA version times ten; 0 takes the chip's default">,
    Option<"optLevel", "opt-level", "unsigned", /*default=*/"3",
           "LLVM's optimisation level, 0 to 3">,
    Option<"lineInfo", "line-info", "bool", /*default=*/"true",
           "Emit .loc directives">,
    Option<"print", "print", "bool", /*default=*/"false",
           "Print the text to standard output">,
    Option<"assemble", "assemble", "bool", /*default=*/"false",
           "Give the text to ptxas where there is one">,
  ];
}

#endif // FUSION_TARGET_PTX_PASSES
