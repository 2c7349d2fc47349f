//===- TileEmitter.cpp - Emits the tile program of a kernel ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the frame of the tile emitter: the scopes, the roots,
// and the helpers on tiles.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"
#include "fusion/Analysis/ModuleTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

TileEmitter::TileEmitter(KernelOp kernel, ScheduleAttr schedule,
                         const IterationSpace &space, SymbolicShapes &shapes,
                         OpBuilder &moduleBuilder)
    : kernel(kernel), schedule(schedule), space(space), shapes(shapes),
      context(kernel.getContext()), builder(moduleBuilder),
      loc(kernel.getLoc()) {}

/// Symbols of the function that the sizes of the kernel's tensors depend on.
static SmallVector<unsigned> usedSymbols(KernelOp kernel,
                                         SymbolicShapes &shapes,
                                         const IterationSpace &space) {
  llvm::SmallBitVector used(shapes.getSymbols().size());
  auto note = [&](AffineExpr expr) {
    expr.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        used.set(symbol.getPosition());
    });
  };
  auto noteShape = [&](Value value) {
    if (!isa<RankedTensorType>(value.getType()))
      return;
    FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(value);
    if (succeeded(shape))
      llvm::for_each(*shape, note);
  };
  auto noteIndex = [&](Value value) {
    if (!value.getType().isSignlessIntOrIndex() ||
        value.getDefiningOp<linalg::IndexOp>())
      return;
    FailureOr<AffineExpr> expr = shapes.getIndex(value);
    if (succeeded(expr))
      note(*expr);
  };
  for (const IterationDim &dim : space.getDims())
    note(dim.extent);
  // An index that the kernel is passed may be a size of a tensor that it is
  // not: slices take such.
  for (Value argument : kernel.getBlock().getArguments()) {
    noteShape(argument);
    noteIndex(argument);
  }
  kernel.getBlock().walk([&](Operation *op) {
    llvm::for_each(op->getResults(), noteShape);
    llvm::for_each(op->getResults(), noteIndex);
  });
  return SmallVector<unsigned>(used.set_bits());
}

/// Whether threads that wait for a barrier in shared memory are suspended.
static bool hasWaitingBarriers(KernelOp kernel) {
  FailureOr<TargetInfo> target = resolveTarget(kernel);
  return succeeded(target) && target->hasWaitingBarriers;
}

FailureOr<tile::ProgramOp> TileEmitter::emit(StringRef name,
                                             int64_t indexBits) {
  symbolArguments = usedSymbols(kernel, shapes, space);
  SmallVector<Type> argumentTypes;
  auto pointer = LLVM::LLVMPointerType::get(context, /*addressSpace=*/1);
  for (Type type : kernel.getInputs().getTypes())
    argumentTypes.push_back(isa<RankedTensorType>(type) ? Type(pointer) : type);
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    argumentTypes.push_back(pointer);
  argumentTypes.append(symbolArguments.size(), builder.getIndexType());

  program = tile::ProgramOp::create(builder, loc, name,
                                    builder.getFunctionType(argumentTypes, {}),
                                    schedule.getWarps(), indexBits);
  if (MmaAttr mma = schedule.getMma())
    program.setPipelineAttr(tile::PipelineAttr::get(
        context, mma.getKind(), mma.getStages(), mma.getColumns(),
        mma.getGroups(),
        mma.getKind() == MmaKind::MmaSync && hasWaitingBarriers(kernel)));
  Block *body = &program.getBody().front();
  scopes.push_back({body});
  builder.setInsertionPointToEnd(body);
  unsigned firstSymbol = kernel.getInputs().size() + kernel.getNumResults();
  for (auto [i, symbol] : llvm::enumerate(symbolArguments))
    symbolValues[symbol] = body->getArgument(firstSymbol + i);

  auto makeView = [&](Value tensor, Value base) -> LogicalResult {
    auto type = cast<RankedTensorType>(tensor.getType());
    FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(tensor);
    if (failed(shape))
      return kernel.emitError("FUS-3101: a size of the kernel depends on data");
    SmallVector<Value> dynamic;
    SmallVector<int64_t> sizes;
    for (AffineExpr expr : *shape) {
      if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
        sizes.push_back(constant.getValue());
        continue;
      }
      sizes.push_back(ShapedType::kDynamic);
      dynamic.push_back(sizeOf(expr));
    }
    auto viewType = tile::ViewType::get(context, sizes, type.getElementType());
    views[tensor] = tile::MakeViewOp::create(
        builder, loc, viewType, base, dynamic,
        AffineMapAttr::get(
            AffineMap::get(0, shapes.getSymbols().size(), *shape, context)));
    return success();
  };
  for (auto [argument, base] :
       llvm::zip(kernel.getBlock().getArguments(), body->getArguments())) {
    if (!isa<RankedTensorType>(argument.getType()))
      views[argument] = base;
    else if (failed(makeView(argument, base)))
      return failure();
  }
  // Views of results are keyed by the kernel's results, which the body cannot
  // mention: one value yielded twice is written to both.
  for (auto [i, result] : llvm::enumerate(kernel.getResults()))
    if (failed(
            makeView(result, body->getArgument(kernel.getInputs().size() + i))))
      return failure();

  findProducts();
  if (failed(emitGrid()) || failed(emitRoots()))
    return failure();
  if (stream && failed(guardFinish()))
    return failure();
  for (unsigned depth = 0; depth < gridDepth; ++depth)
    closeLoop({});
  builder.setInsertionPointToEnd(body);
  if (panel && failed(closePanel()))
    return failure();
  tile::ReturnOp::create(builder, loc);
  return program;
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

void TileEmitter::insertAt(unsigned depth) {
  Scope &scope = scopes[depth];
  if (scope.nested)
    builder.setInsertionPoint(scope.nested);
  else
    builder.setInsertionPointToEnd(scope.block);
}

unsigned TileEmitter::depthOf(ArrayRef<AffineExpr> coords) const {
  unsigned depth = 0;
  unsigned numShapes = shapes.getSymbols().size();
  for (AffineExpr coord : coords)
    coord.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part))
        depth = std::max(depth, axes[dim.getPosition()].depth);
      else if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        if (symbol.getPosition() >= numShapes)
          depth = std::max(
              depth, indexSymbols[symbol.getPosition() - numShapes].second);
    });
  return depth;
}

unsigned TileEmitter::openLoop(std::optional<unsigned> dim, AffineExpr extent,
                               int64_t tile, ValueRange inits,
                               scf::ForOp *loop) {
  Axis axis{dim, extent, tile};
  axes.push_back(axis);
  scf::ForOp opened = openLoopOn(axes.size() - 1, inits);
  if (loop)
    *loop = opened;
  return axes.size() - 1;
}

scf::ForOp TileEmitter::openLoopOn(unsigned number, ValueRange inits) {
  Axis &axis = axes[number];
  auto [begin, end, step] = getWalk(axis);
  auto loop = scf::ForOp::create(builder, loc, begin, end, step, inits);
  if (inits.empty())
    loop.getBody()->getTerminator()->erase();
  Scope scope{loop.getBody()};
  scope.previous = scopes.back().nested;
  scopes.back().nested = loop;
  scopes.push_back(std::move(scope));
  builder.setInsertionPointToEnd(loop.getBody());
  axis.offset = loop.getInductionVar();
  axis.depth = scopes.size() - 1;
  axis.lead = axis.dim ? getMostLead(*axis.dim) : 0;
  axis.exact = axis.piece == Piece::Whole ||
               (axis.lead == 0 && tilesExactly(axis.extent, axis.step()));
  if (axis.dim)
    bound[*axis.dim] = number;
  return loop;
}

void TileEmitter::unbindFrom(unsigned depth) {
  for (auto it = bound.begin(); it != bound.end();) {
    auto next = std::next(it);
    if (axes[it->second].depth >= depth)
      bound.erase(it);
    it = next;
  }
}

scf::ForOp TileEmitter::closeLoop(ValueRange yielded) {
  builder.setInsertionPointToEnd(scopes.back().block);
  scf::YieldOp::create(builder, loc, yielded);
  Operation *previous = scopes.back().previous;
  scopes.pop_back();
  auto loop = cast<scf::ForOp>(scopes.back().nested);
  scopes.back().nested = previous;
  unbindFrom(scopes.size());
  builder.setInsertionPointAfter(loop);
  return loop;
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

FailureOr<TileEmitter::Coords> TileEmitter::plainCoords(Value tensor) {
  if (std::optional<Coords> byGranules = granuleCoords(tensor))
    return *byGranules;
  Coords coords;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t i = 0; i < type.getRank(); ++i) {
    unsigned dim = space.getDimOfTensor(tensor, i);
    // A single row is a tile of rows where the schedule wants one: vectors are
    // multiplied like matrices.
    bool isTiled = schedule.getStrategy() == Strategy::Contraction &&
                   schedule.getAxes()[dim].getTile() > 1 && bound.count(dim);
    if (space.getDims()[dim].getStaticExtent() == 1 && !isTiled) {
      coords.push_back(builder.getAffineConstantExpr(0));
      continue;
    }
    if (AffineExpr coord = merged.lookup(dim)) {
      coords.push_back(coord);
      continue;
    }
    auto axis = bound.find(dim);
    if (axis == bound.end())
      return failure();
    AffineExpr coord = builder.getAffineDimExpr(axis->second);
    for (const Strip &strip : strips)
      if (strip.dim == dim) {
        if (strip.step)
          coord = coord * strip.steps + strip.step;
        coord = coord * strip.size + strip.position;
      }
    coords.push_back(coord);
  }
  return coords;
}

LogicalResult TileEmitter::storeRoot(unsigned result) {
  Value yielded = kernel.getYield().getValues()[result];
  Value stored = KernelOp::getStored(yielded);
  FailureOr<Coords> coords = plainCoords(stored);
  if (failed(coords))
    return kernel.emitError("FUS-3103: result ")
           << result << " has a dimension that no axis covers";
  // What all parts of a tile have in common is stored once.
  if (nextPart > 1 && !isUsed(*coords, parts[nextPart - 1]))
    return success();
  // A result without a dimension is the same for all elements of its strips.
  for (const Strip &strip : strips)
    if (strip.position != 0 && !isUsed(*coords, bound.lookup(strip.dim)))
      return success();
  FailureOr<Tile> tile = evaluate(stored, *coords);
  if (failed(tile))
    return failure();
  auto isCovered = [&](unsigned axis) {
    return isUsed(*coords, axis) || llvm::any_of(parts, [&](unsigned part) {
             return axes[part].whole == axis && isUsed(*coords, part);
           });
  };
  insertAt(scopes.size() - 1);
  Value key = kernel.getResults()[result];
  Place place;
  if (stored == yielded) {
    place = placeOf(key, yielded, *coords);
    if (tileGroups)
      place.view = endWithGroup(place.view);
  } else {
    FailureOr<Place> slice = placeOfSlice(
        key, yielded.getDefiningOp<tensor::InsertSliceOp>(), *coords);
    if (failed(slice))
      return failure();
    place = std::move(*slice);
    insertAt(scopes.size() - 1);
  }
  SmallVector<unsigned> storeAxes = axesOf(place.coords);
  Tile value = broadcast(*tile, storeAxes);

  // Blocks that differ only along dimensions the result does not have compute
  // the same tile of it: the first of them writes.
  Value predicate;
  for (auto [id, axis] : llvm::enumerate(axes)) {
    if (!axis.grid || !axis.offset || isCovered(id))
      continue;
    if (panel && panel->axis == id && mentions(*coords, panel->dim))
      continue;
    auto divided = axis.dim ? granuleAxes.find(*axis.dim) : granuleAxes.end();
    if (divided != granuleAxes.end() && isUsed(*coords, divided->second.parts))
      continue;
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value first =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                              axis.unled ? axis.unled : axis.offset, zero);
    predicate = predicate
                    ? arith::AndIOp::create(builder, loc, predicate, first)
                    : first;
  }
  OpBuilder::InsertionGuard guard(builder);
  if (predicate) {
    auto guarded = scf::IfOp::create(builder, loc, predicate,
                                     /*withElseRegion=*/false);
    builder.setInsertionPointToStart(guarded.thenBlock());
  }
  SmallVector<Value> symbols, positions;
  AffineMap map = buildMap(place.coords, storeAxes, symbols, &positions);
  // Of a slice whose position is an element of a tensor: one for all elements.
  symbols.append(positions);
  tile::StoreOp::create(builder, loc, value.value, place.view, symbols, map,
                        place.checked);
  return success();
}

LogicalResult TileEmitter::emitRootGroup(ArrayRef<unsigned> results,
                                         ArrayRef<unsigned> loopDims) {
  if (loopDims.empty()) {
    for (unsigned result : results)
      if (failed(storeRoot(result)))
        return failure();
    return success();
  }
  unsigned dim = loopDims.front();
  SmallVector<ScanOp> scans;
  for (auto scan : kernel.getBlock().getOps<ScanOp>())
    if (space.getDimOfTensor(scan.getResult(0), scan.getAxis()) == dim)
      scans.push_back(scan);
  if (!scans.empty())
    return emitScanLoop(scans, dim, results, loopDims.drop_front());
  int64_t tile = schedule.getAxes()[dim].getTile();
  SmallVector<Piece, 2> pieces{Piece::All};
  if (loopDims.size() == 1)
    pieces = getPieces(dim, tile, /*inOrder=*/false);
  for (Piece piece : pieces) {
    insertAt(scopes.size() - 1);
    axes.push_back({dim, space.getDims()[dim].extent, tile});
    axes.back().piece = piece;
    openLoopOn(axes.size() - 1, {});
    if (failed(emitRootGroup(results, loopDims.drop_front())))
      return failure();
    closeLoop({});
  }
  return success();
}

LogicalResult TileEmitter::emitRoots() {
  // The first part that asks for a contraction has it computed for all.
  for (nextPart = 1; nextPart < parts.size(); ++nextPart) {
    if (failed(emitRootGroups()))
      return failure();
    rebind(parts[nextPart - 1], parts[nextPart]);
  }
  return emitRootGroups();
}

LogicalResult TileEmitter::emitRootGroups() {
  // Results that need the same loops share them.
  llvm::MapVector<SmallVector<unsigned>, SmallVector<unsigned>> groups;
  for (auto [result, value] : llvm::enumerate(kernel.getStoredValues())) {
    SmallVector<unsigned> loopDims;
    auto type = cast<RankedTensorType>(value.getType());
    for (int64_t i = 0; i < type.getRank(); ++i) {
      unsigned dim = space.getDimOfTensor(value, i);
      if (schedule.getAxes()[dim].getKind() == AxisKind::Loop &&
          space.getDims()[dim].getStaticExtent() != 1)
        loopDims.push_back(dim);
    }
    llvm::sort(loopDims);
    groups[loopDims].push_back(result);
  }
  auto storeGroups = [&]() -> LogicalResult {
    for (auto &[loopDims, results] : groups)
      if (failed(emitRootGroup(results, loopDims)))
        return failure();
    return success();
  };
  return strips.empty() ? storeGroups() : emitStrips(storeGroups);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Type TileEmitter::tileType(ArrayRef<unsigned> tileAxes, Type element) const {
  SmallVector<int64_t> shape;
  for (unsigned axis : tileAxes)
    shape.push_back(axes[axis].tile);
  return tile::getTileType(shape, element);
}

Value TileEmitter::constant(TypedAttr value) {
  return arith::ConstantOp::create(builder, loc, value);
}

Tile TileEmitter::broadcast(Tile tile, ArrayRef<unsigned> newAxes) {
  if (ArrayRef<unsigned>(tile.axes) == newAxes)
    return tile;
  Type element = tile::getTileElementType(tile.value.getType());
  Type type = tileType(newAxes, element);
  if (tile.axes.empty())
    return {tile::SplatOp::create(builder, loc, type, tile.value),
            SmallVector<unsigned>(newAxes)};
  SmallVector<int64_t> dims;
  for (unsigned axis : tile.axes)
    dims.push_back(llvm::find(newAxes, axis) - newAxes.begin());
  return {tile::BroadcastOp::create(builder, loc, type, tile.value, dims),
          SmallVector<unsigned>(newAxes)};
}

SmallVector<unsigned> TileEmitter::unify(MutableArrayRef<Tile> tiles) {
  SmallVector<unsigned> all;
  for (const Tile &tile : tiles)
    all.append(tile.axes.begin(), tile.axes.end());
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  for (Tile &tile : tiles)
    tile = broadcast(tile, all);
  return all;
}

Tile TileEmitter::select(Tile condition, Tile yes, Tile no) {
  std::array<Tile, 3> tiles{condition, yes, no};
  SmallVector<unsigned> all = unify(tiles);
  return {arith::SelectOp::create(builder, loc, tiles[0].value, tiles[1].value,
                                  tiles[2].value),
          all};
}
