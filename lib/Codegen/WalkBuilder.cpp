//===- WalkBuilder.cpp - Loops along axes ---------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the loops along axes, and the bound on how many terms of
// a sum in f32 a thread adds up one after the other: each addition rounds by as
// much as all terms before it weigh. A loop with more steps becomes two, of
// which the inner one begins a sum of its own and the outer one adds these up:
//
//   for i in 0 .. n step 512 t:         (was: for k in 0 .. n step t:
//     part = 0                                   sum += x[k])
//     for k in i .. min(i + 512 t, n) step t:
//       part += x[k]
//     sum += part
//
// docs/Numerics.md states the bound.
//
//===----------------------------------------------------------------------===//

#include "WalkBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

unsigned WalkBuilder::openLoop(AffineExpr extent, ValueRange inits,
                               scf::ForOp *loop) {
  unsigned axis = axes.add({std::nullopt, extent, /*tile=*/1});
  scf::ForOp opened = openLoopOn(axis, inits);
  if (loop)
    *loop = opened;
  return axis;
}

scf::ForOp WalkBuilder::openLoopOn(unsigned number, ValueRange inits) {
  Axis &axis = axes[number];
  auto [begin, end, step] = getWalk(axis);
  auto loop = scf::ForOp::create(builder, loc, begin, end, step, inits);
  scopes.enter(loop);
  axis.offset = loop.getInductionVar();
  axis.depth = scopes.getDepth();
  axis.lead = axis.dim ? rowStarts.getMostLead(*axis.dim) : 0;
  axis.exact = isExact(axis);
  if (axis.dim)
    axes.bind(*axis.dim, number);
  if (int64_t stages = getStages(axis); stages > 1)
    loop->setAttr(tile::kNumStagesAttrName, builder.getI64IntegerAttr(stages));
  return loop;
}

scf::ForOp WalkBuilder::closeLoop(ValueRange yielded) {
  scf::ForOp loop = scopes.leave(loc, yielded);
  axes.unbindFrom(scopes.getDepth() + 1);
  return loop;
}

bool WalkBuilder::isExact(const Axis &axis) const {
  // Parts of runs end anywhere.
  if (axis.ofRun)
    return false;
  int64_t lead = axis.dim ? rowStarts.getMostLead(*axis.dim) : 0;
  return axis.piece == Piece::Whole ||
         (lead == 0 && tilesExactly(axis.extent, axis.step()));
}

int64_t WalkBuilder::getStages(const Axis &axis) const {
  bool isOfChunks = axis.dim &&
                    (axis.tile > 1 || kernel.walksGranules(*axis.dim)) &&
                    (axis.piece == Piece::All || axis.piece == Piece::Whole);
  return isOfChunks ? kernel.getDecision(*axis.dim).getStages() : 1;
}

bool WalkBuilder::hasPart(const Axis &axis) const {
  const Panel *panel = panels.getPanel();
  return panel && panel->begin && axis.dim == panel->dim;
}

WalkBuilder::WalkBounds WalkBuilder::getWalk(const Axis &axis) {
  if (axis.ofRun)
    return {builder.createIndex(0), builder.createIndex(axes.getRun()->length),
            builder.createIndex(axis.tile)};
  if (Value lead = rowStarts.getLead(axis))
    return getLeadingWalk(axis, lead);
  bool isPart = hasPart(axis);
  Value begin = isPart ? panels.getPanel()->begin
                       : arith::ConstantIndexOp::create(builder, loc, 0);
  Value end = isPart ? panels.getPanel()->end : builder.getSize(axis.extent);
  Value step = arith::ConstantIndexOp::create(builder, loc, axis.step());
  if (axis.dim && kernel.walksGranules(*axis.dim)) {
    const GranuleAxes &own = axes.getGranules().find(*axis.dim)->second;
    return {own.begin, own.end, step};
  }
  if (axis.piece == Piece::All || axis.piece == Piece::Ends)
    return {begin, end, step};
  Value whole =
      builder.getSize(axis.extent.floorDiv(axis.step()) * axis.step());
  if (axis.piece == Piece::Rest)
    return {isPart ? arith::MaxUIOp::create(builder, loc, begin, whole) : whole,
            end, step};
  return {begin,
          isPart ? arith::MinUIOp::create(builder, loc, end, whole) : whole,
          step};
}

WalkBuilder::WalkBounds WalkBuilder::getLeadingWalk(const Axis &axis,
                                                    Value lead) {
  bool isPart = hasPart(axis);
  Value step = arith::ConstantIndexOp::create(builder, loc, axis.step());
  Value begin = isPart ? panels.getPanel()->begin
                       : arith::ConstantIndexOp::create(builder, loc, 0);
  Value end = builder.getSize(axis.extent);
  begin = arith::SubIOp::create(builder, loc, begin, lead);
  if (isPart) {
    Value past =
        arith::SubIOp::create(builder, loc, panels.getPanel()->past, lead);
    end = arith::MinSIOp::create(builder, loc, end, past);
  }
  if (axis.piece == Piece::All)
    return {begin, end, step};
  // To the last tile, a multiple of steps, which may be the first one.
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value length = arith::SubIOp::create(
      builder, loc, arith::SubIOp::create(builder, loc, end, begin), one);
  Value steps = arith::DivSIOp::create(builder, loc, length, step);
  Value toLast = arith::MulIOp::create(builder, loc, steps, step);
  if (axis.piece == Piece::Ends)
    return {begin, end, arith::MaxSIOp::create(builder, loc, toLast, step)};
  return {arith::AddIOp::create(builder, loc, begin, step),
          arith::AddIOp::create(builder, loc, begin, toLast), step};
}

SmallVector<Piece, 2> WalkBuilder::getPieces(unsigned dim, int64_t step,
                                             bool inOrder) {
  AffineExpr extent = kernel.getWalkedExtent(dim);
  auto known = dyn_cast<AffineConstantExpr>(extent);
  bool isCut = (kernel.getStrategy() == Strategy::Reduction ||
                kernel.getStrategy() == Strategy::Scan) &&
               axes.getStrips().empty() && axes.getGranules().empty() &&
               !tilesExactly(extent, step) &&
               (!known || known.getValue() > step);
  if (isCut && rowStarts.getMostLead(dim) > 0)
    return inOrder ? SmallVector<Piece, 2>{Piece::All}
                   : SmallVector<Piece, 2>{Piece::Ends, Piece::Whole};
  if (isCut)
    return {Piece::Whole, Piece::Rest};
  return {Piece::All};
}

void mlir::fusion::restrictWalk(OpBuilder &builder, scf::ForOp loop,
                                Value begin, Value end) {
  loop.setLowerBound(begin);
  loop.setUpperBound(arith::MinUIOp::create(builder, loop.getLoc(), end,
                                            loop.getUpperBound()));
}

//===----------------------------------------------------------------------===//
// Sums of many terms
//===----------------------------------------------------------------------===//

/// Terms that one sum takes before another one begins: where there are no more
/// than these nothing is divided, nor are more registers wanted.
static constexpr int64_t kTerms = 512;

SmallVector<int64_t>
mlir::fusion::divideSums(ArrayRef<std::optional<int64_t>> trips,
                         int64_t terms) {
  SmallVector<int64_t> steps(trips.size(), 0);
  for (unsigned i = trips.size(); i-- > 0;) {
    if (trips[i] && *trips[i] <= kTerms / terms) {
      terms *= std::max<int64_t>(*trips[i], 1);
      continue;
    }
    // As many terms in a part as there are parts, where both are known.
    int64_t most = kTerms, all;
    if (trips[i] && !llvm::MulOverflow(terms, *trips[i], all))
      most = std::max(
          most, int64_t(1) << llvm::divideCeil(llvm::Log2_64_Ceil(all), 2));
    steps[i] = std::max<int64_t>(most / terms, 1);
    terms = trips[i] ? llvm::divideCeil(*trips[i], steps[i]) : 1;
  }
  return steps;
}

scf::ForOp WalkBuilder::openParts(unsigned axis, int64_t steps,
                                  ValueRange sums) {
  auto [begin, end, step] = getWalk(axes[axis]);
  Value length = builder.createIndex(axes[axis].tile * steps);
  auto parts = scf::ForOp::create(builder, loc, begin, end, length, sums);
  scopes.enter(parts);
  return parts;
}

void WalkBuilder::restrictToPart(scf::ForOp loop, scf::ForOp parts) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  Value begin = parts.getInductionVar();
  Value end = arith::AddIOp::create(builder, loc, begin, parts.getStep());
  restrictWalk(builder, loop, begin, end);
}
