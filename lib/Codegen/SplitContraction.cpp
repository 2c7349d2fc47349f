//===- SplitContraction.cpp - Contractions split among blocks -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the parts of a contraction that the blocks which share a
// tile have, and how their sums are added up.
//
//===----------------------------------------------------------------------===//

#include "SplitContraction.h"

#include "Scratch.h"
#include "WalkBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

bool SplitContraction::share(MutableArrayRef<Reduction> group,
                             ArrayRef<unsigned> reduced,
                             DotEmitter &dots) const {
  if (!grid.clusterRank || kernel.getMma().getSplit() == 1 ||
      reduced.size() != 1)
    return false;
  SmallVector<AffineExpr> wholes;
  for (auto [number, axis] : llvm::enumerate(axes))
    wholes.push_back(builder.getAffineDimExpr(axis.whole.value_or(number)));
  std::vector<Reduction> moved(group);
  for (Reduction &member : moved) {
    for (AffineExpr &coord : member.coords)
      coord = coord.replaceDims(wholes);
    for (AffineExpr &coord : member.loopCoords)
      coord = coord.replaceDims(wholes);
    if (member.coords == group[&member - moved.data()].coords ||
        !dots.match(member, reduced.front()))
      return false;
  }
  llvm::copy(moved, group.begin());
  return true;
}

void SplitContraction::restrictToShare(scf::ForOp loop, const Axis &axis) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  int64_t parts = kernel.getMma().getSplit();
  Value share =
      builder.getSize(axis.extent.ceilDiv(axis.tile * parts) * axis.tile);
  Value begin = arith::MulIOp::create(builder, loc, grid.clusterRank, share);
  Value end = arith::AddIOp::create(builder, loc, begin, share);
  restrictWalk(builder, loop, begin, end);
}

unsigned SplitContraction::takePart(SmallVectorImpl<unsigned> &tileAxes) const {
  unsigned dim = 0;
  for (auto [number, axis] : llvm::enumerate(axes))
    for (auto [position, of] : llvm::enumerate(tileAxes))
      if (axis.whole == of) {
        of = number;
        dim = position;
      }
  return dim;
}

FailureOr<SmallVector<Value>> SplitContraction::exchangeShares(
    ValueRange sums, MutableArrayRef<SmallVector<unsigned>> sumAxes) {
  auto refuse = [&](const Twine &reason) {
    return kernel.emitError("FUS-3123: the blocks of a 'split' exchange their "
                            "sums through global memory ('apart'), but ")
           << reason;
  };
  auto blocks = dyn_cast<AffineConstantExpr>(grid.size);
  if (!blocks)
    return refuse("sizes are not known at compile time");
  if (builder.getProgram()
          .walk([](tile::GridReduceOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    return refuse("the kernel has several contractions");
  FailureOr<Scratch> scratch = makeScratch(sums, blocks.getValue(), builder);
  if (failed(scratch))
    return refuse("there are too many of them to signal to each other");
  SmallVector<Type> types;
  unsigned dim = 0;
  for (auto [sum, own] : llvm::zip(sums, sumAxes)) {
    dim = takePart(own);
    types.push_back(
        builder.getTileType(own, tile::getTileElementType(sum.getType())));
  }
  auto parts = tile::GridReduceOp::create(
      builder, loc, types, sums, scratch->slots, scratch->signals,
      grid.blockNumber, grid.clusterRank, dim);
  return llvm::to_vector_of<Value>(parts.getResults());
}

Tile SplitContraction::addShares(Tile sum) {
  Tile part = sum;
  unsigned dim = takePart(part.axes);
  Type element = tile::getTileElementType(sum.value.getType());
  part.value = tile::ClusterReduceOp::create(
      builder, loc, builder.getTileType(part.axes, element), sum.value, dim);
  return part;
}
