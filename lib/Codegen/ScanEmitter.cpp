//===- ScanEmitter.cpp - Scans on tiles -----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements scans: one loop walks the scanned dimension and carries
// the states of every scan along it, so that what consumes a scan's result is
// computed in the same step. A step is a tile, which the block scans together,
// or one element, where the combination is not known to be associative.
//
//===----------------------------------------------------------------------===//

#include "ScanEmitter.h"

#include "BodyEvaluator.h"
#include "Coordinates.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Analysis/ScanTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fusion;

FailureOr<std::vector<WalkedScan>> ScanEmitter::find(ArrayRef<ScanOp> scans,
                                                     unsigned axis) {
  std::vector<WalkedScan> result;
  for (ScanOp scan : scans) {
    FailureOr<Coords> coords = getPlainCoords(scan.getResult(0), axes);
    if (failed(coords))
      return scan.emitError("FUS-3115: a scan's dimension has no axis");
    WalkedScan walked;
    walked.op = scan;
    walked.coords = *coords;
    walked.axes = axes.getAxesOf(*coords);
    walked.outerAxes = walked.axes;
    llvm::erase(walked.outerAxes, axis);
    walked.types.assign(scan.getInits().getTypes().begin(),
                        scan.getInits().getTypes().end());
    walked.neutral.resize(walked.types.size());
    std::optional<ScanCombiner> combiner =
        matchScanCombiner(scan.getCombiner().front());
    if (axes[axis].tile > 1 && !combiner)
      return scan.emitError("FUS-3127: a scan whose combination is not known "
                            "to be associative is walked in tiles");
    if (combiner) {
      walked.types = combiner->types;
      walked.neutral = combiner->neutral;
    }
    result.push_back(std::move(walked));
  }
  return result;
}

/// Clones what the terminator of `from` needs, for states that may be wider
/// than those it is written for, or tiles of such.
static void cloneWide(OpBuilder &builder, Block &from, IRMapping &mapping) {
  llvm::SmallPtrSet<Operation *, 8> needed{from.getTerminator()};
  for (Operation &op : llvm::reverse(from))
    if (llvm::any_of(op.getUsers(),
                     [&](Operation *user) { return needed.contains(user); }))
      needed.insert(&op);
  for (Operation &op : from.without_terminator()) {
    if (!needed.contains(&op))
      continue;
    Operation *copy = builder.clone(op, mapping);
    // States are computed in one type.
    for (Value result : copy->getResults()) {
      Type state = copy->getOperand(0).getType();
      if (isa<FloatType>(result.getType()) || isa<RankedTensorType>(state))
        result.setType(state);
    }
  }
}

/// The region of `from` for states of `types`, as the region of a tile
/// operation.
static void cloneCombiner(OpBuilder &builder, Location loc, Block &from,
                          ArrayRef<Type> types, Region &to) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> arguments(types);
  llvm::append_range(arguments, types);
  Block *block = builder.createBlock(
      &to, {}, arguments, SmallVector<Location>(arguments.size(), loc));
  IRMapping mapping;
  mapping.map(from.getArguments(), block->getArguments());
  cloneWide(builder, from, mapping);
  SmallVector<Value> yielded;
  for (Value value : from.getTerminator()->getOperands())
    yielded.push_back(mapping.lookup(value));
  tile::YieldOp::create(builder, loc, yielded);
}

/// Whether a term may go through one combination for each of `extent` elements
/// (docs/Numerics.md).
static bool mayGoInOrder(AffineExpr extent) {
  auto constant = dyn_cast<AffineConstantExpr>(extent);
  return constant && constant.getValue() <= kMostInOrder;
}

FailureOr<SmallVector<Value>>
ScanEmitter::evaluateElements(const WalkedScan &scan, unsigned axis) {
  ScanOp op = scan.op;
  SmallVector<Value> elements;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    FailureOr<Tile> element = evaluator.evaluate(input, scan.coords);
    if (failed(element))
      return failure();
    Tile wide =
        builder.broadcast(builder.castTile(*element, scan.types[i]), scan.axes);
    // Backwards, what lies past the end comes first.
    if (op.getReverse() && !axes[axis].exact) {
      Tile neutral{builder.createConstant(scan.neutral[i]), {}};
      Tile inside = builder.below(scan.coords[op.getAxis()], axes[axis].extent);
      wide =
          builder.broadcast(builder.select(inside, wide, neutral), scan.axes);
    }
    elements.push_back(wide.value);
  }
  return elements;
}

/// Whether `neutral` is the lowest number, which replaces minus infinity where
/// the two are combined: an identity of all but that.
static bool isLowest(TypedAttr neutral) {
  auto number = dyn_cast<FloatAttr>(neutral);
  return number && number.getValue().isLargest() &&
         number.getValue().isNegative();
}

FailureOr<Tile> ScanEmitter::beginWithInit(const WalkedScan &scan,
                                           unsigned axis, unsigned state,
                                           Value scanned) {
  ScanOp op = scan.op;
  Tile result{scanned, scan.axes};
  if (!op.getExclusive() || !isLowest(scan.neutral[state]))
    return result;
  FailureOr<Tile> scalar = evaluator.evaluateScalar(op.getInits()[state]);
  if (failed(scalar))
    return failure();
  Tile init = builder.castTile(*scalar, scan.types[state]);
  AffineExpr coord = scan.coords[op.getAxis()];
  // Backwards, the last element is the first.
  Tile chosen =
      op.getReverse()
          ? builder.select(builder.below(coord, axes[axis].extent - 1), result,
                           init)
          : builder.select(builder.below(coord, getAffineConstantExpr(
                                                    1, builder.getContext())),
                           init, result);
  return builder.broadcast(chosen, scan.axes);
}

LogicalResult ScanEmitter::scanTile(WalkedScan &scan, unsigned axis,
                                    ValueRange states,
                                    SmallVectorImpl<Value> &next) {
  ScanOp op = scan.op;
  FailureOr<SmallVector<Value>> elements = evaluateElements(scan, axis);
  if (failed(elements))
    return failure();
  SmallVector<Value> before(states);
  bool inRounds = panels.isInRounds();
  if (inRounds) {
    FailureOr<SmallVector<Value>> own =
        scanRound(scan, axis, *elements, states, next);
    if (failed(own))
      return failure();
    before = *own;
  }
  auto scanned =
      createScan(scan, axis, *elements, before, op.getExclusive(),
                 panels.isInRuns() || mayGoInOrder(axes[axis].extent));
  for (auto [i, scannedTile] : llvm::enumerate(scanned.getResults())) {
    FailureOr<Tile> result = beginWithInit(scan, axis, i, scannedTile);
    if (failed(result))
      return failure();
    evaluator.remember(op.getResult(i), scan.coords,
                       builder.castTile(*result, op.getInits()[i].getType()));
  }
  if (!inRounds)
    llvm::append_range(next, scanned.getTotals());
  return success();
}

SmallVector<Value> ScanEmitter::getNeutral(const WalkedScan &scan) {
  SmallVector<Value> nothing;
  for (TypedAttr neutral : scan.neutral)
    nothing.push_back(
        builder.broadcast({builder.createConstant(neutral), {}}, scan.outerAxes)
            .value);
  return nothing;
}

tile::ScanOp ScanEmitter::createScan(const WalkedScan &scan, unsigned axis,
                                     ValueRange elements, ValueRange inits,
                                     bool exclusive, bool inOrder) {
  ScanOp op = scan.op;
  SmallVector<Type> totals;
  for (Type type : scan.types)
    totals.push_back(builder.getTileType(scan.outerAxes, type));
  auto unitIf = [&](bool is) {
    return is ? builder.getUnitAttr() : UnitAttr();
  };
  auto scanned = tile::ScanOp::create(
      builder, loc, elements.getTypes(), totals, elements, inits,
      builder.getI64IntegerAttr(llvm::find(scan.axes, axis) -
                                scan.axes.begin()),
      /*parts=*/IntegerAttr(), unitIf(exclusive), op.getReverseAttr(),
      unitIf(inOrder));
  cloneCombiner(builder, loc, op.getCombiner().front(), scan.types,
                scanned.getCombiner());
  return scanned;
}

FailureOr<SmallVector<Value>>
ScanEmitter::scanRound(const WalkedScan &scan, unsigned axis,
                       ValueRange elements, ValueRange states,
                       SmallVectorImpl<Value> &next) {
  for (Type type : scan.types)
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 32)
      return panels.refuse("a state of their scan has more than 32 bits");
  auto own = createScan(scan, axis, elements, getNeutral(scan),
                        /*exclusive=*/false, /*inOrder=*/false);
  tile::PanelScanOp exchange = panels.scan(scan.op, own.getTotals(), states);
  cloneCombiner(builder, loc, ScanOp(scan.op).getCombiner().front(), scan.types,
                exchange.getCombiner());
  llvm::append_range(next, exchange.getTotals());
  return llvm::to_vector_of<Value>(exchange.getBefore());
}

/// The combination of `from` on tiles of states that are wider than those it is
/// written for.
static SmallVector<Value> combineWide(OpBuilder &builder, Block &from,
                                      ValueRange states, ValueRange elements) {
  IRMapping mapping;
  unsigned count = states.size();
  mapping.map(from.getArguments().take_front(count), states);
  mapping.map(from.getArguments().drop_front(count), elements);
  cloneWide(builder, from, mapping);
  return llvm::map_to_vector(
      from.getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookup(value); });
}

FailureOr<SmallVector<Tile>>
ScanEmitter::combineElement(const WalkedScan &scan, ValueRange states,
                            ArrayRef<Tile> elements) {
  ScanOp op = scan.op;
  Block &combiner = op.getCombiner().front();
  SmallVector<Tile> combined;
  if (!llvm::equal(scan.types, op.getInits().getTypes())) {
    SmallVector<Value> wide;
    for (auto [element, type] : llvm::zip(elements, scan.types))
      wide.push_back(
          builder.broadcast(builder.castTile(element, type), scan.axes).value);
    for (Value state : combineWide(builder, combiner, states, wide))
      combined.push_back({state, scan.axes});
    return combined;
  }
  BodyEvaluator body(evaluator, &combiner);
  for (auto [i, element] : llvm::enumerate(elements)) {
    body.setTile(combiner.getArgument(i), {states[i], scan.axes});
    body.setTile(combiner.getArgument(elements.size() + i), element);
  }
  for (Value yielded : combiner.getTerminator()->getOperands()) {
    FailureOr<Tile> state = body.evaluate(yielded);
    if (failed(state))
      return failure();
    combined.push_back(builder.broadcast(*state, scan.axes));
  }
  return combined;
}

LogicalResult ScanEmitter::scanElement(WalkedScan &scan, ValueRange states,
                                       SmallVectorImpl<Value> &next) {
  ScanOp op = scan.op;
  SmallVector<Tile> elements;
  for (Value input : op.getInputs()) {
    FailureOr<Tile> element = evaluator.evaluate(input, scan.coords);
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  FailureOr<SmallVector<Tile>> combined =
      combineElement(scan, states, elements);
  if (failed(combined))
    return failure();
  for (auto [i, state] : llvm::enumerate(*combined)) {
    next.push_back(state.value);
    Tile result = op.getExclusive() ? Tile{states[i], scan.axes} : state;
    evaluator.remember(op.getResult(i), scan.coords,
                       builder.castTile(result, op.getInits()[i].getType()));
  }
  return success();
}

void ScanEmitter::placeWalk(unsigned axis, scf::ForOp loop, bool backwards,
                            unsigned number) {
  Axis &walked = axes[axis];
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value at = loop.getInductionVar();
  bool inRounds = panels.isInRounds();
  Value step = loop.getStep();
  if (inRounds) {
    // Rounds are counted through all pieces. Backwards, what is left of the
    // last one comes first.
    Value turn = arith::DivUIOp::create(builder, loc, at, step);
    if (backwards && walked.piece != Piece::All)
      turn = number == 0
                 ? index(0)
                 : Value(arith::AddIOp::create(builder, loc, turn, index(1)));
    panels.setTurn(turn);
  }
  if (backwards) {
    // The mirror image of the steps: the last comes first, each from where it
    // begins.
    Value begin = loop.getLowerBound();
    Value last = arith::SubIOp::create(
        builder, loc, loop.getUpperBound(),
        arith::AddIOp::create(builder, loc, begin, index(1)));
    last = arith::DivUIOp::create(builder, loc, last, step);
    last = arith::MulIOp::create(builder, loc, last, step);
    Value ends = arith::AddIOp::create(builder, loc, begin, begin);
    ends = arith::AddIOp::create(builder, loc, ends, last);
    at = arith::SubIOp::create(builder, loc, ends, at);
  }
  if (inRounds) {
    Value rank = panels.getPanel()->member;
    if (backwards)
      rank = arith::SubIOp::create(builder, loc,
                                   index(panels.getPanel()->members - 1), rank);
    Value own = arith::MulIOp::create(builder, loc, rank, index(walked.tile));
    at = arith::AddIOp::create(builder, loc, at, own);
  } else if (panels.isInRuns()) {
    at = arith::AddIOp::create(builder, loc, panels.getPanel()->run, at);
  }
  walked.offset = at;
}

unsigned ScanEmitter::addAxis(unsigned dim) {
  AxisAttr decision = kernel.getDecision(dim);
  Axis walked{dim, kernel.getDim(dim).extent, decision.getTile()};
  walked.depth = scopes.getDepth() + 1;
  if (panels.isInRuns()) {
    walked.tile = decision.getVector();
    walked.ofRun = true;
    axes.addRun(decision.getTile() / walked.tile,
                decision.getSteps() * walked.tile, decision.getSplit(),
                scopes.getDepth());
  }
  if (panels.isInRounds())
    walked.round = panels.getPanel()->members;
  // What is written out is a round of the block's own.
  std::optional<int64_t> extent = kernel.getDim(dim).getStaticExtent();
  if (!panels.getPanel() && (!extent || *extent >= decision.getStrip()))
    walked.round = decision.getStrip();
  unsigned axis = axes.add(walked);
  axes.bind(dim, axis);
  return axis;
}

FailureOr<SmallVector<Value>>
ScanEmitter::evaluateInits(ArrayRef<WalkedScan> scans) {
  SmallVector<Value> inits;
  for (const WalkedScan &scan : scans) {
    ScanOp op = scan.op;
    for (auto [init, type] : llvm::zip(op.getInits(), scan.types)) {
      FailureOr<Tile> scalar = evaluator.evaluateScalar(init);
      if (failed(scalar))
        return failure();
      SmallVector<unsigned> ofBlock(scan.outerAxes);
      if (panels.isInRuns())
        llvm::erase(ofBlock, axes.getRun()->parts);
      inits.push_back(
          builder.broadcast(builder.castTile(*scalar, type), ofBlock).value);
    }
  }
  return inits;
}

FailureOr<SmallVector<Value>>
ScanEmitter::scanStep(MutableArrayRef<WalkedScan> scans, unsigned axis,
                      ValueRange states) {
  SmallVector<Value> next;
  for (WalkedScan &scan : scans) {
    ValueRange own = states.slice(next.size(), scan.types.size());
    if (failed(axes[axis].tile > 1 ? scanTile(scan, axis, own, next)
                                   : scanElement(scan, own, next)))
      return failure();
  }
  return next;
}

FailureOr<SmallVector<Value>> ScanEmitter::addTotals(ArrayRef<WalkedScan> scans,
                                                     unsigned axis,
                                                     ValueRange totals) {
  SmallVector<Value> next;
  for (const WalkedScan &scan : scans) {
    FailureOr<SmallVector<Value>> elements = evaluateElements(scan, axis);
    if (failed(elements))
      return failure();
    auto scanned = createScan(scan, axis, *elements,
                              totals.slice(next.size(), scan.types.size()),
                              /*exclusive=*/false, /*inOrder=*/true);
    llvm::append_range(next, scanned.getTotals());
  }
  return next;
}

FailureOr<SmallVector<Value>>
ScanEmitter::exchangeTotals(ArrayRef<WalkedScan> scans, ValueRange totals,
                            ValueRange states, SmallVectorImpl<Value> &next) {
  SmallVector<Value> before;
  for (WalkedScan scan : scans) {
    ValueRange own = totals.slice(before.size(), scan.types.size());
    unsigned parts = axes.getRun()->parts;
    scan.axes = scan.outerAxes;
    llvm::erase(scan.outerAxes, parts);
    FailureOr<SmallVector<Value>> ofBlock = scanRound(
        scan, parts, own, states.slice(next.size(), own.size()), next);
    if (failed(ofBlock))
      return failure();
    auto scanned = createScan(scan, parts, own, *ofBlock, /*exclusive=*/true,
                              /*inOrder=*/false);
    llvm::append_range(before, scanned.getResults());
  }
  return before;
}

FailureOr<SmallVector<Value>> ScanEmitter::walk(unsigned axis, bool backwards,
                                                SmallVector<Value> states,
                                                Step step) {
  // Backwards, the last piece comes first. Parts of a run end anywhere.
  SmallVector<Piece, 2> pieces{Piece::All};
  if (!panels.isInRuns())
    pieces = walks.getPieces(*axes[axis].dim, axes[axis].step(),
                             /*inOrder=*/true);
  if (backwards)
    std::reverse(pieces.begin(), pieces.end());
  for (auto [number, piece] : llvm::enumerate(pieces)) {
    scopes.insertInnermost();
    axes[axis].piece = piece;
    scf::ForOp loop = walks.openLoopOn(axis, states);
    // What is left of elements that are written out is one at a time.
    if (isWrittenOut(axis) && piece == Piece::Rest) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(loop);
      loop.setStep(builder.createIndex(1));
    }
    placeWalk(axis, loop, backwards, number);
    FailureOr<SmallVector<Value>> next = step(loop.getRegionIterArgs());
    if (failed(next))
      return failure();
    loop = walks.closeLoop(*next);
    // The next tile is on its way while blocks wait for each other, or while
    // threads go through elements that need each other.
    if (panels.getPanel() || (isWrittenOut(axis) && piece != Piece::Rest))
      loop->setAttr(tile::kLoadAheadAttrName, builder.getUnitAttr());
    states =
        llvm::to_vector_of<Value>(loop.getResults().take_front(next->size()));
  }
  return states;
}

/// A scan of `block` whose elements follow from the results of another one.
static ScanOp findScanOfScan(Block &block) {
  llvm::SmallPtrSet<Operation *, 8> behind;
  for (Operation &op : block) {
    bool isBehind = false;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        isBehind |=
            producer && (producer->getBlock() == &block &&
                         (isa<ScanOp>(producer) || behind.contains(producer)));
      }
    });
    if (!isBehind)
      continue;
    if (auto scan = dyn_cast<ScanOp>(op))
      return scan;
    behind.insert(&op);
  }
  return nullptr;
}

LogicalResult ScanEmitter::emitRuns(MutableArrayRef<WalkedScan> scans,
                                    unsigned axis, SmallVector<Value> states,
                                    Step scanStep) {
  if (findScanOfScan(kernel.getBlock()))
    return panels.refuse("what they scan in runs of several tiles follows from "
                         "another scan");
  SmallVector<Value> nothing;
  for (const WalkedScan &scan : scans)
    llvm::append_range(nothing, getNeutral(scan));
  const Panel &panel = *panels.getPanel();
  bool backwards = ScanOp(scans.front().op).getReverse();
  // Fewer steps would do: coordinates may not go far past the end.
  int64_t step = kernel.getDecision(panel.dim).getTile() * panel.members;
  auto extent = dyn_cast<AffineConstantExpr>(axes[axis].extent);
  if (extent && panel.steps > llvm::divideCeilSigned(extent.getValue(), step))
    return panels.refuse("in " + Twine(panel.steps) +
                         " steps they walk more than there is");
  AffineExpr rounds = axes[axis].extent.ceilDiv(step * panel.steps);
  scf::ForOp loop;
  walks.openLoop(rounds, states, &loop);
  panels.setRun(loop.getInductionVar(), rounds, backwards);
  FailureOr<SmallVector<Value>> totals =
      walk(axis, backwards, nothing,
           [&](ValueRange before) { return addTotals(scans, axis, before); });
  if (failed(totals))
    return failure();
  SmallVector<Value> next;
  FailureOr<SmallVector<Value>> before =
      exchangeTotals(scans, *totals, loop.getRegionIterArgs(), next);
  if (failed(before) || failed(walk(axis, backwards, *before, scanStep)))
    return failure();
  walks.closeLoop(next);
  return success();
}

FailureOr<SmallVector<Value>>
ScanEmitter::emitTurns(ArrayRef<ScanOp> scans, unsigned axis, ValueRange states,
                       function_ref<LogicalResult()> emitStep) {
  const Axis walked = axes[axis];
  bool backwards = ScanOp(scans.front()).getReverse();
  // All places are known before any element is computed, so that loads can be
  // together.
  SmallVector<unsigned> turns;
  for (int64_t turn = 0; turn < walked.round; ++turn) {
    Axis own = walked;
    own.round = 1;
    own.exact = true;
    own.offset = arith::AddIOp::create(
        builder, loc, walked.offset,
        builder.createIndex(backwards ? walked.round - 1 - turn : turn));
    turns.push_back(axes.add(own));
  }
  SmallVector<Value> next(states);
  for (unsigned turn : turns) {
    axes.bind(*walked.dim, turn);
    FailureOr<std::vector<WalkedScan>> found = find(scans, turn);
    if (failed(found))
      return failure();
    FailureOr<SmallVector<Value>> own = scanStep(*found, turn, next);
    if (failed(own) || failed(emitStep()))
      return failure();
    next = *own;
  }
  return next;
}

LogicalResult ScanEmitter::emit(ArrayRef<ScanOp> scans, unsigned dim,
                                function_ref<LogicalResult()> emitStep) {
  ScanOp first = scans.front();
  bool backwards = first.getReverse();
  for (ScanOp scan : scans)
    if (scan.getReverse() != backwards)
      return scan.emitError("FUS-3114: scans in both directions along one "
                            "dimension cannot share a kernel");
  if (panels.getPanel() && kernel.getDecision(dim).getTile() == 1)
    return panels.refuse("each walks it element by element");
  scopes.insertInnermost();
  unsigned axis = addAxis(dim);
  FailureOr<std::vector<WalkedScan>> found = find(scans, axis);
  if (failed(found))
    return failure();
  FailureOr<SmallVector<Value>> states = evaluateInits(*found);
  if (failed(states))
    return failure();
  auto step = [&](ValueRange before) -> FailureOr<SmallVector<Value>> {
    if (isWrittenOut(axis) && axes[axis].piece != Piece::Rest)
      return emitTurns(scans, axis, before, emitStep);
    FailureOr<SmallVector<Value>> next = scanStep(*found, axis, before);
    if (failed(next) || failed(emitStep()))
      return failure();
    return next;
  };
  if (panels.isInRuns())
    return emitRuns(*found, axis, *states, step);
  return success(succeeded(walk(axis, backwards, *states, step)));
}
