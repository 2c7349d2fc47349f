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

/// Bytes of a word of an exchange, of what a panel's memory begins with, and of
/// a cache line.
static constexpr int64_t kWordBytes = 8, kHeadBytes = 16, kLineBytes = 128;

LogicalResult TileEmitter::refusePanel(const Twine &reason) {
  return kernel.emitError("FUS-3125: the schedule lets blocks of the grid "
                          "share a dimension ('full' or 'split'), but ")
         << reason;
}

bool TileEmitter::isOfPanel(unsigned dim) const {
  AxisAttr axis = schedule.getAxes()[dim];
  if (axis.getSplit() > 1)
    return true;
  std::optional<int64_t> extent = space.getDims()[dim].getStaticExtent();
  return (schedule.getStrategy() == Strategy::Contraction ||
          schedule.getStrategy() == Strategy::Reduction) &&
         axis.getKind() == AxisKind::Full && extent && *extent > axis.getTile();
}

LogicalResult TileEmitter::addPanelAxis(SmallVector<unsigned> &gridAxes) {
  SmallVector<unsigned> dims;
  for (unsigned id = 0; id < schedule.getAxes().size(); ++id)
    if (isOfPanel(id))
      dims.push_back(id);
  if (dims.empty())
    return success();
  if (dims.size() > 1)
    return refusePanel("along several dimensions");
  if (merged.lookup(dims[0]))
    return refusePanel("the dimension is one of several of an axis");
  Panel &own = panel.emplace();
  own.dim = dims[0];
  int64_t split = schedule.getAxes()[own.dim].getSplit();
  if (split == 1) {
    own.axis = bound.lookup(own.dim);
    llvm::erase(gridAxes, own.axis);
  } else {
    own.axis = axes.size();
    Axis rank{std::nullopt, builder.getAffineConstantExpr(split), 1, Value(),
              gridDepth};
    rank.exact = rank.grid = true;
    axes.push_back(rank);
  }
  gridAxes.push_back(own.axis);
  return success();
}

LogicalResult TileEmitter::openPanel(ArrayRef<unsigned> gridAxes,
                                     Value firstBlock, Value number) {
  if (!panel)
    return success();
  Panel &own = *panel;
  MmaAttr mma = schedule.getMma();
  if (tileGroups || countRowGroups() > 1)
    return refusePanel("their rows are those of groups");
  const Axis &axis = axes[own.axis];
  auto extent = dyn_cast<AffineConstantExpr>(axis.extent);
  auto total = dyn_cast<AffineConstantExpr>(gridSize);
  if (!total)
    return refusePanel("how many there are is known at run time only");
  if (mma && (!extent || !axis.exact))
    return refusePanel("its tiles do not divide the dimension");
  if (mma && (mma.getStream() || mma.getSplit() > 1 || mma.getMulticast() > 1 ||
              mma.getGroup() > 1))
    return refusePanel("they do not walk rows of tiles one by one");
  own.members = llvm::divideCeil(extent.getValue(), axis.tile);
  int64_t blocks = total.getValue();
  if (own.members < 2)
    return refusePanel("one of them has all of it");
  if (own.members > int64_t(fusionpkg::PackageLimits::kMaxTogether))
    return refusePanel(Twine(own.members) + " of them are more than " +
                       Twine(fusionpkg::PackageLimits::kMaxTogether));
  if (gridDepth > 0)
    blocks = std::min(blocks, mma.getBlocks());
  if (blocks % own.members != 0)
    return refusePanel("there are " + Twine(blocks) +
                       " of them, no multiple "
                       "of " +
                       Twine(own.members));
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  own.panels = blocks / own.members;
  program.setTogether(own.members);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(firstBlock);
  Value members = index(own.members);
  own.panel = arith::DivUIOp::create(builder, loc, firstBlock, members);
  own.member = arith::RemUIOp::create(builder, loc, firstBlock, members);
  own.inRounds = schedule.getStrategy() == Strategy::Scan;
  if (!axis.dim && !own.inRounds) {
    // Whole chunks, so that what lies in a chunk does not depend on the part.
    AffineExpr all = getWalkedExtent(own.dim);
    int64_t chunk = schedule.getAxes()[own.dim].getTile();
    AffineExpr part =
        (all + getMostLead(own.dim)).ceilDiv(chunk).ceilDiv(own.members) *
        chunk;
    Value end = sizeOf(all), length = sizeOf(part);
    // Past the end where there are fewer chunks: that is known to be a multiple
    // of the chunk, which the end is not.
    own.begin = arith::MulIOp::create(builder, loc, own.member, length);
    own.past = arith::AddIOp::create(builder, loc, own.begin, length);
    own.end = arith::MinUIOp::create(builder, loc, own.past, end);
  }
  if (gridDepth == 0) {
    own.turn = index(0);
    return success();
  }
  builder.setInsertionPointToEnd(scopes.back().block);
  Value done = arith::SubIOp::create(builder, loc, number, firstBlock);
  own.turn = arith::DivUIOp::create(builder, loc, done, index(blocks));
  return success();
}

TileEmitter::WalkBounds TileEmitter::getWalk(const Axis &axis) {
  if (Value lead = getLead(axis))
    return getLeadingWalk(axis, lead);
  bool isPart = panel && panel->begin && axis.dim == panel->dim;
  Value begin =
      isPart ? panel->begin : arith::ConstantIndexOp::create(builder, loc, 0);
  Value end = isPart ? panel->end : sizeOf(axis.extent);
  Value step = arith::ConstantIndexOp::create(builder, loc, axis.step());
  if (axis.piece == Piece::All || axis.piece == Piece::Ends)
    return {begin, end, step};
  Value whole = sizeOf(axis.extent.floorDiv(axis.step()) * axis.step());
  if (axis.piece == Piece::Rest)
    return {isPart ? arith::MaxUIOp::create(builder, loc, begin, whole) : whole,
            end, step};
  return {begin,
          isPart ? arith::MinUIOp::create(builder, loc, end, whole) : whole,
          step};
}

SmallVector<Piece, 2> TileEmitter::getPieces(unsigned dim, int64_t step,
                                             bool inOrder) {
  AffineExpr extent = getWalkedExtent(dim);
  auto known = dyn_cast<AffineConstantExpr>(extent);
  bool isCut = (schedule.getStrategy() == Strategy::Reduction ||
                schedule.getStrategy() == Strategy::Scan) &&
               strips.empty() && granuleAxes.empty() &&
               !tilesExactly(extent, step) &&
               (!known || known.getValue() > step);
  if (isCut && getMostLead(dim) > 0)
    return inOrder ? SmallVector<Piece, 2>{Piece::All}
                   : SmallVector<Piece, 2>{Piece::Ends, Piece::Whole};
  if (isCut)
    return {Piece::Whole, Piece::Rest};
  return {Piece::All};
}

Value TileEmitter::getPanelMemory() {
  if (!panel->memory) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&program.getBody().front());
    panel->memory = tile::ScratchOp::create(
        builder, loc, LLVM::LLVMPointerType::get(context, /*addressSpace=*/1),
        kHeadBytes, /*signals=*/true);
  }
  return panel->memory;
}

FailureOr<SmallVector<Tile>>
TileEmitter::combineInPanel(ArrayRef<Tile> parts, const Reduction &reduction) {
  if (!schedule.getMma() && scopes.size() - 1 != gridDepth)
    return refusePanel("they would wait for each other in a loop");
  SmallVector<Value> values;
  for (const Tile &part : parts)
    values.push_back(part.value);
  SmallVector<Type> types(ValueRange(values).getTypes());
  auto reduce = tile::PanelReduceOp::create(
      builder, loc, types, values, getPanelMemory(), panel->panel,
      panel->member, panel->turn, panel->members, /*copies=*/1, /*offset=*/0,
      /*bytes=*/0, /*by_owners=*/false);
  reduction.addCombiner(builder, loc, types, reduce.getCombiner());
  panel->exchanges.push_back(reduce);
  SmallVector<Tile> whole;
  for (auto [value, part] : llvm::zip(reduce.getResults(), parts))
    whole.push_back({value, part.axes});
  return whole;
}

LogicalResult TileEmitter::closePanel() {
  if (panel->exchanges.empty() && panel->scans.empty()) {
    if (schedule.getMma())
      return refusePanel("nothing is reduced along it");
    // No result needs what the kernel reduces: nobody waits.
    program.removeTogetherAttr();
    return success();
  }
  // A word is written again when all members have been at an exchange after
  // the one that it was for: the next of the tile, or that of the next tile.
  MmaAttr mma = schedule.getMma();
  int64_t groups = mma ? mma.getGroups() : 1;
  int64_t copies = mma ? groups * (panel->exchanges.size() > 1 ? 1 : 2) : 1;
  // Many panels of few words each: a cache line would be mostly empty.
  int64_t align = mma ? kLineBytes : kHeadBytes;
  int64_t bytes = align;
  SmallVector<int64_t> offsets;
  for (tile::PanelReduceOp exchange : panel->exchanges) {
    offsets.push_back(bytes);
    exchange.setCopies(copies);
    bytes += exchange.getNumWords() *
             static_cast<int64_t>(exchange.getValues().size()) * kWordBytes;
    bytes = llvm::alignTo(bytes, align);
  }
  for (tile::PanelScanOp scan : panel->scans) {
    // Every round has an exchange.
    scan.setCopies(2);
    scan.setOffset(bytes);
    bytes = llvm::alignTo(bytes + scan.getNumWords() * kWordBytes, align);
  }
  for (tile::PanelScanOp scan : panel->scans)
    scan.setBytes(bytes);
  for (auto [exchange, offset] : llvm::zip(panel->exchanges, offsets)) {
    exchange.setOffset(offset);
    exchange.setBytes(bytes);
  }
  if (bytes * panel->panels > fusionpkg::kSignalBytes)
    return refusePanel("what they exchange takes " +
                       Twine(bytes * panel->panels) + " bytes, more than the " +
                       Twine(fusionpkg::kSignalBytes) + " there are");
  panel->memory.setBytes(bytes * panel->panels);
  tile::PanelLeaveOp::create(builder, loc, panel->memory, panel->panel,
                             panel->members * groups, bytes);
  return success();
}
