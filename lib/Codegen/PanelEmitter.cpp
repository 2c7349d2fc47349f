//===- PanelEmitter.cpp - Rows that several blocks have -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements reductions along a dimension whose tiles are those of
// several blocks: each reduces its own, and the blocks of a panel, which have
// them at the same time, combine the rest.
//
//===----------------------------------------------------------------------===//

#include "PanelEmitter.h"

#include "fusion/Executable/PackageModel.h"
#include "fusion/Support/Hardware.h"
#include "fusion/Support/PanelFormat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

/// Rounds of a scan whose words are kept, so that a block may publish one
/// before it has collected the one before (docs/Rationale/Scans.md).
static constexpr int64_t kRoundCopies = 4;

LogicalResult PanelEmitter::refuse(const Twine &reason) const {
  return kernel.emitError("FUS-3125: the schedule lets blocks of the grid "
                          "share a dimension ('full' or 'split'), but ")
         << reason;
}

LogicalResult PanelEmitter::addAxis(SmallVector<unsigned> &gridAxes) {
  SmallVector<unsigned> dims;
  for (unsigned id = 0; id < kernel.getSchedule().getAxes().size(); ++id)
    if (kernel.isOfPanel(id))
      dims.push_back(id);
  if (dims.empty())
    return success();
  if (dims.size() > 1)
    return refuse("along several dimensions");
  if (axes.getMerged(dims[0]))
    return refuse("the dimension is one of several of an axis");
  Panel &own = panel.emplace();
  own.dim = dims[0];
  int64_t split = kernel.getDecision(own.dim).getSplit();
  if (split == 1) {
    own.axis = axes.getBound(own.dim);
    llvm::erase(gridAxes, own.axis);
  } else {
    own.axis = axes.size();
    Axis rank{std::nullopt, builder.getAffineConstantExpr(split), 1, Value(),
              grid.depth};
    rank.exact = rank.grid = true;
    axes.add(rank);
  }
  gridAxes.push_back(own.axis);
  return success();
}

LogicalResult PanelEmitter::countMembers() {
  Panel &own = *panel;
  MmaAttr mma = kernel.getMma();
  if (kernel.hasGroups() || kernel.countRowGroups() > 1)
    return refuse("their rows are those of groups");
  const Axis &axis = axes[own.axis];
  auto extent = dyn_cast<AffineConstantExpr>(axis.extent);
  auto total = dyn_cast<AffineConstantExpr>(grid.size);
  if (!total)
    return refuse("how many there are is known at run time only");
  if (mma && (!extent || !axis.exact))
    return refuse("its tiles do not divide the dimension");
  if (mma && (mma.getStream() || mma.getSplit() > 1 || mma.getMulticast() > 1 ||
              mma.getGroup() > 1))
    return refuse("they do not walk rows of tiles one by one");
  own.members = llvm::divideCeil(extent.getValue(), axis.tile);
  int64_t blocks = total.getValue();
  if (own.members < 2)
    return refuse("one of them has all of it");
  if (own.members > int64_t(fusionpkg::PackageLimits::kMaxTogether))
    return refuse(Twine(own.members) + " of them are more than " +
                  Twine(fusionpkg::PackageLimits::kMaxTogether));
  if (grid.depth > 0)
    blocks = std::min(blocks, mma.getBlocks());
  if (blocks % own.members != 0)
    return refuse("there are " + Twine(blocks) + " of them, no multiple of " +
                  Twine(own.members));
  own.panels = blocks / own.members;
  return success();
}

void PanelEmitter::setPart() {
  // Whole chunks, so that what lies in a chunk does not depend on the part.
  Panel &own = *panel;
  AffineExpr all = kernel.getWalkedExtent(own.dim);
  int64_t chunk = kernel.getDecision(own.dim).getTile();
  AffineExpr part = (all + rowStarts.getMostLead(own.dim))
                        .ceilDiv(chunk)
                        .ceilDiv(own.members) *
                    chunk;
  Value end = builder.getSize(all), length = builder.getSize(part);
  // Past the end where there are fewer chunks: that is known to be a multiple
  // of the chunk, which the end is not.
  own.begin = arith::MulIOp::create(builder, loc, own.member, length);
  own.past = arith::AddIOp::create(builder, loc, own.begin, length);
  own.end = arith::MinUIOp::create(builder, loc, own.past, end);
}

LogicalResult PanelEmitter::open(Value first, Value number) {
  if (!panel)
    return success();
  if (failed(countMembers()))
    return failure();
  Panel &own = *panel;
  int64_t cluster = kernel.getDecision(own.dim).getCluster();
  own.inCluster = cluster > 1;
  if (own.inCluster && cluster != own.members)
    return refuse("there are " + Twine(own.members) +
                  " of them, and a cluster has " + Twine(cluster));
  if (own.inCluster &&
      (kernel.getMma() || kernel.getStrategy() == Strategy::Scan))
    return refuse("a cluster's blocks exchange what they reduce outside of "
                  "loops, and nothing else");
  if (own.inCluster)
    builder.getProgram().setCluster(own.members);
  else
    builder.getProgram().setTogether(own.members);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(first);
  Value members = builder.createIndex(own.members);
  own.panel = own.inCluster
                  ? builder.createIndex(0)
                  : arith::DivUIOp::create(builder, loc, first, members);
  own.member = arith::RemUIOp::create(builder, loc, first, members);
  own.inRounds = kernel.getStrategy() == Strategy::Scan;
  own.steps = kernel.getDecision(own.dim).getSteps();
  if (!axes[own.axis].dim && !own.inRounds)
    setPart();
  if (grid.depth == 0) {
    own.turn = builder.createIndex(0);
    return success();
  }
  builder.setInsertionPointToEnd(&builder.getScopes().getBlock());
  Value done = arith::SubIOp::create(builder, loc, number, first);
  own.turn = arith::DivUIOp::create(
      builder, loc, done, builder.createIndex(own.panels * own.members));
  return success();
}

void PanelEmitter::setRun(Value turn, AffineExpr rounds, bool backwards) {
  Panel &own = *panel;
  own.turn = turn;
  Value members = builder.createIndex(own.members);
  Value number = arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, turn, members),
      own.member);
  if (backwards) {
    Value last = builder.getSize(rounds * own.members - 1);
    number = arith::SubIOp::create(builder, loc, last, number);
  }
  int64_t length = own.steps * kernel.getDecision(own.dim).getTile();
  own.run =
      arith::MulIOp::create(builder, loc, number, builder.createIndex(length));
}

Value PanelEmitter::getMemory() {
  if (!memory) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&builder.getProgram().getBody().front());
    auto pointerTo = [&](NVVM::NVVMMemorySpace space) {
      return LLVM::LLVMPointerType::get(builder.getContext(),
                                        static_cast<unsigned>(space));
    };
    if (panel->inCluster)
      memory = tile::ClusterMemoryOp::create(
          builder, loc, pointerTo(NVVM::NVVMMemorySpace::Shared),
          kPanelHeadBytes,
          /*offset=*/nullptr);
    else
      memory = tile::ScratchOp::create(builder, loc,
                                       pointerTo(NVVM::NVVMMemorySpace::Global),
                                       kPanelHeadBytes,
                                       /*signals=*/true);
  }
  return memory->getResult(0);
}

FailureOr<SmallVector<Tile>> PanelEmitter::combine(ArrayRef<Tile> parts,
                                                   const Reduction &reduction) {
  if (!kernel.getMma() && builder.getScopes().getDepth() != grid.depth)
    return refuse("they would wait for each other in a loop");
  SmallVector<Value> values;
  for (const Tile &part : parts)
    values.push_back(part.value);
  SmallVector<Type> types(ValueRange(values).getTypes());
  auto reduce = tile::PanelReduceOp::create(
      builder, loc, types, values, getMemory(), panel->panel, panel->member,
      panel->turn, panel->members, /*copies=*/1, /*offset=*/0,
      /*bytes=*/0, /*by_owners=*/false);
  reduction.addCombiner(builder, loc, types, reduce.getCombiner());
  exchanges.push_back(reduce);
  SmallVector<Tile> whole;
  for (auto [value, part] : llvm::zip(reduce.getResults(), parts))
    whole.push_back({value, part.axes});
  return whole;
}

tile::PanelScanOp PanelEmitter::scan(Operation *scanned, ValueRange totals,
                                     ValueRange states) {
  auto publish = tile::PanelPublishOp::create(
      builder, loc, totals, getMemory(), panel->panel, panel->member,
      panel->turn, panel->members, kRoundCopies, /*offset=*/0, /*bytes=*/0);
  SmallVector<Type> types(totals.getTypes());
  auto exchange = tile::PanelScanOp::create(
      builder, loc, types, types, states, getMemory(), panel->panel,
      panel->member, panel->turn, panel->members, kRoundCopies, /*offset=*/0,
      /*bytes=*/0, /*by_owners=*/false);
  scans[scanned].push_back({publish, exchange});
  return exchange;
}

int64_t PanelEmitter::placeExchanges() {
  // A word is written again when all members have been at an exchange after
  // the one that it was for: the next of the tile, or that of the next tile.
  MmaAttr mma = kernel.getMma();
  int64_t copies = mma ? mma.getGroups() * (exchanges.size() > 1 ? 1 : 2) : 1;
  // Many panels of few words each: a cache line would be mostly empty.
  int64_t align = mma ? kLineBytes : kPanelHeadBytes;
  int64_t bytes = align;
  for (tile::PanelReduceOp exchange : exchanges) {
    exchange.setOffset(bytes);
    exchange.setCopies(copies);
    bytes += exchange.getNumWords() *
             static_cast<int64_t>(exchange.getValues().size()) *
             kPanelWordBytes;
    bytes = llvm::alignTo(bytes, align);
    // In a cluster each has a head, for the barrier at which words arrive.
    if (panel->inCluster && exchange != exchanges.back())
      bytes += kPanelHeadBytes;
  }
  // The pieces of a walk count their rounds together, and share their words.
  for (auto &[scanned, rounds] : scans) {
    for (auto &[publish, scan] : rounds) {
      publish.setOffset(bytes);
      scan.setOffset(bytes);
    }
    int64_t words = rounds.front().first.getNumWords();
    bytes = llvm::alignTo(bytes + words * kPanelWordBytes, align);
  }
  for (auto &[scanned, rounds] : scans)
    for (auto &[publish, scan] : rounds) {
      publish.setBytes(bytes);
      scan.setBytes(bytes);
    }
  for (tile::PanelReduceOp exchange : exchanges)
    exchange.setBytes(bytes);
  return bytes;
}

LogicalResult PanelEmitter::close() {
  if (!panel)
    return success();
  MmaAttr mma = kernel.getMma();
  if (exchanges.empty() && scans.empty()) {
    if (mma)
      return refuse("nothing is reduced along it");
    // No result needs what the kernel reduces: nobody waits.
    builder.getProgram().removeTogetherAttr();
    builder.getProgram().removeClusterAttr();
    return success();
  }
  int64_t bytes = placeExchanges();
  if (panel->inCluster) {
    cast<tile::ClusterMemoryOp>(memory).setBytes(bytes);
    return success();
  }
  if (bytes * panel->panels > fusionpkg::kSignalBytes)
    return refuse("what they exchange takes " + Twine(bytes * panel->panels) +
                  " bytes, more than the " + Twine(fusionpkg::kSignalBytes) +
                  " there are");
  cast<tile::ScratchOp>(memory).setBytes(bytes * panel->panels);
  tile::PanelLeaveOp::create(builder, loc, getMemory(), panel->panel,
                             panel->members * (mma ? mma.getGroups() : 1),
                             bytes);
  return success();
}
