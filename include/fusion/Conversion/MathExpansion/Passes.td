//===- Passes.td - Passes of the math expansion ------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the pass of the math expansion.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_CONVERSION_MATHEXPANSION_PASSES
#define FUSION_CONVERSION_MATHEXPANSION_PASSES

include "mlir/Pass/PassBase.td"

def ExpandMathPass : Pass<"fusion-expand-math"> {
  let summary = "Expand math into operations that NVPTX has instructions for";
  let description = [{
    Input: math and arith on scalars and vectors, as each thread of a kernel
    computes them. Output: the same values by arith, vector, scf and intrinsics
    of the LLVM dialect; no operation of the math dialect is left on scalars and
    vectors, and none needs a device library. f16 and bf16 are computed in f32
    and rounded once. docs/Numerics.md states each function's error. Never
    touches operations on tensors.

    To run before upstream's conversions to the LLVM and NVVM dialects, and
    before convert-scf-to-cf.

    ```mlir
    %y = math.exp %x : f32
      ==>
    %hi = arith.mulf %x, %cst : f32
    ...
    %p = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%hi) : (f32) -> f32
    %y = llvm.intr.fma(%p, %c, %p) : (f32, f32, f32) -> f32
    ```
  }];
  let options = [
    Option<"fast", "fast", "bool", /*default=*/"false",
           "Take the hardware's approximations everywhere">,
    Option<"alone", "alone", "bool", /*default=*/"false",
           "Expand each operation by what it is alone, whatever stands around "
           "it, and convert 8-bit floats by instructions: for payload mode">,
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // FUSION_CONVERSION_MATHEXPANSION_PASSES
