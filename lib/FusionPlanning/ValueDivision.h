//===- ValueDivision.h - Values that are made in parts ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the division of a value between contractions into parts
// along one of its dimensions: what is made for each part, and how.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_VALUEDIVISION_H
#define FUSION_LIB_FUSIONPLANNING_VALUEDIVISION_H

#include "fusion/FusionPlanning/FusionDecision.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace mlir::fusion {

/// An operation, and the loop of it that parts are parts of.
struct DividedOp {
  linalg::LinalgOp op;
  unsigned loop;
};

/// A contraction that reads the value.
struct DividedReader {
  DividedOp product;
  /// It sums over the loop; else its result has it.
  bool isSum = false;
  /// Elementwise operations between its result and what is stored, in order,
  /// where that has the loop.
  SmallVector<DividedOp> elementwise;
};

struct ValueDivision {
  Value value;
  unsigned dim = 0;
  /// Elements along the dimension, and those of a part; the last may have
  /// fewer.
  int64_t extent = 0;
  int64_t size = 0;
  /// What is made for each part, in order; the last one gives the value.
  SmallVector<DividedOp> makers;
  SmallVector<DividedReader> readers;

  int64_t getNumParts() const { return (extent + size - 1) / size; }
};

/// The bytes of `tensor`; none where only the run knows them.
std::optional<int64_t> getStaticBytes(Value tensor);

/// Finds out how `value` is made in parts along `dim`: in as few, but at least
/// `leastParts`, as may need, with all that lies beside one of them, no more
/// than `mostBytes`. What they need is the plan's affair.
FusionDecision findDivision(Value value, unsigned dim, int64_t mostBytes,
                            int64_t leastParts, ValueDivision &division);

/// True when elements `offset` to `offset + size` of dimension `dim` of
/// `tensor` lie in one piece, at an address that tensor copies can have.
bool liesInOnePiece(RankedTensorType type, unsigned dim, int64_t offset);

/// Makes the value in parts, which get the number `number` of divided values.
/// Returns the operation that gives the last part.
Operation *makeParts(const ValueDivision &division, int64_t number);

/// Where the loops of `op` find its first result.
AffineMap getResultMap(linalg::LinalgOp op);

} // namespace mlir::fusion

#endif // FUSION_LIB_FUSIONPLANNING_VALUEDIVISION_H
