//===- PreparedOperands.h - Operands that walks compute ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the operands of a walk's products that are functions of
// what is in memory, and what computing them costs: before the walk, or in each
// step of what that brings.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_SCHEDULING_PREPAREDOPERANDS_H
#define FUSION_LIB_SCHEDULING_PREPAREDOPERANDS_H

#include "fusion/Analysis/CascadeBody.h"
#include "fusion/Analysis/Contraction.h"
#include "fusion/Analysis/TargetInfo.h"

namespace mlir::fusion {

/// Elements of 16 bits that one instruction contracts, and rows of shared
/// memory have that it takes either way, at least.
constexpr int64_t kLeastWidth = 16;

/// A contraction of the walk, its dimensions those of the body.
struct WalkProduct {
  Contraction sum;
  unsigned instance;
  /// The dimension that it contracts.
  unsigned depth = 0;
};

/// Rows of a block's tile, and what a step walks.
struct WalkTile {
  int64_t rows, steps;
};

/// An operand of a product that is computed.
struct PreparedOperand {
  /// The contraction, and which of its operands it is.
  unsigned product = 0, side = 0;
  /// Instances that compute it, the contraction where it converts itself, and
  /// what these read.
  SmallVector<unsigned> instances;
  SmallVector<const BodyAccess *> accesses;
  /// The dimensions of its tile: its own one and the contracted one.
  unsigned own = 0, depth = 0;
  Type element;
  /// Each step computes it; else it is computed before the walk.
  bool isOfStep = false;
};

/// Seconds that a multiprocessor takes for so many instructions, each of which
/// takes `clocks` of a scheduler.
double getIssueSeconds(double instructions, double clocks,
                       const TargetInfo &target);

/// All such operands of a walk.
class PreparedOperands {
public:
  PreparedOperands(const KernelBody &body, const CascadeBody &cascade,
                   const TargetInfo &target)
      : body(body), cascade(cascade), target(target) {}

  /// Finds those of `inner`, whose rows are of dimension `rowDim`, and those of
  /// `outer` that come from memory, whose columns are of `columnDim`.
  void find(ArrayRef<WalkProduct> inner, ArrayRef<WalkProduct> outer,
            unsigned rowDim, unsigned columnDim);
  /// Operand `side` of contraction `product`, if it is computed.
  const PreparedOperand *get(unsigned product, unsigned side) const;
  bool areOfSteps() const {
    return llvm::any_of(
        all, [](const PreparedOperand &operand) { return operand.isOfStep; });
  }
  /// Instance `id` computes one of them.
  bool isPreparing(unsigned id) const;
  /// Warpgroups can have `operand`, if a step computes it: copies bring a tile
  /// that it is computed of.
  bool hasCopies(const PreparedOperand &operand) const;

  /// Seconds of a block before the walk.
  double getHeldSeconds(const WalkTile &tile) const;
  /// Seconds of a step that are left beside its products, which take so long.
  double getExposedSeconds(const WalkTile &tile, double products) const;
  /// Registers that say where what is read before a walk lies.
  int64_t countHeldPlaces() const;
  /// Registers of elements that are between both types.
  static constexpr double kBetween = 24;
  /// Registers of each of so many threads before a walk, where all that is read
  /// is there at a time.
  double countHeldRegisters(const WalkTile &tile, double threads) const;
  /// The same of one that a step computes.
  double countStepRegisters(const WalkTile &tile, double threads) const;
  /// Bytes of the buffers of those that steps compute.
  double countBytes(const WalkTile &tile) const;
  /// What is copied to compute `operand`, for each element that is walked.
  double countSourceBytes(const WalkTile &tile,
                          const PreparedOperand &operand) const;

private:
  std::optional<PreparedOperand> match(const WalkProduct &product,
                                       unsigned side, unsigned own) const;
  /// The lookup that `instance` is, if it is one.
  std::optional<Lookup> getLookup(const BodyInstance &instance) const;
  /// Elements that a block has of `mask` at a time.
  double countElements(const WalkTile &tile, DimMask mask) const;
  double countElements(const WalkTile &tile,
                       const PreparedOperand &operand) const {
    return countElements(tile, DimMask(1) << operand.own |
                                   DimMask(1) << operand.depth);
  }
  double getSeconds(const WalkTile &tile, const PreparedOperand &operand) const;

  const KernelBody &body;
  const CascadeBody &cascade;
  const TargetInfo &target;
  std::vector<PreparedOperand> all;
  unsigned row = 0, column = 0;
  /// What inner contractions contract.
  DimMask depths = 0;
  /// The share of a step's products that the inner ones are.
  double innerShare = 0;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_SCHEDULING_PREPAREDOPERANDS_H
