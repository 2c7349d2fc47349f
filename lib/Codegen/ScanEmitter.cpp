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
    if (axes[axis].tile > 1) {
      std::optional<ScanCombiner> combiner =
          matchScanCombiner(scan.getCombiner().front());
      if (!combiner)
        return scan.emitError("FUS-3127: a scan whose combination is not known "
                              "to be associative is walked in tiles");
      walked.types = combiner->types;
      walked.neutral = combiner->neutral;
    }
    result.push_back(std::move(walked));
  }
  return result;
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
  llvm::SmallPtrSet<Operation *, 8> needed{from.getTerminator()};
  for (Operation &op : llvm::reverse(from))
    if (llvm::any_of(op.getUsers(),
                     [&](Operation *user) { return needed.contains(user); }))
      needed.insert(&op);
  IRMapping mapping;
  mapping.map(from.getArguments(), block->getArguments());
  for (Operation &op : from.without_terminator()) {
    if (!needed.contains(&op))
      continue;
    Operation *copy = builder.clone(op, mapping);
    // States are computed in one type, which may be wider.
    for (Value result : copy->getResults())
      if (isa<FloatType>(result.getType()))
        result.setType(copy->getOperand(0).getType());
  }
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
      Tile inside =
          builder.below(builder.getAffineDimExpr(axis), axes[axis].extent);
      wide =
          builder.broadcast(builder.select(inside, wide, neutral), scan.axes);
    }
    elements.push_back(wide.value);
  }
  return elements;
}

LogicalResult ScanEmitter::scanTile(WalkedScan &scan, unsigned axis,
                                    ValueRange states,
                                    SmallVectorImpl<Value> &next) {
  ScanOp op = scan.op;
  FailureOr<SmallVector<Value>> elements = evaluateElements(scan, axis);
  if (failed(elements))
    return failure();
  SmallVector<Type> totals;
  for (Type type : scan.types)
    totals.push_back(builder.getTileType(scan.outerAxes, type));
  int64_t dim = llvm::find(scan.axes, axis) - scan.axes.begin();
  SmallVector<Value> before(states);
  bool inRounds = panels.isInRounds();
  if (inRounds) {
    FailureOr<SmallVector<Value>> own =
        scanRound(scan, *elements, states, dim, next);
    if (failed(own))
      return failure();
    before = *own;
  }
  auto scanned = tile::ScanOp::create(
      builder, loc, ValueRange(*elements).getTypes(), totals, *elements, before,
      builder.getI64IntegerAttr(dim), /*parts=*/IntegerAttr(),
      op.getExclusiveAttr(), op.getReverseAttr(),
      mayGoInOrder(axes[axis].extent) ? builder.getUnitAttr() : UnitAttr());
  cloneCombiner(builder, loc, op.getCombiner().front(), scan.types,
                scanned.getCombiner());
  for (auto [i, result] : llvm::enumerate(scanned.getResults())) {
    Type element = op.getInits()[i].getType();
    evaluator.remember(op.getResult(i), scan.coords,
                       builder.castTile({result, scan.axes}, element));
  }
  if (!inRounds)
    llvm::append_range(next, scanned.getTotals());
  return success();
}

FailureOr<SmallVector<Value>>
ScanEmitter::scanRound(WalkedScan &scan, ValueRange elements, ValueRange states,
                       int64_t dim, SmallVectorImpl<Value> &next) {
  for (Type type : scan.types)
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 32)
      return panels.refuse("a state of their scan has more than 32 bits");
  SmallVector<Type> totals(states.getTypes());
  ScanOp op = scan.op;
  Block &combiner = op.getCombiner().front();
  SmallVector<Value> nothing;
  for (TypedAttr neutral : scan.neutral)
    nothing.push_back(
        builder.broadcast({builder.createConstant(neutral), {}}, scan.outerAxes)
            .value);
  auto own = tile::ScanOp::create(
      builder, loc, elements.getTypes(), totals, elements, nothing,
      builder.getI64IntegerAttr(dim), /*parts=*/IntegerAttr(),
      /*exclusive=*/UnitAttr(), op.getReverseAttr(), /*in_order=*/UnitAttr());
  cloneCombiner(builder, loc, combiner, scan.types, own.getCombiner());
  tile::PanelScanOp exchange = panels.scan(op, own.getTotals(), states);
  cloneCombiner(builder, loc, combiner, scan.types, exchange.getCombiner());
  llvm::append_range(next, exchange.getTotals());
  return llvm::to_vector_of<Value>(exchange.getBefore());
}

LogicalResult ScanEmitter::scanElement(WalkedScan &scan, ValueRange states,
                                       SmallVectorImpl<Value> &next) {
  ScanOp op = scan.op;
  BodyEvaluator body(evaluator, &op.getCombiner().front());
  unsigned count = op.getInputs().size();
  for (unsigned i = 0; i < count; ++i) {
    body.setTile(body.getBlock()->getArgument(i), {states[i], scan.axes});
    FailureOr<Tile> element =
        evaluator.evaluate(op.getInputs()[i], scan.coords);
    if (failed(element))
      return failure();
    body.setTile(body.getBlock()->getArgument(count + i), *element);
  }
  Operation *yield = body.getBlock()->getTerminator();
  for (unsigned i = 0; i < count; ++i) {
    FailureOr<Tile> combined = body.evaluate(yield->getOperand(i));
    if (failed(combined))
      return failure();
    Tile state = builder.broadcast(*combined, scan.axes);
    next.push_back(state.value);
    evaluator.remember(op.getResult(i), scan.coords,
                       op.getExclusive() ? Tile{states[i], scan.axes} : state);
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
  }
  walked.offset = at;
}

unsigned ScanEmitter::addAxis(unsigned dim) {
  Axis walked{dim, kernel.getDim(dim).extent,
              kernel.getDecision(dim).getTile()};
  walked.depth = scopes.getDepth() + 1;
  if (panels.isInRounds())
    walked.round = panels.getPanel()->members;
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
      inits.push_back(
          builder.broadcast(builder.castTile(*scalar, type), scan.outerAxes)
              .value);
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

LogicalResult ScanEmitter::emit(ArrayRef<ScanOp> scans, unsigned dim,
                                function_ref<LogicalResult()> emitStep) {
  ScanOp first = scans.front();
  bool backwards = first.getReverse();
  for (ScanOp scan : scans)
    if (scan.getReverse() != backwards)
      return scan.emitError("FUS-3114: scans in both directions along one "
                            "dimension cannot share a kernel");
  if (panels.isInRounds() && kernel.getDecision(dim).getTile() == 1)
    return panels.refuse("each walks it element by element");
  scopes.insertInnermost();
  unsigned axis = addAxis(dim);
  FailureOr<std::vector<WalkedScan>> found = find(scans, axis);
  if (failed(found))
    return failure();
  FailureOr<SmallVector<Value>> states = evaluateInits(*found);
  if (failed(states))
    return failure();

  // Backwards, the last piece comes first.
  SmallVector<Piece, 2> pieces =
      walks.getPieces(dim, axes[axis].step(), /*inOrder=*/true);
  if (backwards)
    std::reverse(pieces.begin(), pieces.end());
  for (auto [number, piece] : llvm::enumerate(pieces)) {
    scopes.insertInnermost();
    axes[axis].piece = piece;
    scf::ForOp loop = walks.openLoopOn(axis, *states);
    placeWalk(axis, loop, backwards, number);
    FailureOr<SmallVector<Value>> next =
        scanStep(*found, axis, loop.getRegionIterArgs());
    if (failed(next) || failed(emitStep()))
      return failure();
    loop = walks.closeLoop(*next);
    // The next tile is on its way while blocks wait for each other.
    if (panels.isInRounds())
      loop->setAttr(tile::kLoadAheadAttrName, builder.getUnitAttr());
    states =
        llvm::to_vector_of<Value>(loop.getResults().take_front(next->size()));
  }
  return success();
}
