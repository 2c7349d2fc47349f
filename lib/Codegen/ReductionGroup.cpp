//===- ReductionGroup.cpp - Reductions that share loops -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of reductions that are emitted together:
// those along the same dimensions that do not need each other, and the parts of
// a tile which is no power of two.
//
//===----------------------------------------------------------------------===//

#include "ReductionGroup.h"

#include "BodyEvaluator.h"
#include "Coordinates.h"
#include "fusion/Analysis/Cascades.h"

using namespace mlir;
using namespace mlir::fusion;

SmallVector<unsigned>
mlir::fusion::getReducedDims(linalg::LinalgOp op,
                             const ScheduledKernel &kernel) {
  SmallVector<unsigned> dims, loops;
  op.getReductionDims(loops);
  for (unsigned loop : loops) {
    unsigned dim = kernel.getSpace().getDimOfLoop(op, loop);
    if (kernel.getDecision(dim).getKind() != AxisKind::Group)
      dims.push_back(dim);
  }
  return dims;
}

void mlir::fusion::addSiblings(std::vector<Reduction> &group,
                               const GroupedTiles &groups,
                               const TileAxes &axes) {
  const ScheduledKernel &kernel = axes.getKernel();
  linalg::LinalgOp first = group.front().op;
  FailureOr<Coords> plain = getPlainCoords(first->getResult(0), axes);
  if (failed(plain) || *plain != group.front().coords)
    return;
  SmallVector<unsigned> dims = getReducedDims(first, kernel);
  for (auto op : kernel.getBlock().getOps<linalg::LinalgOp>()) {
    if (op == first || op.getNumReductionLoops() == 0 ||
        getReducedDims(op, kernel) != dims)
      continue;
    SmallVector<Operation *> members;
    for (const Reduction &member : group)
      members.push_back(member.op);
    bool entangled = needsAny(op, members);
    for (Operation *member : members)
      entangled |= needsAny(member, op.getOperation());
    FailureOr<Coords> coords = getPlainCoords(op->getResult(0), axes);
    if (entangled || failed(coords) ||
        axes.getAxesOf(*coords) != axes.getAxesOf(group.front().coords) ||
        axes.getDepth(*coords) != axes.getDepth(group.front().coords))
      continue;
    FailureOr<Coords> loopCoords = bindLoops(op, 0, *coords);
    if (failed(loopCoords))
      continue;
    if (std::optional<Reduction> sibling =
            makeReduction(op, *coords, *loopCoords, groups))
      group.push_back(*sibling);
  }
}

void mlir::fusion::addParts(std::vector<Reduction> &group,
                            const TileAxes &axes) {
  ArrayRef<unsigned> parts = axes.getParts();
  auto here = llvm::find_if(
      parts, [&](unsigned part) { return isUsed(group.front().coords, part); });
  if (here == parts.end())
    return;
  MLIRContext *context = axes.getKernel().getSchedule().getContext();
  AffineExpr from = getAffineDimExpr(*here, context);
  std::vector<Reduction> present(group);
  for (unsigned part : parts) {
    if (part == *here)
      continue;
    AffineExpr to = getAffineDimExpr(part, context);
    for (Reduction member : present) {
      for (Coords *coords : {&member.coords, &member.loopCoords})
        for (AffineExpr &coord : *coords)
          if (coord)
            coord = coord.replace(from, to);
      group.push_back(member);
    }
  }
}
