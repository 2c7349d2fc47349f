//===- LowerStores.cpp - Stores through shared memory ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements stores by the tensor copy engine, and stmatrix for the
// way into shared memory.
//
//===----------------------------------------------------------------------===//

#include "ProgramLowering.h"
#include "fusion/Dialect/Tile/IR/AsyncLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::HwDim;
using tile::LinearLayout;

static constexpr unsigned kWarpgroupWarps = 4;
static constexpr int32_t kWarpgroupThreads = 128;
/// Barriers from this one on belong to a warpgroup each; before it are the
/// block's and the consumers'.
static constexpr int32_t kWarpgroupBarriers = 2;

//===----------------------------------------------------------------------===//
// stmatrix
//===----------------------------------------------------------------------===//

/// Stores tiles whose registers are rows of 8x8 matrices of 16-bit elements:
/// the accumulators of matrix instructions, as they are or transposed.
bool ProgramLowering::storeMatrices(const Scalars &source,
                                    const LinearLayout &layout,
                                    const tile::SharedLayout &shared,
                                    const SharedPlace &place) {
  constexpr unsigned kLaneBits = 5;
  if (shared.elementBytes() != 2 || layout.numLanes() != 32 ||
      layout.numBits(HwDim::Block) != 0 || !layout.isInjective() ||
      layout.freeLaneMask() || layout.freeWarpMask() || layout.freeRegMask() ||
      source.size() < 2)
    return false;
  tile::BitMatrix offsets = shared.matrix();
  auto offsetOf = [&](HwDim dim, unsigned bit) {
    return offsets.apply(layout.linearBasis(dim, bit));
  };
  // Two elements of a row in a register, four lanes along it, eight lanes down
  // the rows; with the rows of the tile for columns when transposed.
  uint64_t pair = offsetOf(HwDim::Register, 0);
  uint64_t lanes[kLaneBits];
  for (unsigned bit = 0; bit < kLaneBits; ++bit)
    lanes[bit] = offsetOf(HwDim::Lane, bit);
  bool plain = pair == 2 && lanes[0] == 4 && lanes[1] == 8;
  bool transposed = lanes[2] == 2 && lanes[3] == 4 && lanes[4] == 8;
  if (!plain && !transposed)
    return false;
  SmallVector<uint64_t, 5> rows;
  if (plain)
    rows = {lanes[2], lanes[3], lanes[4]};
  else
    rows = {pair, lanes[0], lanes[1]};
  // The next bits of the register number choose among up to four matrices.
  unsigned chosen = std::min(layout.numBits(HwDim::Register) - 1, 2u);
  for (unsigned bit = 0; bit < chosen; ++bit)
    rows.push_back(offsetOf(HwDim::Register, 1 + bit));
  // Lanes beyond the matrices' rows give no address.
  rows.resize(kLaneBits, 0);
  uint64_t threadMask = 0;
  for (uint64_t row : rows)
    threadMask |= row;
  SmallVector<uint64_t, 5> warps;
  for (unsigned bit = 0; bit < layout.numBits(HwDim::Warp); ++bit) {
    warps.push_back(offsetOf(HwDim::Warp, bit));
    threadMask |= warps.back();
  }
  constexpr uint64_t kRowMask = 15;
  if (threadMask & kRowMask)
    return false;
  Value threadOffset = applyToThread(tile::BitMatrix(rows, offsets.numRows()),
                                     tile::BitMatrix(warps, offsets.numRows()));
  MLIRContext *context = builder.getContext();
  auto shape = NVVM::LdStMatrixShapeAttr::get(context, 8, 8);
  Type i32 = builder.getI32Type();
  unsigned step = 2u << chosen;
  for (unsigned reg = 0; reg < source.size(); reg += step) {
    uint64_t offset = 0;
    for (unsigned bit = 0; bit < layout.numBits(HwDim::Register); ++bit)
      if (reg >> bit & 1)
        offset ^= offsetOf(HwDim::Register, bit);
    SmallVector<Value> words;
    for (unsigned i = 0; i < step; i += 2)
      words.push_back(LLVM::BitcastOp::create(
          builder, loc, i32,
          buildVector(
              {toMemory(source[reg + i]), toMemory(source[reg + i + 1])})));
    Value address = sharedAddress(place, threadOffset, offset & threadMask,
                                  offset & ~threadMask);
    NVVM::StMatrixOp::create(builder, loc, address, words,
                             plain ? NVVM::MMALayout::row
                                   : NVVM::MMALayout::col,
                             shape, NVVM::LdStMatrixEltType::B16);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Copies to global memory
//===----------------------------------------------------------------------===//

Value ProgramLowering::storesAlone(bool byWarpgroup) {
  Value number = thread;
  if (byWarpgroup)
    number = arith::AndIOp::create(builder, loc, thread,
                                   constant32(kWarpgroupThreads - 1));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number,
                               constant32(0));
}

void ProgramLowering::bulkWait(unsigned pending) {
  ifThread(storesAlone(/*byWarpgroup=*/true), [&] {
    NVVM::CpAsyncBulkWaitGroupOp::create(builder, loc, pending,
                                         builder.getUnitAttr());
  });
}

void ProgramLowering::fenceCopies() {
  NVVM::FenceProxyOp::create(
      builder, loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(builder.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

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

LogicalResult ProgramLowering::lowerAsyncStore(tile::AsyncStoreOp op) {
  const LinearLayout &layout =
      tile::getLayout(op.getValue().getType()).getLinear();
  const tile::SharedLayout &shared =
      op.getBuffer().getType().getLayout().getShared();
  tile::TensorMapType map = op.getMap().getType();
  auto swizzle = static_cast<tile::TmaSwizzle>(map.getSwizzle());
  auto boxes = tile::getCopyBoxes(shared, map.getBox(), op.getDims(), swizzle);
  SharedPlace place = placeOf(op.getBuffer());
  if (!boxes || place.alignment() < tile::getSwizzleAlignment(swizzle))
    return op.emitOpError("FUS-3311: copies with this map do not take the "
                          "buffer's layout");
  // Who stores together: each warpgroup, or all.
  auto groupBits = warpgroupBits(op);
  bool byWarpgroup = groupBits.has_value();
  Value group;
  if (byWarpgroup)
    group = arith::ShRUIOp::create(builder, loc, warpNumber(),
                                   constant32(llvm::Log2_32(kWarpgroupWarps)));
  auto meet = [&] {
    if (!byWarpgroup)
      return lowerBarrier();
    Value number = arith::AddIOp::create(builder, loc, group,
                                         constant32(kWarpgroupBarriers));
    namedBarrier(barrierOfGroup(number), kWarpgroupThreads);
  };

  // All who may have started copies wait for theirs: another store may have
  // used the buffer in the other way.
  if (!isFirstUse(op)) {
    bulkWait(pendingStores(op));
    meet();
  }
  if (failed(storeShared(op, get(op.getValue()), layout, shared, place)))
    return failure();
  fenceCopies();
  meet();

  ifThread(storesAlone(byWarpgroup), [&] {
    // The first box of a warpgroup, against that of the first one.
    SmallVector<Value> shift(op.getDims().size());
    Value shiftOffset;
    auto add = [&](Value &sum, Value part) {
      sum = sum ? arith::AddIOp::create(builder, loc, sum, part) : part;
    };
    if (byWarpgroup)
      for (auto [i, target] : llvm::enumerate(*groupBits)) {
        auto [dim, bit] = target;
        Value set = arith::AndIOp::create(
            builder, loc,
            arith::ShRUIOp::create(builder, loc, group, constant32(i)),
            constant32(1));
        add(shift[dim],
            arith::MulIOp::create(builder, loc, set, constant32(1 << bit)));
        int64_t step =
            tile::swizzleAddress(shared.offsetBasis(dim, bit), swizzle);
        add(shiftOffset,
            arith::MulIOp::create(builder, loc, set, constant32(step)));
      }
    auto isFirstGroups = [&](const tile::CopyBox &part) {
      return !byWarpgroup || llvm::none_of(*groupBits, [&](auto target) {
        return part.start[target.first] >> target.second & 1;
      });
    };
    Value parameter =
        entry->getArgument(tensorMaps.lookup(op.getMap().getDefiningOp()));
    for (const tile::CopyBox &part : *boxes) {
      if (!isFirstGroups(part))
        continue;
      SmallVector<Value> at =
          boxCoordinates(op.getCoordinates(), op.getDims(), part.start);
      for (auto [dim, by] : llvm::zip(op.getDims(), shift))
        if (by)
          add(at[at.size() - 1 - dim], by);
      Value from = sharedAddress(place.plus(part.offset),
                                 shiftOffset ? toIndex(shiftOffset) : Value());
      NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
          builder, loc, parameter, from, at, /*l2CacheHint=*/Value(),
          NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
    }
    NVVM::CpAsyncBulkCommitGroupOp::create(builder, loc);
  });
  return success();
}
