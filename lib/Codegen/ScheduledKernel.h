//===- ScheduledKernel.h - A kernel and its schedule ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what the emission of a kernel is told: the kernel, its
// iteration dimensions, and what the schedule decides on each.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_SCHEDULEDKERNEL_H
#define FUSION_LIB_CODEGEN_SCHEDULEDKERNEL_H

#include "fusion/Analysis/IterationSpace.h"
#include "fusion/Dialect/Fusion/FusionOps.h"

namespace mlir::fusion {

/// A kernel with what was found out and decided about it.
class ScheduledKernel {
public:
  ScheduledKernel(KernelOp op, ScheduleAttr schedule,
                  const IterationSpace &space, SymbolicShapes &shapes)
      : op(op), schedule(schedule), space(space), shapes(shapes) {}

  KernelOp getOp() const { return op; }
  Block &getBlock() const { return getOp().getBlock(); }
  InFlightDiagnostic emitError(const Twine &message) const {
    return getOp().emitError(message);
  }

  ScheduleAttr getSchedule() const { return schedule; }
  Strategy getStrategy() const { return schedule.getStrategy(); }
  MmaAttr getMma() const { return schedule.getMma(); }
  /// What is decided on iteration dimension `dim`.
  AxisAttr getDecision(unsigned dim) const { return schedule.getAxes()[dim]; }
  /// Each tile of rows has rows of one group.
  bool hasGroups() const;
  /// Dimension `dim` lives in the tiles of several blocks.
  bool isOfPanel(unsigned dim) const;
  /// A block has one granule of dimension `dim`, which it walks.
  bool walksGranules(unsigned dim) const {
    return getDecision(dim).isWalked() && getDim(dim).granule > 1;
  }
  /// Groups of warps that have as many rows of a tile each, 1 if a group has
  /// them all.
  int64_t countRowGroups() const;

  const IterationSpace &getSpace() const { return space; }
  const IterationDim &getDim(unsigned dim) const {
    return space.getDims()[dim];
  }
  /// The dimensions that a walk along `dim` runs through, which come before it
  /// and are merged with it, and their elements.
  SmallVector<unsigned> getWalkedDims(unsigned dim) const;
  AffineExpr getWalkedExtent(unsigned dim) const;

  SymbolicShapes &getShapes() const { return shapes; }
  /// Symbols that sizes are expressions of.
  unsigned getNumSymbols() const { return shapes.getSymbols().size(); }

private:
  KernelOp op;
  ScheduleAttr schedule;
  const IterationSpace &space;
  SymbolicShapes &shapes;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_SCHEDULEDKERNEL_H
