//===- LoadWalkRows.cpp - Loads of vectors as tensor copies take them -----===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the rewrite of what a walk loads in each step beside its
// operands: vectors as rows, and masks as bytes.
//
//===----------------------------------------------------------------------===//

#include "ContractionPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// Makes `load`, of a vector that lies side by side in memory, that of a tile
/// of one row, as tensor copies take it.
static void makeRow(LoadOp load) {
  AffineMap map = load.getMap();
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || type.getRank() != 1 || !load.getIndices().empty() ||
      map.getNumResults() < 2 || !isContiguous(Access::of(load), /*axis=*/0))
    return;
  OpBuilder builder(load);
  SmallVector<AffineExpr> coords(map.getResults());
  AffineExpr row = builder.getAffineDimExpr(0);
  for (AffineExpr &coord : coords)
    coord = coord.replace(row, builder.getAffineDimExpr(1));
  coords[coords.size() - 2] = coords[coords.size() - 2] + row;
  SmallVector<int64_t> shape{1, type.getDimSize(0)};
  Value tile = LoadOp::create(
      builder, load.getLoc(), getTileType(shape, type.getElementType()),
      load.getView(), load.getSymbols(), ValueRange(),
      AffineMap::get(2, map.getNumSymbols(), coords, load.getContext()),
      load.getChecked());
  load.replaceAllUsesWith(
      ReshapeOp::create(builder, load.getLoc(), type, tile).getResult());
  load.erase();
}

/// Makes `load`, of a tile of bits, that of the bytes that these are in memory,
/// as tensor copies take them.
static void makeBytes(LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  auto view = load.getView().getDefiningOp<MakeViewOp>();
  if (!type || type.getRank() != 2 || !type.getElementType().isInteger(1) ||
      !load.getIndices().empty() || !view)
    return;
  OpBuilder builder(view);
  Type byte = builder.getI8Type();
  auto ofBytes =
      ViewType::get(load.getContext(), view.getType().getShape(), byte);
  Value bytes =
      MakeViewOp::create(builder, view.getLoc(), ofBytes, view.getBase(),
                         view.getSizes(), view.getShapeAttr());
  builder.setInsertionPoint(load);
  Type tile = getTileType(type.getShape(), byte);
  Value loaded =
      LoadOp::create(builder, load.getLoc(), tile, bytes, load.getSymbols(),
                     ValueRange(), load.getMap(), load.getChecked());
  Value zero = arith::ConstantOp::create(builder, load.getLoc(),
                                         builder.getZeroAttr(tile));
  load.replaceAllUsesWith(arith::CmpIOp::create(builder, load.getLoc(),
                                                arith::CmpIPredicate::ne,
                                                loaded, zero)
                              .getResult());
  load.erase();
}

/// True when all that is computed of `value` are indices of gathered tiles.
static bool givesIndices(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    if (auto load = dyn_cast<LoadOp>(use.getOwner()))
      return llvm::is_contained(load.getIndices(), use.get());
    Operation *user = use.getOwner();
    return user->getNumRegions() == 0 && user->getNumResults() == 1 &&
           isMemoryEffectFree(user) && givesIndices(user->getResult(0));
  });
}

void tile::makeRows(ArrayRef<DotOp> dots) {
  auto loop = dyn_cast<scf::ForOp>(dots.front()->getParentOp());
  if (!loop || llvm::none_of(dots, [](DotOp dot) { return needsProduct(dot); }))
    return;
  auto isPosition = [&](Value value) {
    return value == loop.getInductionVar();
  };
  for (LoadOp load : llvm::make_early_inc_range(loop.getOps<LoadOp>()))
    if (dependsOn(SmallVector<Value>(load.getSymbols()), isPosition) &&
        !givesIndices(load))
      makeRow(load);
  for (LoadOp load : llvm::make_early_inc_range(loop.getOps<LoadOp>()))
    makeBytes(load);
}
