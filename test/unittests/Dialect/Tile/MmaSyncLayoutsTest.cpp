//===- MmaSyncLayoutsTest.cpp - Tests of the fragments of mma.sync --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file holds the fragments of mma.sync to the tables of the PTX ISA and
// checks that every warp holds what its own products need.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/MmaSyncLayouts.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir::fusion::tile;

namespace {

template <typename Fn>
void forEachPlace(const LinearLayout &layout, Fn fn) {
  for (unsigned warp = 0; warp != layout.numWarps(); ++warp)
    for (unsigned lane = 0; lane != layout.numLanes(); ++lane)
      for (unsigned reg = 0; reg != layout.numRegs(); ++reg)
        fn(reg, lane, warp);
}

// The formulas of the PTX ISA, with groupID = lane >> 2 and threadID_in_group
// = lane % 4, for operands of `bits` bits: a register of 32 bits holds
// `perWord` neighbours along the depth.
TEST(MmaSyncLayouts, OneInstructionMatchesThePtxIsa) {
  for (unsigned bits : {8u, 16u, 32u}) {
    int32_t perWord = 32 / bits, depth = 8 * perWord;
    LinearLayout acc = *mmaSyncAccumulator({16, 8}, 1, bits);
    LinearLayout a = *mmaSyncOperand(0, acc, depth, bits);
    LinearLayout b = *mmaSyncOperand(1, acc, depth, bits);
    EXPECT_TRUE(isBijective(acc) && isBijective(a) && isBijective(b));
    forEachPlace(acc, [&](unsigned i, unsigned lane, unsigned warp) {
      Coords expected = {int32_t((lane >> 2) + 8 * (i / 2)),
                         int32_t((lane % 4) * 2 + i % 2)};
      EXPECT_EQ(acc.elementOf(i, lane, warp), expected);
    });
    // A: words 0 and 2 in row groupID, 1 and 3 eight rows below; words 2 and 3
    // in the second half of the depth.
    forEachPlace(a, [&](unsigned i, unsigned lane, unsigned warp) {
      unsigned word = i / perWord;
      Coords expected = {int32_t((lane >> 2) + 8 * (word % 2)),
                         int32_t((lane % 4) * perWord + i % perWord +
                                 4 * perWord * (word / 2))};
      EXPECT_EQ(a.elementOf(i, lane, warp), expected);
    });
    // B is held as [n, k].
    forEachPlace(b, [&](unsigned i, unsigned lane, unsigned warp) {
      Coords expected = {int32_t(lane >> 2),
                         int32_t((lane % 4) * perWord + i % perWord +
                                 4 * perWord * (i / perWord))};
      EXPECT_EQ(b.elementOf(i, lane, warp), expected);
    });
  }
}

TEST(MmaSyncLayouts, DoubleMatchesThePtxIsa) {
  LinearLayout acc = *mmaSyncAccumulator({8, 8}, 1, 64);
  LinearLayout a = *mmaSyncOperand(0, acc, 4, 64);
  LinearLayout b = *mmaSyncOperand(1, acc, 4, 64);
  EXPECT_EQ(acc.numRegs(), 2u);
  EXPECT_EQ(a.numRegs(), 1u);
  EXPECT_EQ(b.numRegs(), 1u);
  for (unsigned lane = 0; lane != 32; ++lane) {
    int32_t group = lane >> 2, member = lane % 4;
    EXPECT_EQ(acc.elementOf(1, lane, 0), (Coords{group, 2 * member + 1}));
    EXPECT_EQ(a.elementOf(0, lane, 0), (Coords{group, member}));
    EXPECT_EQ(b.elementOf(0, lane, 0), (Coords{group, member}));
  }
}

/// Whether every warp holds the rows and columns of its part of `acc`, for all
/// of the depth.
void expectWarpsAreFed(const LinearLayout &acc, const LinearLayout &a,
                       const LinearLayout &b, int64_t depth) {
  EXPECT_TRUE(acc.isSurjective());
  for (unsigned warp = 0; warp != acc.numWarps(); ++warp) {
    std::set<int32_t> rows, columns;
    std::set<std::pair<int32_t, int32_t>> heldA, heldB;
    for (unsigned lane = 0; lane != 32; ++lane) {
      for (unsigned reg = 0; reg != acc.numRegs(); ++reg) {
        rows.insert(acc.elementOf(reg, lane, warp)[0]);
        columns.insert(acc.elementOf(reg, lane, warp)[1]);
      }
      for (unsigned reg = 0; reg != a.numRegs(); ++reg) {
        Coords at = a.elementOf(reg, lane, warp);
        heldA.insert({at[0], at[1]});
      }
      for (unsigned reg = 0; reg != b.numRegs(); ++reg) {
        Coords at = b.elementOf(reg, lane, warp);
        heldB.insert({at[0], at[1]});
      }
    }
    EXPECT_EQ(heldA.size(), rows.size() * depth);
    EXPECT_EQ(heldB.size(), columns.size() * depth);
    for (int32_t row : rows)
      EXPECT_TRUE(heldA.count({row, 0}));
    for (int32_t column : columns)
      EXPECT_TRUE(heldB.count({column, 0}));
  }
}

TEST(MmaSyncLayouts, WarpsHoldWhatTheirProductsNeed) {
  for (unsigned bits : {8u, 16u, 32u, 64u})
    for (unsigned warps : {1u, 4u})
      for (int64_t m : {16, 64})
        for (int64_t n : {1, 8, 32})
          for (bool swapped : {false, true})
            for (unsigned run : {0u, 3u}) {
              int64_t depth = 32;
              llvm::SmallVector<int64_t, 2> shape = {m, n};
              if (swapped)
                std::swap(shape[0], shape[1]);
              LinearLayout acc =
                  *mmaSyncAccumulator(shape, warps, bits, swapped);
              EXPECT_EQ(isMmaSyncSwapped(acc), swapped);
              expectWarpsAreFed(acc, *mmaSyncOperand(0, acc, depth, bits, run),
                                *mmaSyncOperand(1, acc, depth, bits, run),
                                depth);
            }
}

TEST(MmaSyncLayouts, WarpsAreDealtInSquares) {
  auto rowsAndColumns = [](std::array<int64_t, 2> shape, unsigned warps) {
    LinearLayout acc = *mmaSyncAccumulator(shape, warps, 16);
    int rows = 0, columns = 0;
    for (unsigned bit = 0; bit != acc.numBits(HwDim::Warp); ++bit) {
      rows += acc.basis(HwDim::Warp, bit)[0] != 0;
      columns += acc.basis(HwDim::Warp, bit)[1] != 0;
    }
    return std::make_pair(1 << rows, 1 << columns);
  };
  EXPECT_EQ(rowsAndColumns({128, 128}, 4), std::make_pair(2, 2));
  EXPECT_EQ(rowsAndColumns({128, 256}, 8), std::make_pair(2, 4));
  EXPECT_EQ(rowsAndColumns({256, 64}, 4), std::make_pair(4, 1));
  EXPECT_EQ(rowsAndColumns({16, 128}, 4), std::make_pair(1, 4));
  // More warps than instructions: the rest repeats.
  EXPECT_EQ(rowsAndColumns({16, 8}, 4), std::make_pair(1, 1));
}

TEST(MmaSyncLayouts, WarpsThatShareTheDepthHoldPartsOfIt) {
  int64_t depth = 512, parts = 4;
  for (bool swapped : {false, true})
    for (unsigned warps : {4u, 8u})
      for (unsigned rowRun : {0u, 3u}) {
        llvm::SmallVector<int64_t, 3> shape = {parts, 64, 16};
        if (swapped)
          std::swap(shape[1], shape[2]);
        LinearLayout acc =
            *mmaSyncAccumulator(shape, warps, 16, swapped, rowRun);
        EXPECT_EQ(isMmaSyncSwapped(acc), swapped);
        EXPECT_TRUE(isBijective(acc));
        LinearLayout a = *mmaSyncOperand(0, acc, depth, 16, 4);
        LinearLayout b = *mmaSyncOperand(1, acc, depth, 16, 4);
        EXPECT_TRUE(a.isSurjective() && b.isSurjective());
        for (const LinearLayout *operand : {&a, &b})
          forEachPlace(*operand, [&](unsigned reg, unsigned lane,
                                     unsigned warp) {
            EXPECT_EQ(operand->elementOf(reg, lane, warp)[1] / (depth / parts),
                      acc.elementOf(0, lane, warp)[0]);
          });
        // Neighbouring rows of a thread, for operands stored along them; warps
        // that share the rows take some of them.
        if (warps == parts) {
          EXPECT_GE(getVectorRegisterBits(acc, swapped ? 2 : 1).size(), rowRun);
        }
      }
  // More parts than warps, and a run that leaves no rows to the lanes.
  EXPECT_FALSE(mmaSyncAccumulator({8, 16, 64}, 4, 16, true));
  EXPECT_FALSE(mmaSyncAccumulator({4, 16, 64}, 4, 16, true, 4));
}

TEST(MmaSyncLayouts, PartsOfTheColumnsAreRegisters) {
  // Columns [0, 64) of 128, for code after the loop that works on parts.
  LinearLayout acc = *mmaSyncAccumulator({128, 128}, 8, 16);
  for (HwDim dim : {HwDim::Lane, HwDim::Warp})
    for (unsigned bit = 0; bit != acc.numBits(dim); ++bit)
      EXPECT_LT(acc.basis(dim, bit)[1], 64);
}

TEST(MmaSyncLayouts, RunsAreNeighboursInRegisters) {
  LinearLayout acc = *mmaSyncAccumulator({64, 8}, 4, 16);
  for (unsigned operand : {0u, 1u})
    EXPECT_EQ(
        getRegisterVectorWidth(*mmaSyncOperand(operand, acc, 64, 16, 3), 1),
        8u);
}

TEST(MmaSyncLayouts, RefusesWhatNoInstructionTakes) {
  EXPECT_FALSE(mmaSyncAccumulator({8, 64}, 4, 16));
  EXPECT_TRUE(mmaSyncAccumulator({8, 64}, 4, 16, /*swapped=*/true));
  EXPECT_FALSE(mmaSyncAccumulator({64, 64}, 4, 4));
  LinearLayout acc = *mmaSyncAccumulator({16, 8}, 1, 16);
  EXPECT_FALSE(mmaSyncOperand(0, acc, 8, 16));
  EXPECT_TRUE(mmaSyncOperand(0, acc, 16, 16));
  EXPECT_FALSE(mmaSyncOperand(0, acc, 16, 16, /*log2Run=*/3));
}

} // namespace
