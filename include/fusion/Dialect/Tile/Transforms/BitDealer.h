//===- BitDealer.h - A tile's bits to registers, lanes, warps ---*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how layouts are made of a tile's dimensions: their bits are
// dealt to registers, lanes and warps, one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_TRANSFORMS_BITDEALER_H
#define FUSION_DIALECT_TILE_TRANSFORMS_BITDEALER_H

#include "fusion/Dialect/Tile/IR/LinearLayout.h"
#include "fusion/Support/Hardware.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <array>

namespace mlir::fusion::tile {

/// Deals the bits of the dimensions of a tile, of each the lowest first.
class BitDealer {
public:
  using Bits = SmallVector<BitTarget>;
  static constexpr unsigned kLaneBits = fusion::kLaneBits;

  BitDealer(ArrayRef<int64_t> shape, int64_t numWarps)
      : shape(shape), warpBits(llvm::Log2_64(numWarps)), used(shape.size(), 0) {
    for (int64_t size : shape)
      left.push_back(llvm::Log2_64(size));
  }

  /// Each gives bits of `dim`, as far as it has any: until a thread has `most`
  /// of all dimensions, or there are no more lanes or warps.
  void giveRegisters(unsigned dim, unsigned most = 64) {
    give(regs, dim, most);
  }
  void giveLanes(unsigned dim) { give(lanes, dim, kLaneBits); }
  void giveWarps(unsigned dim) { give(warps, dim, warpBits); }

  /// Gives what is left of the dimensions, in this order, to lanes, then to
  /// warps, then to threads.
  void giveRest(ArrayRef<unsigned> order) {
    for (unsigned dim : order)
      giveLanes(dim);
    for (unsigned dim : order)
      giveWarps(dim);
    for (unsigned dim : order)
      giveRegisters(dim);
  }

  /// Lets threads hold neighbours along `dim`, then lanes, then warps, whoever
  /// was given bits first.
  void holdRuns(unsigned dim) { renumber(dim, {&regs, &lanes, &warps}); }

  /// Lets lanes have neighbours along `dim`, then warps, then threads.
  void followByLanes(unsigned dim) { renumber(dim, {&lanes, &warps, &regs}); }

  /// What lanes and warps are left hold the same elements.
  LinearLayout getLayout() {
    lanes.resize(kLaneBits, BitTarget::replicated());
    warps.resize(warpBits, BitTarget::replicated());
    return LinearLayout::fromBits(shape, regs, lanes, warps);
  }

private:
  void give(Bits &bits, unsigned dim, unsigned most) {
    for (; bits.size() < most && left[dim] > 0; --left[dim])
      bits.push_back({static_cast<int>(dim), used[dim]++});
  }

  void renumber(unsigned dim, std::array<Bits *, 3> order) {
    unsigned next = 0;
    for (Bits *bits : order)
      for (BitTarget &bit : *bits)
        if (bit.dim == static_cast<int>(dim))
          bit.log2 = next++;
  }

  ArrayRef<int64_t> shape;
  unsigned warpBits;
  SmallVector<unsigned> left, used;
  Bits regs, lanes, warps;
};

/// Threads hold `vector` neighbours along the first dimension of `order`, lanes
/// follow each other along it, then along the next ones, and warps go where
/// nothing is `reduced` first: a reduction inside a warp needs no shared
/// memory. The rest is held by threads. They hold neighbours where a scan goes
/// across memory: warps then have fewer totals to tell each other.
inline LinearLayout getBlockedLayout(ArrayRef<int64_t> shape,
                                     ArrayRef<unsigned> order, int64_t vector,
                                     int64_t numWarps,
                                     const llvm::SmallBitVector &reduced,
                                     const llvm::SmallBitVector &scanned = {}) {
  unsigned fastest = order.front();
  BitDealer dealer(shape, numWarps);
  dealer.giveRegisters(fastest, llvm::Log2_64(vector));
  for (unsigned dim : order)
    dealer.giveLanes(dim);
  for (bool wantReduced : {false, true})
    for (unsigned dim : order)
      if (reduced.test(dim) == wantReduced)
        dealer.giveWarps(dim);
  for (unsigned dim : order)
    dealer.giveRegisters(dim);
  for (unsigned dim : scanned.set_bits())
    if (dim != fastest)
      dealer.holdRuns(dim);
  return dealer.getLayout();
}

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_TRANSFORMS_BITDEALER_H
