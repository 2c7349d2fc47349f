//===- Lookups.h - Tensors whose places data choose -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the analysis of operations that only look elements up: in
// another tensor, at coordinates that are affine in the loops but for those
// that tables hold.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_LOOKUPS_H
#define FUSION_ANALYSIS_LOOKUPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fusion {

/// A tensor whose elements are those of another one.
struct Lookup {
  linalg::GenericOp op;
  /// Where the elements lie.
  Value source;
  /// Their coordinates there over the loops, which are those of the result's
  /// dimensions; null for those that tables hold.
  SmallVector<AffineExpr> coords;
  /// The tensors that hold coordinates.
  SmallVector<Value, 2> tables;
  /// For each loop, how many elements along it, from a multiple of that number
  /// on, tables send to the same place, from where on they lie side by side;
  /// zero where that are all of them.
  SmallVector<int64_t> runs;

  /// The loop along which neighbours in memory lie; none where these are torn
  /// apart.
  std::optional<unsigned> getFastest() const;
};

/// The lookup that `tensor` is the result of, if it is one.
std::optional<Lookup> matchLookup(Value tensor);

/// Rows that one tensor copy brings, at least: those that a swizzle repeats
/// after.
constexpr int64_t kLeastRun = 8;

/// True when copies of several elements along `loop` at a time can bring what
/// `lookup` gives: as many as a power of two.
bool hasCopiedRuns(const Lookup &lookup, unsigned loop);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_LOOKUPS_H
