//===- Passes.td - Passes of the CPU reference -------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the passes that turn a tensor program into CPU code for
// the reference that results are checked against.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_PASSES
#define FUSION_REFERENCE_PASSES

include "mlir/Pass/PassBase.td"

def BoundFloatsPass
    : Pass<"fusion-reference-bound-floats", "::mlir::ModuleOp"> {
  let summary = "Carry a bound on its error with every float";
  let description = [{
    Makes every float, and every integer that derives from floats, a
    `complex<f64>`: the value, and how far a correct implementation of the
    program may be from it (fusion/Reference/Bounded.h). Scalar operations
    become calls of functions that the reference registers with its JIT; each
    rounds to the type that the program declares. Sums over reduction loops
    keep what is needed to bound their error in any order.

    Runs on tensors, before bufferization, once structured ops are
    `linalg.generic`; fails on float types inside types that it does not know
    (vectors, complex numbers).
  }];
  let dependentDialects = ["arith::ArithDialect", "complex::ComplexDialect",
                           "func::FuncDialect", "linalg::LinalgDialect",
                           "math::MathDialect", "tensor::TensorDialect"];
}

def ElementwiseToGenericPass
    : Pass<"fusion-reference-elementwise", "::mlir::ModuleOp"> {
  let summary = "Make generics of elementwise ops, and fold nothing";
  let description = [{
    As `convert-elementwise-to-linalg`, which folds: x xor x on a tensor of
    dynamic sizes becomes a constant that no size is known of. Slices that drop
    dimensions become slices of full rank and reshapes, since upstream does not
    always drop the same ones.
  }];
  let dependentDialects = ["linalg::LinalgDialect", "tensor::TensorDialect"];
}

def DecomposeForLoopsPass
    : Pass<"fusion-reference-decompose", "::mlir::ModuleOp"> {
  let summary = "Break up tensor ops that have no loop form of their own";
  let description = [{
    Decomposes pads, packs and concatenations into structured ops and slices,
    and makes all structured ops generics.
  }];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "linalg::LinalgDialect", "tensor::TensorDialect"];
}

def FirstNaNPass : Pass<"fusion-reference-first-nan", "::mlir::ModuleOp"> {
  let summary = "Let what belongs to a maximum that is NaN be that of the NaN";
  let description = [{
    A reduction may keep a maximum by `arith.maximumf`, which is NaN where an
    element is, and its place by `arith.cmpf ogt`, which is false for NaN: one
    after the other, the place is that of the greatest element before the first
    NaN. Fusion promises the place of the first NaN instead (docs/Numerics.md),
    which does not depend on how elements are grouped. The comparison is
    replaced by one that is true for the first NaN.
  }];
  let dependentDialects = ["arith::ArithDialect"];
}

def RepairedSumsPass
    : Pass<"fusion-reference-repaired-sums", "::mlir::ModuleOp"> {
  let summary = "Let factors of repaired sums be rounded as a walk rounds them";
  let description = [{
    A contraction of weights relative to a maximum, or divided by a sum, as a
    softmax is, may be made while both are still looked for
    (docs/Rationale/Cascades.md). What the program rounds of the weights is then
    rounded relative to other numbers: these roundings, and the contraction, get
    the attribute `repaired`.
  }];
}

def TotalDivisionPass
    : Pass<"fusion-reference-total-division", "::mlir::ModuleOp"> {
  let summary = "Keep integer division from trapping";
  let description = [{
    Integer division by zero, and of the least integer by -1, is undefined in
    the program and a trap on the CPU, while a GPU returns some number and goes
    on. A program may well divide and select the quotient away afterwards. The
    divisor is replaced by 1 in these cases: no trap, and the same result
    wherever the result is defined.
  }];
  let dependentDialects = ["arith::ArithDialect"];
}

def OrderLoopsPass : Pass<"fusion-reference-order-loops", "::mlir::ModuleOp"> {
  let summary = "Make the innermost loop of a linalg op walk contiguous memory";
  let description = [{
    Interchanges the loops of each `linalg.generic` so that the innermost one
    is a parallel loop along which most operands are contiguous, where there
    is a better one than the declared innermost loop. The order of the
    reduction loops among each other, and with it every sum, stays as declared.
  }];
  let dependentDialects = ["linalg::LinalgDialect"];
}

def PrepareBuffersPass
    : Pass<"fusion-reference-prepare-buffers", "::mlir::ModuleOp"> {
  let summary = "Rewrite reshapes and slices that bufferization gets wrong";
  let description = [{
    A slice gets a buffer of its own: results, and operands of formulas, have
    the identity layout, and bufferization takes the strides of a slice of
    dynamic sizes for those of a dense buffer, since both are unknown.

    The result of collapsing a dimension of size 0 with one of dynamic size is
    a new, empty tensor: there is no such reshape of buffers.
  }];
  let dependentDialects = ["arith::ArithDialect",
                           "bufferization::BufferizationDialect"];
}

def CopiesToLoopsPass
    : Pass<"fusion-reference-copies-to-loops", "::mlir::ModuleOp"> {
  let summary = "Copy strided memory by linalg ops";
  let description = [{
    `memref.copy` between buffers of other than the identity layout would become
    the call of a function of a library that need not be there.
  }];
  let dependentDialects = ["linalg::LinalgDialect"];
}

#endif // FUSION_REFERENCE_PASSES
