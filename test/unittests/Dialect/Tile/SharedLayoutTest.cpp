//===- SharedLayoutTest.cpp - Tests of shared-memory layouts --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests shared-memory layouts, their accesses and the planning of
// exchanges, by simulating threads, banks and bytes.
//
//===----------------------------------------------------------------------===//

#include "RandomLayout.h"
#include "fusion/Dialect/Tile/IR/SharedExchange.h"
#include "gtest/gtest.h"
#include <map>
#include <random>
#include <set>

using namespace mlir::fusion::tile;

namespace {

using Shape = llvm::SmallVector<int64_t, 4>;

//===----------------------------------------------------------------------===//
// Simulation
//===----------------------------------------------------------------------===//

/// Wavefronts of one access of one warp, by looking at every byte: per phase
/// the most distinct words that fall into one bank.
unsigned simulateWavefronts(const SharedAccess &access,
                            const SharedAccess::Group &group, unsigned warp,
                            unsigned numLanes, unsigned elementBytes) {
  unsigned bytes = access.vecElements * elementBytes;
  unsigned phaseLanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  unsigned wavefronts = 0;
  for (unsigned first = 0; first < numLanes; first += phaseLanes) {
    std::map<unsigned, std::set<uint64_t>> words;
    for (unsigned lane = first; lane < std::min(numLanes, first + phaseLanes);
         ++lane)
      for (unsigned byte = 0; byte != bytes; ++byte) {
        uint64_t word = (access.offsetOf(group, lane, warp) + byte) / 4;
        words[word % 32].insert(word);
      }
    size_t most = 0;
    for (auto &[bank, distinct] : words)
      most = std::max(most, distinct.size());
    wavefronts += most;
  }
  return wavefronts;
}

/// Every access must touch exactly the elements of its registers, aligned, and
/// cost what the analysis says.
void expectAccess(const LinearLayout &layout, const SharedLayout &shared,
                  unsigned vecElements) {
  std::optional<SharedAccess> access =
      getSharedAccess(layout, shared, vecElements);
  ASSERT_TRUE(access);
  SharedAccessCost cost = getSharedAccessCost(layout, shared, vecElements);
  EXPECT_EQ(cost.accesses, access->groups.size());
  std::set<unsigned> accessed;
  for (const SharedAccess::Group &group : access->groups)
    accessed.insert(group.regs.begin(), group.regs.end());
  EXPECT_EQ(accessed.size(), access->groups.size() * vecElements);
  for (unsigned reg = 0; reg != layout.numRegs(); ++reg)
    EXPECT_EQ(accessed.count(access->holder[reg]), 1u);
  for (unsigned warp = 0; warp != layout.numWarps(); ++warp)
    for (const SharedAccess::Group &group : access->groups) {
      EXPECT_EQ(simulateWavefronts(*access, group, warp, layout.numLanes(),
                                   shared.elementBytes()),
                cost.wavefronts);
      EXPECT_EQ(access->xorPart(group) | access->immediatePart(group),
                group.offset);
      for (unsigned lane = 0; lane != layout.numLanes(); ++lane) {
        uint64_t offset = access->offsetOf(group, lane, warp);
        EXPECT_EQ(offset % (vecElements * shared.elementBytes()), 0u);
        uint64_t thread =
            access->laneOffset.apply(lane) ^ access->warpOffset.apply(warp);
        EXPECT_EQ((thread ^ access->xorPart(group)) +
                      access->immediatePart(group),
                  offset);
        for (auto [i, reg] : llvm::enumerate(group.regs))
          ASSERT_EQ(shared.offsetOf(layout.elementOf(reg, lane, warp)),
                    offset + i * shared.elementBytes());
      }
    }
}

/// Runs the exchange on element numbers.
void expectExchanges(const LinearLayout &src, const LinearLayout &dst,
                     unsigned elementBytes, const SharedExchange &plan) {
  expectAccess(src, plan.buffer, plan.write.vecElements);
  expectAccess(dst, plan.buffer, plan.read.vecElements);
  EXPECT_EQ(plan.sizeInBytes(), src.numElements() * elementBytes);
  std::map<uint64_t, uint64_t> memory;
  for (unsigned warp = 0; warp != src.numWarps(); ++warp)
    for (unsigned lane = 0; lane != src.numLanes(); ++lane) {
      if ((lane & src.freeMask(HwDim::Lane)) ||
          (warp & src.freeMask(HwDim::Warp)))
        continue;
      for (const SharedAccess::Group &group : plan.write.groups)
        for (auto [i, reg] : llvm::enumerate(group.regs)) {
          uint64_t offset =
              plan.write.offsetOf(group, lane, warp) + i * elementBytes;
          EXPECT_LT(offset, uint64_t(plan.sizeInBytes()));
          EXPECT_TRUE(
              memory.insert({offset, src.linearElementOf({reg, lane, warp})})
                  .second)
              << "two writers of one slot";
        }
    }
  EXPECT_EQ(memory.size(), size_t(src.numElements()));
  for (unsigned warp = 0; warp != dst.numWarps(); ++warp)
    for (unsigned lane = 0; lane != dst.numLanes(); ++lane) {
      std::map<unsigned, uint64_t> loaded;
      for (const SharedAccess::Group &group : plan.read.groups)
        for (auto [i, reg] : llvm::enumerate(group.regs))
          loaded[reg] = memory.at(plan.read.offsetOf(group, lane, warp) +
                                  i * elementBytes);
      for (unsigned reg = 0; reg != dst.numRegs(); ++reg)
        ASSERT_EQ(loaded.at(plan.read.holder[reg]),
                  dst.linearElementOf({reg, lane, warp}));
    }
}

//===----------------------------------------------------------------------===//
// Layouts of buffers
//===----------------------------------------------------------------------===//

void expectBijection(const SharedLayout &layout, const Shape &shape) {
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  std::set<uint64_t> offsets;
  for (int64_t element = 0; element != elements; ++element) {
    uint64_t offset = layout.offsetOf(uint64_t(element));
    EXPECT_EQ(offset % layout.elementBytes(), 0u);
    offsets.insert(offset);
  }
  EXPECT_EQ(offsets.size(), size_t(elements));
  EXPECT_EQ(*offsets.begin(), 0u);
  EXPECT_EQ(*offsets.rbegin() + layout.elementBytes(),
            uint64_t(layout.sizeInBytes()));
}

TEST(SharedLayout, Linear) {
  SharedLayout rows = SharedLayout::linear({4, 8, 2}, 4);
  SharedLayout reversed = SharedLayout::linear({4, 8, 2}, 4, {0, 1, 2});
  for (int32_t i = 0; i != 4; ++i)
    for (int32_t j = 0; j != 8; ++j)
      for (int32_t k = 0; k != 2; ++k) {
        EXPECT_EQ(rows.offsetOf({i, j, k}), 4u * ((i * 8 + j) * 2 + k));
        EXPECT_EQ(reversed.offsetOf({i, j, k}), 4u * ((k * 8 + j) * 4 + i));
      }
  expectBijection(reversed, {4, 8, 2});
  EXPECT_EQ(rows.str(),
            "{bytes=4, align=16, offsets=[[64,128],[8,16,32],[4]]}");
  EXPECT_NE(rows, reversed);
  EXPECT_NE(hash_value(rows), hash_value(reversed));
  EXPECT_EQ(SharedLayout::linear({}, 8).sizeInBytes(), 8);
}

TEST(SharedLayout, TmaSwizzles) {
  struct Mode {
    TmaSwizzle swizzle;
    unsigned span;
  };
  for (Mode mode : {Mode{TmaSwizzle::B32, 32}, Mode{TmaSwizzle::B64, 64},
                    Mode{TmaSwizzle::B128, 128}})
    for (unsigned bytes : {1, 2, 4, 8}) {
      int64_t rows = 64, columns = 2 * mode.span / bytes;
      SharedLayout layout =
          SharedLayout::tma(rows, columns, bytes, mode.swizzle);
      expectBijection(layout, {rows, columns});
      EXPECT_EQ(layout.alignment(), mode.span * 8);
      for (int64_t row = 0; row != rows; ++row)
        for (int64_t column = 0; column != columns; ++column) {
          // Two panels of one span; chunks of 16 bytes trade places with the
          // number of the 128-byte line.
          uint64_t inRow = column * bytes % mode.span;
          uint64_t linear = column * bytes / mode.span * rows * mode.span +
                            row * mode.span + inRow;
          uint64_t chunk = inRow / 16, line = linear / 128;
          uint64_t expected =
              linear - chunk * 16 + (chunk ^ (line % (mode.span / 16))) * 16;
          EXPECT_EQ(layout.offsetOf({int32_t(row), int32_t(column)}), expected);
        }
    }
}

TEST(SharedLayout, TmaTileHasPanelsAlongTheFastDimension) {
  // K-major: the plain form.
  EXPECT_EQ(SharedLayout::tmaTile({128, 64}, 1, 2, TmaSwizzle::B128),
            SharedLayout::tma(128, 64, 2, TmaSwizzle::B128));
  // MN-major: the transposed tile's elements, dimensions exchanged.
  SharedLayout across =
      SharedLayout::tmaTile({256, 64}, 0, 2, TmaSwizzle::B128);
  SharedLayout along = SharedLayout::tma(64, 256, 2, TmaSwizzle::B128);
  expectBijection(across, {256, 64});
  EXPECT_EQ(across.alignment(), along.alignment());
  for (int32_t n = 0; n != 256; ++n)
    for (int32_t k = 0; k != 64; ++k)
      EXPECT_EQ(across.offsetOf({n, k}), along.offsetOf({k, n}));
  EXPECT_TRUE(across.isTransposed(along));
  EXPECT_TRUE(along.isTransposed(across));
  EXPECT_FALSE(along.isTransposed(along));
  EXPECT_FALSE(
      across.isTransposed(SharedLayout::tma(64, 256, 2, TmaSwizzle::B64)));
  EXPECT_FALSE(
      across.isTransposed(SharedLayout::tma(128, 256, 2, TmaSwizzle::B128)));
  // The second panel starts where the first box ends.
  EXPECT_EQ(across.offsetOf({64, 0}), 64u * 128);
  // Three dimensions, the middle one fast: the others are row-major.
  SharedLayout middle =
      SharedLayout::tmaTile({4, 64, 8}, 1, 2, TmaSwizzle::B64);
  SharedLayout flat = SharedLayout::tma(4 * 8, 64, 2, TmaSwizzle::B64);
  for (int32_t i = 0; i != 4; ++i)
    for (int32_t j = 0; j != 64; ++j)
      for (int32_t k = 0; k != 8; ++k)
        EXPECT_EQ(middle.offsetOf({i, j, k}), flat.offsetOf({i * 8 + k, j}));
}

TEST(SharedLayout, TmaSwizzle128FreesColumnsOfChunks) {
  // Eight rows of one 16-byte column: one bank row when swizzled, eight-fold
  // conflicts when not.
  LinearLayout columns =
      getBlockedLayout({64, 64}, {1, 0}, 8, 32, 4, {32, 1}, {1, 4});
  SharedLayout plain = SharedLayout::tma(64, 64, 2, TmaSwizzle::None);
  SharedLayout swizzled = SharedLayout::tma(64, 64, 2, TmaSwizzle::B128);
  EXPECT_EQ(getSharedAccessCost(columns, plain, 8).wavefronts, 32u);
  EXPECT_TRUE(getSharedAccessCost(columns, swizzled, 8).isConflictFree());
  EXPECT_EQ(getSharedAccessCost(columns, swizzled, 8).wavefronts, 4u);
  expectAccess(columns, plain, 8);
  expectAccess(columns, swizzled, 8);
}

TEST(SharedLayout, PrintParsesBack) {
  for (const SharedLayout &layout :
       {SharedLayout(), SharedLayout::linear({4, 1, 8}, 2, {0, 2, 1}),
        SharedLayout::tma(64, 64, 2, TmaSwizzle::B128)}) {
    std::string error;
    std::optional<SharedLayout> parsed =
        SharedLayout::parse(layout.str(), &error);
    ASSERT_TRUE(parsed) << layout.str() << ": " << error;
    EXPECT_EQ(*parsed, layout);
    EXPECT_EQ(hash_value(*parsed), hash_value(layout));
  }
  EXPECT_EQ(SharedLayout::parse(" {bytes = 4,align=16 ,offsets=[ [4],[8] ]} "),
            SharedLayout::linear({2, 2}, 4, {0, 1}));
}

TEST(SharedLayout, ParseRefusesWithCause) {
  auto errorOf = [](llvm::StringRef text) {
    std::string error;
    EXPECT_FALSE(SharedLayout::parse(text, &error)) << text.str();
    return error;
  };
  EXPECT_EQ(errorOf("{byte=4}"), "column 2: expected 'bytes'");
  EXPECT_EQ(errorOf("{bytes=4, align=16, offsets=[4]}"),
            "column 30: expected '['");
  EXPECT_EQ(errorOf("{bytes=4, align=16, offsets=[[4]]}}"),
            "column 35: unexpected text after the layout");
  EXPECT_EQ(errorOf("{bytes=3, align=16, offsets=[]}"),
            "elements of 3 bytes: expected 1, 2, 4, 8 or 16");
  EXPECT_EQ(errorOf("{bytes=0, align=16, offsets=[]}"),
            "elements of 0 bytes: expected 1, 2, 4, 8 or 16");
  EXPECT_EQ(errorOf("{bytes=4, align=8, offsets=[]}"),
            "alignment 8 is not a power of two from 16 to 1024");
  EXPECT_EQ(errorOf("{bytes=4, align=16, offsets=[[4],[4]]}"),
            "two elements of the tile share an offset");
  EXPECT_EQ(errorOf("{bytes=4, align=16, offsets=[[0],[4]]}"),
            "two elements of the tile share an offset");
  EXPECT_EQ(errorOf("{bytes=4, align=16, offsets=[[2],[4]]}"),
            "offset 2 is not that of an element of the tile");
  EXPECT_EQ(errorOf("{bytes=4, align=16, offsets=[[4],[16]]}"),
            "offset 16 is not that of an element of the tile");
  std::string huge = "{bytes=4, align=16, offsets=[[1";
  for (unsigned i = 0; i != 70; ++i)
    huge += ",1";
  EXPECT_EQ(errorOf(huge + "]]}"), "the tile exceeds 2^30 bytes");
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

TEST(SharedLayout, ConflictsOfPlainBuffers) {
  SharedLayout rows = SharedLayout::linear({32, 32}, 4);
  LinearLayout alongRows = getBlockedLayout({32, 32}, {1, 0}, 1, 32, 1);
  LinearLayout alongColumns = getBlockedLayout({32, 32}, {0, 1}, 1, 32, 1);
  EXPECT_EQ(getSharedAccessCost(alongRows, rows, 1).wavefronts, 1u);
  EXPECT_EQ(getSharedAccessCost(alongColumns, rows, 1).wavefronts, 32u);
  EXPECT_EQ(getSharedAccessCost(alongColumns, rows, 1).accesses, 32u);
  // The registers of a thread run along the row, so vectors are there too.
  EXPECT_EQ(getWidestSharedVector(alongColumns, rows), 4u);
  EXPECT_EQ(getSharedAccessCost(alongColumns, rows, 4).wavefronts, 32u);
  expectAccess(alongColumns, rows, 4);
  LinearLayout down = getBlockedLayout({32, 32}, {0, 1}, 4, 32, 1);
  EXPECT_FALSE(getSharedAccess(down, rows, 2));
  EXPECT_EQ(getWidestSharedVector(down, rows), 1u);
  expectAccess(down, rows, 1);
  expectAccess(alongRows, rows, 1);
  expectAccess(alongColumns, rows, 1);

  LinearLayout vectors = getBlockedLayout({32, 32}, {1, 0}, 4, 32, 1);
  EXPECT_EQ(getWidestSharedVector(vectors, rows), 4u);
  for (unsigned vec : {1, 2, 4})
    expectAccess(vectors, rows, vec);
  // One word at a time, lanes of 4-word stride meet in one bank in four.
  EXPECT_EQ(getSharedAccessCost(vectors, rows, 1).wavefronts, 4u);
  EXPECT_EQ(getSharedAccessCost(vectors, rows, 2).wavefronts, 4u);
  EXPECT_EQ(getSharedAccessCost(vectors, rows, 2).minWavefronts, 2u);
  EXPECT_TRUE(getSharedAccessCost(vectors, rows, 4).isConflictFree());

  // Lanes that read one word share it; lanes that read bytes of one word too.
  LinearLayout replicated = getBlockedLayout({8}, {0}, 1, 32, 1);
  expectAccess(replicated, SharedLayout::linear({8}, 4), 1);
  EXPECT_TRUE(getSharedAccessCost(replicated, SharedLayout::linear({8}, 4), 1)
                  .isConflictFree());
  LinearLayout bytes = getBlockedLayout({128}, {0}, 1, 32, 4);
  expectAccess(bytes, SharedLayout::linear({128}, 1), 1);
  EXPECT_TRUE(getSharedAccessCost(bytes, SharedLayout::linear({128}, 1), 1)
                  .isConflictFree());
}

TEST(SharedLayout, VectorsNeedFixedRegisters) {
  // The lane decides which of two registers comes first: no vectors.
  LinearLayout swizzled =
      *LinearLayout::fromBases({8}, {{1}}, {{2 + 1}, {4}}, {});
  SharedLayout shared = SharedLayout::linear({8}, 4);
  EXPECT_FALSE(getSharedAccess(swizzled, shared, 2));
  expectAccess(swizzled, shared, 1);
  // Replicated registers are accessed once.
  LinearLayout repeated = LinearLayout::fromBits(
      {8}, {BitTarget::replicated(), {0, 0}}, {{0, 1}, {0, 2}}, {});
  std::optional<SharedAccess> access = getSharedAccess(repeated, shared, 2);
  ASSERT_TRUE(access);
  ASSERT_EQ(access->groups.size(), 1u);
  EXPECT_EQ(access->groups[0].regs, (RegisterMap{0, 2}));
  EXPECT_EQ(access->holder, (RegisterMap{0, 0, 2, 2}));
  expectAccess(repeated, shared, 2);
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

class Transpose
    : public testing::TestWithParam<
          std::tuple<std::pair<int64_t, int64_t>, unsigned, unsigned>> {};

TEST_P(Transpose, IsConflictFree) {
  auto [extents, bytes, warps] = GetParam();
  auto [rows, columns] = extents;
  // Both sides as global memory wants them: 16 bytes a thread, one along the
  // rows, the other along the columns.
  unsigned vec = 16 / bytes;
  LinearLayout src = getBlockedLayout({rows, columns}, {1, 0}, vec, 32, warps);
  LinearLayout dst = getBlockedLayout({rows, columns}, {0, 1}, vec, 32, warps);
  for (bool back : {false, true}) {
    const LinearLayout &from = back ? dst : src, &to = back ? src : dst;
    std::optional<SharedExchange> plan = planSharedExchange(from, to, bytes);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->writeCost.isConflictFree());
    EXPECT_TRUE(plan->readCost.isConflictFree());
    EXPECT_EQ(plan->sizeInBytes(), rows * columns * bytes);
    expectBijection(plan->buffer, {rows, columns});
    expectExchanges(from, to, bytes, *plan);
    // One side at least moves 16 bytes at a time, where a thread has them.
    unsigned widest = std::max(plan->write.vecElements, plan->read.vecElements);
    EXPECT_EQ(widest, std::min(vec, from.numRegs()));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tiles, Transpose,
    testing::Combine(testing::Values(std::pair<int64_t, int64_t>(32, 32),
                                     std::pair<int64_t, int64_t>(64, 64),
                                     std::pair<int64_t, int64_t>(32, 128),
                                     std::pair<int64_t, int64_t>(128, 32)),
                     testing::Values(1u, 2u, 4u, 8u),
                     testing::Values(1u, 4u, 8u)));

TEST(SharedExchange, BothSidesWideWhereThreadsHoldSquares) {
  // Each thread holds a square on both sides. A vector along the rows is none
  // along the columns, but the squares are shared: any of their elements will
  // do for a vector.
  for (unsigned bytes : {1u, 2u, 4u}) {
    int64_t vec = 16 / bytes;
    LinearLayout src =
        getBlockedTileLayout({128, 128}, {1, 0}, {vec, vec}, 32, 4);
    LinearLayout dst =
        getBlockedTileLayout({128, 128}, {0, 1}, {vec, vec}, 32, 4);
    std::optional<SharedExchange> plan = planSharedExchange(src, dst, bytes);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->write.vecElements, vec);
    EXPECT_EQ(plan->read.vecElements, vec);
    EXPECT_TRUE(plan->writeCost.isConflictFree());
    EXPECT_TRUE(plan->readCost.isConflictFree());
    expectExchanges(src, dst, bytes, *plan);
  }
}

TEST(SharedExchange, AccumulatorToRows) {
  // The epilogue of a matrix product: fragments to 16-byte rows for the store.
  for (unsigned bytes : {2u, 4u}) {
    LinearLayout src = getMmaM64NAccumulatorLayout(128);
    LinearLayout dst = getBlockedLayout({64, 128}, {1, 0}, 16 / bytes, 32, 4);
    std::optional<SharedExchange> plan = planSharedExchange(src, dst, bytes);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->writeCost.isConflictFree());
    EXPECT_TRUE(plan->readCost.isConflictFree());
    EXPECT_EQ(plan->read.vecElements, 16 / bytes);
    EXPECT_GE(plan->write.vecElements, 2u);
    expectExchanges(src, dst, bytes, *plan);
  }
}

TEST(SharedExchange, SmallAndReplicated) {
  // A row vector from four warps that replicate it to one element a thread.
  LinearLayout src = getBlockedLayout({64, 16}, {1, 0}, 4, 32, 4).sliceDim(1);
  LinearLayout dst = getBlockedLayout({64}, {0}, 1, 32, 4);
  std::optional<SharedExchange> plan = planSharedExchange(src, dst, 4);
  ASSERT_TRUE(plan);
  expectExchanges(src, dst, 4, *plan);
  // The other way, to a layout whose registers replicate.
  LinearLayout repeated = LinearLayout::fromBits(
      {64}, {BitTarget::replicated(), {0, 5}},
      {{0, 4}, {0, 3}, {0, 2}, {0, 1}, {0, 0}},
      {BitTarget::replicated(), BitTarget::replicated()});
  plan = planSharedExchange(dst, repeated, 4);
  ASSERT_TRUE(plan);
  expectExchanges(dst, repeated, 4, *plan);
  // One element.
  LinearLayout one = getBlockedLayout({1, 1}, {1, 0}, 1, 32, 4);
  plan = planSharedExchange(one, one, 8);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->sizeInBytes(), 8);
  expectExchanges(one, one, 8, *plan);
}

TEST(SharedExchange, ChangesTheNumberOfWarps) {
  LinearLayout src = getBlockedLayout({64, 64}, {1, 0}, 4, 32, 8);
  LinearLayout dst = getBlockedLayout({64, 64}, {0, 1}, 4, 32, 4);
  std::optional<SharedExchange> plan = planSharedExchange(src, dst, 4);
  ASSERT_TRUE(plan);
  expectExchanges(src, dst, 4, *plan);
}

TEST(SharedExchange, Refuses) {
  LinearLayout part = LinearLayout::fromBits({4}, {{0, 0}}, {}, {});
  LinearLayout whole = LinearLayout::fromBits({4}, {{0, 0}, {0, 1}}, {}, {});
  EXPECT_FALSE(planSharedExchange(part, whole, 4));
  EXPECT_TRUE(planSharedExchange(whole, part, 4));
  LinearLayout cluster =
      LinearLayout::fromBits({4}, {{0, 0}}, {}, {}, {{0, 1}});
  EXPECT_FALSE(planSharedExchange(cluster, cluster, 4));
}

TEST(SharedExchange, RandomLayouts) {
  std::mt19937 random(7);
  for (unsigned trial = 0; trial != 150; ++trial) {
    Shape shape = {int64_t(1) << (random() % 6), int64_t(1) << (random() % 7)};
    unsigned warpBits = random() % 3, bytes = 1u << (random() % 5);
    LinearLayout src = randomLayout(random, shape, 5, warpBits, trial % 2);
    LinearLayout dst = randomLayout(random, shape, 5, warpBits, trial % 2);
    std::optional<SharedExchange> plan = planSharedExchange(src, dst, bytes);
    ASSERT_TRUE(plan) << src.str() << " -> " << dst.str();
    expectExchanges(src, dst, bytes, *plan);
    if (bytes >= 4) {
      EXPECT_TRUE(plan->writeCost.isConflictFree()) << src.str();
      EXPECT_TRUE(plan->readCost.isConflictFree()) << dst.str();
    }
    // Whatever the width, one element at a time is free of conflicts.
    std::optional<SharedExchange> single =
        planSharedExchange(src, dst, bytes, bytes);
    ASSERT_TRUE(single);
    EXPECT_EQ(single->write.vecElements, 1u);
    EXPECT_TRUE(single->writeCost.isConflictFree()) << src.str();
    EXPECT_TRUE(single->readCost.isConflictFree()) << dst.str();
  }
}

} // namespace
