//===- MmaSyncLayouts.cpp - Fragments of mma.sync over a block ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the layouts of the fragments of mma.sync. In all of its
// shapes (PTX ISA, matrix fragments) lane bits 0 and 1 count words along the
// depth of both operands and pairs of columns of the accumulator, and lane bits
// 2 to 4 count rows of A and of the accumulator, and columns of B.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/MmaSyncLayouts.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cassert>

using namespace mlir::fusion::tile;
using llvm::ArrayRef;
using llvm::SmallVector;

static constexpr unsigned kRegisterBits = 32;

std::optional<MmaSyncShape> MmaSyncShape::get(unsigned operandBits) {
  switch (operandBits) {
  case 8:
  case 16:
  case 32:
    return MmaSyncShape{16, 8, 256 / operandBits};
  case 64:
    return MmaSyncShape{8, 8, 4};
  default:
    return std::nullopt;
  }
}

namespace {
/// Hands out the bits of a dimension in an order, by default lowest first; past
/// its end, replication.
struct Axis {
  Axis(unsigned dim, int64_t size) : dim(dim), log2(llvm::Log2_64(size)) {
    for (unsigned bit = 0; bit < log2; ++bit)
      order.push_back(bit);
  }

  unsigned left() const { return log2 - used; }
  BitTarget take() {
    if (used == log2)
      return BitTarget::replicated();
    return {static_cast<int>(dim), order[used++]};
  }

  unsigned dim;
  unsigned log2;
  SmallVector<unsigned> order;
  unsigned used = 0;
};
} // namespace

/// How many warp bits go to rows, so that the rows and columns of a warp, the
/// elements of the operands that it reads, are few. Where that is equal and
/// `dealRows`, to rows: they are then unpacked once.
static unsigned rowWarpBits(const Axis &rows, const Axis &columns,
                            unsigned warpBits, bool dealRows) {
  unsigned best = std::min(rows.left(), warpBits);
  uint64_t least = ~uint64_t(0);
  for (unsigned bits = 0; bits <= std::min(rows.left(), warpBits); ++bits) {
    unsigned others = warpBits - bits;
    if (others > columns.left())
      continue;
    uint64_t cost = (uint64_t(1) << (rows.log2 - bits)) +
                    (uint64_t(1) << (columns.log2 - others));
    if (cost < least || (dealRows && cost == least)) {
      least = cost;
      best = bits;
    }
  }
  return best;
}

/// The layout [parts, M, N] of `parts` times as many warps as `part` has, each
/// with its own.
static LinearLayout repeatForParts(const LinearLayout &part, int64_t parts) {
  auto basesOf = [&](HwDim hw) {
    SmallVector<Coords> bases;
    for (unsigned bit = 0; bit < part.numBits(hw); ++bit) {
      Coords basis = part.basis(hw, bit);
      bases.push_back({0, basis[0], basis[1]});
    }
    return bases;
  };
  SmallVector<Coords> warps = basesOf(HwDim::Warp);
  for (int32_t step = 1; step < parts; step *= 2)
    warps.push_back({step, 0, 0});
  return *LinearLayout::fromBases({parts, part.dimSize(0), part.dimSize(1)},
                                  basesOf(HwDim::Register),
                                  basesOf(HwDim::Lane), warps);
}

std::optional<LinearLayout>
mlir::fusion::tile::mmaSyncAccumulator(ArrayRef<int64_t> shape,
                                       unsigned numWarps, unsigned operandBits,
                                       bool swapped, unsigned log2RowRun) {
  if (shape.size() == 3) {
    if (shape[0] > numWarps)
      return std::nullopt;
    std::optional<LinearLayout> part =
        mmaSyncAccumulator(shape.drop_front(), numWarps / shape[0], operandBits,
                           swapped, log2RowRun);
    return part ? std::optional(repeatForParts(*part, shape[0])) : std::nullopt;
  }
  std::optional<MmaSyncShape> instruction = MmaSyncShape::get(operandBits);
  if (!instruction || shape.size() != 2 ||
      shape[swapped ? 1 : 0] < instruction->rows)
    return std::nullopt;
  Axis rows(swapped ? 1u : 0u, shape[swapped ? 1 : 0]);
  Axis columns(swapped ? 0u : 1u, shape[swapped ? 0 : 1]);
  if (log2RowRun > 0) {
    // Neighbouring rows are one thread's: the lowest as the instruction's row
    // bit 3, the others as further instructions.
    constexpr unsigned kLaneRowBits = 3;
    if (instruction->rows != 16 || rows.log2 < log2RowRun + kLaneRowBits)
      return std::nullopt;
    rows.order.clear();
    for (unsigned bit = 0; bit < kLaneRowBits; ++bit)
      rows.order.push_back(log2RowRun + bit);
    rows.order.push_back(0);
    for (unsigned bit = log2RowRun + kLaneRowBits; bit < rows.log2; ++bit)
      rows.order.push_back(bit);
    for (unsigned bit = 1; bit < log2RowRun; ++bit)
      rows.order.push_back(bit);
  }
  SmallVector<BitTarget> regs, lanes, warps;
  regs.push_back(columns.take());
  for (unsigned bit = 0; bit < 2; ++bit)
    lanes.push_back(columns.take());
  for (unsigned bit = 0; bit < 3; ++bit)
    lanes.push_back(rows.take());
  if (instruction->rows == 16)
    regs.push_back(rows.take());

  // Warps before registers, so that a part of the columns is a matter of
  // registers alone.
  unsigned warpBits = llvm::Log2_32(numWarps);
  unsigned toRows = rowWarpBits(rows, columns, warpBits, swapped);
  for (unsigned bit = 0; bit < warpBits; ++bit)
    warps.push_back(bit < toRows ? rows.take() : columns.take());
  while (columns.left())
    regs.push_back(columns.take());
  while (rows.left())
    regs.push_back(rows.take());
  return LinearLayout::fromBits(shape, regs, lanes, warps);
}

bool mlir::fusion::tile::isMmaSyncSwapped(const LinearLayout &accumulator) {
  return accumulator.basis(HwDim::Lane, 2)[accumulator.rank() - 1] != 0;
}

std::optional<LinearLayout> mlir::fusion::tile::mmaSyncOperand(
    unsigned dim, const LinearLayout &accumulator, int64_t depth,
    unsigned operandBits, unsigned log2Run) {
  std::optional<MmaSyncShape> instruction = MmaSyncShape::get(operandBits);
  assert(instruction && accumulator.rank() >= 2 && "not from mma.sync");
  // Warps that share the depth have a part of it each.
  bool inParts = accumulator.rank() == 3;
  int64_t whole = depth;
  if (inParts)
    depth /= accumulator.dimSize(0);
  unsigned wordBits = operandBits < kRegisterBits
                          ? llvm::Log2_32(kRegisterBits / operandBits)
                          : 0;
  log2Run = std::max(log2Run, wordBits);
  if (depth < instruction->depth || depth < int64_t(4) << log2Run)
    return std::nullopt;
  bool isRows = (dim == 1) == isMmaSyncSwapped(accumulator);
  unsigned coordinate = dim + inParts;

  SmallVector<Coords> regs, lanes, warps;
  int32_t step = 1;
  auto along = [](int32_t coordinate, int32_t depthStep) {
    return Coords{coordinate, depthStep};
  };
  for (; step < int32_t(1) << log2Run; step *= 2)
    regs.push_back(along(0, step));
  for (unsigned bit = 0; bit < 2; ++bit, step *= 2)
    lanes.push_back(along(0, step));
  auto place = [&](HwDim hw, unsigned bit) {
    Coords basis = accumulator.basis(hw, bit);
    return along(basis[coordinate], inParts ? basis[0] * depth : 0);
  };
  if (isRows) {
    for (unsigned bit = 2; bit < 5; ++bit)
      lanes.push_back(place(HwDim::Lane, bit));
  } else {
    lanes.push_back(place(HwDim::Register, 0));
    lanes.push_back(place(HwDim::Lane, 0));
    lanes.push_back(place(HwDim::Lane, 1));
  }
  // Registers of one instruction first.
  unsigned first = 1;
  if (isRows && instruction->rows == 16)
    regs.push_back(place(HwDim::Register, first++));
  if (step < depth && step < int64_t(instruction->depth)) {
    regs.push_back(along(0, step));
    step *= 2;
  }
  for (unsigned bit = first; bit < accumulator.numBits(HwDim::Register); ++bit)
    if (accumulator.basis(HwDim::Register, bit)[coordinate] != 0)
      regs.push_back(place(HwDim::Register, bit));
  for (; step < depth; step *= 2)
    regs.push_back(along(0, step));
  for (unsigned bit = 0; bit < accumulator.numBits(HwDim::Warp); ++bit)
    warps.push_back(place(HwDim::Warp, bit));
  return LinearLayout::fromBases({accumulator.dimSize(coordinate), whole}, regs,
                                 lanes, warps);
}
