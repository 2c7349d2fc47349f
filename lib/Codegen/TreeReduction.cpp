//===- TreeReduction.cpp - Reductions in any order ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements reductions whose elements may be combined in any order:
// loops accumulate tiles element by element, and what they leave is reduced
// once at the end. Reductions along the same dimensions share the loops.
//
//===----------------------------------------------------------------------===//

#include "TreeReduction.h"

#include "Cascade.h"
#include "Coordinates.h"
#include "CountingWalk.h"
#include "DotEmitter.h"
#include "FoldedStates.h"
#include "LimitedWalk.h"
#include "ReductionGroup.h"
#include "ReductionStates.h"
#include "RowGroups.h"
#include "SplitContraction.h"
#include "fusion/Scheduling/LoopSchedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// A group of reductions along the same dimensions while it is emitted.
class TreeReduction {
public:
  TreeReduction(const ReductionContext &context, std::vector<Reduction> members)
      : context(context), evaluator(context.evaluator), loops(context.walks),
        builder(evaluator.getBuilder()), kernel(builder.getKernel()),
        axes(builder.getAxes()), loc(builder.getLoc()),
        elements(evaluator, context.groups, context.panels), dots(evaluator),
        split(builder, context.grid), group(std::move(members)),
        first(group.front().op) {}

  /// Emits all, and returns result `result` of the one that is wanted.
  FailureOr<Tile> emit(unsigned result);

private:
  /// A dimension that is walked in chunks.
  struct Walk {
    unsigned dim;
    int64_t tile;
    bool own;
    /// Of all dimensions that it runs through.
    AffineExpr extent;
    /// Data say which elements of a chunk are walked.
    bool counting = false;
    /// Steps that are written out; none: a loop.
    std::optional<int64_t> steps = std::nullopt;

    std::optional<int64_t> getStaticExtent() const {
      if (auto known = dyn_cast<AffineConstantExpr>(extent))
        return known.getValue();
      return std::nullopt;
    }
  };

  /// The axis of a dimension that is held in a tile.
  unsigned addHeldAxis(unsigned dim);
  /// Sorts the reduced dimensions: held in a tile, or walked in chunks.
  LogicalResult sortLoops();
  /// Windows of strips are written out, so that what neighbouring results share
  /// is read and converted once; others up to a size.
  void writeOutWindows();
  /// True for a walk the other blocks of a panel have parts of.
  bool isShared(const Walk &walk) const {
    const Panel *panel = context.panels.getPanel();
    return panel && !panel->inRounds && !walk.own && walk.dim == panel->dim;
  }
  void addAxes();
  /// The coordinates of the members' reduction loops from those of the walks.
  void bindLoops();
  FailureOr<Tile> emitHeld(unsigned result);
  /// The same for a product.
  FailureOr<Tile> emitHeldDot(const DotForm &dot, unsigned result);
  /// The axes of what is accumulated of `member` element by element.
  SmallVector<unsigned> getStateAxes(const Reduction &member) const;
  /// States that are dear to combine take in all that a thread has of a tile.
  std::optional<TileFold> planFold(const Reduction &member);
  void openAccumulators();
  void planParts();
  /// True when no walk, the first of them in `piece`, goes past its end.
  bool staysExact(Piece piece);
  /// The pieces of walk `i`, of those that are no written-out windows.
  SmallVector<Piece, 2> getPieces(unsigned i);
  /// Adds one element of each tile, or all turns of a window, to `carried`.
  FailureOr<SmallVector<Value>> addElements(SmallVector<Value> carried);
  FailureOr<SmallVector<Value>> addElement(ArrayRef<Value> carried);
  /// The same for `member`, whose accumulators are `kept` of number `begin` on.
  FailureOr<SmallVector<Value>>
  addToMember(unsigned number, SmallVector<Value> kept, unsigned begin);
  /// `element` of the body of `member` for a whole tile, `neutral` past the
  /// end.
  FailureOr<Tile> evaluateAll(const Reduction &member, Value element,
                              TypedAttr neutral);
  /// The same where threads reduce what they have of a tile.
  FailureOr<SmallVector<Value>> addFolded(unsigned number, ValueRange kept);
  /// Counts of moments are one number as long as all elements of a tile have
  /// the same one; now each has its own.
  void countByElement(MutableArrayRef<Value> carried);
  /// The count of moments, for each of their elements.
  Value spreadCount(Value count, ArrayRef<unsigned> all);
  /// Walks the axes from number `i` on.
  FailureOr<SmallVector<Value>> walkFrom(unsigned i,
                                         SmallVector<Value> carried);
  FailureOr<SmallVector<Value>>
  walkPiece(unsigned i, SmallVector<Value> carried, Piece piece);
  /// Walks those elements of the only walk that data leave.
  FailureOr<SmallVector<Value>> walkCounting(SmallVector<Value> carried);
  /// Adds those of a chunk.
  FailureOr<SmallVector<Value>> addCounting(CountingWalk &chunk,
                                            ArrayRef<Value> carried);
  /// The same in one loop over the list from `begin` on.
  FailureOr<SmallVector<Value>> addListed(CountingWalk &chunk, Value begin,
                                          ArrayRef<Value> carried);
  /// What a part begins with where `whole` has been added up before.
  SmallVector<Value> beginPart(ValueRange whole) const;
  /// Adds what came before a part to what it gave, where parts begin anew.
  void addWhole(ValueRange whole, MutableArrayRef<Value> part, bool inOrder);
  /// What all blocks that share the walk of a cascade have added up.
  FailureOr<SmallVector<Value>> combineShares(ValueRange sums);
  FailureOr<Tile> finish(SmallVector<Value> sums, unsigned result);
  /// Contractions that feed each other walk what is reduced, step by step.
  bool isSequential() const;
  /// Adds the reductions that share the walks.
  LogicalResult addMembers();
  bool hasDots() const {
    return llvm::any_of(forms, [](auto &dot) { return dot.has_value(); });
  }

  ReductionContext context;
  TileEvaluator &evaluator;
  WalkBuilder &loops;
  TileBuilder &builder;
  const ScheduledKernel &kernel;
  TileAxes &axes;
  Location loc;
  ReductionStates elements;
  DotEmitter dots;
  SplitContraction split;
  std::vector<Reduction> group;
  linalg::LinalgOp first;
  /// Reduced axes that the tile has, and those of chunks besides.
  SmallVector<unsigned> fullAxes, reduced;
  /// The axes of dimensions that the tile has.
  DenseMap<unsigned, unsigned> heldAxes;
  SmallVector<Walk> walks;
  /// Axes and coordinates of the walks; those written out have no axis.
  SmallVector<unsigned> walkAxes;
  SmallVector<AffineExpr> walkCoords;
  /// Elements of a window that are written out.
  int64_t turns = 1;
  std::optional<GroupedSum> grouped;
  /// The member that was asked for.
  unsigned wanted = 0;

  // By member.
  SmallVector<std::optional<DotForm>> forms;
  std::vector<Reduction> finishes;
  std::vector<std::optional<TileFold>> folds;
  // By accumulator.
  SmallVector<SmallVector<unsigned>> accumulatorAxes;
  SmallVector<Value> inits;
  /// It is made of parts, each of which begins anew.
  SmallVector<bool> cascaded;
  /// Steps of a part of each walk; 0: one part.
  SmallVector<int64_t> steps;
  /// Blocks have parts of a contraction.
  bool shared = false;
  /// What is added now is added where that is true; null: in any case.
  Value isAdded;
};
} // namespace

unsigned TreeReduction::addHeldAxis(unsigned dim) {
  unsigned axis = axes.getBound(dim);
  // Operands of products have the axes of the result first. What blocks of a
  // panel share is an axis of the grid, also where no result has it.
  const Panel *panel = context.panels.getPanel();
  if (kernel.getStrategy() == Strategy::Contraction &&
      !kernel.getDim(dim).root && !(panel && panel->axis == axis))
    axis = axes.add(axes[axis]);
  heldAxes[dim] = axis;
  return axis;
}

LogicalResult TreeReduction::sortLoops() {
  SmallVector<unsigned> loops;
  first.getReductionDims(loops);
  for (unsigned loop : loops) {
    unsigned dim = kernel.getSpace().getDimOfLoop(first, loop);
    if (kernel.getWalkedExtent(dim) == builder.getAffineConstantExpr(1))
      continue;
    AxisAttr decision = kernel.getDecision(dim);
    if (decision.getKind() == AxisKind::Group) {
      if (!group.front().ofGroup)
        return first->emitError("FUS-3122: groups of rows are walked at "
                                "coordinates that are not those of the tile");
      continue;
    }
    bool taken = mentions(group.front().coords, dim, axes);
    // The walk along the last dimension of several runs through them.
    if (decision.getKind() == AxisKind::Merged)
      continue;
    if (decision.getLimited() && decision.getKind() == AxisKind::Loop && !taken)
      walks.push_back({dim, countLookedAt(kernel.getSchedule().getWarps()),
                       /*own=*/false, kernel.getWalkedExtent(dim),
                       /*counting=*/true});
    else if (decision.getKind() == AxisKind::Full && !taken)
      fullAxes.push_back(addHeldAxis(dim));
    else
      walks.push_back(
          {dim, decision.isWalked() && !taken ? decision.getTile() : 1,
           taken || !decision.isWalked(), kernel.getWalkedExtent(dim)});
  }
  // The loop with the widest chunk is innermost, where it is unrolled.
  llvm::stable_sort(
      walks, [](const Walk &a, const Walk &b) { return a.tile < b.tile; });
  bool isCounting =
      llvm::any_of(walks, [](const Walk &walk) { return walk.counting; });
  if (isCounting && (walks.size() > 1 || !fullAxes.empty()))
    return first->emitError("FUS-3131: the schedule leaves out elements of a "
                            "walk ('limited') that is not the only one");
  return success();
}

void TreeReduction::writeOutWindows() {
  bool elementwise = kernel.getStrategy() == Strategy::Reduction &&
                     fullAxes.empty() && !walks.empty() &&
                     walks.back().tile == 1;
  for (Walk &walk : llvm::reverse(walks)) {
    std::optional<int64_t> extent = walk.getStaticExtent();
    if (!elementwise || !extent || isShared(walk) ||
        kernel.walksGranules(walk.dim) ||
        (axes.getStrips().empty() && *extent * turns > kMaxWrittenOut))
      break;
    walk.steps = extent;
    turns *= *extent;
  }
}

void TreeReduction::bindLoops() {
  for (Reduction &member : group) {
    SmallVector<unsigned> memberLoops;
    member.op.getReductionDims(memberLoops);
    for (unsigned loop : memberLoops) {
      unsigned dim = kernel.getSpace().getDimOfLoop(member.op, loop);
      AffineExpr &coord = member.loopCoords[loop];
      if (kernel.getDecision(dim).getKind() == AxisKind::Group)
        continue;
      if (kernel.getDim(dim).getStaticExtent() == 1) {
        coord = builder.getAffineConstantExpr(0);
        continue;
      }
      auto walk = llvm::find_if(walks, [&](const Walk &walk) {
        return llvm::is_contained(kernel.getWalkedDims(walk.dim), dim);
      });
      if (walk == walks.end()) {
        coord = builder.getAffineDimExpr(heldAxes.lookup(dim));
        continue;
      }
      // Row-major position among the dimensions of the walk.
      SmallVector<unsigned> walked = kernel.getWalkedDims(walk->dim);
      coord = walkCoords[walk - walks.begin()];
      for (; walked.back() != dim; walked.pop_back())
        coord = coord.floorDiv(kernel.getDim(walked.back()).extent);
      if (walked.size() > 1)
        coord = coord % kernel.getDim(dim).extent;
    }
  }
}

void TreeReduction::addAxes() {
  unsigned nextAxis = axes.size();
  unsigned depth = builder.getScopes().getDepth();
  for (auto [i, walk] : llvm::enumerate(walks)) {
    walkCoords.push_back(walk.steps ? builder.getAffineConstantExpr(0)
                                    : builder.getAffineDimExpr(nextAxis + i));
    if (walk.steps)
      continue;
    walkAxes.push_back(nextAxis + i);
    Axis axis;
    if (!walk.own)
      axis.dim = walk.dim;
    axis.extent = walk.extent;
    axis.tile = walk.tile;
    axis.depth = depth + 1 + i;
    axes.add(axis);
  }
  reduced = fullAxes;
  for (auto [axis, walk] : llvm::zip(walkAxes, walks))
    if (walk.tile > 1 && !walk.counting)
      reduced.push_back(axis);
  bindLoops();
}

FailureOr<Tile> TreeReduction::emitHeldDot(const DotForm &dot,
                                           unsigned result) {
  Reduction &only = group.front();
  Tile zero = builder.broadcast(
      {builder.createConstant(only.combiners.front().neutral), {}}, dot.axes);
  BodyEvaluator body(evaluator, only.op, only.loopCoords);
  FailureOr<Value> sum = dots.emit(body, dot, fullAxes.front(), zero.value);
  if (failed(sum))
    return failure();
  FailureOr<SmallVector<Tile>> finished =
      elements.finish(only, {{*sum, dot.axes}}, {}, {});
  if (failed(finished))
    return failure();
  evaluator.remember(only.op->getResult(0), only.coords, finished->front());
  return (*finished)[result];
}

FailureOr<Tile> TreeReduction::emitHeld(unsigned result) {
  Reduction &only = group.front();
  SmallVector<Tile> states;
  if (fullAxes.size() == 1)
    if (std::optional<DotForm> dot = dots.match(only, fullAxes.front()))
      return emitHeldDot(*dot, result);
  for (unsigned i = 0; i < only.combiners.size(); ++i) {
    BodyEvaluator body(evaluator, only.op, only.loopCoords);
    FailureOr<Tile> element = elements.evaluate(body, only, i);
    if (failed(element))
      return failure();
    SmallVector<unsigned> all = element->axes;
    all.append(fullAxes.begin(), fullAxes.end());
    if (only.selection || only.rescaled || only.moments)
      llvm::append_range(all, axes.getAxesOf(only.coords));
    llvm::sort(all);
    all.erase(llvm::unique(all), all.end());
    // All elements count for one.
    if (only.moments && i == 0) {
      states.push_back(*element);
      continue;
    }
    Tile state = builder.broadcast(*element, all);
    if (only.decidesBy(i))
      state = builder.broadcast(
          builder.maskPast(state, fullAxes, only.combiners[i].neutral), all);
    states.push_back(state);
  }
  if (only.selection)
    elements.dropNaN(only, states);
  FailureOr<SmallVector<Tile>> finished =
      elements.finish(only, std::move(states), fullAxes, fullAxes);
  if (failed(finished))
    return failure();
  for (auto [i, tile] : llvm::enumerate(*finished))
    evaluator.remember(only.op->getResult(i), only.coords, tile);
  return (*finished)[result];
}

SmallVector<unsigned>
TreeReduction::getStateAxes(const Reduction &member) const {
  SmallVector<unsigned> all = axes.getAxesOf(member.coords);
  all.append(reduced.begin(), reduced.end());
  llvm::sort(all);
  return all;
}

std::optional<TileFold> TreeReduction::planFold(const Reduction &member) {
  if (!member.moments && !member.rescaled)
    return std::nullopt;
  SmallVector<unsigned> walked =
      llvm::filter_to_vector(reduced, [&](unsigned axis) {
        return !llvm::is_contained(fullAxes, axis);
      });
  TileFold fold(builder, getStateAxes(member), walked);
  // Moments count their elements in any case.
  if (member.rescaled && fold.getFactor() == 1)
    return std::nullopt;
  return fold;
}

void TreeReduction::openAccumulators() {
  for (const Reduction &member : group) {
    std::optional<DotForm> dot;
    if (reduced.size() == 1 && fullAxes.empty())
      dot = dots.match(member, reduced.front());
    forms.push_back(dot);
    folds.push_back(planFold(member));
    SmallVector<unsigned> stateAxes;
    if (folds.back())
      stateAxes = llvm::to_vector(folds.back()->getAxes());
    else if (dot || member.reducesTiles)
      stateAxes = axes.getAxesOf(member.coords);
    else
      stateAxes = getStateAxes(member);
    llvm::sort(stateAxes);
    for (const Combiner &combiner : member.combiners) {
      SmallVector<unsigned> all = stateAxes;
      if (member.moments && &combiner == &member.combiners.front())
        all.clear();
      accumulatorAxes.push_back(all);
      Value init =
          builder.broadcast({builder.createConstant(combiner.neutral), {}}, all)
              .value;
      inits.push_back(dot ? dots.splitAmongWarps(init, reduced.front()) : init);
      cascaded.push_back(
          member.isCascaded(&combiner - member.combiners.begin()));
    }
  }
}

void TreeReduction::planParts() {
  SmallVector<std::optional<int64_t>> trips;
  for (auto [axis, walk] : llvm::zip(walkAxes, walks)) {
    std::optional<int64_t> extent = walk.getStaticExtent();
    if (kernel.walksGranules(walk.dim))
      extent = kernel.getDim(walk.dim).granule;
    trips.push_back(extent);
    if (extent)
      trips.back() = llvm::divideCeil(
          *extent,
          (walk.counting ? 1 : walk.tile) *
              (isShared(walk) ? context.panels.getPanel()->members : 1));
  }
  steps.assign(walkAxes.size(), 0);
  bool isRepaired = llvm::any_of(
      group, [](const Reduction &member) { return !member.links.empty(); });
  if (llvm::is_contained(cascaded, true) && !hasDots() && !grouped &&
      !isRepaired)
    steps = divideSums(trips, turns);
}

Value TreeReduction::spreadCount(Value count, ArrayRef<unsigned> all) {
  if (isa<RankedTensorType>(count.getType()) || all.empty())
    return count;
  Tile spread = builder.broadcast({count, {}}, all);
  // What a tile has beyond the end of a dimension it never has.
  TypedAttr zero = FloatAttr::get(count.getType(), 0.0);
  return builder.broadcast(builder.maskPast(spread, fullAxes, zero), all).value;
}

void TreeReduction::countByElement(MutableArrayRef<Value> carried) {
  unsigned position = 0;
  for (const Reduction &member : group) {
    if (member.moments) {
      ArrayRef<unsigned> all = accumulatorAxes[position + 1];
      carried[position] = spreadCount(carried[position], all);
      inits[position] = spreadCount(inits[position], all);
      accumulatorAxes[position].assign(all.begin(), all.end());
    }
    position += member.combiners.size();
  }
}

FailureOr<Tile> TreeReduction::evaluateAll(const Reduction &member,
                                           Value element, TypedAttr neutral) {
  BodyEvaluator body(evaluator, member.op, member.loopCoords);
  FailureOr<Tile> tile =
      evaluateElement(body, {nullptr, element, neutral, neutral.getType()});
  if (failed(tile))
    return failure();
  SmallVector<unsigned> all = getStateAxes(member);
  return builder.broadcast(
      builder.maskPast(builder.broadcast(*tile, all), reduced, neutral), all);
}

FailureOr<SmallVector<Value>> TreeReduction::addFolded(unsigned number,
                                                       ValueRange kept) {
  const Reduction &member = group[number];
  const TileFold &fold = *folds[number];
  // Of the states, the elements: what belongs to them follows.
  if (member.moments) {
    const Combiner &sum = member.combiners[1];
    FailureOr<Tile> x = evaluateAll(member, sum.element, sum.neutral);
    if (failed(x))
      return failure();
    return addMoments(*member.moments, fold, builder, kept, *x, reduced);
  }
  const RescaledSums &sums = *member.rescaled;
  RescaledElements elements;
  for (const RescaledSum &pair : sums.pairs) {
    FailureOr<Tile> x = evaluateAll(member, pair.element, pair.getNeutral()[0]);
    if (failed(x))
      return failure();
    elements.maxima.push_back(*x);
  }
  TypedAttr zero = FloatAttr::get(sums.getType(), 0.0);
  if (sums.linear && sums.linear->plain) {
    FailureOr<Tile> plain = evaluateAll(member, sums.linear->plain, zero);
    if (failed(plain))
      return failure();
    elements.plain = *plain;
  }
  if (sums.linear && sums.linear->weight) {
    FailureOr<Tile> weight = evaluateAll(member, sums.linear->weight, zero);
    if (failed(weight))
      return failure();
    elements.weight = *weight;
  }
  return addRescaled(sums, fold, builder, kept, elements, reduced);
}

FailureOr<SmallVector<Value>>
TreeReduction::addToMember(unsigned number, SmallVector<Value> kept,
                           unsigned begin) {
  if (folds[number])
    return addFolded(number, kept);
  const Reduction &member = group[number];
  BodyEvaluator body(evaluator, member.op, member.loopCoords);
  SmallVector<Tile> addends;
  for (unsigned i = 0; i < member.combiners.size(); ++i) {
    FailureOr<Tile> element = elements.evaluate(body, member, i);
    if (failed(element))
      return failure();
    SmallVector<unsigned> all(accumulatorAxes[begin + i]);
    if (member.reducesTiles)
      llvm::append_range(all, reduced);
    Tile addend = builder.broadcast(*element, all);
    if (member.decidesBy(i))
      addend = builder.maskPast(addend, reduced, member.combiners[i].neutral);
    if (isAdded)
      addend = builder.select(
          {isAdded, {}}, addend,
          {builder.createConstant(member.combiners[i].neutral), {}});
    addends.push_back(builder.broadcast(addend, all));
  }
  if (member.reducesTiles)
    addends = elements.reduceTile(member, std::move(addends), reduced);
  SmallVector<Value> next;
  for (const Tile &addend : addends)
    next.push_back(addend.value);
  // One walk is in the order of positions.
  return member.combine(builder, loc, kept, next,
                        /*inOrder=*/walks.size() == 1);
}

FailureOr<SmallVector<Value>>
TreeReduction::addElement(ArrayRef<Value> carried) {
  SmallVector<Value> next;
  RunningResults running(evaluator);
  for (auto [number, member] : llvm::enumerate(group)) {
    unsigned begin = next.size();
    SmallVector<Value> kept(carried.slice(begin, member.combiners.size()));
    if (!member.links.empty())
      kept.front() =
          running.repair(member, {kept.front(), accumulatorAxes[begin]}).value;
    if (const std::optional<DotForm> &dot = forms[number]) {
      BodyEvaluator body(evaluator, member.op, member.loopCoords);
      FailureOr<Value> sum =
          dots.emit(body, *dot, reduced.front(), kept.front());
      if (failed(sum))
        return failure();
      next.push_back(*sum);
      continue;
    }
    FailureOr<SmallVector<Value>> sums = addToMember(number, kept, begin);
    if (failed(sums))
      return failure();
    llvm::append_range(next, *sums);
    if (member.isRunning)
      running.publish(member, number, {carried[begin], accumulatorAxes[begin]},
                      {next[begin], accumulatorAxes[begin]});
  }
  if (isSequential() && context.steps && failed(context.steps()))
    return failure();
  return next;
}

FailureOr<SmallVector<Value>>
TreeReduction::addElements(SmallVector<Value> carried) {
  for (int64_t turn = 0; turn < turns; ++turn) {
    int64_t position = turn;
    for (unsigned i = walks.size(); i-- > 0 && walks[i].steps;) {
      walkCoords[i] = builder.getAffineConstantExpr(position % *walks[i].steps);
      position /= *walks[i].steps;
    }
    if (turns > 1)
      bindLoops();
    FailureOr<SmallVector<Value>> next = addElement(carried);
    if (failed(next))
      return failure();
    carried = *next;
  }
  return carried;
}

void TreeReduction::addWhole(ValueRange whole, MutableArrayRef<Value> part,
                             bool inOrder) {
  unsigned position = 0;
  for (const Reduction &member : group) {
    if (member.moments) {
      ArrayRef<unsigned> all = accumulatorAxes[position + 1];
      Value count =
          arith::AddFOp::create(builder, loc, whole[position], part[position]);
      SmallVector<Value> both =
          Moments::combine(builder, loc,
                           {spreadCount(whole[position], all),
                            whole[position + 1], whole[position + 2]},
                           {spreadCount(part[position], all),
                            part[position + 1], part[position + 2]});
      both.front() = count;
      llvm::copy(both, part.slice(position).begin());
      position += both.size();
      continue;
    }
    Reduction own = member;
    own.combiners.clear();
    SmallVector<unsigned> places;
    SmallVector<Value> kept, next;
    for (const Combiner &combiner : member.combiners) {
      if (cascaded[position]) {
        own.combiners.push_back(combiner);
        places.push_back(position);
        kept.push_back(whole[position]);
        next.push_back(part[position]);
      }
      ++position;
    }
    if (places.empty())
      continue;
    SmallVector<Value> both = own.combine(builder, loc, kept, next, inOrder);
    for (auto [place, value] : llvm::zip_equal(places, both))
      part[place] = value;
  }
}

SmallVector<Value> TreeReduction::beginPart(ValueRange whole) const {
  SmallVector<Value> begin(whole);
  for (auto [sum, init, isCascaded] : llvm::zip_equal(begin, inits, cascaded))
    sum = isCascaded ? init : sum;
  return begin;
}

FailureOr<SmallVector<Value>>
TreeReduction::addListed(CountingWalk &chunk, Value begin,
                         ArrayRef<Value> carried) {
  scf::ForOp loop =
      chunk.openLoop(begin, steps.front(), kCountingAtOnce, carried);
  SmallVector<Value> sums(loop.getRegionIterArgs());
  for (int64_t ahead = 0; ahead < kCountingAtOnce; ++ahead) {
    CountingWalk::Element element = chunk.bind(loop, ahead);
    isAdded = element.isListed;
    walkCoords.front() = builder.getAffineDimExpr(element.axis);
    bindLoops();
    FailureOr<SmallVector<Value>> next = addElement(sums);
    if (failed(next))
      return failure();
    sums = *next;
  }
  isAdded = nullptr;
  chunk.closeLoop(sums);
  return llvm::to_vector_of<Value>(loop.getResults());
}

FailureOr<SmallVector<Value>>
TreeReduction::addCounting(CountingWalk &chunk, ArrayRef<Value> carried) {
  if (!steps.front())
    return addListed(chunk, builder.createIndex(0), carried);
  scf::ForOp parts = chunk.openLoop(steps.front(), carried);
  ValueRange whole = parts.getRegionIterArgs();
  FailureOr<SmallVector<Value>> part =
      addListed(chunk, parts.getInductionVar(), beginPart(whole));
  if (failed(part))
    return failure();
  addWhole(whole, *part, /*inOrder=*/true);
  chunk.closeLoop(*part);
  return llvm::to_vector_of<Value>(parts.getResults());
}

FailureOr<SmallVector<Value>>
TreeReduction::walkCounting(SmallVector<Value> carried) {
  unsigned axis = walkAxes.front();
  scf::ForOp loop = loops.openLoopOn(axis, carried);
  CountingWalk chunk(axis, evaluator);
  if (failed(chunk.list(group)))
    return failure();
  FailureOr<SmallVector<Value>> inner =
      addCounting(chunk, llvm::to_vector_of<Value>(loop.getRegionIterArgs()));
  if (failed(inner))
    return failure();
  return llvm::to_vector_of<Value>(loops.closeLoop(*inner).getResults());
}

FailureOr<SmallVector<Value>>
TreeReduction::walkPiece(unsigned i, SmallVector<Value> carried, Piece piece) {
  unsigned axis = walkAxes[i];
  axes[axis].piece = piece;
  // Inside of a loop it is too late: what is carried keeps its type.
  if (i == 0 && !staysExact(piece))
    countByElement(carried);
  scf::ForOp parts;
  SmallVector<Value> before(carried);
  if (steps[i] && (piece == Piece::All || piece == Piece::Whole)) {
    parts = loops.openParts(axis, steps[i], carried);
    before = beginPart(parts.getRegionIterArgs());
  }
  scf::ForOp loop = loops.openLoopOn(axis, before);
  if (parts)
    loops.restrictToPart(loop, parts);
  bool isShared = shared && axis == walkAxes.back();
  bool isLimited =
      !walks[i].own && kernel.getDecision(walks[i].dim).getLimited();
  if (isShared && !isLimited)
    split.restrictToShare(loop, axes[axis], /*limited=*/false);
  if (grouped && group.size() == 1 &&
      walks[i].dim == kernel.getSpace().getDimOfLoop(first, grouped->loop) &&
      failed(restrictToGroups(loop, group.front(), evaluator)))
    return failure();
  if (isLimited && failed(limitWalk(loop, axis, group, evaluator)))
    return failure();
  if (isShared && isLimited)
    split.restrictToShare(loop, axes[axis], /*limited=*/true);
  FailureOr<SmallVector<Value>> inner =
      walkFrom(i + 1, llvm::to_vector_of<Value>(loop.getRegionIterArgs()));
  if (failed(inner))
    return failure();
  carried = llvm::to_vector_of<Value>(loops.closeLoop(*inner).getResults());
  if (!parts)
    return carried;
  addWhole(parts.getRegionIterArgs(), carried,
           /*inOrder=*/walks.size() == 1);
  return llvm::to_vector_of<Value>(loops.closeLoop(carried).getResults());
}

SmallVector<Piece, 2> TreeReduction::getPieces(unsigned i) {
  bool isOrdered = llvm::any_of(group, [](const Reduction &member) {
    return member.selection.has_value();
  });
  if (i + 1 != walkAxes.size() || walks[i].own || walks[i].tile == 1 ||
      turns != 1 || grouped || hasDots())
    return {Piece::All};
  SmallVector<Piece, 2> pieces =
      loops.getPieces(walks[i].dim, walks[i].tile, /*inOrder=*/isOrdered);
  // As long as tiles are whole, all their elements have the same counts.
  bool counts = llvm::any_of(group, [](const Reduction &member) {
    return member.moments.has_value();
  });
  if (counts && !isOrdered)
    llvm::stable_sort(pieces, [](Piece a, Piece b) {
      return a == Piece::Whole && b != Piece::Whole;
    });
  return pieces;
}

bool TreeReduction::staysExact(Piece piece) {
  for (unsigned i = 0; i < walkAxes.size(); ++i) {
    Axis axis = axes[walkAxes[i]];
    for (Piece each : i == 0 ? SmallVector<Piece, 2>{piece} : getPieces(i)) {
      axis.piece = each;
      if (!loops.isExact(axis))
        return false;
    }
  }
  return true;
}

FailureOr<SmallVector<Value>>
TreeReduction::walkFrom(unsigned i, SmallVector<Value> carried) {
  if (i == walkAxes.size())
    return addElements(std::move(carried));
  if (walks[i].counting)
    return walkCounting(std::move(carried));
  for (Piece piece : getPieces(i)) {
    FailureOr<SmallVector<Value>> walked =
        walkPiece(i, std::move(carried), piece);
    if (failed(walked))
      return failure();
    carried = *walked;
  }
  return carried;
}

FailureOr<SmallVector<Value>> TreeReduction::combineShares(ValueRange sums) {
  unsigned others = 0;
  FailureOr<SmallVector<Value>> shares =
      split.gatherShares(sums, accumulatorAxes, others);
  if (failed(shares))
    return failure();
  // One more step for all of them together: what each block has added up is
  // relative to its own results so far.
  RunningResults running(evaluator);
  SmallVector<Value> wholes;
  for (auto [number, member] : llvm::enumerate(finishes)) {
    Tile share{(*shares)[number], accumulatorAxes[number]};
    Tile relative =
        member.links.empty() ? share : running.repair(member, share);
    Tile whole = elements.reduceAlong(member, {relative}, others).front();
    if (member.isRunning)
      running.note(member, number, share, whole);
    accumulatorAxes[number] = whole.axes;
    wholes.push_back(whole.value);
  }
  return wholes;
}

FailureOr<Tile> TreeReduction::finish(SmallVector<Value> sums,
                                      unsigned result) {
  bool allDots = llvm::all_of(forms, [](auto &dot) { return dot.has_value(); });
  if (context.stream.isUsed() && walkAxes.size() == 1 && allDots) {
    FailureOr<SmallVector<Value>> whole = context.stream.shareSums(
        sums.front().getDefiningOp<scf::ForOp>(), sums);
    if (failed(whole))
      return failure();
    sums = *whole;
  }
  bool apart = shared && kernel.getMma().getApart();
  bool isCascade = isSequential();
  if (shared && isCascade) {
    FailureOr<SmallVector<Value>> whole = combineShares(sums);
    if (failed(whole))
      return failure();
    sums = *whole;
  } else if (apart) {
    FailureOr<SmallVector<Value>> parts =
        split.exchangeShares(sums, accumulatorAxes);
    if (failed(parts))
      return failure();
    sums = *parts;
  }

  std::vector<SmallVector<Tile>> results;
  auto extents = llvm::map_to_vector(
      walkAxes, [&](unsigned axis) { return axes[axis].extent; });
  unsigned position = 0;
  for (auto [number, member] : llvm::enumerate(finishes)) {
    SmallVector<Tile> states;
    for (unsigned i = 0; i < member.combiners.size(); ++i, ++position) {
      Tile sum{sums[position], accumulatorAxes[position]};
      if (forms[number])
        sum.value = dots.sumWarps(sum.value, sum.axes);
      if (shared && !apart && !isCascade)
        sum = split.addShares(sum);
      states.push_back(sum);
    }
    SmallVector<unsigned> own(reduced);
    if (folds[number]) {
      own = fullAxes;
      llvm::append_range(own, folds[number]->getFolded());
    }
    FailureOr<SmallVector<Tile>> finished =
        elements.finish(member, std::move(states), own, fullAxes);
    if (failed(finished))
      return failure();
    SmallVector<Tile> sources;
    for (const Reduction::Link &link : member.links)
      sources.push_back(results[link.source].front());
    finished->front() =
        checkSources(finished->front(), sources, extents, builder);
    for (auto [i, tile] : llvm::enumerate(*finished))
      evaluator.remember(member.op->getResult(i), member.coords, tile);
    results.push_back(std::move(*finished));
  }
  return results[wanted][result];
}

bool TreeReduction::isSequential() const {
  return llvm::any_of(walks, [&](const Walk &walk) {
    return kernel.getDecision(walk.dim).getKind() == AxisKind::Sequential;
  });
}

LogicalResult TreeReduction::addMembers() {
  if (walks.empty() ||
      llvm::any_of(walks, [](const Walk &walk) { return walk.own; }))
    return success();
  if (isSequential()) {
    FailureOr<unsigned> number = formCascade(group, context.groups, axes);
    if (failed(number))
      return failure();
    wanted = *number;
    return success();
  }
  addSiblings(group, context.groups, axes);
  addParts(group, axes);
  return success();
}

FailureOr<Tile> TreeReduction::emit(unsigned result) {
  if (failed(sortLoops()) || failed(addMembers()))
    return failure();
  // What the other blocks of a panel have of it comes in at the end.
  const Panel *panel = context.panels.getPanel();
  bool inPanel =
      llvm::any_of(walks, [&](const Walk &walk) { return isShared(walk); }) ||
      (panel && llvm::is_contained(fullAxes, panel->axis));
  for (Reduction &member : group)
    member.inPanel = inPanel;
  writeOutWindows();
  addAxes();
  if (walks.empty())
    return emitHeld(result);
  finishes = group;
  shared = split.share(group, reduced, dots);
  openAccumulators();
  grouped = matchGroupedSum(first);
  planParts();
  FailureOr<SmallVector<Value>> walked = walkFrom(0, inits);
  if (failed(walked))
    return failure();
  return finish(std::move(*walked), result);
}

FailureOr<Tile> mlir::fusion::emitTreeReduction(const ReductionContext &context,
                                                Reduction first,
                                                unsigned result) {
  return TreeReduction(context, {std::move(first)}).emit(result);
}
