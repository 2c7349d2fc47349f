//===- DivideValues.h - Large values in parts -------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the bound on what is stored between kernels: a value that
// contractions read, and that is larger, is made in parts.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_DIVIDEVALUES_H
#define FUSION_FUSIONPLANNING_DIVIDEVALUES_H

#include "fusion/FusionPlanning/PricedRewrites.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fusion {

/// True when `product` reads what `func` computes and what may be made in
/// parts, as it is larger than `mostBytes`: how it lies in memory is a matter
/// of the parts then.
bool readsLargeValue(linalg::LinalgOp product, int64_t mostBytes);

/// True for an operation of a part of a value.
bool isOfPart(Operation *op);

/// Makes one value that the plan of `func` stores, and that is larger than
/// `mostBytes`, in parts, which get the number `number` of divided values;
/// notes it in `entries`. Returns false where there is no such value that can
/// be made in parts; `refused` is then why.
bool divideValue(FunctionOpInterface func, const TargetInfo &target,
                 const PlanOptions &options, int64_t mostBytes, int64_t number,
                 RewriteEntries &entries, RewriteEntries &refused);

/// True where a plan of `func` stores a value that products read and that is
/// larger than `mostBytes`, also where operands are laid out anew for them.
bool storesLargeValue(FunctionOpInterface func, const TargetInfo &target,
                      const PlanOptions &options, int64_t mostBytes);

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_DIVIDEVALUES_H
