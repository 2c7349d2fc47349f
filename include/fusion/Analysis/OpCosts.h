//===- OpCosts.h - Arithmetic of scalar code --------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how much arithmetic one evaluation of a region of scalar
// ops costs.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_OPCOSTS_H
#define FUSION_ANALYSIS_OPCOSTS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"

namespace mlir::fusion {

/// Arithmetic of one evaluation: instructions that are emitted, one for a
/// multiply-add.
struct OpCost {
  /// All but those of f64, with those of the special function units.
  double instructions = 0;
  /// Those of f64.
  double doubles = 0;
  /// Those of the special function units.
  double sfu = 0;
  /// Those of `instructions` that are made once for several evaluations, and
  /// what these would be if each made its own.
  double shared = 0;
  double unshared = 0;

  OpCost &operator+=(const OpCost &other) {
    instructions += other.instructions;
    doubles += other.doubles;
    sfu += other.sfu;
    shared += other.shared;
    unshared += other.unshared;
    return *this;
  }
  OpCost operator/(double elements) const {
    return {instructions / elements, doubles / elements, sfu / elements,
            shared / elements, unshared / elements};
  }
  bool isFree() const { return instructions + doubles == 0; }
};

/// Instructions that add an element to moments; and what it takes to combine
/// those of several with what there is: with one count for all, and with counts
/// of their own, in three divisions.
constexpr double kMomentsInstructions = 4, kMomentCombination = 6,
                 kMomentDivisions = 40;
/// Besides exponentials, instructions that add an element to a sum relative to
/// a maximum that is known, and those that scale the sum so far to a new one.
constexpr double kRescaledInstructions = 3, kRescaledCombination = 5;

/// The arithmetic of one scalar op, not counting its regions. Ops that move
/// values only cost nothing.
OpCost getOpCost(Operation *op);

/// Elements of a group that a thread has side by side, at most.
constexpr double kMostNeighbours = 8;

/// The arithmetic of all ops of `region` for each element: what follows from
/// values outside is computed before, what follows from the index of a group of
/// elements once for the group, of which a thread has `neighbours` at most, and
/// an op that `countSharers` gives a number of elements, once for those.
OpCost getRegionCost(Region &region,
                     function_ref<double(Operation *)> countSharers = {},
                     double neighbours = kMostNeighbours);

/// The operations of `region` for each element, one that is done once for a
/// group of elements counted as its share.
double countOperations(Region &region);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_OPCOSTS_H
