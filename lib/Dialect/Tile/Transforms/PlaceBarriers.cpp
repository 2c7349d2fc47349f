//===- PlaceBarriers.cpp - Separates conflicting shared-memory accesses ---===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements barrier placement: a walk in execution order that
// remembers the accesses since the last barrier.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_PLACEBARRIERSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-place-barriers"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

namespace {
/// An access to bytes [begin, end) of shared memory.
struct SharedRange {
  int64_t begin, end;
  bool write;
  /// The buffer with stages that is accessed: barriers between such accesses
  /// are the pipeline's own business.
  Operation *stages = nullptr;

  bool conflicts(const SharedRange &other) const {
    return (write || other.write) && begin < other.end && other.begin < end &&
           !(stages && stages == other.stages);
  }
  bool operator==(const SharedRange &other) const {
    return begin == other.begin && end == other.end && write == other.write &&
           stages == other.stages;
  }
};

/// Accesses since the last barrier on some path.
using Pending = SmallVector<SharedRange>;
} // namespace

static void addAll(Pending &into, const Pending &from) {
  for (const SharedRange &range : from)
    if (!llvm::is_contained(into, range))
      into.push_back(range);
}

/// The products that `wait` gives, with those that they were added to; nothing
/// where a loop carries some. One that gives none ends a group only.
static std::optional<SmallVector<MmaAsyncOp>> findEnded(MmaWaitOp wait) {
  SmallVector<MmaAsyncOp> ended;
  for (Value value : wait.getValues()) {
    auto product = value.getDefiningOp<MmaAsyncOp>();
    if (!product)
      return std::nullopt;
    for (; product; product = product.getAcc().getDefiningOp<MmaAsyncOp>())
      ended.push_back(product);
  }
  return ended;
}

/// The accesses of `op`; empty for one that orders its own.
static Pending rangesOf(Operation *op) {
  auto make = [](Value buffer, bool write) -> std::optional<SharedRange> {
    if (auto stage = buffer.getDefiningOp<StageOp>()) {
      auto alloc = stage.getBuffer().getDefiningOp<AllocOp>();
      int64_t begin = *alloc.getOffset();
      return SharedRange{begin,
                         begin + alloc.getStageBytes() *
                                     static_cast<int64_t>(*alloc.getStages()),
                         write, alloc};
    }
    auto alloc = buffer.getDefiningOp<AllocOp>();
    if (!alloc) {
      // A ring's buffers have barriers of their own; but what takes the place
      // of its stages once all are spent waits for those who read them.
      auto wait = getStageBuffer(buffer).getDefiningOp<WaitOp>();
      auto ring = wait ? wait.getRing().getDefiningOp<MakeRingOp>() : nullptr;
      if (!ring || !ring.getOffset())
        return std::nullopt;
      int64_t begin = *ring.getOffset();
      return SharedRange{begin, begin + ring.getType().getTotalBytes(), write,
                         ring};
    }
    int64_t begin = *alloc.getOffset();
    return SharedRange{
        begin, begin + alloc.getType().getLayout().getShared().sizeInBytes(),
        write};
  };
  Pending ranges;
  auto add = [&](Value buffer, bool write) {
    if (std::optional<SharedRange> range = make(buffer, write))
      addAll(ranges, {*range});
  };
  auto addOperands = [&](MmaAsyncOp mma) {
    for (Value operand : {mma.getA(), mma.getB()})
      if (isa<BufferType>(operand.getType()))
        add(operand, false);
  };
  if (auto copy = dyn_cast<CopyStartOp>(op))
    add(copy.getBuffer(), true);
  if (auto store = dyn_cast<LocalStoreOp>(op))
    add(store.getBuffer(), true);
  if (auto load = dyn_cast<LocalLoadOp>(op))
    add(load.getBuffer(), false);
  if (auto element = dyn_cast<LocalElementOp>(op))
    add(element.getBuffer(), false);
  if (auto list = dyn_cast<ListFlagsOp>(op)) {
    add(list.getFlags(), false);
    add(list.getList(), true);
  }
  if (auto mma = dyn_cast<MmaAsyncOp>(op))
    addOperands(mma);
  // Products in flight read until they are waited for.
  if (auto wait = dyn_cast<MmaWaitOp>(op)) {
    if (std::optional<SmallVector<MmaAsyncOp>> ended = findEnded(wait))
      llvm::for_each(*ended, addOperands);
    else
      op->getParentOfType<ProgramOp>().walk(addOperands);
  }
  return ranges;
}

/// Walks `block`, placing barriers; `pending` is what is outstanding at its
/// start, and at its end afterwards.
static void place(Block &block, Pending &pending) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto barrier = dyn_cast<BarrierOp>(op)) {
      if (!barrier.getWithinWarp())
        pending.clear();
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      // The body begins after what came before or after its own end. A second
      // walk sees what the first left outstanding; barriers placed by then
      // only shrink it.
      Pending atEnd = pending;
      place(*loop.getBody(), atEnd);
      addAll(atEnd, pending);
      place(*loop.getBody(), atEnd);
      addAll(pending, atEnd);
      continue;
    }
    if (op.getNumRegions()) {
      Pending merged = pending;
      for (Region &region : op.getRegions())
        for (Block &inner : region) {
          Pending path = pending;
          place(inner, path);
          addAll(merged, path);
        }
      pending = merged;
      continue;
    }
    Pending ranges = rangesOf(&op);
    if (llvm::any_of(pending, [&](const SharedRange &other) {
          return llvm::any_of(ranges, [&](const SharedRange &range) {
            return range.conflicts(other);
          });
        })) {
      OpBuilder builder(&op);
      BarrierOp::create(builder, op.getLoc());
      pending.clear();
    }
    addAll(pending, ranges);
  }
}

namespace {
class PlaceBarriersPass
    : public tile::impl::PlaceBarriersPassBase<PlaceBarriersPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    Pending pending;
    place(getOperation().getBody().front(), pending);
  }
};
} // namespace
