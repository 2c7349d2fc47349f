//===- Passes.td - Passes of the input phase ---------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the passes of the input phase.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PREPROCESSING_PASSES
#define FUSION_PREPROCESSING_PASSES

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"fusion-input-decompose"> {
  let summary = "Replace fusion ops by what they mean in linalg";
  let description = [{
    Input: any module. Output: no op with `DecomposeInterface` is left, but
    those that the code generator handles itself (`fusion.row_groups`,
    `fusion.scan`), unless `all`.
    Structural ops (`fusion.kernel`) are entered, not replaced.

    ```mlir
    %y = fusion.relu %x : tensor<?xf32>
      ==>
    %y = linalg.generic ... { arith.maximumf ... }
    ```
  }];
  let options = [
    Option<"all", "all", "bool", /*default=*/"false",
           "Also replace the ops that the code generator handles itself">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def GeneralizePass
    : Pass<"fusion-input-generalize", "::mlir::func::FuncOp"> {
  let summary = "Bring linalg and tensor ops into the few forms of the plan";
  let description = [{
    Input: linalg and tensor ops on tensors. Output: of linalg only `generic`
    and `fill`; of tensor no `splat` (a fill), `generate`, `insert` and
    `from_elements` (generics), `rank` (a constant) and `bitcast` of elements
    (a generic). `linalg.softmax` goes by its own decomposition, `pack` and
    `unpack` by padding, reshaping, transposing and slicing. Elementwise arith
    and math ops on tensors become generics, in which constants with one value
    are scalars. A named op's rounding stays as it is declared.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
}

def NoteContractsPass
    : Pass<"fusion-input-note-contracts", "::mlir::func::FuncOp"> {
  let summary = "Let contracts travel in locations";
  let description = [{
    Input: any function. Output: no op in it has `fusion.must`, `fusion.never`
    or `fusion.tf32`; its location has them, so that everything that the op is
    rewritten into has them too.
  }];
}

def RestoreContractsPass
    : Pass<"fusion-input-restore-contracts", "::mlir::func::FuncOp"> {
  let summary = "Give ops the contracts that their locations have";
  let description = [{
    Input: the output of `fusion-input-note-contracts`, rewritten in any way.
    Output: every op that computes a tensor has the contracts of what it came
    from; locations are free of them.
  }];
}

def GeneralizeDynamicPass
    : Pass<"fusion-input-generalize-dynamic", "::mlir::func::FuncOp"> {
  let summary = "Make generics of arithmetic on tensors of dynamic sizes";
  let description = [{
    Input: any function. Output: elementwise arith and math ops on tensors of
    dynamic sizes are generics, unfolded. Upstream folds some of them to
    constants of a dynamic type, which have no size.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
}

def VerifyInputPass : Pass<"fusion-input-verify", "::mlir::ModuleOp"> {
  let summary = "Refuse what cannot be compiled, each with one clear error";
  let description = [{
    Changes nothing. Every function must be one block of supported ops on ranked
    tensors and scalars of supported types, and every tensor and every loop
    nest must have fewer than 2^60 bytes and iterations, as far as static sizes
    tell. Each offence is one error with a code, its place, its cause and a
    remedy; the pass fails after all of them are reported.

    Supported element types: f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32,
    i8, i1. Supported ops: func (function, return), linalg, tensor, arith,
    math, fusion and tosa ops without side effects. With `normal-form` the
    check is the stricter one of what the input phase promises to later phases:

    - `linalg.generic`, `linalg.fill` and, in bodies, `linalg.index`;
    - `tensor.empty`, `dim`, `pad`, `concat`, `extract_slice`, `insert_slice`,
      `expand_shape`, `collapse_shape`, `extract`, `cast`;
    - constants, and arithmetic on scalars;
    - `fusion.scan` and `fusion.kernel`.
  }];
  let options = [
    Option<"normalForm", "normal-form", "bool", /*default=*/"false",
           "Check the form that the input phase ends in">
  ];
}

#endif // FUSION_PREPROCESSING_PASSES
