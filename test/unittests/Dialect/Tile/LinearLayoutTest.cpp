//===- LinearLayoutTest.cpp - Tests of linear layouts ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests construction, queries, transforms and text of linear layouts.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/LinearLayout.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace mlir::fusion::tile;

namespace {

/// Calls fn(reg, lane, warp) for every place of one block.
template <typename Fn>
void forEachPlace(const LinearLayout &layout, Fn fn) {
  for (unsigned warp = 0; warp != layout.numWarps(); ++warp)
    for (unsigned lane = 0; lane != layout.numLanes(); ++lane)
      for (unsigned reg = 0; reg != layout.numRegs(); ++reg)
        fn(reg, lane, warp);
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

TEST(LinearLayout, Scalar) {
  LinearLayout layout;
  EXPECT_EQ(layout.rank(), 0u);
  EXPECT_EQ(layout.numElements(), 1);
  EXPECT_EQ(layout.numRegs(), 1u);
  EXPECT_TRUE(isBijective(layout));
  EXPECT_EQ(layout.elementOf(0, 0, 0), Coords());
}

// The worked example of docs/Rationale/LinearLayout.md.
TEST(LinearLayout, XorOfTheBasesOfTheBitsSet) {
  std::optional<LinearLayout> layout = parseLinearLayout(
      "{reg=[[0,1]], lane=[[0,2],[0,4],[1,0]], warp=[[2,0]], shape=[4,8]}");
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->elementOf(1, 5, 1), (Coords{3, 3}));
}

TEST(LinearLayout, BlockedRowMajor) {
  // 8 rows of 256: 4 elements a thread, half a row a warp.
  LinearLayout layout = getBlockedLayout({8, 256}, {1, 0}, 4, 32, 2);
  EXPECT_EQ(layout.numRegs(), 32u);
  EXPECT_TRUE(isBijective(layout));
  EXPECT_EQ(getRegisterVectorWidth(layout, 1), 4u);
  EXPECT_EQ(getRegisterVectorWidth(layout, 0), 1u);
  forEachPlace(layout, [&](unsigned reg, unsigned lane, unsigned warp) {
    // 32 lanes of 4 leave one column bit, which the warps take.
    Coords expected = {int32_t(reg / 4),
                       int32_t(128 * warp + 4 * lane + reg % 4)};
    EXPECT_EQ(layout.elementOf(reg, lane, warp), expected);
  });
}

TEST(LinearLayout, BlockedExplicitThreads) {
  LinearLayout layout =
      getBlockedLayout({16, 64}, {1, 0}, 2, 32, 4, {4, 8}, {4, 1});
  forEachPlace(layout, [&](unsigned reg, unsigned lane, unsigned warp) {
    Coords expected = {int32_t(4 * warp + lane / 8),
                       int32_t(16 * (reg / 2) + 2 * (lane % 8) + reg % 2)};
    EXPECT_EQ(layout.elementOf(reg, lane, warp), expected);
  });
}

TEST(LinearLayout, BlockedColumnMajor) {
  LinearLayout layout = getBlockedLayout({64, 8}, {0, 1}, 2, 32, 4);
  EXPECT_EQ(getRegisterVectorWidth(layout, 0), 2u);
  forEachPlace(layout, [&](unsigned reg, unsigned lane, unsigned warp) {
    Coords expected = {int32_t(2 * lane + reg % 2),
                       int32_t(warp + 4 * (reg / 2))};
    EXPECT_EQ(layout.elementOf(reg, lane, warp), expected);
  });
}

TEST(LinearLayout, BlockedTilePerThread) {
  LinearLayout layout = getBlockedTileLayout({16, 64}, {1, 0}, {2, 4}, 32, 2);
  EXPECT_TRUE(isBijective(layout));
  forEachPlace(layout, [&](unsigned reg, unsigned lane, unsigned warp) {
    Coords expected = {
        int32_t(reg / 4 % 2 + 2 * (lane / 16) + 4 * warp + 8 * (reg / 8)),
        int32_t(4 * (lane % 16) + reg % 4)};
    EXPECT_EQ(layout.elementOf(reg, lane, warp), expected);
  });
}

TEST(LinearLayout, BlockedSmallerThanTheThreads) {
  // 16 elements on 2 warps: 8 lanes of 2 suffice, the rest replicate.
  LinearLayout layout = getBlockedLayout({16}, {0}, 2, 32, 2);
  EXPECT_EQ(layout.numRegs(), 2u);
  EXPECT_TRUE(layout.isSurjective());
  EXPECT_TRUE(layout.isInjective());
  EXPECT_FALSE(isBijective(layout));
  EXPECT_EQ(layout.freeMask(HwDim::Register), 0u);
  EXPECT_EQ(layout.freeMask(HwDim::Lane), 0b11000u);
  EXPECT_EQ(layout.freeMask(HwDim::Warp), 0b1u);
  forEachPlace(layout, [&](unsigned reg, unsigned lane, unsigned warp) {
    EXPECT_EQ(layout.elementOf(reg, lane, warp)[0],
              int32_t(2 * (lane % 8) + reg));
  });
  // A vector longer than the tensor is clamped.
  EXPECT_EQ(getBlockedLayout({2}, {0}, 8, 32, 1).numRegs(), 2u);
  // Rank 0 and extent 1 replicate over everything.
  EXPECT_EQ(getBlockedLayout({}, {}, 4, 32, 4).freeMask(HwDim::Lane), 31u);
  EXPECT_EQ(getBlockedLayout({1, 1}, {1, 0}, 4, 32, 4).freeMask(HwDim::Warp),
            3u);
}

TEST(LinearLayout, BlockedExplicitBeyondTheShape) {
  // 8 lanes down 2 rows: two of the three row bits replicate.
  LinearLayout layout = getBlockedLayout({2, 16}, {1, 0}, 4, 32, 1, {8, 4});
  EXPECT_EQ(layout.freeMask(HwDim::Lane), 0b11000u);
  EXPECT_EQ(layout.elementOf(0, 0b11100, 0), (Coords{1, 0}));
  EXPECT_TRUE(layout.isSurjective());
}

TEST(LinearLayout, FreeBitsElectOneOwner) {
  // Lane bit 1 repeats lane bit 0; warp bit 0 is the XOR of the two before.
  std::optional<LinearLayout> layout = LinearLayout::fromBases(
      {4, 2}, {{0, 1}}, {{1, 0}, {1, 0}, {0, 0}, {2, 0}}, {{3, 1}});
  ASSERT_TRUE(layout);
  EXPECT_FALSE(layout->isInjective());
  EXPECT_EQ(layout->freeMask(HwDim::Lane), 0b0110u);
  EXPECT_EQ(layout->freeMask(HwDim::Warp), 1u);
  std::map<Coords, unsigned> owners;
  forEachPlace(*layout, [&](unsigned reg, unsigned lane, unsigned warp) {
    if (!(lane & layout->freeMask(HwDim::Lane)) &&
        !(warp & layout->freeMask(HwDim::Warp)))
      ++owners[layout->elementOf(reg, lane, warp)];
  });
  EXPECT_EQ(owners.size(), 8u);
  for (auto &[element, count] : owners)
    EXPECT_EQ(count, 1u);
}

TEST(LinearLayout, FromBasesRefusesBadInput) {
  std::string error;
  auto refused = [&](llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<Coords> lanes) {
    error.clear();
    return !LinearLayout::fromBases(shape, {}, lanes, {}, {}, &error);
  };
  EXPECT_TRUE(refused({3}, {}));
  EXPECT_EQ(error, "extent 3 is not a power of two");
  EXPECT_TRUE(refused({0}, {}));
  EXPECT_TRUE(refused({-4}, {}));
  EXPECT_TRUE(refused({INT64_MIN}, {}));
  EXPECT_TRUE(refused({int64_t(1) << 31}, {}));
  EXPECT_EQ(error, "the shape has too many elements");
  EXPECT_TRUE(refused({1 << 30, 1 << 30, 8}, {}));
  EXPECT_TRUE(refused({4}, {{4}}));
  EXPECT_EQ(error, "lane basis 0 has coordinate 4 outside the extent 4");
  EXPECT_TRUE(refused({4}, {{-1}}));
  EXPECT_TRUE(refused({4}, {{1}, {1, 1}}));
  EXPECT_EQ(error, "lane basis 1 has 2 coordinates for a tensor of rank 1");
  EXPECT_TRUE(refused({64}, {{1}, {2}, {4}, {8}, {16}, {32}}));
  EXPECT_EQ(error, "6 lane bits exceed the limit of 5");
}

//===----------------------------------------------------------------------===//
// Matrix fragments
//===----------------------------------------------------------------------===//

TEST(LinearLayout, WgmmaAccumulator) {
  for (int64_t n : {8, 16, 64, 128, 256}) {
    LinearLayout layout = getMmaM64NAccumulatorLayout(n);
    EXPECT_TRUE(isBijective(layout));
    EXPECT_EQ(layout.numRegs(), n / 2);
    EXPECT_EQ(layout.numWarps(), 4u);
    EXPECT_EQ(getRegisterVectorWidth(layout, 1), 2u);
    forEachPlace(layout, [&](unsigned reg, unsigned lane, unsigned warp) {
      unsigned j = reg / 4, h = reg / 2 % 2, i = reg % 2;
      Coords expected = {int32_t(16 * warp + lane / 4 + 8 * h),
                         int32_t(8 * j + 2 * (lane % 4) + i)};
      EXPECT_EQ(layout.elementOf(reg, lane, warp), expected);
    });
  }
}

// The formulas of the PTX ISA for mma.m16n8k16 with .f16 / .bf16 operands,
// with groupID = lane >> 2 and threadID_in_group = lane % 4.
/// The accumulator of every warpgroup is that of one instruction after the
/// other: blocks of 64 rows first, then 256 columns each.
TEST(LinearLayout, WgmmaAccumulatorOfSeveralWarpgroups) {
  struct {
    llvm::SmallVector<int64_t, 4> shape;
    unsigned warps;
    int64_t alongRows, ownColumns;
  } cases[] = {{{64, 8}, 4, 1, 8},     {{128, 256}, 8, 2, 256},
               {{64, 256}, 8, 1, 128}, {{256, 64}, 8, 2, 64},
               {{64, 512}, 4, 1, 512}, {{128, 1024}, 16, 2, 512}};
  for (const auto &c : cases)
    for (bool swapped : {false, true}) {
      llvm::SmallVector<int64_t, 4> shape = c.shape;
      if (swapped)
        std::swap(shape[0], shape[1]);
      auto layout = getWgmmaAccumulatorLayout(shape, c.warps, swapped);
      ASSERT_TRUE(layout);
      EXPECT_TRUE(isBijective(*layout));
      int64_t n = std::min<int64_t>(c.ownColumns, 256);
      int64_t rowBlocks = c.shape[0] / 64 / c.alongRows;
      for (unsigned warp = 0; warp != c.warps; ++warp)
        for (unsigned lane = 0; lane != 32; ++lane)
          for (unsigned reg = 0; reg != layout->numRegs(); ++reg) {
            unsigned group = warp / 4, block = reg / (n / 2), r = reg % (n / 2);
            int32_t row =
                64 * (group % c.alongRows + c.alongRows * (block % rowBlocks)) +
                16 * (warp % 4) + lane / 4 + 8 * (r / 2 % 2);
            int32_t column = c.ownColumns * (group / c.alongRows) +
                             n * (block / rowBlocks) + 8 * (r / 4) +
                             2 * (lane % 4) + r % 2;
            Coords expected = {row, column};
            if (swapped)
              std::swap(expected[0], expected[1]);
            ASSERT_EQ(layout->elementOf(reg, lane, warp), expected);
          }
    }
  EXPECT_FALSE(getWgmmaAccumulatorLayout({32, 64}, 4));
  EXPECT_FALSE(getWgmmaAccumulatorLayout({64, 64}, 2));
  EXPECT_FALSE(getWgmmaAccumulatorLayout({64, 8}, 8));
  EXPECT_FALSE(getWgmmaAccumulatorLayout({64, 8}, 4, /*swapped=*/true));
}

/// Register i of k-step j holds the elements that the PTX ISA names for
/// wgmma's matrix A: 4 registers of 32 bits, 8 rows and 16 bytes apart.
TEST(LinearLayout, WgmmaOperandA) {
  for (unsigned bytes : {1u, 2u, 4u})
    for (unsigned warps : {4u, 8u})
      for (int64_t rows : {64, 256}) {
        int64_t depth = 32 / bytes, steps = 2;
        auto layout =
            getWgmmaOperandALayout({rows, steps * depth}, bytes, warps);
        ASSERT_TRUE(layout);
        EXPECT_TRUE(layout->isSurjective());
        int64_t alongRows = std::min<int64_t>(warps / 4, rows / 64);
        unsigned packed = 4 / bytes;
        for (unsigned warp = 0; warp != warps; ++warp)
          for (unsigned lane = 0; lane != 32; ++lane)
            for (unsigned reg = 0; reg != layout->numRegs(); ++reg) {
              unsigned part = reg % packed, word = reg / packed % 4;
              unsigned step = reg / packed / 4 % steps;
              unsigned block = reg / packed / 4 / steps;
              int32_t row = 64 * (warp / 4 % alongRows + alongRows * block) +
                            16 * (warp % 4) + lane / 4 + 8 * (word % 2);
              int32_t k = step * depth + 4 * packed * (word / 2) +
                          packed * (lane % 4) + part;
              ASSERT_EQ(layout->elementOf(reg, lane, warp), (Coords{row, k}));
            }
      }
  EXPECT_FALSE(getWgmmaOperandALayout({64, 8}, 2, 4));
  EXPECT_FALSE(getWgmmaOperandALayout({32, 16}, 2, 4));
}

TEST(LinearLayout, Mma16816MatchesThePtxIsa) {
  LinearLayout a = getMma16816OperandALayout();
  forEachPlace(a, [&](unsigned i, unsigned lane, unsigned warp) {
    int32_t row = (i < 2 || (4 <= i && i < 6)) ? lane >> 2 : (lane >> 2) + 8;
    int32_t col =
        i < 4 ? (lane % 4) * 2 + (i & 1) : (lane % 4) * 2 + (i & 1) + 8;
    EXPECT_EQ(a.elementOf(i, lane, warp), (Coords{row, col}));
  });
  LinearLayout b = getMma16816OperandBLayout();
  forEachPlace(b, [&](unsigned i, unsigned lane, unsigned warp) {
    int32_t row =
        i < 2 ? (lane % 4) * 2 + (i & 1) : (lane % 4) * 2 + (i & 1) + 8;
    int32_t col = lane >> 2;
    EXPECT_EQ(b.elementOf(i, lane, warp), (Coords{row, col}));
  });
  LinearLayout c = getMma16816AccumulatorLayout();
  forEachPlace(c, [&](unsigned i, unsigned lane, unsigned warp) {
    int32_t row = i < 2 ? lane >> 2 : (lane >> 2) + 8;
    int32_t col = (lane % 4) * 2 + (i & 1);
    EXPECT_EQ(c.elementOf(i, lane, warp), (Coords{row, col}));
  });
  for (const LinearLayout &layout : {a, b, c})
    EXPECT_TRUE(isBijective(layout));
  EXPECT_EQ(a.numRegs(), 8u);
  EXPECT_EQ(b.numRegs(), 4u);
  EXPECT_EQ(c.numRegs(), 4u);
}

TEST(LinearLayout, ExtendFragmentOverWarpsAndRegisters) {
  // 128x64 accumulator on 4 warps down the rows: each warp repeats the 16x8
  // fragment, columns first.
  LinearLayout layout =
      getMma16816AccumulatorLayout().extendTo({128, 64}, {1, 0}, {4, 1});
  EXPECT_TRUE(isBijective(layout));
  EXPECT_EQ(layout.numRegs(), 64u);
  forEachPlace(layout, [&](unsigned reg, unsigned lane, unsigned warp) {
    unsigned i = reg % 4, tileCol = reg / 4 % 8, tileRow = reg / 32;
    int32_t row =
        (i < 2 ? lane >> 2 : (lane >> 2) + 8) + 16 * warp + 64 * tileRow;
    int32_t col = (lane % 4) * 2 + (i & 1) + 8 * tileCol;
    EXPECT_EQ(layout.elementOf(reg, lane, warp), (Coords{row, col}));
  });
  // Warps along N replicate operand A.
  LinearLayout a =
      getMma16816OperandALayout().extendTo({16, 16}, {1, 0}, {4, 1});
  EXPECT_EQ(a.freeMask(HwDim::Warp), 3u);
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

TEST(LinearLayout, VectorWidthNeedsAlignmentEverywhere) {
  // Lane bit 1 flips element bit 1: runs of four are out of order in odd lanes.
  LinearLayout swizzled =
      *LinearLayout::fromBases({32}, {{1}, {2}}, {{4}, {8 + 2}, {16}}, {});
  EXPECT_TRUE(isBijective(swizzled));
  EXPECT_EQ(getRegisterVectorWidth(swizzled, 0), 2u);
  EXPECT_EQ(swizzled.elementOf(0, 2, 0)[0], 10);
  EXPECT_EQ(swizzled.elementOf(2, 2, 0)[0], 8);

  // Registers in another order: the vector exists, but not from register 0 on.
  LinearLayout shuffled = LinearLayout::fromBits({64}, {{0, 5}, {0, 1}, {0, 0}},
                                                 {{0, 2}, {0, 3}, {0, 4}}, {});
  EXPECT_EQ(getRegisterVectorWidth(shuffled, 0), 1u);
  EXPECT_EQ(getVectorRegisterBits(shuffled, 0),
            (llvm::SmallVector<unsigned, 4>{2, 1}));
  EXPECT_EQ(getRegisterBitsAlong(shuffled, 0),
            (llvm::SmallVector<unsigned, 8>{2, 1, 0}));
  EXPECT_EQ(getRegisterVectorWidth(shuffled.permuteRegisterBits({2, 1, 0}), 0),
            4u);
}

TEST(LinearLayout, BitsAlong) {
  LinearLayout layout = getMmaM64NAccumulatorLayout(16);
  auto rows = getBitsAlong(layout, 0);
  ASSERT_TRUE(rows);
  EXPECT_EQ((*rows)[0], (HwBit{HwDim::Lane, 2}));
  EXPECT_EQ((*rows)[3], (HwBit{HwDim::Register, 1}));
  EXPECT_EQ((*rows)[5], (HwBit{HwDim::Warp, 1}));
  LinearLayout swizzled =
      *LinearLayout::fromBases({2, 2}, {{1, 1}}, {{0, 1}}, {});
  EXPECT_FALSE(getBitsAlong(swizzled, 0));
  EXPECT_FALSE(getBitsAlong(swizzled, 1));
}

TEST(LinearLayout, InvertFindsTheOwner) {
  for (const LinearLayout &layout :
       {getBlockedLayout({16, 64}, {1, 0}, 4, 32, 4),
        getBlockedLayout({4, 8}, {0, 1}, 2, 32, 4),
        getMmaM64NAccumulatorLayout(32)}) {
    std::optional<BitMatrix> inverse = layout.matrix().rightInverse();
    ASSERT_TRUE(inverse);
    for (uint64_t element = 0; element != uint64_t(layout.numElements());
         ++element) {
      HwIndex place = unpackHwIndex(layout, inverse->apply(element));
      EXPECT_EQ(layout.linearElementOf(place), element);
      EXPECT_EQ(place.lane & layout.freeMask(HwDim::Lane), 0u);
      EXPECT_EQ(place.warp & layout.freeMask(HwDim::Warp), 0u);
    }
  }
  EXPECT_FALSE(
      LinearLayout::fromBits({4}, {{0, 0}}, {}, {}).matrix().rightInverse());
}

TEST(LinearLayout, PackedIndicesRoundTrip) {
  LinearLayout layout = LinearLayout::fromBits({64}, {{0, 0}, {0, 1}}, {{0, 2}},
                                               {{0, 3}, {0, 4}}, {{0, 5}});
  for (unsigned packed = 0; packed != 64; ++packed)
    EXPECT_EQ(packHwIndex(layout, unpackHwIndex(layout, packed)), packed);
  EXPECT_EQ(unpackHwIndex(layout, 0b101110), (HwIndex{2, 1, 1, 1}));
  EXPECT_EQ(layout.elementOf(2, 1, 1, 1)[0], 0b101110);
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

TEST(LinearLayout, SliceDropsRegistersAlongTheDim) {
  LinearLayout layout = getMmaM64NAccumulatorLayout(64);
  LinearLayout rows = layout.sliceDim(1);
  EXPECT_EQ(rows.shape(), (llvm::SmallVector<int64_t, 4>{64}));
  EXPECT_EQ(rows.numRegs(), 2u);
  EXPECT_EQ(rows.freeMask(HwDim::Lane), 0b00011u);
  EXPECT_TRUE(rows.isSurjective());
  forEachPlace(rows, [&](unsigned reg, unsigned lane, unsigned warp) {
    EXPECT_EQ(rows.elementOf(reg, lane, warp)[0],
              int32_t(16 * warp + lane / 4 + 8 * reg));
  });
}

TEST(LinearLayout, ProjectMapsEveryRegister) {
  LinearLayout layout = getBlockedLayout({8, 16, 4}, {2, 0, 1}, 2, 32, 2);
  for (llvm::SmallVector<unsigned, 4> kept :
       {llvm::SmallVector<unsigned, 4>{0}, {1}, {2}, {0, 2}, {2, 1}, {}}) {
    LayoutProjection child = layout.project(kept);
    ASSERT_EQ(child.regMap.size(), layout.numRegs());
    std::set<unsigned> used(child.regMap.begin(), child.regMap.end());
    EXPECT_EQ(used.size(), child.layout.numRegs());
    forEachPlace(layout, [&](unsigned reg, unsigned lane, unsigned warp) {
      Coords parent = layout.elementOf(reg, lane, warp), expected;
      for (unsigned dim : kept)
        expected.push_back(parent[dim]);
      EXPECT_EQ(child.layout.elementOf(child.regMap[reg], lane, warp),
                expected);
    });
  }
}

TEST(LinearLayout, ExpandPermuteReshape) {
  LinearLayout layout = getBlockedLayout({8, 16}, {1, 0}, 2, 32, 2);
  LinearLayout unit = layout.expandDim(1);
  EXPECT_EQ(unit.shape(), (llvm::SmallVector<int64_t, 4>{8, 1, 16}));
  EXPECT_EQ(unit.sliceDim(1), layout);

  LinearLayout wide = layout.expandDim(0, 4);
  EXPECT_EQ(wide.numRegs(), 4 * layout.numRegs());
  forEachPlace(wide, [&](unsigned reg, unsigned lane, unsigned warp) {
    Coords inner = layout.elementOf(reg % layout.numRegs(), lane, warp);
    EXPECT_EQ(wide.elementOf(reg, lane, warp),
              (Coords{int32_t(reg / layout.numRegs()), inner[0], inner[1]}));
  });

  LinearLayout transposed = layout.permuteDims({1, 0});
  EXPECT_EQ(getRegisterVectorWidth(transposed, 0), 2u);
  EXPECT_EQ(transposed.permuteDims({1, 0}), layout);

  LinearLayout flat = layout.reshape({128});
  LinearLayout back = flat.reshape({2, 4, 16});
  forEachPlace(layout, [&](unsigned reg, unsigned lane, unsigned warp) {
    Coords at = layout.elementOf(reg, lane, warp);
    EXPECT_EQ(transposed.elementOf(reg, lane, warp), (Coords{at[1], at[0]}));
    EXPECT_EQ(flat.elementOf(reg, lane, warp), (Coords{at[0] * 16 + at[1]}));
    EXPECT_EQ(back.elementOf(reg, lane, warp),
              (Coords{at[0] / 4, at[0] % 4, at[1]}));
  });
}

TEST(LinearLayout, ComposeWithAnElementMap) {
  LinearLayout layout = getBlockedLayout({4, 8}, {1, 0}, 2, 8, 2);
  // Column-major element numbers.
  BitMatrix columnMajor({4, 8, 16, 1, 2}, 5);
  BitMatrix map = columnMajor.compose(layout.matrix());
  forEachPlace(layout, [&](unsigned reg, unsigned lane, unsigned warp) {
    Coords at = layout.elementOf(reg, lane, warp);
    EXPECT_EQ(map.apply(packHwIndex(layout, {reg, lane, warp})),
              uint64_t(at[1] * 4 + at[0]));
  });
}

//===----------------------------------------------------------------------===//
// Value semantics and text
//===----------------------------------------------------------------------===//

TEST(LinearLayout, PrintIsStableAndParsesBack) {
  LinearLayout layout = getBlockedLayout({2, 8}, {1, 0}, 2, 4, 2);
  EXPECT_EQ(layout.str(),
            "{reg=[[0,1]], lane=[[0,2],[0,4]], warp=[[1,0]], shape=[2,8]}");
  LinearLayout cluster =
      LinearLayout::fromBits({4}, {{0, 0}}, {}, {}, {{0, 1}});
  EXPECT_EQ(cluster.str(),
            "{reg=[[1]], lane=[], warp=[], block=[[2]], shape=[4]}");
  for (const LinearLayout &each :
       {layout, cluster, LinearLayout(), getMmaM64NAccumulatorLayout(256),
        getBlockedLayout({}, {}, 1, 32, 4),
        getBlockedLayout({1, 64}, {1, 0}, 4, 32, 8)}) {
    std::string error;
    std::optional<LinearLayout> parsed = parseLinearLayout(each.str(), &error);
    ASSERT_TRUE(parsed) << each.str() << ": " << error;
    EXPECT_EQ(*parsed, each);
    EXPECT_EQ(hash_value(*parsed), hash_value(each));
  }
  EXPECT_EQ(parseLinearLayout(
                " { reg = [ [0, 1] ] ,lane=[[0,2],[0,4]],warp=[[1,0]],\n"
                "shape=[2,8] } "),
            layout);
}

TEST(LinearLayout, ParseRefusesWithPlaceAndCause) {
  auto errorOf = [](llvm::StringRef text) {
    std::string error;
    EXPECT_FALSE(parseLinearLayout(text, &error)) << text.str();
    return error;
  };
  EXPECT_EQ(errorOf(""), "column 1: expected '{'");
  EXPECT_EQ(errorOf("{lane=[]}"), "column 2: expected 'reg'");
  EXPECT_EQ(errorOf("{reg=[[0,x]]"),
            "column 10: expected a non-negative 64-bit integer");
  EXPECT_EQ(errorOf("{reg=[[-1]], lane=[], warp=[], shape=[2]}"),
            "column 8: expected a non-negative 64-bit integer");
  EXPECT_EQ(errorOf("{reg=[[4294967296]], lane=[], warp=[], shape=[2]}"),
            "column 18: coordinate exceeds 32 bits");
  EXPECT_EQ(errorOf("{reg=[], lane=[], warp=[], shape=[99999999999999999999]}"),
            "column 35: expected a non-negative 64-bit integer");
  EXPECT_EQ(errorOf("{reg=[], lane=[], warp=[], shape=[2]} x"),
            "column 39: unexpected text after the layout");
  EXPECT_EQ(errorOf("{reg=[], lane=[], warp=[], shape=[6]}"),
            "extent 6 is not a power of two");
}

TEST(LinearLayout, EqualityAndHashSeeEveryPart) {
  LinearLayout a = LinearLayout::fromBits({4}, {{0, 0}}, {{0, 1}}, {});
  LinearLayout b = LinearLayout::fromBits({4}, {{0, 0}}, {}, {{0, 1}});
  LinearLayout c = LinearLayout::fromBits({2, 2}, {{1, 0}}, {{0, 0}}, {});
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
  EXPECT_NE(hash_value(a), hash_value(b));
  EXPECT_NE(hash_value(a), hash_value(c));
  EXPECT_EQ(a.reshape({2, 2}), c);
}

} // namespace
