//===- SharedStores.cpp - Tiles into shared memory ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements stores of registers to shared memory: by vectors of a
// thread, and by stmatrix.
//
//===----------------------------------------------------------------------===//

#include "SharedStores.h"
#include "fusion/Dialect/Tile/IR/SharedExchange.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::HwDim;
using tile::LinearLayout;

namespace {
/// Stores of 8x8 matrices of 16-bit elements: the accumulators of matrix
/// instructions, as they are or transposed.
struct MatrixStores {
  /// The offsets that the bits of lane and warp add.
  SmallVector<uint64_t, 5> lanes, warps;
  /// All of these.
  uint64_t threadMask = 0;
  /// Bits of the register's number that choose one of an instruction's
  /// matrices.
  unsigned matrixBits = 0;
  bool transposed = false;
};
} // namespace

/// The offset in `shared` that bit `bit` of `dim` stands for.
static uint64_t offsetOf(const LinearLayout &layout,
                         const tile::BitMatrix &offsets, HwDim dim,
                         unsigned bit) {
  return offsets.apply(layout.linearBasis(dim, bit));
}

/// None unless registers of `layout` are rows of such matrices.
static std::optional<MatrixStores>
planMatrixStores(const LinearLayout &layout, const tile::SharedLayout &shared) {
  if (shared.elementBytes() != 2 || layout.numLanes() != 32 ||
      layout.numBits(HwDim::Block) != 0 || !layout.isInjective() ||
      layout.freeMask(HwDim::Lane) || layout.freeMask(HwDim::Warp) ||
      layout.freeMask(HwDim::Register) || layout.numRegs() < 2)
    return std::nullopt;
  tile::BitMatrix offsets = shared.matrix();
  // Two elements of a row in a register, four lanes along it, eight lanes down
  // the rows; with the rows of the tile for columns when transposed.
  uint64_t pair = offsetOf(layout, offsets, HwDim::Register, 0);
  uint64_t lanes[kLaneBits];
  for (unsigned bit = 0; bit < kLaneBits; ++bit)
    lanes[bit] = offsetOf(layout, offsets, HwDim::Lane, bit);
  bool plain = pair == 2 && lanes[0] == 4 && lanes[1] == 8;
  MatrixStores stores;
  stores.transposed = !plain;
  if (!plain && !(lanes[2] == 2 && lanes[3] == 4 && lanes[4] == 8))
    return std::nullopt;
  if (plain)
    stores.lanes = {lanes[2], lanes[3], lanes[4]};
  else
    stores.lanes = {pair, lanes[0], lanes[1]};
  // The next bits of the register number choose among up to four matrices.
  stores.matrixBits = std::min(layout.numBits(HwDim::Register) - 1, 2u);
  for (unsigned bit = 0; bit < stores.matrixBits; ++bit)
    stores.lanes.push_back(offsetOf(layout, offsets, HwDim::Register, 1 + bit));
  // Lanes beyond the matrices' rows give no address.
  stores.lanes.resize(kLaneBits, 0);
  for (uint64_t row : stores.lanes)
    stores.threadMask |= row;
  for (unsigned bit = 0; bit < layout.numBits(HwDim::Warp); ++bit) {
    stores.warps.push_back(offsetOf(layout, offsets, HwDim::Warp, bit));
    stores.threadMask |= stores.warps.back();
  }
  constexpr uint64_t kRowMask = 15;
  if (stores.threadMask & kRowMask)
    return std::nullopt;
  return stores;
}

static void storeMatrices(ProgramLowering &lowering, const Scalars &source,
                          const LinearLayout &layout,
                          const tile::SharedLayout &shared,
                          const SharedPlace &place,
                          const MatrixStores &stores) {
  ThreadBuilder &builder = lowering.getBuilder();
  tile::BitMatrix offsets = shared.matrix();
  Value threadOffset = lowering.getThreads().apply(
      tile::BitMatrix(stores.lanes, offsets.numRows()),
      tile::BitMatrix(stores.warps, offsets.numRows()));
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  unsigned step = 2u << stores.matrixBits;
  for (unsigned reg = 0; reg < source.size(); reg += step) {
    uint64_t offset = 0;
    for (unsigned bit = 0; bit < layout.numBits(HwDim::Register); ++bit)
      if (reg >> bit & 1)
        offset ^= offsetOf(layout, offsets, HwDim::Register, bit);
    SmallVector<Value> words;
    for (unsigned i = 0; i < step; i += 2)
      words.push_back(LLVM::BitcastOp::create(
          builder, builder.getI32Type(),
          builder.packForMemory({source[reg + i], source[reg + i + 1]})));
    Value address = lowering.getSharedMemory().getAddress(
        place, threadOffset, offset & stores.threadMask,
        offset & ~stores.threadMask);
    NVVM::StMatrixOp::create(builder, address, words,
                             stores.transposed ? NVVM::MMALayout::col
                                               : NVVM::MMALayout::row,
                             shape, NVVM::LdStMatrixEltType::B16);
  }
}

LogicalResult mlir::fusion::storeShared(ProgramLowering &lowering,
                                        Operation *op, const Scalars &source,
                                        const LinearLayout &layout,
                                        const tile::SharedLayout &shared,
                                        const SharedPlace &place) {
  if (lowering.hasTensorCopies())
    if (std::optional<MatrixStores> stores = planMatrixStores(layout, shared)) {
      storeMatrices(lowering, source, layout, shared, place, *stores);
      return success();
    }
  ThreadBuilder &builder = lowering.getBuilder();
  ThreadIndex &threads = lowering.getThreads();
  unsigned width = tile::getWidestSharedVector(layout, shared);
  std::optional<tile::SharedAccess> access =
      tile::getSharedAccess(layout, shared, width);
  if (!access)
    return op->emitOpError("FUS-3307: no access of this layout to the buffer");
  Value threadOffset = threads.apply(access->laneOffset, access->warpOffset);
  OpBuilder::InsertionGuard guard(builder);
  if (Value owner = threads.isOwner(layout)) {
    auto guarded = scf::IfOp::create(builder, owner,
                                     /*withElseRegion=*/false);
    builder.setInsertionPointToStart(guarded.thenBlock());
  }
  for (const tile::SharedAccess::Group &group : access->groups) {
    SmallVector<Value> members;
    for (unsigned reg : group.regs)
      members.push_back(source[reg]);
    Value value = builder.packForMemory(members);
    Value address = lowering.getSharedMemory().getAddress(
        place, threadOffset, access->xorPart(group),
        access->immediatePart(group));
    LLVM::StoreOp::create(builder, value, address,
                          shared.elementBytes() * members.size());
  }
  return success();
}

void mlir::fusion::fenceCopies(ThreadBuilder &builder) {
  NVVM::FenceProxyOp::create(
      builder, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(builder.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}
