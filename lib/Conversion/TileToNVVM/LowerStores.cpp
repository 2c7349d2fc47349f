//===- LowerStores.cpp - Stores by the tensor copy engine -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements tensor copies from shared to global memory.
//
//===----------------------------------------------------------------------===//

#include "OpEmitter.h"
#include "RingStages.h"
#include "SharedStores.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"
#include "fusion/Dialect/Tile/IR/AsyncLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::HwDim;
using tile::LinearLayout;

static constexpr int32_t kWarpgroupThreads = kWarpgroupWarps * kWarpThreads;

//===----------------------------------------------------------------------===//
// Who stores together
//===----------------------------------------------------------------------===//

/// The coordinate bit that each bit of the warpgroup's number flips, when every
/// box of `box` elements belongs to one warpgroup: pairs of dimension and bit.
static std::optional<SmallVector<std::pair<unsigned, unsigned>>>
warpgroupBits(const LinearLayout &layout, ArrayRef<int64_t> box) {
  constexpr unsigned kFirst = 2; // warps of a warpgroup
  if (layout.numBits(HwDim::Warp) < kFirst || !layout.isInjective())
    return std::nullopt;
  SmallVector<std::pair<unsigned, unsigned>> result;
  uint64_t groupMask = 0;
  for (unsigned bit = kFirst; bit < layout.numBits(HwDim::Warp); ++bit) {
    uint64_t basis = layout.linearBasis(HwDim::Warp, bit);
    if (!llvm::isPowerOf2_64(basis))
      return std::nullopt;
    groupMask |= basis;
    tile::Coords coords = layout.basis(HwDim::Warp, bit);
    for (auto [dim, step] : llvm::enumerate(coords)) {
      if (step == 0)
        continue;
      if (step < box[dim])
        return std::nullopt;
      result.push_back({dim, llvm::Log2_32(step)});
    }
  }
  for (HwDim dim : {HwDim::Register, HwDim::Lane, HwDim::Warp})
    for (unsigned bit = 0; bit < layout.numBits(dim); ++bit)
      if ((dim != HwDim::Warp || bit < kFirst) &&
          (layout.linearBasis(dim, bit) & groupMask))
        return std::nullopt;
  return result;
}

/// The same for a store's own value and map.
static std::optional<SmallVector<std::pair<unsigned, unsigned>>>
warpgroupBits(tile::AsyncStoreOp op) {
  SmallVector<int64_t> box;
  for (int64_t dim : op.getDims())
    box.push_back(op.getMap().getType().getBox()[dim]);
  return warpgroupBits(tile::getLayout(op.getValue().getType()).getLinear(),
                       box);
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

/// How many of the copies started last may go on when `op` fills its buffer:
/// those of the stores since the last use of the buffer. In a loop the last
/// store comes before the first.
static unsigned pendingStores(tile::AsyncStoreOp op) {
  SmallVector<tile::AsyncStoreOp> stores;
  bool areAlike = true, byWarpgroup = warpgroupBits(op).has_value();
  op->getParentOfType<tile::ProgramOp>().walk([&](tile::AsyncStoreOp store) {
    // Threads count what they start themselves.
    areAlike &= store->getBlock() == op->getBlock() &&
                warpgroupBits(store).has_value() == byWarpgroup;
    stores.push_back(store);
  });
  if (!areAlike)
    return 0;
  unsigned count = stores.size();
  unsigned at = llvm::find(stores, op) - stores.begin();
  unsigned pending = 0;
  while (stores[(at + count - 1 - pending) % count].getBuffer() !=
         op.getBuffer())
    ++pending;
  return pending;
}

/// True if `op` is the first to use its buffer, which has its place for itself
/// as all that copies read.
static bool isFirstUse(tile::AsyncStoreOp op) {
  auto buffer = op.getBuffer().getDefiningOp<tile::AllocOp>();
  return buffer &&
         isa<tile::SpecializeOp, tile::ProgramOp>(op->getParentOp()) &&
         llvm::all_of(buffer->getUsers(), [&](Operation *user) {
           return user == op || (isa<tile::AsyncStoreOp>(user) &&
                                 user->getBlock() == op->getBlock() &&
                                 op->isBeforeInBlock(user));
         });
}

/// True in the one thread of those that store together which starts their
/// copies and waits for them.
static Value storesAlone(ProgramLowering &lowering, bool byWarpgroup) {
  ThreadBuilder &builder = lowering.getBuilder();
  Value number = lowering.getThreads().getThread();
  if (byWarpgroup)
    number = arith::AndIOp::create(builder, number,
                                   builder.constant32(kWarpgroupThreads - 1));
  return builder.isEqual(number, 0);
}

/// Waits until so many of the copies that this thread has started are pending.
static void waitForCopies(ProgramLowering &lowering, unsigned pending) {
  ThreadBuilder &builder = lowering.getBuilder();
  builder.ifThread(storesAlone(lowering, /*byWarpgroup=*/true), [&] {
    NVVM::CpAsyncBulkWaitGroupOp::create(builder, pending,
                                         builder.getUnitAttr());
  });
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

namespace {
struct AsyncStoreLowering : public TileOpLowering<tile::AsyncStoreOp> {
  LogicalResult lower(tile::AsyncStoreOp op,
                      ProgramLowering &lowering) const override;
};

struct AsyncStoreWaitLowering : public TileOpLowering<tile::AsyncStoreWaitOp> {
  LogicalResult lower(tile::AsyncStoreWaitOp op,
                      ProgramLowering &lowering) const override;
};

/// Builds the store of a tile.
class AsyncStoreEmitter : public OpEmitter {
public:
  AsyncStoreEmitter(ProgramLowering &lowering, tile::AsyncStoreOp op)
      : OpEmitter(lowering), op(op), groupBits(warpgroupBits(op)),
        shared(op.getBuffer().getType().getLayout().getShared()),
        swizzle(
            static_cast<tile::TmaSwizzle>(op.getMap().getType().getSwizzle())) {
  }

  LogicalResult emit();

private:
  /// Waits for all who store together.
  void meet();
  /// The first box of a warpgroup, against that of the first one: how far its
  /// coordinates and its place in the buffer are shifted. Null where they are
  /// not.
  void findShift();
  void startCopies(ArrayRef<tile::CopyBox> boxes, const SharedPlace &place);

  tile::AsyncStoreOp op;
  /// Who stores together: each warpgroup, or all.
  std::optional<SmallVector<std::pair<unsigned, unsigned>>> groupBits;
  const tile::SharedLayout &shared;
  tile::TmaSwizzle swizzle;
  /// The number of the warpgroup.
  Value group;
  SmallVector<Value> shift;
  Value shiftOffset;
};
} // namespace

void AsyncStoreEmitter::meet() {
  if (groupBits)
    lowering.getRole().createWarpgroupBarrier(group);
  else
    lowering.getRole().createBarrier();
}

void AsyncStoreEmitter::findShift() {
  shift.assign(op.getDims().size(), Value());
  if (!groupBits)
    return;
  auto add = [&](Value &sum, Value part) {
    sum = sum ? arith::AddIOp::create(builder, sum, part) : part;
  };
  for (auto [i, target] : llvm::enumerate(*groupBits)) {
    auto [dim, bit] = target;
    Value set = arith::AndIOp::create(
        builder, arith::ShRUIOp::create(builder, group, builder.constant32(i)),
        builder.constant32(1));
    add(shift[dim],
        arith::MulIOp::create(builder, set, builder.constant32(1 << bit)));
    int64_t step = tile::swizzleAddress(shared.offsetBasis(dim, bit), swizzle);
    add(shiftOffset,
        arith::MulIOp::create(builder, set, builder.constant32(step)));
  }
}

void AsyncStoreEmitter::startCopies(ArrayRef<tile::CopyBox> boxes,
                                    const SharedPlace &place) {
  findShift();
  auto isFirstGroups = [&](const tile::CopyBox &box) {
    return !groupBits || llvm::none_of(*groupBits, [&](auto target) {
      return box.start[target.first] >> target.second & 1;
    });
  };
  Value parameter = lowering.getParameter(op.getMap().getDefiningOp());
  for (const tile::CopyBox &box : boxes) {
    if (!isFirstGroups(box))
      continue;
    SmallVector<Value> at = getBoxCoordinates(lowering, op.getCoordinates(),
                                              op.getDims(), box.start);
    for (auto [dim, by] : llvm::zip(op.getDims(), shift))
      if (by) {
        // From the fastest dimension on.
        Value &own = at[at.size() - 1 - dim];
        own = arith::AddIOp::create(builder, own, by);
      }
    Value from = sharedMemory.getAddress(
        place.plus(box.offset),
        shiftOffset ? builder.toIndex(shiftOffset) : Value());
    NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
        builder, parameter, from, at, /*l2CacheHint=*/Value(),
        NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
  }
  NVVM::CpAsyncBulkCommitGroupOp::create(builder);
}

LogicalResult AsyncStoreEmitter::emit() {
  auto boxes = tile::getCopyBoxes(shared, op.getMap().getType().getBox(),
                                  op.getDims(), swizzle);
  SharedPlace place = sharedMemory.getPlace(op.getBuffer());
  if (!boxes || place.alignment() < tile::getSwizzleAlignment(swizzle))
    return op.emitOpError("FUS-3311: copies with this map do not take the "
                          "buffer's layout");
  if (groupBits)
    group = threads.getWarpgroup();
  // All who may have started copies wait for theirs: another store may have
  // used the buffer in the other way.
  if (!isFirstUse(op)) {
    waitForCopies(lowering, pendingStores(op));
    meet();
  }
  if (failed(storeShared(lowering, op, lowering.get(op.getValue()),
                         tile::getLayout(op.getValue().getType()).getLinear(),
                         shared, place)))
    return failure();
  fenceCopies(builder);
  meet();
  builder.ifThread(storesAlone(lowering, groupBits.has_value()),
                   [&] { startCopies(*boxes, place); });
  return success();
}

LogicalResult AsyncStoreLowering::lower(tile::AsyncStoreOp op,
                                        ProgramLowering &lowering) const {
  return AsyncStoreEmitter(lowering, op).emit();
}

LogicalResult AsyncStoreWaitLowering::lower(tile::AsyncStoreWaitOp op,
                                            ProgramLowering &lowering) const {
  // Threads that have started no copies have none to wait for.
  waitForCopies(lowering, /*pending=*/0);
  return success();
}

void mlir::fusion::populateAsyncStoreLowerings(LoweringSet &lowerings) {
  lowerings.add<AsyncStoreLowering, AsyncStoreWaitLowering>();
}
