//===- LinearLayoutBuilders.cpp - Named linear layouts --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the named constructors of linear layouts.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>
#include <numeric>

using namespace mlir::fusion::tile;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

/// The most index bits a hardware dimension may have: 2^20 registers (far more
/// than a thread has, so that planning can price what does not fit), a warp of
/// 32, 1024 threads a block, a cluster of 16.
static constexpr unsigned kMaxBits[kNumHwDims] = {20, 5, 5, 4};
static constexpr unsigned kMaxDimBits = 30;
static constexpr unsigned kMaxElementBits = 62;

static std::optional<LinearLayout> fail(std::string *error,
                                        const Twine &reason) {
  if (error)
    *error = reason.str();
  return std::nullopt;
}

std::optional<LinearLayout>
LinearLayout::fromBases(ArrayRef<int64_t> shape, ArrayRef<Coords> regs,
                        ArrayRef<Coords> lanes, ArrayRef<Coords> warps,
                        ArrayRef<Coords> blocks, std::string *error) {
  LinearLayout result;
  unsigned elementBits = 0;
  for (int64_t size : shape) {
    if (size <= 0 || !llvm::isPowerOf2_64(size))
      return fail(error, "extent " + Twine(size) + " is not a power of two");
    unsigned log2 = llvm::Log2_64(size);
    if (log2 > kMaxDimBits || (elementBits += log2) > kMaxElementBits)
      return fail(error, "the shape has too many elements");
    result.log2Shape.push_back(log2);
  }
  ArrayRef<Coords> groups[kNumHwDims] = {regs, lanes, warps, blocks};
  for (HwDim dim : kHwDims) {
    ArrayRef<Coords> group = groups[unsigned(dim)];
    if (group.size() > kMaxBits[unsigned(dim)])
      return fail(error, Twine(group.size()) + " " + stringifyHwDim(dim) +
                             " bits exceed the limit of " +
                             Twine(kMaxBits[unsigned(dim)]));
    for (auto [bit, coords] : llvm::enumerate(group)) {
      if (coords.size() != shape.size())
        return fail(error, stringifyHwDim(dim) + " basis " + Twine(bit) +
                               " has " + Twine(coords.size()) +
                               " coordinates for a tensor of rank " +
                               Twine(shape.size()));
      for (auto [coord, size] : llvm::zip_equal(coords, shape))
        if (coord < 0 || coord >= size)
          return fail(error, stringifyHwDim(dim) + " basis " + Twine(bit) +
                                 " has coordinate " + Twine(coord) +
                                 " outside the extent " + Twine(size));
      result.bases.push_back(result.linearize(coords));
    }
    result.bits[unsigned(dim)] = group.size();
  }
  return result;
}

LinearLayout LinearLayout::fromBits(ArrayRef<int64_t> shape,
                                    ArrayRef<BitTarget> regs,
                                    ArrayRef<BitTarget> lanes,
                                    ArrayRef<BitTarget> warps,
                                    ArrayRef<BitTarget> blocks) {
  auto toBases = [&](ArrayRef<BitTarget> targets) {
    SmallVector<Coords, 8> bases;
    for (BitTarget target : targets) {
      Coords coords(shape.size(), 0);
      if (target.dim >= 0) {
        assert(size_t(target.dim) < shape.size() && "no such dimension");
        assert(target.log2 <= kMaxDimBits && "step too large");
        coords[target.dim] = int32_t(1) << target.log2;
      }
      bases.push_back(coords);
    }
    return bases;
  };
  std::optional<LinearLayout> layout = fromBases(
      shape, toBases(regs), toBases(lanes), toBases(warps), toBases(blocks));
  assert(layout && "fromBits given a step outside the shape");
  return *layout;
}

namespace {
/// Hands out the index bits of a tensor, lowest first along each dimension.
class BitDealer {
public:
  explicit BitDealer(ArrayRef<int64_t> shape) : used(shape.size(), 0) {
    for (int64_t size : shape) {
      assert(size > 0 && llvm::isPowerOf2_64(size) &&
             "extents are powers of two");
      log2Shape.push_back(llvm::Log2_64(size));
    }
  }

  /// The next bit along `dim`, or replication past its end.
  BitTarget take(unsigned dim) {
    if (used[dim] == log2Shape[dim])
      return BitTarget::replicated();
    return {int(dim), used[dim]++};
  }

  unsigned left(unsigned dim) const { return log2Shape[dim] - used[dim]; }

  /// Deals `count` bits to hardware index bits: `perDim` extents if given, else
  /// in `order` until the tensor is used up.
  SmallVector<BitTarget, 8> deal(unsigned count, ArrayRef<unsigned> order,
                                 ArrayRef<int64_t> perDim) {
    SmallVector<BitTarget, 8> result;
    for (unsigned dim : order) {
      unsigned wanted =
          perDim.empty() ? std::min<unsigned>(left(dim), count - result.size())
                         : llvm::Log2_64(perDim[dim]);
      for (unsigned i = 0; i != wanted; ++i)
        result.push_back(take(dim));
    }
    assert(result.size() <= count &&
           (perDim.empty() || result.size() == count) &&
           "extents per dimension must multiply to the number of threads");
    result.resize(count, BitTarget::replicated());
    return result;
  }

  /// Deals every bit that is left, in `order`.
  void dealRest(ArrayRef<unsigned> order,
                llvm::SmallVectorImpl<BitTarget> &result) {
    for (unsigned dim : order)
      while (left(dim))
        result.push_back(take(dim));
  }

  void skip(unsigned dim, unsigned count) { used[dim] += count; }

private:
  SmallVector<unsigned, 4> log2Shape;
  SmallVector<unsigned, 4> used;
};
} // namespace

LinearLayout mlir::fusion::tile::getBlockedLayout(
    ArrayRef<int64_t> shape, ArrayRef<unsigned> order, int64_t vec,
    unsigned numLanes, unsigned numWarps, ArrayRef<int64_t> lanesPerDim,
    ArrayRef<int64_t> warpsPerDim) {
  SmallVector<int64_t, 4> perThread(shape.size(), 1);
  if (!order.empty())
    perThread[order[0]] = vec;
  return getBlockedTileLayout(shape, order, perThread, numLanes, numWarps,
                              lanesPerDim, warpsPerDim);
}

LinearLayout mlir::fusion::tile::getBlockedTileLayout(
    ArrayRef<int64_t> shape, ArrayRef<unsigned> order,
    ArrayRef<int64_t> perThread, unsigned numLanes, unsigned numWarps,
    ArrayRef<int64_t> lanesPerDim, ArrayRef<int64_t> warpsPerDim) {
  assert(order.size() == shape.size() && perThread.size() == shape.size() &&
         "order is a permutation of the dims");
  assert(llvm::isPowerOf2_32(numLanes) && llvm::isPowerOf2_32(numWarps) &&
         "sizes are powers of two");
  BitDealer dealer(shape);
  SmallVector<BitTarget, 16> regs;
  for (unsigned dim : order) {
    assert(perThread[dim] > 0 && llvm::isPowerOf2_64(perThread[dim]) &&
           "sizes are powers of two");
    for (int64_t i = perThread[dim]; i > 1 && dealer.left(dim); i /= 2)
      regs.push_back(dealer.take(dim));
  }
  SmallVector<BitTarget, 8> lanes =
      dealer.deal(llvm::Log2_32(numLanes), order, lanesPerDim);
  SmallVector<BitTarget, 8> warps =
      dealer.deal(llvm::Log2_32(numWarps), order, warpsPerDim);
  dealer.dealRest(order, regs);
  return LinearLayout::fromBits(shape, regs, lanes, warps);
}

LinearLayout LinearLayout::extendTo(ArrayRef<int64_t> newShape,
                                    ArrayRef<unsigned> order,
                                    ArrayRef<int64_t> warpsPerDim) const {
  assert(newShape.size() == rank() && order.size() == rank() &&
         "extension keeps the rank");
  BitDealer dealer(newShape);
  for (unsigned dim = 0; dim != rank(); ++dim) {
    assert(newShape[dim] >= dimSize(dim) && "extension does not shrink");
    dealer.skip(dim, dimLog2(dim));
  }
  unsigned warpBits = 0;
  for (int64_t extent : warpsPerDim)
    warpBits += llvm::Log2_64(extent);
  SmallVector<BitTarget, 8> warps = dealer.deal(warpBits, order, warpsPerDim);
  SmallVector<BitTarget, 16> regs;
  dealer.dealRest(order, regs);

  SmallVector<Coords, 8> groups[kNumHwDims];
  for (HwDim dim : kHwDims)
    for (unsigned bit = 0; bit != numBits(dim); ++bit)
      groups[unsigned(dim)].push_back(basis(dim, bit));
  auto append = [&](HwDim dim, ArrayRef<BitTarget> targets) {
    for (BitTarget target : targets) {
      Coords coords(rank(), 0);
      if (target.dim >= 0)
        coords[target.dim] = int32_t(1) << target.log2;
      groups[unsigned(dim)].push_back(coords);
    }
  };
  append(HwDim::Register, regs);
  append(HwDim::Warp, warps);
  std::optional<LinearLayout> result =
      fromBases(newShape, groups[0], groups[1], groups[2], groups[3]);
  assert(result && "extension exceeds the limits of a layout");
  return *result;
}

//===----------------------------------------------------------------------===//
// Fragments of the matrix instructions (PTX ISA, matrix fragments)
//===----------------------------------------------------------------------===//

LinearLayout mlir::fusion::tile::getMmaM64NAccumulatorLayout(int64_t n) {
  assert(llvm::isPowerOf2_64(n) && n >= 8 && n <= 256 &&
         "n is a power of two in [8, 256]");
  SmallVector<BitTarget, 8> regs = {{1, 0}, {0, 3}};
  for (unsigned log2 = 3; (int64_t(1) << log2) < n; ++log2)
    regs.push_back({1, log2});
  return LinearLayout::fromBits({64, n}, regs,
                                {{1, 1}, {1, 2}, {0, 0}, {0, 1}, {0, 2}},
                                {{0, 4}, {0, 5}});
}

/// Warpgroups along the instruction's rows; none if `numWarps` and `rows` do
/// not suit wgmma.
static std::optional<unsigned> warpgroupsAlongRows(int64_t rows,
                                                   unsigned numWarps) {
  constexpr int64_t kRows = 64;
  if (numWarps < 4 || !llvm::isPowerOf2_32(numWarps) || rows < kRows)
    return std::nullopt;
  return std::min<int64_t>(numWarps / 4, rows / kRows);
}

std::optional<LinearLayout>
mlir::fusion::tile::getWgmmaAccumulatorLayout(ArrayRef<int64_t> shape,
                                              unsigned numWarps, bool swapped) {
  constexpr int64_t kMinColumns = 8, kMaxColumns = 256;
  if (shape.size() != 2)
    return std::nullopt;
  unsigned rowDim = swapped ? 1 : 0, columnDim = swapped ? 0 : 1;
  std::optional<unsigned> alongRows =
      warpgroupsAlongRows(shape[rowDim], numWarps);
  if (!alongRows)
    return std::nullopt;
  int64_t alongColumns = numWarps / 4 / *alongRows;
  int64_t columns = shape[columnDim] / alongColumns;
  if (columns < kMinColumns)
    return std::nullopt;
  LinearLayout block =
      getMmaM64NAccumulatorLayout(std::min(columns, kMaxColumns));
  if (columns > kMaxColumns && alongColumns > 1) {
    // A warpgroup's part is contiguous: its own columns come before those of
    // the next warpgroup.
    block = block.extendTo({64, columns}, {0, 1});
  }
  if (swapped)
    block = block.permuteDims({1, 0});
  int64_t warps[2];
  warps[rowDim] = *alongRows;
  warps[columnDim] = alongColumns;
  return block.extendTo(shape, {rowDim, columnDim}, warps);
}

std::optional<LinearLayout> mlir::fusion::tile::getWgmmaOperandALayout(
    ArrayRef<int64_t> shape, unsigned elementBytes, unsigned numWarps) {
  if (shape.size() != 2)
    return std::nullopt;
  std::optional<unsigned> alongRows = warpgroupsAlongRows(shape[0], numWarps);
  // A register holds `packed` elements along the depth.
  unsigned packed = llvm::Log2_32(4 / elementBytes);
  int64_t depth = int64_t(8) << packed;
  if (!alongRows || shape[1] < depth)
    return std::nullopt;
  SmallVector<BitTarget, 4> regs;
  for (unsigned bit = 0; bit != packed; ++bit)
    regs.push_back({1, bit});
  regs.push_back({0, 3});
  regs.push_back({1, packed + 2});
  LinearLayout block = LinearLayout::fromBits(
      {64, depth}, regs, {{1, packed}, {1, packed + 1}, {0, 0}, {0, 1}, {0, 2}},
      {{0, 4}, {0, 5}});
  // Extents beyond the rows replicate.
  return block.extendTo(shape, {1, 0}, {numWarps / 4, 1});
}

LinearLayout mlir::fusion::tile::getMma16816AccumulatorLayout() {
  return LinearLayout::fromBits({16, 8}, {{1, 0}, {0, 3}},
                                {{1, 1}, {1, 2}, {0, 0}, {0, 1}, {0, 2}}, {});
}

LinearLayout mlir::fusion::tile::getMma16816OperandALayout() {
  return LinearLayout::fromBits({16, 16}, {{1, 0}, {0, 3}, {1, 3}},
                                {{1, 1}, {1, 2}, {0, 0}, {0, 1}, {0, 2}}, {});
}

LinearLayout mlir::fusion::tile::getMma16816OperandBLayout() {
  return LinearLayout::fromBits({16, 8}, {{0, 0}, {0, 3}},
                                {{0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}, {});
}
