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
  for (auto [member, before] : llvm::zip_equal(moved, group)) {
    for (AffineExpr &coord : member.coords)
      coord = coord.replaceDims(wholes);
    for (AffineExpr &coord : member.loopCoords)
      coord = coord.replaceDims(wholes);
    bool isOfRows = before.reducesTiles && member.coords == before.coords;
    if (!isOfRows && (member.coords == before.coords ||
                      !dots.match(member, reduced.front())))
      return false;
  }
  llvm::copy(moved, group.begin());
  return true;
}

void SplitContraction::restrictToShare(scf::ForOp loop, const Axis &axis,
                                       bool limited) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  int64_t parts = kernel.getMma().getSplit();
  if (!limited) {
    Value share =
        builder.getSize(axis.extent.ceilDiv(axis.tile * parts) * axis.tile);
    Value begin = arith::MulIOp::create(builder, loc, grid.clusterRank, share);
    Value end = arith::AddIOp::create(builder, loc, begin, share);
    restrictWalk(builder, loop, begin, end);
    return;
  }
  // Whole steps of what is left, which may be nothing.
  Value begin = loop.getLowerBound();
  Value length = arith::MaxSIOp::create(
      builder, loc,
      arith::SubIOp::create(builder, loc, loop.getUpperBound(), begin),
      builder.createIndex(0));
  Value steps = arith::CeilDivUIOp::create(
      builder, loc, length, builder.createIndex(axis.tile * parts));
  Value share = arith::MulIOp::create(builder, loc, steps,
                                      builder.createIndex(axis.tile));
  begin = arith::AddIOp::create(
      builder, loc, begin,
      arith::MulIOp::create(builder, loc, grid.clusterRank, share));
  restrictWalk(builder, loop, begin,
               arith::AddIOp::create(builder, loc, begin, share));
}

std::optional<unsigned>
SplitContraction::takePart(SmallVectorImpl<unsigned> &tileAxes) const {
  std::optional<unsigned> dim;
  for (auto [number, axis] : llvm::enumerate(axes))
    for (auto [position, of] : llvm::enumerate(tileAxes))
      if (axis.whole == of) {
        of = number;
        dim = position;
      }
  return dim;
}

FailureOr<Scratch> SplitContraction::makeExchange(int64_t slotBytes) {
  auto refuse = [&](const Twine &reason) {
    return kernel.emitError("FUS-3123: the blocks of a 'split' exchange their "
                            "sums through global memory ('apart'), but ")
           << reason;
  };
  auto blocks = dyn_cast<AffineConstantExpr>(grid.size);
  if (!blocks)
    return refuse("sizes are not known at compile time");
  if (builder.getProgram()
          .walk([](Operation *op) {
            return isa<tile::GridReduceOp, tile::GridGatherOp>(op)
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted())
    return refuse("the kernel has several contractions");
  FailureOr<Scratch> scratch =
      makeScratch(slotBytes, blocks.getValue(), builder);
  if (failed(scratch))
    return refuse("there are too many of them to signal to each other");
  return scratch;
}

FailureOr<SmallVector<Value>> SplitContraction::exchangeShares(
    ValueRange sums, MutableArrayRef<SmallVector<unsigned>> sumAxes) {
  FailureOr<Scratch> scratch = makeExchange(countBytes(sums));
  if (failed(scratch))
    return failure();
  SmallVector<Type> types;
  unsigned dim = 0;
  for (auto [sum, own] : llvm::zip(sums, sumAxes)) {
    dim = takePart(own).value_or(dim);
    types.push_back(
        builder.getTileType(own, tile::getTileElementType(sum.getType())));
  }
  auto parts = tile::GridReduceOp::create(
      builder, loc, types, sums, scratch->slots, scratch->signals,
      grid.blockNumber, grid.clusterRank, dim);
  return llvm::to_vector_of<Value>(parts.getResults());
}

FailureOr<SmallVector<Value>>
SplitContraction::gatherShares(ValueRange sums,
                               MutableArrayRef<SmallVector<unsigned>> sumAxes,
                               unsigned &gathered) {
  if (!kernel.getMma().getApart())
    return kernel.emitError("FUS-3123: the blocks of a cluster share a walk "
                            "whose sums are repaired; only blocks that are no "
                            "cluster ('apart') can");
  int64_t parts = kernel.getMma().getSplit(), bytes = 0;
  Axis others{std::nullopt, builder.getAffineConstantExpr(parts), parts,
              Value(), builder.getScopes().getDepth()};
  others.exact = true;
  gathered = axes.add(others);
  SmallVector<Type> types;
  SmallVector<int64_t> dims;
  for (auto [sum, own] : llvm::zip(sums, sumAxes)) {
    std::optional<unsigned> dim = takePart(own);
    dims.push_back(dim ? static_cast<int64_t>(*dim) : -1);
    Type element = tile::getTileElementType(sum.getType());
    if (dim) {
      // Each thread has an element of every part.
      int64_t threads = kernel.getSchedule().getWarps() * kWarpThreads;
      int64_t part = ShapedType::getNumElements(
          tile::getTileShape(builder.getTileType(own, element)));
      bytes += countBytes(sum) / part * std::max(part, threads);
    } else {
      // Each lane of a warp may have all of a row.
      bytes += countBytes(sum) * kWarpThreads;
    }
    own.push_back(gathered);
    types.push_back(builder.getTileType(own, element));
  }
  FailureOr<Scratch> scratch = makeExchange(bytes);
  if (failed(scratch))
    return failure();
  auto shares = tile::GridGatherOp::create(
      builder, loc, types, sums, scratch->slots, scratch->signals,
      grid.blockNumber, grid.clusterRank, dims);
  return llvm::to_vector_of<Value>(shares.getResults());
}

Tile SplitContraction::addShares(Tile sum) {
  Tile part = sum;
  unsigned dim = takePart(part.axes).value_or(0);
  Type element = tile::getTileElementType(sum.value.getType());
  part.value = tile::ClusterReduceOp::create(
      builder, loc, builder.getTileType(part.axes, element), sum.value, dim);
  return part;
}
