//===- ChooseLayouts.cpp - The layout of each group of tiles --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of layouts: larger groups decide for those
// that are made of them or read with them, accesses of memory vote for others.
//
//===----------------------------------------------------------------------===//

#include "ChooseLayouts.h"
#include "fusion/Analysis/TargetInfo.h"
#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "fusion/Dialect/Tile/Transforms/BitDealer.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

namespace {
class LayoutChooser {
public:
  LayoutChooser(LayoutGroups &groups, int64_t numWarps,
                const LayoutVoter &voter, const fusion::TargetInfo &target)
      : groups(groups), numWarps(numWarps), voter(voter), target(target) {}

  void choose(ArrayRef<PositionBits> positionBits);

private:
  LinearLayout voteLayout(LayoutGroup &group) const;
  std::optional<LinearLayout> derivedLayout(const LayoutGroup &group);
  /// Where a vector that a larger tile is computed with, such as the factors of
  /// a normalisation, is repeated in the lanes of a warp: the layout in which
  /// lanes hold parts of it, when that saves more than the shuffles that bring
  /// the elements to where they are used.
  std::optional<LinearLayout> spreadLayout(const LayoutGroup &group);

  LayoutGroups &groups;
  int64_t numWarps;
  const LayoutVoter &voter;
  const fusion::TargetInfo &target;
};
} // namespace

/// The scans of a group, but for those that are done for their totals where
/// another does them again.
static SmallVector<ScanWork> getScanWork(const LayoutGroup &group) {
  auto isTotalOfOther = [&](ScanOp scan) {
    return llvm::all_of(scan.getResults(),
                        [](Value result) { return result.use_empty(); }) &&
           llvm::any_of(group.scans, [&](ScanOp other) {
             return scan != other && scan.getInputs() == other.getInputs();
           });
  };
  SmallVector<ScanWork> work;
  for (ScanOp scan : group.scans)
    if (!isTotalOfOther(scan))
      work.push_back(ScanWork::of(scan));
  return work;
}

LinearLayout LayoutChooser::voteLayout(LayoutGroup &group) const {
  unsigned rank = group.shape.size();
  if (group.isAccumulator)
    return getBlockedLayout(group.shape,
                            orderByMemory({}, rank, /*fastest=*/rank - 1),
                            std::min<int64_t>(4, group.shape.back()), numWarps,
                            llvm::SmallBitVector(rank));
  if (group.accesses.empty())
    if (std::optional<LinearLayout> layout = getBufferLayout(group, numWarps))
      return *layout;
  LayoutVotes votes(group.shape);
  for (const Access &access : group.accesses)
    votes.accesses.push_back(VotingAccess::of(AccessForm::of(access)));
  votes.reduced = group.reduced;
  votes.reducedAtLast = group.reducedAtLast;
  votes.numReduced = group.numReduced;
  votes.isReducedInSteps = group.isReducedInSteps;
  votes.scanned = group.scanned;
  votes.scans = getScanWork(group);
  // Sums of a cluster are read from shared memory 16 bytes at a time.
  for (Value value : group.values)
    if (value.getDefiningOp<ClusterReduceOp>())
      votes.leastVector = std::max<int64_t>(
          votes.leastVector,
          128 / getTileElementType(value.getType()).getIntOrFloatBitWidth());
  LayoutVoter::Choice choice = voter.choose(votes);
  group.hasRows = choice.hasRows;
  return choice.layout;
}

std::optional<LinearLayout>
LayoutChooser::derivedLayout(const LayoutGroup &group) {
  if (group.isAccumulator)
    return group.fragment;
  for (Value value : group.values) {
    if (auto reduce = value.getDefiningOp<ReduceOp>()) {
      LayoutGroup &source = groups.of(reduce.getInputs().front());
      if (source.layout && !source.hasSumOfEachWarp())
        return source.layout->sliceDim(reduce.getDim());
    }
    if (auto scan = value.getDefiningOp<ScanOp>();
        scan && !scan.getParts() &&
        llvm::is_contained(scan.getTotals(), value)) {
      LayoutGroup &source = groups.of(scan.getInputs().front());
      if (source.layout)
        return source.layout->sliceDim(scan.getDim());
    }
    if (auto slice = value.getDefiningOp<SliceOp>()) {
      LayoutGroup &source = groups.of(slice.getValue());
      if (source.layout)
        if (auto part = source.layout->getPart(group.shape))
          return part;
    }
    if (auto sum = value.getDefiningOp<GridReduceOp>()) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      LayoutGroup &source = groups.of(sum.getValues()[number]);
      if (source.layout)
        if (auto part = source.layout->getPart(group.shape))
          return part;
    }
    if (auto gather = value.getDefiningOp<GridGatherOp>()) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      LayoutGroup &source = groups.of(gather.getValues()[number]);
      SmallVector<int64_t> share = gather.getShareShape(number);
      // All blocks' shares may be more than one block's tile.
      if (!source.layout)
        source.layout = derivedLayout(source);
      if (source.layout)
        return getSharedOutLayout(*source.layout, share, numWarps)
            .getPart(share)
            ->expandDim(share.size(), group.shape.back());
    }
    if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
      LayoutGroup &source = groups.of(reshape.getValue());
      if (source.layout)
        return source.layout->reshape(group.shape);
    }
    for (OpOperand &use : value.getUses())
      if (std::optional<LinearLayout> layout = groups.getOperandLayout(use))
        return layout;
    for (Operation *user : value.getUsers())
      if (auto repeat = dyn_cast<RepeatOp>(user)) {
        LayoutGroup &target = groups.of(repeat.getResult());
        if (target.layout)
          return getRepeatedLayout(*target.layout, repeat.getDim(),
                                   repeat.getLog2Factor());
      } else if (auto reshape = dyn_cast<ReshapeOp>(user)) {
        LayoutGroup &target = groups.of(reshape.getResult());
        // A row of a tile is read as what is made of the vector needs it.
        if (!target.layout && target.shape.size() == 1)
          target.layout = derivedLayout(target);
        if (target.layout)
          return target.layout->reshape(group.shape);
      } else if (auto broadcast = dyn_cast<BroadcastOp>(user)) {
        LayoutGroup &target = groups.of(broadcast.getResult());
        if (target.layout)
          return target.layout
              ->project(SmallVector<unsigned>(broadcast.getDims().begin(),
                                              broadcast.getDims().end()))
              .layout;
      }
  }
  return std::nullopt;
}

/// Instructions, about, of one element of `op`.
static double getWeight(Operation *op, double ofFunction) {
  if (isa<arith::ConstantOp, SplatOp>(op))
    return 0;
  bool isLong = isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(op) ||
                op->getName().getDialectNamespace() == "math";
  return isLong ? ofFunction : 1;
}

std::optional<LinearLayout>
LayoutChooser::spreadLayout(const LayoutGroup &group) {
  if (group.shape.size() != 1 || !group.layout)
    return std::nullopt;
  const fusion::LayoutConstants &fitted = target.fitted.layouts;
  double weight = 0;
  int64_t shuffled = 0;
  for (Value value : group.values) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumRegions() != 0 ||
        (isa<TileDialect>(op->getDialect()) && !isa<LoadOp, SplatOp>(op)))
      return std::nullopt;
    weight += getWeight(op, target.fitted.loops.functionInstructions);
    for (Operation *user : value.getUsers()) {
      if (isa<BroadcastOp>(user))
        ++shuffled;
      else if (isa<TileDialect>(user->getDialect()))
        return std::nullopt;
    }
  }
  // The last registers go to lanes, so that the first stay a vector in memory.
  const LinearLayout &layout = *group.layout;
  SmallVector<Coords> regs = getBases(layout, HwDim::Register);
  SmallVector<Coords> lanes = getBases(layout, HwDim::Lane);
  SmallVector<Coords> warps = getBases(layout, HwDim::Warp);
  int64_t before = int64_t(1) << regs.size();
  if (before < fitted.leastSpread)
    return std::nullopt;
  for (Coords &lane : lanes)
    if (lane.front() == 0 && !regs.empty() && regs.back().front() != 0)
      lane = regs.pop_back_val();
  int64_t after = int64_t(1) << regs.size();
  if ((before - after) * weight <=
      fitted.spreadInstructions * before * shuffled)
    return std::nullopt;
  std::optional<LinearLayout> spread =
      LinearLayout::fromBases(group.shape, regs, lanes, warps);
  if (!spread || !getShufflePlan(*spread, layout))
    return std::nullopt;
  return spread;
}

void LayoutChooser::choose(ArrayRef<PositionBits> positionBits) {
  SmallVector<LayoutGroup *> order;
  for (LayoutGroup &group : groups.getAll())
    order.push_back(&group);
  DenseMap<const LayoutGroup *, const PositionBits *> separate;
  for (const PositionBits &bits : positionBits)
    separate[&groups.of(bits.conversion->getOperand(0))] = &bits;
  // Larger tiles first; they decide for the smaller ones, and what reads others
  // for these.
  auto getRank = [&](const LayoutGroup *group) {
    return std::pair(-ShapedType::getNumElements(group->shape),
                     separate.contains(group));
  };
  llvm::stable_sort(order, [&](LayoutGroup *a, LayoutGroup *b) {
    return getRank(a) < getRank(b);
  });
  for (LayoutGroup *next : order) {
    LayoutGroup &group = *next;
    if (const PositionBits *bits = separate.lookup(&group)) {
      group.layout =
          bits->chooseLayout(*groups.of(bits->conversion->getResult(0)).layout);
      continue;
    }
    group.layout = derivedLayout(group);
    if (std::optional<LinearLayout> spread = spreadLayout(group))
      group.layout = spread;
    if (!group.layout)
      group.layout = voteLayout(group);
  }
}

void tile::chooseLayouts(LayoutGroups &groups,
                         ArrayRef<PositionBits> positionBits, int64_t numWarps,
                         const LayoutVoter &voter,
                         const fusion::TargetInfo &target) {
  LayoutChooser(groups, numWarps, voter, target).choose(positionBits);
}
