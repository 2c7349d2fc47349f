//===- FitRolePlan.cpp - Shared memory for rings and buffers --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what rings and staging buffers take of shared memory,
// and what gives way where that is too much.
//
//===----------------------------------------------------------------------===//

#include "RolePlan.h"
#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

static int64_t getBytes(BufferType buffer) {
  return buffer.getLayout().getShared().sizeInBytes();
}

RingType RolePlan::getMainRing() const {
  SmallVector<Type> buffers;
  for (Operation *load : contraction.getLoads(contraction.getFirst()))
    buffers.append(contraction.getCopies(load),
                   contraction.loads.find(load)->second.buffer);
  return RingType::get(buffers.front().getContext(), stages, buffers);
}

RingType RolePlan::getSideRing(unsigned number) const {
  const SideRing &ring = sideRings[number];
  return RingType::get(ring.buffer.getContext(),
                       ring.isApart ? stages : groups * ring.stages,
                       {ring.buffer});
}

RingType RolePlan::getTurnRing(MLIRContext *context) const {
  return RingType::get(context, groups, {});
}

int64_t RolePlan::getSharedBytes(ArrayRef<fusion::SharedPiece> others) const {
  using fusion::SharedPiece;
  SmallVector<SharedPiece> pieces;
  auto addBuffer = [&](BufferType buffer) {
    SharedPiece piece{getBytes(buffer),
                      buffer.getLayout().getShared().alignment()};
    piece.isOfGroup = true;
    pieces.push_back(piece);
  };
  auto addRing = [&](RingType ring) {
    pieces.push_back(
        {ring.getTotalBytes(), ring.getAlignment(), SharedPiece::Kind::Ring});
  };
  for (auto &[value, buffer] : contraction.stored)
    addBuffer(buffer);
  for (const Staging &staging : stagings)
    for (int64_t i = 0; i < (staging.held ? 0 : staging.numBuffers); ++i)
      addBuffer(staging.buffer);
  llvm::append_range(pieces, others);
  addRing(getMainRing());
  for (unsigned i = 0; i < sideRings.size(); ++i)
    addRing(getSideRing(i));
  if (takesTurns())
    addRing(getTurnRing(getMainRing().getContext()));
  return fusion::placeShared(pieces, groups).ofBlock;
}

/// True when what is computed of `tile`, element by element, is put into a
/// buffer: threads have it as they load it.
static bool goesToBuffer(Value tile, const ContractionPlan &plan) {
  if (plan.stored.contains(tile))
    return true;
  return llvm::any_of(tile.getUsers(), [&](Operation *user) {
    return !isa<TileDialect>(user->getDialect()) &&
           user->getNumRegions() == 0 && user->getNumResults() == 1 &&
           goesToBuffer(user->getResult(0), plan);
  });
}

/// What tiles of plain accesses take for a moment when their elements go
/// through shared memory to the threads that want them. Vectors do where they
/// are longer than what shuffles bring.
static SmallVector<fusion::SharedPiece>
getExchanges(ProgramOp program, const RolePlan &plan,
             const fusion::TargetInfo &target) {
  SmallVector<fusion::SharedPiece> pieces;
  auto addTile = [&](Type tile) {
    fusion::SharedPiece piece;
    piece.bytes = 1;
    if (Type element = getTileElementType(tile); element.isIntOrFloat())
      piece.bytes =
          llvm::divideCeil(std::max(8u, element.getIntOrFloatBitWidth()), 8);
    for (int64_t size : getTileShape(tile))
      piece.bytes *= size;
    piece.first = piece.last = pieces.size();
    piece.isOfGroup = true;
    pieces.push_back(piece);
  };
  auto add = [&](const Access &access) {
    ArrayRef<int64_t> shape = getTileShape(access.tile);
    bool isShort =
        shape.size() == 1 && (shape[0] < target.fitted.layouts.leastExchanged ||
                              !isContiguous(access, /*axis=*/0));
    if (!shape.empty() && !isShort)
      addTile(access.tile);
  };
  // Of rows that are an instruction's columns lanes and warps have parts of the
  // others, which blocks that share a walk exchange.
  bool areColumns =
      llvm::any_of(plan.contraction.products,
                   [](const Product &product) { return product.swapped; });
  program.getBody().walk([&](Operation *op) {
    if (auto gather = dyn_cast<GridGatherOp>(op)) {
      for (Value value : gather.getValues())
        if (areColumns && getTileShape(value.getType()).size() == 2)
          addTile(value.getType());
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      if (!plan.contraction.loads.contains(op) &&
          !goesToBuffer(load.getResult(), plan.contraction) &&
          llvm::none_of(plan.sideRings, [&](const SideRing &ring) {
            return ring.loads.contains(op);
          }))
        add(Access::of(load));
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      if (llvm::none_of(plan.stagings, [&](const Staging &staging) {
            return staging.stores.contains(op);
          }))
        add(Access::of(store));
    }
  });
  return pieces;
}

LogicalResult tile::fitSharedMemory(ProgramOp program, RolePlan &plan,
                                    int64_t limit,
                                    const fusion::TargetInfo &target) {
  SmallVector<fusion::SharedPiece> reserved, others;
  program.getBody().walk([&](AllocOp alloc) {
    reserved.push_back({getBytes(alloc.getType()),
                        alloc.getType().getLayout().getShared().alignment()});
  });
  int64_t wanted = plan.stages;
  auto fits = [&] { return plan.getSharedBytes(others) <= limit; };
  auto fitsWithBuffers = [&](int64_t most) {
    for (Staging &staging : plan.stagings)
      staging.numBuffers = std::min<int64_t>(staging.stores.size(), most);
    return fits();
  };
  auto fitsWithStages = [&](int64_t least) {
    others = reserved;
    llvm::append_range(others, getExchanges(program, plan, target));
    for (plan.stages = wanted; plan.stages >= least; --plan.stages)
      if (fitsWithBuffers(2) || fitsWithBuffers(1))
        return true;
    return false;
  };
  // Three stages hide the latency of copies mostly, two are the least that
  // overlap. What surrounds the contraction gives way first, largest first:
  // it happens once for each tile of the result.
  const RolePlan whole = plan;
  SmallVector<int64_t> leasts = {std::min<int64_t>(wanted, 3), 2};
  // A tile of a single step has all that it needs in one stage.
  if (!plan.contraction.isLoop())
    leasts.push_back(1);
  for (int64_t least : leasts) {
    plan = whole;
    if (fitsWithStages(least))
      return success();
    // Operands stay where they are: products read them from shared memory.
    while (!llvm::all_of(plan.sideRings, [](const SideRing &ring) {
      return ring.isOperand();
    })) {
      plan.sideRings.erase(llvm::max_element(
          plan.sideRings, [](const SideRing &a, const SideRing &b) {
            return std::pair(b.isOperand(), getBytes(a.buffer)) <
                   std::pair(a.isOperand(), getBytes(b.buffer));
          }));
      if (fitsWithStages(least))
        return success();
    }
    plan.stagings.clear();
    if (fitsWithStages(least))
      return success();
  }
  // Plain accesses may do without an exchange: layouts decide. Those who
  // multiply can load the rows of a walk themselves.
  plan.stages = 2;
  others = reserved;
  if (fits())
    return success();
  plan.contraction.loads.remove_if([](const auto &load) {
    return load.second.buffer.getShape().front() == 1;
  });
  return success(fits());
}
