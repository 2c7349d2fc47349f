//===- FlattenNest.cpp - One loop of a perfect nest -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the loop that runs through a perfect nest, so that what
// a loop starts ahead runs over the ends of the inner loops.
//
//===----------------------------------------------------------------------===//

#include "LoopPipeliner.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// Whether `outer` does nothing but run `inner` and compute scalars for it.
static bool isPerfectNest(scf::ForOp outer, scf::ForOp inner) {
  for (Operation &op : outer.getBody()->without_terminator())
    if (&op != inner && (op.getNumRegions() != 0 || !isPure(&op)))
      return false;
  for (Value bound :
       {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()})
    if (!bound.getParentRegion()->isProperAncestor(&outer.getRegion()))
      return false;
  return llvm::equal(inner.getInitArgs(), outer.getRegionIterArgs()) &&
         llvm::equal(outer.getYieldedValues(), inner.getResults());
}

static Value tripCount(OpBuilder &builder, scf::ForOp loop) {
  Location loc = loop.getLoc();
  if (std::optional<APInt> trips = loop.getStaticTripCount())
    return arith::ConstantIndexOp::create(builder, loc, trips->getSExtValue());
  // An empty loop must not count as a huge one.
  Value end = arith::MaxSIOp::create(builder, loc, loop.getUpperBound(),
                                     loop.getLowerBound());
  Value length = arith::SubIOp::create(builder, loc, end, loop.getLowerBound());
  return arith::CeilDivUIOp::create(builder, loc, length, loop.getStep());
}

/// Makes one loop of the perfect nest of `outer` and `inner`.
static scf::ForOp flatten(scf::ForOp outer, scf::ForOp inner) {
  IRRewriter rewriter(outer);
  Location loc = inner.getLoc();
  Value innerTrips = tripCount(rewriter, inner);
  Value total = arith::MulIOp::create(rewriter, loc, tripCount(rewriter, outer),
                                      innerTrips);
  auto number = [&](int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  Value zero = number(0), one = number(1);
  // Positions are also computed ahead of a nest that is empty.
  Value divisor =
      getConstantIntValue(innerTrips)
          ? innerTrips
          : Value(arith::MaxUIOp::create(rewriter, loc, innerTrips, one));
  auto flat = scf::ForOp::create(
      rewriter, loc, zero, total, one, outer.getInitArgs(),
      [&](OpBuilder &builder, Location loc, Value iteration,
          ValueRange carried) {
        auto positionOf = [&](scf::ForOp loop, Value number) -> Value {
          Value distance =
              arith::MulIOp::create(builder, loc, number, loop.getStep());
          return arith::AddIOp::create(builder, loc, loop.getLowerBound(),
                                       distance);
        };
        IRMapping mapping;
        mapping.map(outer.getInductionVar(),
                    positionOf(outer, arith::DivUIOp::create(
                                          builder, loc, iteration, divisor)));
        mapping.map(inner.getInductionVar(),
                    positionOf(inner, arith::RemUIOp::create(
                                          builder, loc, iteration, divisor)));
        mapping.map(outer.getRegionIterArgs(), carried);
        mapping.map(inner.getRegionIterArgs(), carried);
        for (Operation &op : outer.getBody()->without_terminator())
          if (&op != inner)
            builder.clone(op, mapping);
        for (Operation &op : *inner.getBody())
          builder.clone(op, mapping);
      });
  rewriter.replaceOp(outer, flat.getResults());
  return flat;
}

scf::ForOp tile::flattenNest(scf::ForOp loop) {
  for (auto outer = dyn_cast<scf::ForOp>(loop->getParentOp());
       outer && isPerfectNest(outer, loop);
       outer = dyn_cast<scf::ForOp>(loop->getParentOp()))
    loop = flatten(outer, loop);
  return loop;
}
