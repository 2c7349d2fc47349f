//===- EmitScans.cpp - Scans on tiles -------------------------------------===//
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

#include "LoadAhead.h"
#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fusion;

FailureOr<std::vector<TileEmitter::WalkedScan>>
TileEmitter::findScans(ArrayRef<ScanOp> scans, unsigned axis) {
  std::vector<WalkedScan> result;
  for (ScanOp scan : scans) {
    FailureOr<Coords> coords = plainCoords(scan.getResult(0));
    if (failed(coords))
      return scan.emitError("FUS-3115: a scan's dimension has no axis");
    WalkedScan walked;
    walked.op = scan;
    walked.coords = *coords;
    walked.axes = axesOf(*coords);
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
  constexpr int64_t kMostInOrder = 64;
  auto constant = dyn_cast<AffineConstantExpr>(extent);
  return constant && constant.getValue() <= kMostInOrder;
}

LogicalResult TileEmitter::scanTile(WalkedScan &scan, unsigned axis,
                                    ValueRange states,
                                    SmallVectorImpl<Value> &next) {
  ScanOp op = scan.op;
  SmallVector<Value> elements;
  SmallVector<Type> totals;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    FailureOr<Tile> element = evaluate(input, scan.coords);
    if (failed(element))
      return failure();
    Tile wide = broadcast(castTile(*element, scan.types[i]), scan.axes);
    // Backwards, what lies past the end comes first.
    if (op.getReverse() && !axes[axis].exact) {
      Tile neutral{constant(scan.neutral[i]), {}};
      Tile inside = below(builder.getAffineDimExpr(axis), axes[axis].extent);
      wide = broadcast(select(inside, wide, neutral), scan.axes);
    }
    elements.push_back(wide.value);
    totals.push_back(tileType(scan.outerAxes, scan.types[i]));
  }
  int64_t dim = llvm::find(scan.axes, axis) - scan.axes.begin();
  SmallVector<Value> before(states);
  bool inRounds = panel && panel->inRounds;
  if (inRounds) {
    FailureOr<SmallVector<Value>> own =
        scanRound(scan, elements, states, dim, next);
    if (failed(own))
      return failure();
    before = *own;
  }
  auto scanned = tile::ScanOp::create(
      builder, loc, ValueRange(elements).getTypes(), totals, elements, before,
      builder.getI64IntegerAttr(dim), /*parts=*/IntegerAttr(),
      op.getExclusiveAttr(), op.getReverseAttr(),
      mayGoInOrder(axes[axis].extent) ? builder.getUnitAttr() : UnitAttr());
  cloneCombiner(builder, loc, op.getCombiner().front(), scan.types,
                scanned.getCombiner());
  unsigned depth = depthOf(scan.coords);
  for (auto [i, result] : llvm::enumerate(scanned.getResults())) {
    Type element = op.getInits()[i].getType();
    remember(op.getResult(i), scan.coords,
             castTile({result, scan.axes}, element), depth);
  }
  if (!inRounds)
    llvm::append_range(next, scanned.getTotals());
  return success();
}

FailureOr<SmallVector<Value>>
TileEmitter::scanRound(WalkedScan &scan, ValueRange elements, ValueRange states,
                       int64_t dim, SmallVectorImpl<Value> &next) {
  for (Type type : scan.types)
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 32)
      return refusePanel("a state of their scan has more than 32 bits");
  SmallVector<Type> totals(states.getTypes());
  ScanOp op = scan.op;
  Block &combiner = op.getCombiner().front();
  auto own = tile::ScanOp::create(
      builder, loc, elements.getTypes(), totals, elements, ValueRange(),
      builder.getI64IntegerAttr(dim), /*parts=*/IntegerAttr(),
      /*exclusive=*/UnitAttr(), op.getReverseAttr(), /*in_order=*/UnitAttr());
  cloneCombiner(builder, loc, combiner, scan.types, own.getCombiner());
  auto exchange = tile::PanelScanOp::create(
      builder, loc, totals, totals, own.getTotals(), states, getPanelMemory(),
      panel->panel, panel->member, panel->turn, panel->members, /*copies=*/2,
      /*offset=*/0, /*bytes=*/0, /*by_owners=*/false);
  cloneCombiner(builder, loc, combiner, scan.types, exchange.getCombiner());
  panel->scans.push_back(exchange);
  llvm::append_range(next, exchange.getTotals());
  return llvm::to_vector_of<Value>(exchange.getBefore());
}

LogicalResult TileEmitter::scanElement(WalkedScan &scan, ValueRange states,
                                       SmallVectorImpl<Value> &next) {
  ScanOp op = scan.op;
  unsigned depth = depthOf(scan.coords);
  BodyContext context;
  context.block = &op.getCombiner().front();
  unsigned count = op.getInputs().size();
  for (unsigned i = 0; i < count; ++i) {
    context.tiles[context.block->getArgument(i)] = {states[i], scan.axes};
    FailureOr<Tile> element = evaluate(op.getInputs()[i], scan.coords);
    if (failed(element))
      return failure();
    context.tiles[context.block->getArgument(count + i)] = *element;
  }
  Operation *yield = context.block->getTerminator();
  for (unsigned i = 0; i < count; ++i) {
    FailureOr<Tile> combined = evaluateScalar(context, yield->getOperand(i));
    if (failed(combined))
      return failure();
    Tile state = broadcast(*combined, scan.axes);
    next.push_back(state.value);
    remember(op.getResult(i), scan.coords,
             op.getExclusive() ? Tile{states[i], scan.axes} : state, depth);
  }
  return success();
}

void TileEmitter::placeWalk(unsigned axis, scf::ForOp loop, bool backwards,
                            unsigned number) {
  Axis &walked = axes[axis];
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value at = loop.getInductionVar();
  bool inRounds = panel && panel->inRounds;
  Value step = loop.getStep();
  if (inRounds) {
    // Rounds are counted through all pieces. Backwards, what is left of the
    // last one comes first.
    panel->turn = arith::DivUIOp::create(builder, loc, at, step);
    if (backwards && walked.piece != Piece::All)
      panel->turn = number == 0 ? index(0)
                                : Value(arith::AddIOp::create(
                                      builder, loc, panel->turn, index(1)));
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
    Value rank = panel->member;
    if (backwards)
      rank =
          arith::SubIOp::create(builder, loc, index(panel->members - 1), rank);
    Value own = arith::MulIOp::create(builder, loc, rank, index(walked.tile));
    at = arith::AddIOp::create(builder, loc, at, own);
  }
  walked.offset = at;
}

LogicalResult TileEmitter::emitScanLoop(ArrayRef<ScanOp> scans, unsigned dim,
                                        ArrayRef<unsigned> results,
                                        ArrayRef<unsigned> loopDims) {
  ScanOp first = scans.front();
  for (ScanOp scan : scans)
    if (scan.getReverse() != first.getReverse())
      return scan.emitError("FUS-3114: scans in both directions along one "
                            "dimension cannot share a kernel");
  if (panel && panel->inRounds && schedule.getAxes()[dim].getTile() == 1)
    return refusePanel("each walks it element by element");
  insertAt(scopes.size() - 1);

  // The axis exists before its loop, so that coordinates can be formed.
  Axis walked{dim, space.getDims()[dim].extent,
              schedule.getAxes()[dim].getTile()};
  walked.depth = scopes.size();
  if (panel && panel->inRounds)
    walked.round = panel->members;
  axes.push_back(walked);
  unsigned axis = axes.size() - 1;
  bound[dim] = axis;
  FailureOr<std::vector<WalkedScan>> found = findScans(scans, axis);
  if (failed(found))
    return failure();
  SmallVector<Value> inits;
  for (WalkedScan &scan : *found)
    for (auto [init, type] : llvm::zip(scan.op.getInits(), scan.types)) {
      FailureOr<Tile> scalar = scalarValue(init);
      if (failed(scalar))
        return failure();
      inits.push_back(broadcast(castTile(*scalar, type), scan.outerAxes).value);
    }

  // Backwards, the last piece comes first.
  SmallVector<Piece, 2> pieces = getPieces(dim, walked.step(), true);
  if (first.getReverse())
    std::reverse(pieces.begin(), pieces.end());
  for (auto [number, piece] : llvm::enumerate(pieces)) {
    insertAt(scopes.size() - 1);
    axes[axis].piece = piece;
    scf::ForOp loop = openLoopOn(axis, inits);
    placeWalk(axis, loop, first.getReverse(), number);
    SmallVector<Value> next;
    for (WalkedScan &scan : *found) {
      ValueRange states =
          loop.getRegionIterArgs().slice(next.size(), scan.types.size());
      LogicalResult scanned = axes[axis].tile > 1
                                  ? scanTile(scan, axis, states, next)
                                  : scanElement(scan, states, next);
      if (failed(scanned))
        return failure();
    }
    if (failed(emitRootGroup(results, loopDims)))
      return failure();
    loop = closeLoop(next);
    // The next tile is on its way while blocks wait for each other.
    if (panel && panel->inRounds)
      loop = loadAhead(loop);
    inits =
        llvm::to_vector_of<Value>(loop.getResults().take_front(next.size()));
  }
  return success();
}
