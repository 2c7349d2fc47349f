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

def PromoteFloatsPass
    : Pass<"fusion-reference-promote-floats", "::mlir::ModuleOp"> {
  let summary = "Compute in f64 whatever the program computes in a float type";
  let description = [{
    Replaces every float type by f64: signatures, values, block arguments and
    constants, which keep the value they were rounded to. `arith.extf` and
    `arith.truncf` between floats vanish, so a rounding that the program
    declares is not made. Conversions from and to integers stay. A
    `arith.bitcast` between a float and an integer sees the bits of the
    declared type: the value is rounded to it first, and widened afterwards.

    Runs on tensors, before bufferization; fails on float types inside types
    that it does not know (vectors, complex numbers).
  }];
  let dependentDialects = ["arith::ArithDialect"];
}

def RoundFactorsPass
    : Pass<"fusion-reference-round-factors", "::mlir::ModuleOp"> {
  let summary = "Round the factors of products to tf32 where that is allowed";
  let description = [{
    The f32 operands of products that `fusion.tf32` stands on, or on a function
    or module around them, are rounded to 10 bits of mantissa, to nearest, ties
    away from zero, as tensor cores are fed.
  }];
  let dependentDialects = ["arith::ArithDialect", "linalg::LinalgDialect",
                           "tensor::TensorDialect"];
}

def LegalizeFloatsPass
    : Pass<"fusion-reference-legalize-floats", "::mlir::ModuleOp"> {
  let summary = "Express conversions of f8 and f16 by calls of the reference";
  let description = [{
    LLVM has no f8 types, and converts f16 on a CPU without F16C by calls of a
    library that need not be there. Scalar `arith.extf` and `arith.truncf` from
    and to these types become calls of functions that the reference registers
    with its JIT. Arithmetic must have been moved to f32 before
    (`arith-emulate-unsupported-floats`).
  }];
  let dependentDialects = ["arith::ArithDialect", "func::FuncDialect"];
  let options = [
    Option<"nativeF16", "native-f16", "bool", /*default=*/"false",
           "Leave the conversions between f16 and f32 to LLVM">
  ];
}

def DecomposeForLoopsPass
    : Pass<"fusion-reference-decompose", "::mlir::ModuleOp"> {
  let summary = "Break up tensor ops that have no loop form of their own";
  let description = [{
    Decomposes aggregate linalg ops (softmax), pads, packs and concatenations
    into structured ops and slices.
  }];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "linalg::LinalgDialect", "tensor::TensorDialect"];
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

def MathToCallsPass : Pass<"fusion-reference-math-to-calls", "::mlir::ModuleOp"> {
  let summary = "Call the C library for math functions";
  let description = [{
    Like `convert-math-to-libm`, but leaves the ops for which LLVM has exact
    code, such as the absolute value of an integer. It runs before
    `convert-math-to-llvm`, whose expansions of some functions are inaccurate.
  }];
  let dependentDialects = ["func::FuncDialect", "vector::VectorDialect"];
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
