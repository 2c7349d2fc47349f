//===- ScheduledKernel.cpp - A kernel and its schedule --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what the schedule of a kernel means for its dimensions.
//
//===----------------------------------------------------------------------===//

#include "ScheduledKernel.h"

using namespace mlir;
using namespace mlir::fusion;

bool ScheduledKernel::hasGroups() const {
  return llvm::any_of(schedule.getAxes(), [](AxisAttr axis) {
    return axis.getKind() == AxisKind::Group;
  });
}

bool ScheduledKernel::isOfPanel(unsigned dim) const {
  AxisAttr axis = getDecision(dim);
  if (axis.getSplit() > 1)
    return true;
  std::optional<int64_t> extent = getDim(dim).getStaticExtent();
  return (getStrategy() == Strategy::Contraction ||
          getStrategy() == Strategy::Reduction) &&
         axis.getKind() == AxisKind::Full && extent && *extent > axis.getTile();
}

int64_t ScheduledKernel::countRowGroups() const {
  MmaAttr mma = getMma();
  int64_t groups = mma ? mma.getGroups() : 1;
  // Columns come after rows.
  for (AxisAttr axis : schedule.getAxes())
    if (!llvm::isPowerOf2_64(axis.getTile()))
      return axis.getTile() % groups == 0 &&
                     llvm::isPowerOf2_64(axis.getTile() / groups)
                 ? groups
                 : 1;
  return 1;
}

SmallVector<unsigned> ScheduledKernel::getWalkedDims(unsigned dim) const {
  SmallVector<unsigned> dims{dim};
  if (getStrategy() == Strategy::Reduction || getDecision(dim).isWalked())
    while (dims.back() > 0 &&
           getDecision(dims.back() - 1).getKind() == AxisKind::Merged)
      dims.push_back(dims.back() - 1);
  std::reverse(dims.begin(), dims.end());
  return dims;
}

AffineExpr ScheduledKernel::getWalkedExtent(unsigned dim) const {
  AffineExpr extent = getAffineConstantExpr(1, schedule.getContext());
  for (unsigned walked : getWalkedDims(dim))
    extent = extent * getDim(walked).extent;
  return extent;
}
