//===- EmitReductions.cpp - Reductions and contractions on tiles ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the tile form of structured operations with reduction
// loops. A reduction whose combination is one associative operation
// accumulates element by element over the loops and reduces the tile once at
// the end; any other body runs in the order of its loops.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"
#include "fusion/Support/Float8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

/// Elements of a window up to which they are written out.
static constexpr int64_t kMaxTurns = 32;

/// Applies a combining operation to two values of one type.
static Value combineValues(OpBuilder &builder, Operation *like, Value lhs,
                           Value rhs) {
  OperationState state(like->getLoc(), like->getName(), {lhs, rhs},
                       lhs.getType(), like->getAttrs());
  return builder.create(state)->getResult(0);
}

/// True when `tile` holds values of a float with at most 11 bits of precision
/// and an exponent of at most 5 bits.
static bool isShort(Value tile) {
  while (auto broadcast = tile.getDefiningOp<tile::BroadcastOp>())
    tile = broadcast.getValue();
  auto extension = tile.getDefiningOp<arith::ExtFOp>();
  if (!extension)
    return false;
  Type type = tile::getTileElementType(extension.getIn().getType());
  return type.isF16() || isFloat8(type);
}

/// Lets `sum` and the product it adds be one instruction, when that product is
/// exact in f32, so that nothing is rounded in between anyway.
static void contractExactProduct(Value sum, Value element) {
  auto add = sum.getDefiningOp<arith::AddFOp>();
  auto product = element.getDefiningOp<arith::MulFOp>();
  if (!add || !product || !isShort(product.getLhs()) ||
      !isShort(product.getRhs()))
    return;
  add.setFastmath(add.getFastmath() | arith::FastMathFlags::contract);
  product.setFastmath(product.getFastmath() | arith::FastMathFlags::contract);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

void TileEmitter::takeGroupOfTile(Reduction &reduction) const {
  std::optional<GroupedSum> sum = matchGroupedSum(reduction.op);
  if (!sum || !isGroupOfTile(reduction.op, *sum, reduction.loopCoords))
    return;
  reduction.combiners.front().element = sum->element;
  reduction.loopCoords[sum->loop] = tileGroups->coord;
  reduction.ofGroup = true;
}

FailureOr<Tile> TileEmitter::emitReduction(linalg::LinalgOp op, unsigned result,
                                           ArrayRef<AffineExpr> coords,
                                           Coords loopCoords) {
  SmallVector<Combiner> combiners;
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i)
    combiners.push_back(matchCombiner(op, i));
  if (llvm::any_of(combiners, [](const Combiner &c) { return !c.op; }))
    return emitSerialReduction(op, result, coords, loopCoords);
  SmallVector<Reduction> group{{op, Coords(coords), loopCoords, combiners}};
  takeGroupOfTile(group.front());
  return emitTreeReduction(group, result);
}

bool TileEmitter::mentions(ArrayRef<AffineExpr> coords, unsigned dim) const {
  for (AffineExpr coord : coords) {
    bool found = false;
    coord.walk([&](AffineExpr part) {
      if (auto axis = dyn_cast<AffineDimExpr>(part))
        found |= axes[axis.getPosition()].dim == dim;
    });
    if (found)
      return true;
  }
  return false;
}

/// True when an operation of `op`'s block that `op` needs is in `others`.
static bool needsAny(Operation *op, ArrayRef<Operation *> others) {
  SmallVector<Operation *> worklist{op};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val();
    for (Value operand : next->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || !seen.insert(producer).second)
        continue;
      if (llvm::is_contained(others, producer))
        return true;
      worklist.push_back(producer);
    }
  }
  return false;
}

void TileEmitter::addSiblings(SmallVector<Reduction> &group) {
  linalg::LinalgOp first = group.front().op;
  FailureOr<Coords> plain = plainCoords(first->getResult(0));
  if (failed(plain) || *plain != group.front().coords)
    return;
  auto reducedDims = [&](linalg::LinalgOp op) {
    SmallVector<unsigned> dims;
    SmallVector<unsigned> loops;
    op.getReductionDims(loops);
    for (unsigned loop : loops) {
      unsigned dim = space.getDimOfLoop(op, loop);
      if (schedule.getAxes()[dim].getKind() != AxisKind::Group)
        dims.push_back(dim);
    }
    return dims;
  };
  SmallVector<unsigned> dims = reducedDims(first);
  for (auto op : kernel.getBlock().getOps<linalg::LinalgOp>()) {
    if (op == first || op.getNumReductionLoops() == 0 ||
        reducedDims(op) != dims)
      continue;
    SmallVector<Operation *> members;
    for (const Reduction &member : group)
      members.push_back(member.op);
    bool entangled = needsAny(op, members);
    for (Operation *member : members)
      entangled |= needsAny(member, op.getOperation());
    FailureOr<Coords> coords = plainCoords(op->getResult(0));
    if (entangled || failed(coords) ||
        axesOf(*coords) != axesOf(group.front().coords) ||
        depthOf(*coords) != depthOf(group.front().coords))
      continue;
    Reduction sibling{op, *coords, {}, {}};
    for (int64_t i = 0; i < op.getNumDpsInits(); ++i)
      sibling.combiners.push_back(matchCombiner(op, i));
    if (llvm::any_of(sibling.combiners,
                     [](const Combiner &c) { return !c.op; }))
      continue;
    if (failed(bindLoops(op, 0, *coords, sibling.loopCoords)))
      continue;
    takeGroupOfTile(sibling);
    group.push_back(sibling);
  }
}

void TileEmitter::addParts(SmallVector<Reduction> &group) {
  auto here = llvm::find_if(
      parts, [&](unsigned part) { return isUsed(group.front().coords, part); });
  if (here == parts.end())
    return;
  AffineExpr from = builder.getAffineDimExpr(*here);
  SmallVector<Reduction> present(group);
  for (unsigned part : parts) {
    if (part == *here)
      continue;
    AffineExpr to = builder.getAffineDimExpr(part);
    for (Reduction member : present) {
      for (Coords *coords : {&member.coords, &member.loopCoords})
        for (AffineExpr &coord : *coords)
          if (coord)
            coord = coord.replace(from, to);
      group.push_back(member);
    }
  }
}

Tile TileEmitter::castTile(Tile tile, Type element) {
  Type from = tile::getTileElementType(tile.value.getType());
  if (from == element)
    return tile;
  Type type = tileType(tile.axes, element);
  bool wider = from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth();
  Value value;
  if (isa<IntegerType>(from) && isa<FloatType>(element))
    value = arith::SIToFPOp::create(builder, loc, type, tile.value);
  else if (isa<IntegerType>(from))
    value = arith::ExtSIOp::create(builder, loc, type, tile.value);
  else if (wider)
    value = arith::ExtFOp::create(builder, loc, type, tile.value);
  else
    value = arith::TruncFOp::create(builder, loc, type, tile.value);
  return {value, tile.axes};
}

Tile TileEmitter::maskReduced(Tile value, ArrayRef<unsigned> reduced,
                              TypedAttr neutral) {
  for (unsigned axis : reduced) {
    if (axes[axis].exact)
      continue;
    Tile inside = below(builder.getAffineDimExpr(axis), axes[axis].extent);
    value = select(inside, value, {constant(neutral), {}});
  }
  return value;
}

FailureOr<Tile> TileEmitter::evaluateElement(BodyContext &context,
                                             const Combiner &combiner) {
  // A product that accumulates in f32 is made in f32.
  Operation *op = combiner.element.getDefiningOp();
  if (op && isa<arith::MulFOp>(op) &&
      combiner.element.getType() != combiner.type) {
    std::array<Tile, 2> factors;
    for (unsigned i = 0; i < 2; ++i) {
      FailureOr<Tile> factor = evaluateScalar(context, op->getOperand(i));
      if (failed(factor))
        return failure();
      factors[i] = castTile(*factor, combiner.type);
    }
    SmallVector<unsigned> all = unify(factors);
    return Tile{
        arith::MulFOp::create(builder, loc, factors[0].value, factors[1].value),
        all};
  }
  FailureOr<Tile> element = evaluateScalar(context, combiner.element);
  if (failed(element))
    return failure();
  return castTile(*element, combiner.type);
}

FailureOr<Tile> TileEmitter::finishReduction(const Reduction &reduction,
                                             unsigned result, Tile sum,
                                             ArrayRef<unsigned> reduced) {
  const Combiner &combiner = reduction.combiners[result];
  for (unsigned axis : reduced) {
    auto position = llvm::find(sum.axes, axis);
    if (position == sum.axes.end())
      continue;
    int64_t dim = position - sum.axes.begin();
    SmallVector<unsigned> rest(sum.axes);
    rest.erase(rest.begin() + dim);
    auto reduce = tile::ReduceOp::create(
        builder, loc, TypeRange(tileType(rest, combiner.type)), sum.value, dim,
        /*within_warp=*/false);
    Block *block = builder.createBlock(
        &reduce.getCombiner(), {}, {combiner.type, combiner.type}, {loc, loc});
    Value combined = combineValues(builder, combiner.op, block->getArgument(0),
                                   block->getArgument(1));
    tile::YieldOp::create(builder, loc, combined);
    builder.setInsertionPointAfter(reduce);
    sum = {reduce.getResult(0), rest};
  }
  if (reduction.inPanel) {
    FailureOr<Tile> whole = combineInPanel(sum, combiner);
    if (failed(whole))
      return failure();
    sum = *whole;
  }
  if (reduction.ofGroup)
    sum = clearUngrouped(sum, combiner.neutral);
  linalg::LinalgOp op = reduction.op;
  Value init = op.getDpsInitOperand(result)->get();
  if (!isIdentityFill(init, combiner)) {
    Coords initCoords;
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
    for (AffineExpr expr : map.getResults())
      initCoords.push_back(expr.replaceDims(reduction.loopCoords));
    FailureOr<Tile> initial = evaluate(init, initCoords);
    if (failed(initial))
      return failure();
    std::array<Tile, 2> pair{castTile(*initial, combiner.type), sum};
    SmallVector<unsigned> all = unify(pair);
    sum = {combineValues(builder, combiner.op, pair[0].value, pair[1].value),
           all};
  }
  return castTile(sum, getElementTypeOrSelf(init.getType()));
}

FailureOr<Tile> TileEmitter::emitTreeReduction(SmallVector<Reduction> group,
                                               unsigned result) {
  linalg::LinalgOp first = group.front().op;
  SmallVector<unsigned> loops;
  first.getReductionDims(loops);

  // Sort the reduction loops: held in a tile, or walked in chunks.
  SmallVector<unsigned> fullAxes;
  struct Walk {
    unsigned dim;
    int64_t tile;
    bool own;
    /// Of all dimensions that it runs through.
    AffineExpr extent;
    /// Steps that are written out; none: a loop.
    std::optional<int64_t> steps;
  };
  SmallVector<Walk> walks;
  for (unsigned loop : loops) {
    unsigned dim = space.getDimOfLoop(first, loop);
    if (space.getDims()[dim].getStaticExtent() == 1)
      continue;
    AxisAttr decision = schedule.getAxes()[dim];
    if (decision.getKind() == AxisKind::Group) {
      if (!group.front().ofGroup)
        return first->emitError("FUS-3122: groups of rows are walked at "
                                "coordinates that are not those of the tile");
      continue;
    }
    bool taken = mentions(group.front().coords, dim);
    // The walk along the last dimension of several runs through them.
    if (decision.getKind() == AxisKind::Merged)
      continue;
    if (decision.getKind() == AxisKind::Full && !taken)
      fullAxes.push_back(bound.lookup(dim));
    else
      walks.push_back({dim,
                       decision.getKind() == AxisKind::Loop && !taken
                           ? decision.getTile()
                           : 1,
                       taken || decision.getKind() != AxisKind::Loop,
                       getWalkedExtent(dim),
                       {}});
  }
  // The loop with the widest chunk is innermost, where it is unrolled.
  llvm::stable_sort(
      walks, [](const Walk &a, const Walk &b) { return a.tile < b.tile; });
  if (!walks.empty() &&
      llvm::none_of(walks, [](const Walk &walk) { return walk.own; })) {
    addSiblings(group);
    addParts(group);
  }

  auto getStatic = [](const Walk &walk) -> std::optional<int64_t> {
    if (auto extent = dyn_cast<AffineConstantExpr>(walk.extent))
      return extent.getValue();
    return std::nullopt;
  };
  // What the other blocks of a panel have of it comes in at the end.
  auto isShared = [&](const Walk &walk) {
    return panel && !walk.own && walk.dim == panel->dim;
  };
  bool inPanel = llvm::any_of(walks, isShared) ||
                 (panel && llvm::is_contained(fullAxes, panel->axis));
  for (Reduction &member : group)
    member.inPanel = inPanel;

  // Windows of strips are written out, so that what neighbouring results share
  // is read and converted once; others up to a size.
  bool elementwise = schedule.getStrategy() == Strategy::Reduction &&
                     fullAxes.empty() && !walks.empty() &&
                     walks.back().tile == 1;
  int64_t turns = 1;
  for (Walk &walk : llvm::reverse(walks)) {
    std::optional<int64_t> extent = getStatic(walk);
    if (!elementwise || !extent || isShared(walk) ||
        (strips.empty() && *extent * turns > kMaxTurns))
      break;
    walk.steps = extent;
    turns *= *extent;
  }

  auto bindReductionLoops = [&](ArrayRef<AffineExpr> walkCoords) {
    for (Reduction &member : group) {
      SmallVector<unsigned> memberLoops;
      member.op.getReductionDims(memberLoops);
      for (unsigned loop : memberLoops) {
        unsigned dim = space.getDimOfLoop(member.op, loop);
        AffineExpr &coord = member.loopCoords[loop];
        if (schedule.getAxes()[dim].getKind() == AxisKind::Group)
          continue;
        if (space.getDims()[dim].getStaticExtent() == 1) {
          coord = builder.getAffineConstantExpr(0);
          continue;
        }
        auto walk = llvm::find_if(walks, [&](const Walk &walk) {
          return llvm::is_contained(getWalkedDims(walk.dim), dim);
        });
        if (walk == walks.end()) {
          coord = builder.getAffineDimExpr(bound.lookup(dim));
          continue;
        }
        // Row-major position among the dimensions of the walk.
        SmallVector<unsigned> walked = getWalkedDims(walk->dim);
        coord = walkCoords[walk - walks.begin()];
        for (; walked.back() != dim; walked.pop_back())
          coord = coord.floorDiv(space.getDims()[walked.back()].extent);
        if (walked.size() > 1)
          coord = coord % space.getDims()[dim].extent;
      }
    }
  };

  SmallVector<unsigned> walkAxes;
  SmallVector<AffineExpr> walkCoords;
  unsigned nextAxis = axes.size();
  for (auto [i, walk] : llvm::enumerate(walks)) {
    walkCoords.push_back(walk.steps ? builder.getAffineConstantExpr(0)
                                    : builder.getAffineDimExpr(nextAxis + i));
    if (!walk.steps)
      walkAxes.push_back(nextAxis + i);
  }
  SmallVector<unsigned> reduced(fullAxes);
  for (auto [axis, walk] : llvm::zip(walkAxes, walks))
    if (walk.tile > 1)
      reduced.push_back(axis);

  if (walks.empty()) {
    bindReductionLoops({});
    Reduction &only = group.front();
    SmallVector<Tile> finished;
    for (auto [i, combiner] : llvm::enumerate(only.combiners)) {
      BodyContext context = makeContext(only.op, only.loopCoords);
      FailureOr<Tile> element = evaluateElement(context, combiner);
      if (failed(element))
        return failure();
      SmallVector<unsigned> all = element->axes;
      all.append(fullAxes.begin(), fullAxes.end());
      llvm::sort(all);
      all.erase(llvm::unique(all), all.end());
      Tile masked =
          maskReduced(broadcast(*element, all), fullAxes, combiner.neutral);
      FailureOr<Tile> tile = finishReduction(only, i, masked, fullAxes);
      if (failed(tile))
        return failure();
      finished.push_back(*tile);
    }
    for (auto [i, tile] : llvm::enumerate(finished))
      remember(only.op->getResult(i), only.coords, tile, depthOf(only.coords));
    return finished[result];
  }

  // Shapes of the accumulators, before the loops exist: reserve their axes so
  // that tile types can be formed.
  unsigned depth = scopes.size() - 1;
  for (auto [i, walk] : llvm::enumerate(walks)) {
    if (walk.steps)
      break;
    Axis axis;
    if (!walk.own)
      axis.dim = walk.dim;
    axis.extent = walk.extent;
    axis.tile = walk.tile;
    axis.depth = depth + 1 + i;
    axes.push_back(axis);
  }
  bindReductionLoops(walkCoords);
  SmallVector<SmallVector<unsigned>> accumulatorAxes;
  SmallVector<std::optional<DotForm>> dots;
  SmallVector<Value> inits;
  SmallVector<Reduction> finishes(group);
  bool shared = shareContraction(group, reduced);
  for (const Reduction &member : group) {
    std::optional<DotForm> dot;
    if (reduced.size() == 1 && fullAxes.empty())
      dot = matchDot(member, reduced.front());
    dots.push_back(dot);
    for (const Combiner &combiner : member.combiners) {
      SmallVector<unsigned> all = axesOf(member.coords);
      if (!dot)
        all.append(reduced.begin(), reduced.end());
      llvm::sort(all);
      accumulatorAxes.push_back(all);
      Value init = broadcast({constant(combiner.neutral), {}}, all).value;
      inits.push_back(dot ? addParts(init, reduced.front()) : init);
    }
  }

  // The sums that are made of parts, and their loops over these.
  SmallVector<Operation *> adders;
  for (const Reduction &member : group)
    for (const Combiner &combiner : member.combiners)
      adders.push_back(isCascaded(combiner) ? combiner.op : nullptr);
  SmallVector<std::optional<int64_t>> trips;
  for (auto [axis, walk] : llvm::zip(walkAxes, walks)) {
    std::optional<int64_t> extent = getStatic(walk);
    trips.push_back(extent);
    if (extent)
      trips.back() = llvm::divideCeil(
          *extent, walk.tile * (isShared(walk) ? panel->members : 1));
  }
  std::optional<GroupedSum> grouped = matchGroupedSum(first);
  SmallVector<int64_t> steps(walkAxes.size(), 0);
  if (llvm::any_of(adders, [](Operation *adder) { return adder; }) &&
      llvm::none_of(dots, [](auto &dot) { return dot.has_value(); }) &&
      !grouped)
    steps = divideSums(trips, turns);
  // Adds one element of each tile, or all turns of a window, to `carried`.
  auto addElements =
      [&](SmallVector<Value> carried) -> FailureOr<SmallVector<Value>> {
    for (int64_t turn = 0; turn < turns; ++turn) {
      int64_t position = turn;
      for (unsigned i = walks.size(); i-- > 0 && walks[i].steps;) {
        walkCoords[i] =
            builder.getAffineConstantExpr(position % *walks[i].steps);
        position /= *walks[i].steps;
      }
      if (turns > 1)
        bindReductionLoops(walkCoords);
      SmallVector<Value> next;
      for (auto [member, dot] : llvm::zip(group, dots)) {
        BodyContext context = makeContext(member.op, member.loopCoords);
        for (const Combiner &combiner : member.combiners) {
          Value accumulator = carried[next.size()];
          ArrayRef<unsigned> all = accumulatorAxes[next.size()];
          if (dot) {
            FailureOr<Value> sum =
                emitDot(context, *dot, reduced.front(), accumulator);
            if (failed(sum))
              return failure();
            next.push_back(*sum);
            continue;
          }
          FailureOr<Tile> element = evaluateElement(context, combiner);
          if (failed(element))
            return failure();
          Tile masked =
              maskReduced(broadcast(*element, all), reduced, combiner.neutral);
          Value addend = broadcast(masked, all).value;
          next.push_back(
              combineValues(builder, combiner.op, accumulator, addend));
          contractExactProduct(next.back(), addend);
        }
      }
      carried = next;
    }
    return carried;
  };
  // Walks the axes from number `i` on.
  std::function<FailureOr<SmallVector<Value>>(unsigned, SmallVector<Value>)>
      walkFrom =
          [&](unsigned i,
              SmallVector<Value> carried) -> FailureOr<SmallVector<Value>> {
    if (i == walkAxes.size())
      return addElements(std::move(carried));
    unsigned axis = walkAxes[i];
    SmallVector<Piece, 2> pieces{Piece::All};
    if (i + 1 == walkAxes.size() && !walks[i].own && walks[i].tile > 1 &&
        turns == 1 && !grouped &&
        llvm::none_of(dots, [](auto &dot) { return dot.has_value(); }))
      pieces = getPieces(walks[i].dim, walks[i].tile);
    for (Piece piece : pieces) {
      axes[axis].piece = piece;
      scf::ForOp parts;
      SmallVector<Value> before(carried);
      if (steps[i] && piece != Piece::Rest) {
        parts = openParts(axis, steps[i], carried);
        for (auto [sum, init, whole, adder] :
             llvm::zip(before, inits, parts.getRegionIterArgs(), adders))
          sum = adder ? init : whole;
      }
      scf::ForOp loop = openLoopOn(axis, before);
      if (parts)
        restrictToPart(loop, parts);
      if (shared && axis == walkAxes.back())
        restrictToShare(loop, axes[axis]);
      if (grouped && group.size() == 1 &&
          walks[i].dim == space.getDimOfLoop(first, grouped->loop) &&
          failed(restrictToGroups(loop, group.front())))
        return failure();
      FailureOr<SmallVector<Value>> inner =
          walkFrom(i + 1, llvm::to_vector_of<Value>(loop.getRegionIterArgs()));
      if (failed(inner))
        return failure();
      carried = llvm::to_vector_of<Value>(closeLoop(*inner).getResults());
      if (!parts)
        continue;
      for (auto [sum, whole, adder] :
           llvm::zip(carried, parts.getRegionIterArgs(), adders))
        if (adder)
          sum = combineValues(builder, adder, whole, sum);
      carried = llvm::to_vector_of<Value>(closeLoop(carried).getResults());
    }
    return carried;
  };
  FailureOr<SmallVector<Value>> walked = walkFrom(0, inits);
  if (failed(walked))
    return failure();
  SmallVector<Value> next = *walked;
  if (stream && walkAxes.size() == 1 &&
      llvm::all_of(dots, [](auto &dot) { return dot.has_value(); })) {
    FailureOr<SmallVector<Value>> sums =
        shareSums(next.front().getDefiningOp<scf::ForOp>(), next);
    if (failed(sums))
      return failure();
    next = *sums;
  }
  bool apart = shared && schedule.getMma().getApart();
  if (apart) {
    FailureOr<SmallVector<Value>> parts = exchangeShares(next, accumulatorAxes);
    if (failed(parts))
      return failure();
    next = *parts;
  }

  FailureOr<Tile> answer = failure();
  unsigned position = 0;
  for (auto [number, member] : llvm::enumerate(finishes)) {
    for (unsigned i = 0; i < member.combiners.size(); ++i, ++position) {
      Tile sum{next[position], accumulatorAxes[position]};
      if (dots[number])
        sum.value = sumParts(sum.value, sum.axes);
      if (shared && !apart)
        sum = addShares(sum);
      FailureOr<Tile> tile = finishReduction(member, i, sum, reduced);
      if (failed(tile))
        return failure();
      remember(member.op->getResult(i), member.coords, *tile,
               depthOf(member.coords));
      if (number == 0 && i == result)
        answer = tile;
    }
  }
  return answer;
}

FailureOr<Tile> TileEmitter::emitSerialReduction(linalg::LinalgOp op,
                                                 unsigned result,
                                                 ArrayRef<AffineExpr> coords,
                                                 Coords loopCoords) {
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  SmallVector<unsigned> resultAxes = axesOf(coords);
  SmallVector<Value> carried;
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
    OpOperand *init = op.getDpsInitOperand(i);
    Coords initCoords;
    for (AffineExpr expr : op.getMatchingIndexingMap(init).getResults())
      initCoords.push_back(expr.replaceDims(loopCoords));
    FailureOr<Tile> tile = evaluate(init->get(), initCoords);
    if (failed(tile))
      return failure();
    carried.push_back(broadcast(*tile, resultAxes).value);
  }
  for (unsigned loop : loops) {
    unsigned dim = space.getDimOfLoop(op, loop);
    scf::ForOp forOp;
    unsigned axis =
        openLoop(std::nullopt, space.getDims()[dim].extent, 1, carried, &forOp);
    loopCoords[loop] = builder.getAffineDimExpr(axis);
    carried.assign(forOp.getRegionIterArgs().begin(),
                   forOp.getRegionIterArgs().end());
  }
  BodyContext context = makeContext(op, loopCoords);
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i)
    context.tiles[op.getMatchingBlockArgument(op.getDpsInitOperand(i))] = {
        carried[i], resultAxes};
  SmallVector<Value> next;
  for (Value yielded : op.getBlock()->getTerminator()->getOperands()) {
    FailureOr<Tile> tile = evaluateScalar(context, yielded);
    if (failed(tile))
      return failure();
    next.push_back(broadcast(*tile, resultAxes).value);
  }
  for (unsigned i = 0; i < loops.size(); ++i)
    next = llvm::to_vector_of<Value>(closeLoop(next).getResults());
  for (auto [i, value] : llvm::enumerate(next))
    remember(op->getResult(i), coords, {value, resultAxes}, depthOf(coords));
  return Tile{next[result], resultAxes};
}
