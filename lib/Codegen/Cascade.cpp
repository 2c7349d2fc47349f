//===- Cascade.cpp - Reductions that share a sequential walk --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the repair of sums whose elements depend on a maximum or
// minimum so far. In each step of the walk, for a softmax and what it weighs:
//
//   m' = max(m, max of the tile)
//   l  = l e^(m - m') + sum of the tile's e^(x - m')
//   o  = o e^(m - m') + products of the tile's e^(x - m')
//
// Where m' is still the identity of the combination, an infinity, zero stands
// for it: elements are then zero times whatever they weigh, as they should be.
//
//===----------------------------------------------------------------------===//

#include "Cascade.h"

#include "BodyEvaluator.h"
#include "Coordinates.h"
#include "ReductionGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

/// What repairs `member` when results of `earlier` change, the reductions of
/// `group`.
static FailureOr<SmallVector<Reduction::Link>>
getLinks(const Reduction &member, ArrayRef<Reduction> group) {
  SmallVector<linalg::LinalgOp> earlier;
  for (const Reduction &other : group)
    earlier.push_back(other.op);
  FailureOr<CascadeLinks> found = matchRepairs(member.op, earlier);
  // Planning applies factors of the whole sum to it.
  if (failed(found) || !found->deferrals.empty())
    return failure();
  SmallVector<Reduction::Link> links;
  for (Repair &repair : found->repairs) {
    Operation *source = repair.source.tensor.getDefiningOp();
    unsigned number = llvm::find(earlier, source) - earlier.begin();
    // The rows that are repaired are those that the result is of.
    for (auto [coord, own] :
         llvm::zip_equal(repair.source.coords, group[number].coords)) {
      auto loop = dyn_cast<AffineDimExpr>(coord);
      bool isSame =
          loop ? member.loopCoords[loop.getPosition()] == own : coord == own;
      if (!isSame)
        return failure();
    }
    links.push_back({number, std::move(repair)});
  }
  return links;
}

/// `op` as the next member of `group`.
static FailureOr<Reduction> makeMember(linalg::LinalgOp op,
                                       ArrayRef<Reduction> group,
                                       const GroupedTiles &groups,
                                       const TileAxes &axes) {
  FailureOr<Coords> coords = getPlainCoords(op->getResult(0), axes);
  if (failed(coords))
    return failure();
  FailureOr<Coords> loopCoords = bindLoops(op, 0, *coords);
  if (failed(loopCoords))
    return failure();
  std::optional<Reduction> member =
      makeReduction(op, *coords, *loopCoords, groups);
  if (!member)
    return failure();
  FailureOr<SmallVector<Reduction::Link>> links = getLinks(*member, group);
  if (failed(links))
    return failure();
  member->links = std::move(*links);
  return *member;
}

FailureOr<unsigned> mlir::fusion::formCascade(std::vector<Reduction> &group,
                                              const GroupedTiles &groups,
                                              const TileAxes &axes) {
  const Reduction wanted = std::move(group.front());
  const ScheduledKernel &kernel = axes.getKernel();
  SmallVector<unsigned> dims = getReducedDims(wanted.op, kernel);
  auto fail = [](linalg::LinalgOp op) {
    return op.emitError("FUS-3130: the schedule walks a dimension once for all "
                        "reductions along it ('sequential'), but this one "
                        "needs the whole result of another");
  };
  group.clear();
  std::optional<unsigned> number;
  for (auto op : kernel.getBlock().getOps<linalg::LinalgOp>()) {
    if (op.getNumReductionLoops() == 0 || getReducedDims(op, kernel) != dims)
      continue;
    FailureOr<Reduction> member = makeMember(op, group, groups, axes);
    if (failed(member))
      return fail(op);
    for (const Reduction::Link &link : member->links)
      group[link.source].isRunning = true;
    if (op == wanted.op && member->coords == wanted.coords)
      number = group.size();
    group.push_back(std::move(*member));
  }
  if (!number)
    return fail(wanted.op);
  bool isRepaired = llvm::any_of(
      group, [](const Reduction &member) { return !member.links.empty(); });
  for (Reduction &member : group)
    member.reducesTiles = isRepaired;
  return *number;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void RunningResults::publish(const Reduction &member, unsigned number,
                             Tile before, Tile now) {
  Tile used = note(member, number, std::move(before), std::move(now));
  builder.getScopes().setRunning(member.op->getResult(0), member.coords, used);
}

Tile RunningResults::note(const Reduction &member, unsigned number, Tile before,
                          Tile now) {
  const Combiner &combiner = member.combiners.front();
  auto constant = [&](TypedAttr value) {
    return builder.broadcast({builder.createConstant(value), {}}, now.axes);
  };
  Tile isNone{arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                    now.value,
                                    constant(combiner.neutral).value),
              now.axes};
  Tile zero = constant(
      cast<TypedAttr>(FloatAttr::get(cast<FloatType>(combiner.type), 0.0)));
  Tile used = builder.select(isNone, zero, now);
  results[number] = {std::move(before), used};
  return used;
}

Tile RunningResults::getFactor(const Reduction::Link &link) {
  Operation *like = link.repair.exponential;
  double scale = link.repair.scale;
  auto [known, isNew] =
      factors.try_emplace({link.source, like->getName().getStringRef(), scale});
  Tile &factor = known->second;
  if (!isNew)
    return factor;
  const Running &running = results.find(link.source)->second;
  std::array<Tile, 2> both{running.before, running.now};
  SmallVector<unsigned> all = builder.unify(both);
  Value exponent =
      arith::SubFOp::create(builder, loc, both[0].value, both[1].value);
  if (scale != 1) {
    auto type = cast<FloatType>(tile::getTileElementType(exponent.getType()));
    Tile number = builder.broadcast(
        {builder.createConstant(FloatAttr::get(type, scale)), {}}, all);
    exponent = arith::MulFOp::create(builder, loc, exponent, number.value);
  }
  OperationState state(loc, like->getName(), exponent, exponent.getType(),
                       like->getAttrs());
  factor = {builder.create(state)->getResult(0), all};
  return factor;
}

Tile RunningResults::repair(const Reduction &member, Tile sum) {
  for (const Reduction::Link &link : member.links) {
    Tile factor = builder.castTile(
        getFactor(link), tile::getTileElementType(sum.value.getType()));
    std::array<Tile, 2> both{sum, factor};
    SmallVector<unsigned> all = builder.unify(both);
    sum = {arith::MulFOp::create(builder, loc, both[0].value, both[1].value),
           all};
  }
  return sum;
}

Tile mlir::fusion::checkSources(Tile sum, ArrayRef<Tile> sources,
                                ArrayRef<AffineExpr> extents,
                                TileBuilder &builder) {
  Location loc = builder.getLoc();
  AffineExpr first = getAffineConstantExpr(0, builder.getContext());
  for (const Tile &source : sources) {
    Tile none{arith::SubFOp::create(builder, loc, source.value, source.value),
              source.axes};
    TypedAttr zero =
        builder.getZeroAttr(tile::getTileElementType(none.value.getType()));
    // What adds up nothing needs nothing.
    for (AffineExpr extent : extents)
      if (auto known = dyn_cast<AffineConstantExpr>(extent);
          !known || known.getValue() == 0)
        none = builder.select(builder.below(first, extent), none,
                              {builder.createConstant(zero), {}});
    std::array<Tile, 2> both{
        sum,
        builder.castTile(none, tile::getTileElementType(sum.value.getType()))};
    SmallVector<unsigned> all = builder.unify(both);
    sum = {arith::AddFOp::create(builder, loc, both[0].value, both[1].value),
           all};
  }
  return sum;
}
