//===- LayoutConversion.h - What it takes to move between layouts -*- C++
//-*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the analyses of pairs of linear layouts: the cheapest way
// to convert one into another (rename registers, shuffle within a warp, or
// exchange through shared memory), what a broadcast must copy, and which
// hardware bits a reduction over a dimension must combine.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_IR_LAYOUTCONVERSION_H
#define FUSION_DIALECT_TILE_IR_LAYOUTCONVERSION_H

#include "fusion/Dialect/Tile/IR/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::fusion::tile {

using RegisterMap = llvm::SmallVector<unsigned, 16>;

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The ways to convert a layout, from free to dear.
enum class ConversionKind {
  /// The layouts are equal.
  Noop,
  /// Every thread holds what it needs: registers are renamed (or copied).
  RegisterPermutation,
  /// Each register of the result is one shuffle of one register of the source.
  Shuffle,
  /// Through shared memory.
  Shared,
  /// Elements move between the blocks of a cluster, or are held nowhere in the
  /// source.
  Unsupported
};

llvm::StringRef stringifyConversionKind(ConversionKind kind);

/// The registers of the source that the registers of the destination copy, when
/// every thread already holds all it needs; else none.
/// Precondition: same shape.
std::optional<RegisterMap> getRegisterMap(const LinearLayout &src,
                                          const LinearLayout &dst);

inline bool isNoop(const LinearLayout &src, const LinearLayout &dst) {
  return src == dst;
}
inline bool isRegisterPermutation(const LinearLayout &src,
                                  const LinearLayout &dst) {
  return getRegisterMap(src, dst).has_value();
}

/// Whether every element that a warp needs in `dst` is held by that warp in
/// `src`, in whichever lane and register. Precondition: same shape.
bool isWithinWarp(const LinearLayout &src, const LinearLayout &dst);

/// How to make each register of the destination by one indexed shuffle:
///   dst[r] in (lane, warp) =
///     src[srcReg[r]] of lane `laneMap(lane) ^ warpMap(warp) ^ regLane[r]`.
struct ShufflePlan {
  RegisterMap srcReg;
  llvm::SmallVector<unsigned, 16> regLane;
  BitMatrix laneMap;
  BitMatrix warpMap;

  unsigned sourceLane(unsigned reg, unsigned lane, unsigned warp) const {
    return laneMap.apply(lane) ^ warpMap.apply(warp) ^ regLane[reg];
  }
  /// The source lane is the own lane with some bits flipped (shfl.bfly), for
  /// every register.
  bool isButterfly() const {
    return laneMap == BitMatrix::identity(laneMap.numColumns()) &&
           llvm::all_of(warpMap.getColumns(), [](uint64_t c) { return !c; });
  }
};

/// The plan for a conversion within warps in which no lane must choose among
/// registers at run time; else none. Precondition: same shape.
std::optional<ShufflePlan> getShufflePlan(const LinearLayout &src,
                                          const LinearLayout &dst);

/// How to convert elements of one bit within warps, packed into words. Each
/// thread packs register r of the source as bit `srcPlace[r] % 32` of word
/// `srcPlace[r] / 32`; then
///   dst[r] in (lane, warp) =
///     bit `dstPlace[r] + laneShift(lane) ^ warpShift(warp)` of the words of
///     lane `laneMap(lane) ^ warpMap(warp) ^ regLane[r]`.
/// A shift is less than 32, and has no bit in common with any `dstPlace`, so
/// that it stays within a word.
struct BitShufflePlan {
  llvm::SmallVector<unsigned, 16> srcPlace, dstPlace, regLane;
  BitMatrix laneMap, warpMap;
  BitMatrix laneShift, warpShift;
};

/// The plan for a conversion within warps in which lanes may choose among
/// registers, as these are bits of words; none where other warps hold an
/// element, or a choice may be of another word. Precondition: same shape.
std::optional<BitShufflePlan> getBitShufflePlan(const LinearLayout &src,
                                                const LinearLayout &dst);

/// The cheapest way to convert `src` to `dst`. Precondition: same shape.
ConversionKind classifyConversion(const LinearLayout &src,
                                  const LinearLayout &dst);

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

/// Where the element is that differs in the bits of a mask along a dimension:
/// in the register and the lane whose numbers differ in these bits.
struct ExchangePlan {
  unsigned reg = 0;
  unsigned lane = 0;
};

/// The plan for an exchange along `dim` by `mask`; none if it crosses warps.
std::optional<ExchangePlan> getExchangePlan(const LinearLayout &layout,
                                            unsigned dim, int64_t mask);

/// A layout like `layout`, over the same threads, that has a plan of registers
/// alone for this exchange.
LinearLayout getExchangeLayout(const LinearLayout &layout, unsigned dim,
                               int64_t mask);

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

/// For each register of `parent`, the register of `child` in the same thread
/// that holds the element's coordinates along `keptDims` (child dimension i is
/// parent dimension keptDims[i]); none if some thread does not hold what it
/// needs. A child extent of 1 stands for any parent extent. Always succeeds for
/// child = parent.project(keptDims).layout.
std::optional<RegisterMap>
getBroadcastRegisterMap(const LinearLayout &child, const LinearLayout &parent,
                        llvm::ArrayRef<unsigned> keptDims);

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

/// The layout of a value each of whose elements is repeated 2^log2Factor times
/// along `dim` in `layout`: every thread holds what its part repeats.
LinearLayout getRepeatedLayout(const LinearLayout &layout, unsigned dim,
                               unsigned log2Factor);

/// For each register of `layout` the register of `source` in the same thread
/// that it repeats; none if some thread does not hold what it needs. Always
/// succeeds for source = getRepeatedLayout(layout, dim, log2Factor).
std::optional<RegisterMap> getRepeatRegisterMap(const LinearLayout &source,
                                                const LinearLayout &layout,
                                                unsigned dim,
                                                unsigned log2Factor);

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The hardware bits over which a reduction along one dimension combines, as
/// masks of index bits. Combining over all of them once counts each element
/// once; bits that replicate are not among them.
struct ReductionBits {
  /// Register r combines with r ^ m for each bit m of the mask.
  unsigned regMask = 0;
  /// Butterfly shuffles with these lane masks.
  unsigned laneMask = 0;
  /// Warps that exchange partial results through shared memory.
  unsigned warpMask = 0;
  /// Blocks of the cluster that exchange partial results.
  unsigned blockMask = 0;

  bool isWithinThread() const { return !(laneMask | warpMask | blockMask); }
  bool isWithinWarp() const { return !(warpMask | blockMask); }
};

/// The bits for a reduction along `dim`; none if the layout moves along `dim`
/// only together with another dimension (a swizzled layout: convert first) or
/// misses elements.
std::optional<ReductionBits> getReductionBits(const LinearLayout &layout,
                                              unsigned dim);

/// For each register of the reduction's result (the layout sliceDim(dim)), the
/// registers of `layout` that combine into it within a thread, by increasing
/// coordinate along `dim` in thread 0. No element is named twice. Precondition:
/// `bits` is what getReductionBits answered.
llvm::SmallVector<RegisterMap, 4>
getReductionRegisterGroups(const LinearLayout &layout, unsigned dim,
                           const ReductionBits &bits);

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// What the steps along a scanned dimension are, by increasing coordinate: each
/// thread holds 2^regBits neighbours, 2^laneBits lanes follow each other, then
/// 2^warpBits warps; what is left of the dimension is further registers.
struct ScanPlan {
  unsigned regBits = 0;
  /// The first lane bit of neighbouring ones.
  unsigned laneShift = 0;
  unsigned laneBits = 0;
  unsigned warpBits = 0;

  /// log2 of the neighbours that one warp holds.
  unsigned bitsOfWarp() const { return regBits + laneBits; }
};

/// How a scan along `dim` goes through the threads; none if the layout's steps
/// along it are in another order or move along other dimensions too.
std::optional<ScanPlan> getScanPlan(const LinearLayout &layout, unsigned dim);

/// The layout of `size` values for each of the elements that `outer` has, whose
/// dimension `dim` they make: lanes of one warp that `outer` leaves free hold
/// them, then registers, so that a scan of them needs no other warp.
LinearLayout getLayoutInLanes(const LinearLayout &outer, unsigned dim,
                              int64_t size);

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_IR_LAYOUTCONVERSION_H
