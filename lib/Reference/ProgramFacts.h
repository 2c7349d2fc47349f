//===- ProgramFacts.h - What rounding can do to a program -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the analyses that tell which results of a function may
// depend on how floats were rounded, and how coarsely it rounds.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_PROGRAMFACTS_H
#define FUSION_LIB_REFERENCE_PROGRAMFACTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace mlir::fusion {

/// For each result of `function`: whether an op that makes an integer or a
/// boolean from a float is among the ops that it is computed from. Errs on the
/// side of true.
std::vector<bool> findFloatDerivedResults(func::FuncOp function);

/// For each result of `function`: the distance from 1 to the next number of the
/// narrowest float type that an op on the way to it rounds to; 2^-52 where
/// there is none. What is only read or moved in a narrow type does not count.
std::vector<double> findCoarsestEpsilons(func::FuncOp function);

/// For each result of `function`: how far the sums of products on the way to it
/// may be off when tensor cores make them, relative to the root mean square of
/// the sums; 0 where they cannot.
std::vector<double> findSumErrors(func::FuncOp function);

} // namespace mlir::fusion

#endif // FUSION_LIB_REFERENCE_PROGRAMFACTS_H
