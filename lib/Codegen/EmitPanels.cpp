//===- EmitPanels.cpp - Rows that several blocks have parts of ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the part of the tile emitter that reduces along a
// dimension whose tiles are those of several blocks: each reduces its own, and
// the blocks of a panel, which have them at the same time, combine the rest.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "fusion/Executable/PackageModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// Bytes of a word of an exchange, and what a panel's memory begins with.
static constexpr int64_t kWordBytes = 8, kHeadBytes = 128;

LogicalResult TileEmitter::refusePanel(const Twine &reason) {
  return kernel.emitError("FUS-3123: the schedule lets blocks of the grid "
                          "share rows ('full'), but ")
         << reason;
}

bool TileEmitter::isOfPanel(unsigned dim) const {
  AxisAttr axis = schedule.getAxes()[dim];
  std::optional<int64_t> extent = space.getDims()[dim].getStaticExtent();
  return schedule.getStrategy() == Strategy::Contraction &&
         axis.getKind() == AxisKind::Full && extent && *extent > axis.getTile();
}

LogicalResult TileEmitter::openPanel(ArrayRef<unsigned> gridAxes,
                                     Value firstBlock, Value number) {
  SmallVector<unsigned> dims;
  for (unsigned id = 0; id < schedule.getAxes().size(); ++id)
    if (isOfPanel(id))
      dims.push_back(id);
  if (dims.empty())
    return success();
  MmaAttr mma = schedule.getMma();
  if (dims.size() > 1)
    return refusePanel("along several dimensions");
  if (tileGroups || countRowGroups() > 1)
    return refusePanel("their rows are those of groups");
  unsigned columns = bound.lookup(dims.front());
  const Axis &axis = axes[columns];
  auto extent = dyn_cast<AffineConstantExpr>(axis.extent);
  auto total = dyn_cast<AffineConstantExpr>(gridSize);
  if (gridAxes.empty() || gridAxes.back() != columns || merged.lookup(dims[0]))
    return refusePanel("the dimension is not the last of the grid");
  if (!extent || !total || !axis.exact)
    return refusePanel("its tiles do not divide the dimension");
  if (!mma || mma.getStream() || mma.getSplit() > 1 || mma.getMulticast() > 1 ||
      mma.getGroup() > 1)
    return refusePanel("they do not walk rows of tiles one by one");
  int64_t members = extent.getValue() / axis.tile;
  int64_t blocks = total.getValue();
  if (members < 2)
    return refusePanel("one of them has all of a row");
  if (gridDepth > 0)
    blocks = std::min(blocks, mma.getBlocks());
  if (blocks % members != 0)
    return refusePanel("there are " + Twine(blocks) +
                       " of them, no multiple "
                       "of " +
                       Twine(members));
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Panel &own = panel.emplace();
  own.axis = columns;
  own.members = members;
  own.panels = blocks / members;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(firstBlock);
  own.panel = arith::DivUIOp::create(builder, loc, firstBlock, index(members));
  own.member = arith::RemUIOp::create(builder, loc, firstBlock, index(members));
  if (gridDepth == 0) {
    own.turn = index(0);
    return success();
  }
  builder.setInsertionPointToEnd(scopes.back().block);
  Value done = arith::SubIOp::create(builder, loc, number, firstBlock);
  own.turn = arith::DivUIOp::create(builder, loc, done, index(blocks));
  return success();
}

Tile TileEmitter::combineInPanel(Tile part, const Combiner &combiner) {
  Type element = tile::getTileElementType(part.value.getType());
  if (!panel->memory) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&program.getBody().front());
    // The size is that of all exchanges, set when they are known.
    panel->memory = tile::ScratchOp::create(
        builder, loc, LLVM::LLVMPointerType::get(context, /*addressSpace=*/1),
        kHeadBytes, /*signals=*/true);
  }
  auto reduce = tile::PanelReduceOp::create(
      builder, loc, part.value.getType(), part.value, panel->memory,
      panel->panel, panel->member, panel->turn, panel->members, /*copies=*/1,
      /*offset=*/0, /*bytes=*/0);
  Block *block = builder.createBlock(&reduce.getCombiner(), {},
                                     {element, element}, {loc, loc});
  OperationState state(combiner.op->getLoc(), combiner.op->getName(),
                       block->getArguments(), element, combiner.op->getAttrs());
  tile::YieldOp::create(builder, loc, builder.create(state)->getResult(0));
  builder.setInsertionPointAfter(reduce);
  panel->exchanges.push_back(reduce);
  return {reduce.getResult(), part.axes};
}

LogicalResult TileEmitter::closePanel() {
  if (panel->exchanges.empty())
    return refusePanel("nothing is reduced along it");
  // A word is written again when all members have been at an exchange after
  // the one that it was for: the next of the tile, or that of the next tile.
  MmaAttr mma = schedule.getMma();
  int64_t copies = mma.getGroups() * (panel->exchanges.size() > 1 ? 1 : 2);
  int64_t bytes = kHeadBytes;
  SmallVector<int64_t> offsets;
  for (tile::PanelReduceOp exchange : panel->exchanges) {
    offsets.push_back(bytes);
    int64_t elements = 1;
    for (int64_t size : tile::getTileShape(exchange.getType()))
      elements *= size;
    bytes += elements * copies * panel->members * kWordBytes;
    bytes = llvm::alignTo(bytes, kHeadBytes);
  }
  for (auto [exchange, offset] : llvm::zip(panel->exchanges, offsets)) {
    exchange.setCopies(copies);
    exchange.setOffset(offset);
    exchange.setBytes(bytes);
  }
  if (bytes * panel->panels > fusionpkg::kSignalBytes)
    return refusePanel("what they exchange takes " +
                       Twine(bytes * panel->panels) + " bytes, more than the " +
                       Twine(fusionpkg::kSignalBytes) + " there are");
  panel->memory.setBytes(bytes * panel->panels);
  tile::PanelLeaveOp::create(builder, loc, panel->memory, panel->panel,
                             panel->members * mma.getGroups(), bytes);
  return success();
}
