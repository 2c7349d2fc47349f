//===- RootEmitter.cpp - Stores of a kernel's results ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what the emission of a kernel begins with: it stores the
// tiles of the results, and computes what they need. Elements of strips follow
// each other, and loops walk from strip to strip.
//
//===----------------------------------------------------------------------===//

#include "RootEmitter.h"

#include "Coordinates.h"
#include "RollLoads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

bool RootEmitter::isStored(ArrayRef<AffineExpr> coords) {
  // What all parts of a tile have in common is stored once.
  if (nextPart > 1 && !isUsed(coords, axes.getParts()[nextPart - 1]))
    return true;
  // A result without a dimension is the same for all elements of its strips.
  return llvm::any_of(axes.getStrips(), [&](const Strip &strip) {
    return strip.position != 0 && !isUsed(coords, axes.getBound(strip.dim));
  });
}

FailureOr<MemoryViews::Place>
RootEmitter::getPlace(unsigned result, ArrayRef<AffineExpr> coords) {
  KernelOp op = kernel.getOp();
  Value yielded = op.getYield().getValues()[result];
  Value key = op.getResults()[result];
  if (KernelOp::getStored(yielded) == yielded) {
    MemoryViews::Place place = views.placeOf(key, yielded, coords);
    if (groups.areUsed())
      place.view = groups.endWithGroup(place.view);
    return place;
  }
  auto insert = yielded.getDefiningOp<tensor::InsertSliceOp>();
  SmallVector<AffineExpr> offsets;
  for (OpFoldResult offset : insert.getMixedOffsets()) {
    FailureOr<AffineExpr> position = evaluator.evaluatePosition(offset);
    if (failed(position))
      return failure();
    offsets.push_back(*position);
  }
  FailureOr<MemoryViews::Place> place =
      views.placeOfSlice(key, insert, offsets, coords);
  scopes.insertInnermost();
  return place;
}

bool RootEmitter::isCovered(unsigned axis, ArrayRef<AffineExpr> coords) const {
  if (isUsed(coords, axis) || llvm::any_of(axes.getParts(), [&](unsigned part) {
        return axes[part].whole == axis && isUsed(coords, part);
      }))
    return true;
  const Panel *panel = panels.getPanel();
  if (panel && panel->axis == axis && mentions(coords, panel->dim, axes))
    return true;
  for (const auto &[walked, granules] : axes.getGranules())
    if (granules.parts == axis && mentions(coords, walked, axes))
      return true;
  std::optional<unsigned> dim = axes[axis].dim;
  auto divided = dim ? axes.getGranules().find(*dim) : axes.getGranules().end();
  return divided != axes.getGranules().end() &&
         isUsed(coords, divided->second.parts);
}

Value RootEmitter::getPredicate(ArrayRef<AffineExpr> coords) {
  Value predicate;
  for (auto [id, axis] : llvm::enumerate(axes)) {
    if (!axis.grid || !axis.offset || isCovered(id, coords))
      continue;
    Value zero = builder.createIndex(0);
    Value first =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                              axis.unled ? axis.unled : axis.offset, zero);
    predicate = predicate
                    ? arith::AndIOp::create(builder, loc, predicate, first)
                    : first;
  }
  return predicate;
}

LogicalResult RootEmitter::store(unsigned result) {
  Value stored =
      KernelOp::getStored(kernel.getOp().getYield().getValues()[result]);
  FailureOr<Coords> coords = getPlainCoords(stored, axes);
  if (failed(coords))
    return kernel.emitError("FUS-3103: result ")
           << result << " has a dimension that no axis covers";
  if (isStored(*coords))
    return success();
  FailureOr<Tile> tile = evaluator.evaluate(stored, *coords);
  if (failed(tile))
    return failure();
  scopes.insertInnermost();
  FailureOr<MemoryViews::Place> place = getPlace(result, *coords);
  if (failed(place))
    return failure();
  SmallVector<unsigned> storeAxes = axes.getAxesOf(place->coords);
  Tile value = builder.broadcast(*tile, storeAxes);

  // Blocks that differ only along dimensions the result does not have compute
  // the same tile of it: the first of them writes.
  Value predicate = getPredicate(*coords);
  OpBuilder::InsertionGuard guard(builder);
  if (predicate) {
    auto guarded = scf::IfOp::create(builder, loc, predicate,
                                     /*withElseRegion=*/false);
    builder.setInsertionPointToStart(guarded.thenBlock());
  }
  SmallVector<Value> symbols, positions;
  AffineMap map =
      builder.buildMap(place->coords, storeAxes, symbols, &positions);
  // Of a slice whose position is an element of a tensor: one for all elements.
  symbols.append(positions);
  tile::StoreOp::create(builder, loc, value.value, place->view, symbols, map,
                        place->checked);
  return success();
}

//===----------------------------------------------------------------------===//
// Strips
//===----------------------------------------------------------------------===//

/// Moves the loads of `block` before its arithmetic: they are in flight
/// together, whatever of the strips waits for them.
static void hoistLoads(Block &block) {
  auto computes = [](Operation &op) {
    return !isa<tile::LoadOp, arith::ConstantOp>(op) &&
           llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>);
  };
  auto first = llvm::find_if(block, computes);
  if (first == block.end())
    return;
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(std::next(first), block.end())))
    if (isa<tile::LoadOp>(op) &&
        llvm::all_of(op.getOperands(), [&](Value operand) {
          Operation *producer = operand.getDefiningOp();
          return !producer || producer->getBlock() != &block ||
                 producer->isBeforeInBlock(&*first);
        }))
      op.moveBefore(&*first);
}

/// Moves on to the next element of the strips; false after the last.
static bool advance(MutableArrayRef<Strip> strips) {
  for (Strip &strip : llvm::reverse(strips)) {
    if (++strip.position < strip.size)
      return true;
    strip.position = 0;
  }
  return false;
}

LogicalResult
RootEmitter::emitStrips(function_ref<LogicalResult()> storeElement) {
  Block &block = scopes.getBlock();
  MutableArrayRef<Strip> strips = axes.getStrips();
  auto walked =
      llvm::find_if(strips, [](const Strip &strip) { return strip.steps > 1; });
  if (walked != strips.end()) {
    scopes.insertInnermost();
    unsigned axis =
        walks.openLoop(builder.getAffineConstantExpr(walked->steps), {});
    walked->step = builder.getAffineDimExpr(axis);
  }
  // What an element shares with those before is known by its coordinates.
  do {
    if (failed(storeElement()))
      return failure();
  } while (advance(strips));
  if (walked != strips.end()) {
    walked->step = nullptr;
    rollLoads(walks.closeLoop({}));
  }
  hoistLoads(block);
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult RootEmitter::emitGroup(ArrayRef<unsigned> results,
                                     ArrayRef<unsigned> loopDims) {
  if (loopDims.empty()) {
    for (unsigned result : results)
      if (failed(store(result)))
        return failure();
    return success();
  }
  unsigned dim = loopDims.front();
  SmallVector<ScanOp> scans;
  for (auto scan : kernel.getBlock().getOps<ScanOp>())
    if (kernel.getSpace().getDimOfTensor(scan.getResult(0), scan.getAxis()) ==
        dim)
      scans.push_back(scan);
  if (!scans.empty())
    return ScanEmitter(evaluator, walks, panels).emit(scans, dim, [&] {
      return emitGroup(results, loopDims.drop_front());
    });
  int64_t tile = kernel.getDecision(dim).getTile();
  SmallVector<Piece, 2> pieces{Piece::All};
  if (loopDims.size() == 1)
    pieces = walks.getPieces(dim, tile, /*inOrder=*/false);
  for (Piece piece : pieces) {
    scopes.insertInnermost();
    unsigned axis = axes.add({dim, kernel.getDim(dim).extent, tile});
    axes[axis].piece = piece;
    walks.openLoopOn(axis, {});
    if (failed(emitGroup(results, loopDims.drop_front())))
      return failure();
    walks.closeLoop({});
  }
  return success();
}

LogicalResult RootEmitter::emitGroups() {
  llvm::MapVector<SmallVector<unsigned>, SmallVector<unsigned>> byLoops;
  for (auto [result, value] :
       llvm::enumerate(kernel.getOp().getStoredValues())) {
    if (llvm::is_contained(ofSteps, result))
      continue;
    SmallVector<unsigned> loopDims;
    auto type = cast<RankedTensorType>(value.getType());
    for (int64_t i = 0; i < type.getRank(); ++i) {
      unsigned dim = kernel.getSpace().getDimOfTensor(value, i);
      // An element for each granule is stored behind the walk.
      if (kernel.getDecision(dim).isWalked() &&
          kernel.getDim(dim).getStaticExtent() != 1 &&
          kernel.getSpace().getGranule(value, i) == 1)
        loopDims.push_back(dim);
    }
    llvm::sort(loopDims);
    byLoops[loopDims].push_back(result);
  }
  auto storeGroups = [&]() -> LogicalResult {
    for (auto &[loopDims, results] : byLoops)
      if (failed(emitGroup(results, loopDims)))
        return failure();
    return success();
  };
  return axes.getStrips().empty() ? storeGroups() : emitStrips(storeGroups);
}

LogicalResult RootEmitter::leaveToSteps() {
  for (auto [result, value] :
       llvm::enumerate(kernel.getOp().getStoredValues())) {
    auto type = cast<RankedTensorType>(value.getType());
    for (int64_t i = 0; i < type.getRank(); ++i) {
      AxisAttr decision =
          kernel.getDecision(kernel.getSpace().getDimOfTensor(value, i));
      if (decision.getKind() != AxisKind::Sequential)
        continue;
      ofSteps.push_back(result);
      // A step that is left out would not store, one beside another has what it
      // stores in registers of that one, and of blocks that share a walk the
      // first would store for all.
      MmaAttr mma = kernel.getMma();
      if (decision.getLimited() ||
          (mma && (mma.getSkew() > 0 || mma.getSplit() > 1)))
        return kernel.emitError("FUS-3132: the steps of a walk store result ")
               << result
               << ", but the schedule leaves steps out ('limited'), has one "
                  "beside another ('skew') or shares them ('split')";
      break;
    }
  }
  if (ofSteps.empty())
    return success();
  steps = [this]() -> LogicalResult {
    for (unsigned result : ofSteps)
      if (failed(store(result)))
        return failure();
    return success();
  };
  return success();
}

LogicalResult RootEmitter::emit() {
  if (failed(leaveToSteps()))
    return failure();
  // The first part that asks for a contraction has it computed for all.
  ArrayRef<unsigned> parts = axes.getParts();
  for (nextPart = 1; nextPart < parts.size(); ++nextPart) {
    if (failed(emitGroups()))
      return failure();
    axes.rebind(parts[nextPart - 1], parts[nextPart]);
  }
  return emitGroups();
}
