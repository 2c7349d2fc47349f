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

include "fusion/Analysis/FunctionPasses.td"

def DecomposePass : Pass<"fusion-input-decompose"> {
  let summary = "Replace fusion ops by what they mean in linalg";
  let description = [{
    Input: any module. Output: no op with `DecomposeInterface` is left, but
    those that the code generator handles itself (`fusion.row_groups`,
    `fusion.scan`), unless `all`.
    Structural ops (`fusion.kernel`) are entered, not replaced. A
    `linalg.softmax` is the `fusion.softmax` of its operand, since its own
    decomposition rounds each sum to the element type.

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
    "::mlir::arith::ArithDialect", "::mlir::fusion::FusionDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def RaiseForeignPass : FunctionWisePass<"fusion-input-raise"> {
  let summary = "Replace ops of other dialects by what they say they mean";
  let description = [{
    An op of a dialect that the compiler does not know is replaced

    - by what it decomposes into, if it has upstream's `AggregatedOpInterface`;
    - by a `linalg.generic`, if it has `TilingInterface` and destinations. A
      copy of it on buffers is asked for its loops and for the code of one
      iteration. A load at the loops' own places is an operand, any other a
      `tensor.extract`; stores say what is yielded.

    Those with `DecomposeInterface` are left to `fusion-input-decompose`. What
    has no such form is refused (FUS-1016): loops that do not count from 0 by 1
    up to a constant or the size of an operand; results that are written to
    conditionally, twice, in part, or elsewhere than at the place of the parallel
    loops; effects, and ops with regions, in an iteration.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"
  ];
}

def GeneralizePass
    : Pass<"fusion-input-generalize", "::mlir::func::FuncOp"> {
  let summary = "Bring linalg and tensor ops into the few forms of the plan";
  let description = [{
    Input: linalg and tensor ops on tensors. Output: of linalg only `generic`
    and `fill`; of tensor no `splat` (a fill), `generate`, `insert` and
    `from_elements` (generics), `rank` (a constant) and `bitcast` of elements
    (a generic). `pack` and `unpack` go by padding, reshaping, transposing and
    slicing. Elementwise arith and math ops on tensors become generics, in which
    constants with one value are scalars. Generics have no results that nothing
    uses beside others. A named op's rounding stays as it is declared.
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

def NormalizeSlicesPass
    : Pass<"fusion-input-normalize-slices", "::mlir::func::FuncOp"> {
  let summary = "Bring slices and padding into forms that fold as they are";
  let description = [{
    Input: any function. Output: `tensor.extract_slice` and
    `tensor.insert_slice` with offsets, sizes or strides that are operands drop
    no dimensions; a reshape does. Upstream exchanges sizes when it folds a
    constant operand of one that does. Constant widths of `tensor.pad` are not
    negative; a slice cuts what they cut. Upstream takes padding that keeps a
    type for none.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
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

def LowerGlobalsPass : Pass<"fusion-input-globals", "::mlir::ModuleOp"> {
  let summary = "Replace ml_program globals by their values";
  let description = [{
    Input: any module. Output: no `ml_program.global` is left; loads are
    constants. A global that is mutable, or whose value is not in the program,
    is refused where it is read or written: kernels keep no state between
    launches.

    ```mlir
    ml_program.global private @w(dense<2.0> : tensor<4xf32>) : tensor<4xf32>
    %w = ml_program.global_load_const @w : tensor<4xf32>
      ==>
    %w = arith.constant dense<2.0> : tensor<4xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::ml_program::MLProgramDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def LowerImportsPass
    : Pass<"fusion-input-imports", "::mlir::func::FuncOp"> {
  let summary = "Replace ops that importers write by ops of the normal form";
  let description = [{
    - `affine.apply`, `min` and `max` become arithmetic.
    - `tensor.reshape` becomes collapses and expansions of as few dimensions as
      the symbolic sizes allow. That the number of elements stays is asserted
      where it is not known.
    - `tensor.extract` at constant indices of a tensor that is put together from
      scalars, by `tensor.from_elements`, concatenations, slices and reshapes,
      becomes the scalar: so importers write shapes.
    - `tensor.scatter` becomes a maximum, for every place of the scattered
      dimensions, over the numbers of the indices that name it, and a choice of
      the element with that number. Of several indices that name one place, the
      last in row-major order wins; indices that name no place are ignored.

    ```mlir
    %s = tensor.from_elements %d, %c4, %c64 : tensor<3xindex>
    %r = tensor.reshape %x(%s)
        : (tensor<?x256xf32>, tensor<3xindex>) -> tensor<?x4x64xf32>
      ==>
    %r = tensor.expand_shape %x [[0], [1, 2]] output_shape [%d, 4, 64]
        : tensor<?x256xf32> into tensor<?x4x64xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def ResolveAssertsPass
    : Pass<"fusion-input-asserts", "::mlir::func::FuncOp"> {
  let summary = "Keep the assertions that a launch can check";
  let description = [{
    An assertion on sizes and integer arguments stays, at the level of the
    function: its condition is a requirement that the runtime checks before
    every launch. One that holds for all sizes goes; one that fails for all is
    an error. An assertion on elements of tensors goes with the remark
    `assertion-dropped` of the category `fusion-input`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def LimitInputPass : Pass<"fusion-input-limit", "::mlir::ModuleOp"> {
  let summary = "Refuse programs that are larger than the compiler takes";
  let description = [{
    Input: any module, before calls are inlined. Changes nothing. Refuses
    (FUS-1014) tensors of more than 16 dimensions, ops of more than 32 loops,
    512 tensors or 4,096 ops in their body, functions of more than 4,096 tensors
    or, with their calls inlined, 50,000 ops, and programs of more than 100,000.
  }];
}

def WidenInt4Pass : Pass<"fusion-input-int4", "::mlir::func::FuncOp"> {
  let summary = "Compute on bytes instead of tensors of i4";
  let description = [{
    Input: the normal form, with tensors of i4. Output: arguments and results
    of i4 only. What is read from an argument is unpacked from its bytes
    (`fusion.int4_bytes`) by a generic that fuses with its readers; in between,
    elements are i8, and bodies truncate what they read and extend what they
    yield, so that arithmetic stays that of i4. A result is packed by a generic
    with one iteration a byte, so that no two threads write to one byte, and
    viewed as elements (`fusion.int4_elements`).
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::fusion::FusionDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def LowerTosaExtremaPass
    : Pass<"fusion-input-lower-tosa-extrema", "::mlir::func::FuncOp"> {
  let summary = "Lower maxima and minima of TOSA along a dimension";
  let description = [{
    Input: any function. Output: no `tosa.reduce_max` or `tosa.reduce_min` of
    floats is left. They become reductions that begin with an infinity, which is
    the identity; upstream's lowering begins with the largest finite number.

    ```mlir
    %m = tosa.reduce_max %x {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>
      ==>
    %init = linalg.fill ins(%minus_infinity : f32) ...
    %r = linalg.reduce { arith.maximumf } ins(%x) outs(%init) dimensions = [1]
    %m = tensor.expand_shape %r [[0, 1]] ...
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def MultiplyByReciprocalsPass
    : Pass<"fusion-input-reciprocals", "::mlir::func::FuncOp"> {
  let summary = "Make products of quotients that are equal to them";
  let description = [{
    Input: the normal form. Output: the same, where quotients by a power of two
    are products by its reciprocal, which are equal bit for bit.

    ```mlir
    %q = arith.divf %x, %c8 : bf16
      ==>
    %q = arith.mulf %x, %c0.125 : bf16
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def MultiplyPowersPass
    : Pass<"fusion-input-powers", "::mlir::func::FuncOp"> {
  let summary = "Make products of powers by small constants";
  let description = [{
    Input: the normal form. Output: the same, where powers whose exponent is a
    constant from -2 to 4 are products, and quotients of 1 by them. Types
    narrower than 32 bits have exponents from -1 to 2 only: those round once.

    ```mlir
    %p = math.fpowi %x, %c2 : f32, i64
      ==>
    %p = arith.mulf %x, %x : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ApproximateRoundedPass
    : Pass<"fusion-input-approximate", "::mlir::func::FuncOp"> {
  let summary = "Let what is rounded to fewer bits be approximated before";
  let description = [{
    Input: the normal form. Output: the same, with the flag `afn` on exponentials
    and quotients of f32 that reach nothing but numbers of 11 bits of precision or
    fewer (f16, bf16, 8-bit floats): by products, quotients, choices and sums of
    what is not negative, none of which makes a relative error larger than its
    terms' are, in one body or from one operation to the next. The rounding, of
    2^-12 or more, hides what the hardware's approximation adds, 2^-16 at most
    (docs/Numerics.md).

    ```mlir
    %e = math.exp %x : f32
    %q = arith.divf %e, %sum : f32
    %r = arith.truncf %q : f32 to bf16
      ==>
    %e = math.exp %x fastmath<afn> : f32
    %q = arith.divf %e, %sum fastmath<afn> : f32
    %r = arith.truncf %q : f32 to bf16
    ```
  }];
}

def VerifyInputPass : FunctionWisePass<"fusion-input-verify"> {
  let summary = "Refuse what cannot be compiled, each with one clear error";
  let description = [{
    Changes nothing. Run on a module, which must hold functions alone, or on one
    function of it. Every function must be one block of supported ops on ranked
    tensors and scalars of supported types, and every tensor and every loop
    nest must have fewer than 2^60 bytes and iterations, as far as static sizes
    tell. Each offence is one error with a code, its place, its cause and a
    remedy; the pass fails after all of them are reported.

    Supported element types: f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32,
    i16, i8, i4, i1. Supported ops: func (function, return), linalg, tensor, arith,
    math, fusion and tosa ops without side effects, `cf.assert`, and
    `affine.apply`, `min` and `max`. With `normal-form` the
    check is the stricter one of what the input phase promises to later phases:

    - `linalg.generic`, `linalg.fill` and, in bodies, `linalg.index`;
    - `tensor.empty`, `dim`, `pad`, `concat`, `extract_slice`, `insert_slice`,
      `expand_shape`, `collapse_shape`, `extract`, `cast`;
    - constants, and arithmetic on scalars;
    - `cf.assert` on sizes;
    - `fusion.scan`, `fusion.kernel`, `fusion.int4_bytes` and
      `fusion.int4_elements`; no other tensors of i4 than arguments and results
      of functions.
  }];
  let options = [
    Option<"normalForm", "normal-form", "bool", /*default=*/"false",
           "Check the form that the input phase ends in">
  ];
}

#endif // FUSION_PREPROCESSING_PASSES
