//===- CopyPlan.cpp - Plans copies of tiles ahead -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of the threads that copy a tile to shared
// memory, and of the buffer that it goes to.
//
//===----------------------------------------------------------------------===//

#include "CopyPlan.h"

#include "fusion/Dialect/Tile/IR/MatrixAccess.h"
#include "fusion/Dialect/Tile/IR/SharedExchange.h"
#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

int64_t tile::getViewBits(LoadOp load) {
  constexpr int64_t kUnknown = int64_t(1) << 56;
  ViewType view = load.getView().getType();
  if (llvm::any_of(view.getShape(), ShapedType::isDynamic) ||
      !view.getElementType().isIntOrFloat())
    return kUnknown;
  return ShapedType::getNumElements(view.getShape()) *
         view.getElementType().getIntOrFloatBitWidth();
}

std::optional<LinearLayout> tile::getOnlyUse(LoadOp load) {
  std::optional<LinearLayout> only;
  for (Operation *user : load.getResult().getUsers()) {
    auto convert = dyn_cast<ConvertLayoutOp>(user);
    LinearLayout used =
        getLayout(convert ? convert.getType() : load.getType()).getLinear();
    if (only && *only != used)
      return std::nullopt;
    only = used;
  }
  return only;
}

/// `chunked`, a buffer of whole chunks of 16 bytes swizzled in lines of all
/// banks, with the bits of a line's number `by` places further in the swizzle;
/// those that leave it no longer count. None for buffers of shorter lines.
static std::optional<SharedLayout> shiftSwizzle(const SharedLayout &chunked,
                                                unsigned fastest, unsigned by) {
  constexpr int64_t kLine = kBankRowBytes;
  SmallVector<SmallVector<int64_t, 8>> offsets(2);
  SmallVector<int64_t, 4> shape = chunked.shape();
  if (shape[fastest] * chunked.elementBytes() < kLine)
    return std::nullopt;
  for (unsigned dim = 0; dim < 2; ++dim)
    for (unsigned bit = 0; bit < llvm::Log2_64(shape[dim]); ++bit) {
      int64_t offset = chunked.offsetBasis(dim, bit), chunk = offset % kLine;
      offsets[dim].push_back(
          dim == fastest ? offset : offset - chunk + (chunk << by) % kLine);
    }
  return SharedLayout::fromOffsets(chunked.elementBytes(), chunked.alignment(),
                                   offsets);
}

/// A buffer that `threads` fill in pieces of `width` elements and from which
/// `load` is then used with the fewest bank conflicts.
static std::optional<SharedLayout>
chooseBuffer(LoadOp load, const LinearLayout &threads, unsigned bytes,
             unsigned fastest, int64_t width) {
  std::optional<SharedLayout> chunked =
      getChunkedBuffer(getTileShape(load.getType()), bytes, fastest);
  std::optional<LinearLayout> used = getOnlyUse(load);
  if (!chunked || !used || getMatrixAccess(*used, *chunked))
    return chunked;
  auto wavefronts = [&](const SharedLayout &buffer) {
    unsigned width = getWidestSharedVector(*used, buffer);
    return getSharedAccessCost(*used, buffer, width).totalWavefronts();
  };
  SharedLayout best = *chunked;
  unsigned least = wavefronts(best);
  auto consider = [&](const SharedLayout &buffer, unsigned cost) {
    if (cost < least) {
      best = buffer;
      least = cost;
    }
  };
  for (unsigned by : {1, 2})
    if (std::optional<SharedLayout> other = shiftSwizzle(*chunked, fastest, by))
      consider(*other, wavefronts(*other));
  std::optional<SharedExchange> plan =
      planSharedExchange(threads, *used, bytes);
  // Pieces are those of memory, in one register after the other.
  auto isPiece = [&](const SharedAccess::Group &group) {
    return llvm::all_of(llvm::enumerate(group.regs), [&](auto reg) {
      return reg.value() == group.regs.front() + reg.index();
    });
  };
  if (plan && plan->write.vecElements == width &&
      llvm::all_of(plan->write.groups, isPiece))
    consider(plan->buffer, plan->readCost.totalWavefronts());
  return best;
}

/// The layout by which each warp copies, in pieces of `width` elements along
/// dimension `fastest`, what it reads in layout `used`; none when warps share
/// what they read. Rows of memory are cut into pieces only with `mayCut`.
static std::optional<LinearLayout> getReaderLayout(const LinearLayout &used,
                                                   unsigned fastest,
                                                   int64_t width, bool mayCut) {
  SmallVector<int64_t> part(used.shape());
  SmallVector<Coords> warps;
  for (unsigned bit = used.numBits(HwDim::Warp); bit-- > 0;) {
    // From the highest on, each takes half of what is left.
    Coords basis = used.basis(HwDim::Warp, bit);
    for (unsigned dim = 0; dim < 2; ++dim)
      if (basis[dim] != 0 && basis[1 - dim] == 0 &&
          int64_t(basis[dim]) * 2 == part[dim])
        part[dim] /= 2;
    warps.insert(warps.begin(), basis);
  }
  int64_t parts = (used.dimSize(0) / part[0]) * (used.dimSize(1) / part[1]);
  if (parts != used.numWarps() || part[fastest] < width ||
      (part[fastest] != used.dimSize(fastest) && !mayCut))
    return std::nullopt;
  LinearLayout one =
      getBlockedLayout(part, {fastest, 1 - fastest}, width, 32, 1);
  return LinearLayout::fromBases(used.shape(), getBases(one, HwDim::Register),
                                 getBases(one, HwDim::Lane), warps);
}

namespace {
/// The pieces in which copies move a tile.
struct Pieces {
  unsigned elementBytes;
  /// The dimension along which they lie, and their elements.
  unsigned fastest;
  int64_t width;
};
} // namespace

/// The widest pieces of what `load` loads that a copy can move; none where they
/// have less than 4 bytes.
static std::optional<Pieces> findPieces(LoadOp load) {
  Access access = Access::of(load);
  // Copies have no second way for what lies in bounds in part.
  access.isDivisible = false;
  Type element = getTileElementType(load.getType());
  if (!element.isIntOrFloat())
    return std::nullopt;
  // Conditions have a byte each.
  unsigned bits = element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
  if (bits % 8 != 0)
    return std::nullopt;
  Pieces pieces{bits / 8, 0, 0};
  for (unsigned dim = 0; dim < getTileShape(load.getType()).size(); ++dim)
    if (isContiguous(access, dim) &&
        getVectorWidth(access, dim) >= pieces.width) {
      pieces.fastest = dim;
      pieces.width = getVectorWidth(access, dim);
    }
  if (pieces.width * pieces.elementBytes < 4)
    return std::nullopt;
  return pieces;
}

std::optional<CopyPlan> tile::planOwnCopy(LoadOp load) {
  std::optional<Pieces> pieces = findPieces(load);
  const LinearLayout &own = getLayout(load.getType()).getLinear();
  bool isConverted =
      llvm::any_of(load.getResult().getUsers(), llvm::IsaPred<ConvertLayoutOp>);
  if (!pieces || isConverted || own.freeMask(HwDim::Lane) != 0 ||
      own.freeMask(HwDim::Warp) != 0)
    return std::nullopt;
  // What lies side by side in memory does so in the buffer, then what
  // neighbouring lanes have, which meet in no bank so.
  ArrayRef<int64_t> shape = getTileShape(load.getType());
  SmallVector<unsigned> order{pieces->fastest};
  auto add = [&](unsigned dim) {
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  };
  for (unsigned bit = 0; bit < own.numBits(HwDim::Lane); ++bit)
    for (auto [dim, step] : llvm::enumerate(own.basis(HwDim::Lane, bit)))
      if (step != 0)
        add(dim);
  for (unsigned dim = shape.size(); dim-- > 0;)
    add(dim);
  auto buffer = SharedLayout::linear(shape, pieces->elementBytes, order);
  // The layout may hold less of a piece in one thread.
  unsigned width =
      std::min<unsigned>(pieces->width, getWidestSharedVector(own, buffer));
  if (width * pieces->elementBytes < 4)
    return std::nullopt;
  return CopyPlan{own, buffer};
}

std::optional<CopyPlan> tile::planCopy(LoadOp load, unsigned numWarps,
                                       bool byReader, bool mayCut) {
  ArrayRef<int64_t> shape = getTileShape(load.getType());
  std::optional<Pieces> pieces = findPieces(load);
  if (shape.size() != 2 || !pieces)
    return std::nullopt;
  auto [bytes, fastest, width] = *pieces;
  LinearLayout threads =
      getBlockedLayout(shape, {fastest, 1 - fastest}, width, 32, numWarps);
  if (byReader) {
    std::optional<LinearLayout> used = getOnlyUse(load), own;
    if (used)
      own = getReaderLayout(*used, fastest, width, mayCut);
    if (!own)
      return std::nullopt;
    threads = *own;
  }
  std::optional<SharedLayout> buffer =
      chooseBuffer(load, threads, bytes, fastest, width);
  if (!buffer)
    buffer = SharedLayout::linear(shape, bytes, {fastest, 1 - fastest});
  return CopyPlan{threads, *buffer, byReader};
}
