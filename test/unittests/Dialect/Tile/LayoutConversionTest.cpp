//===- LayoutConversionTest.cpp - Tests of pairs of layouts ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests conversion, broadcast and reduction analyses by simulating
// what they claim on every thread.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/LayoutConversion.h"
#include "RandomLayout.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace mlir::fusion::tile;

namespace {

/// Checks a shuffle plan by looking up what each source lane holds.
void expectPlanMoves(const LinearLayout &src, const LinearLayout &dst) {
  std::optional<ShufflePlan> plan = getShufflePlan(src, dst);
  ASSERT_TRUE(plan) << src.str() << " -> " << dst.str();
  for (unsigned warp = 0; warp != dst.numWarps(); ++warp)
    for (unsigned lane = 0; lane != dst.numLanes(); ++lane)
      for (unsigned reg = 0; reg != dst.numRegs(); ++reg)
        EXPECT_EQ(src.elementOf(plan->srcReg[reg],
                                plan->sourceLane(reg, lane, warp), warp),
                  dst.elementOf(reg, lane, warp));
}

/// Checks a plan of bits by packing the elements that each lane holds.
void expectPlanMovesBits(const LinearLayout &src, const LinearLayout &dst) {
  std::optional<BitShufflePlan> plan = getBitShufflePlan(src, dst);
  ASSERT_TRUE(plan) << src.str() << " -> " << dst.str();
  std::map<unsigned, unsigned> regAt;
  for (unsigned reg = 0; reg != src.numRegs(); ++reg)
    EXPECT_TRUE(regAt.try_emplace(plan->srcPlace[reg], reg).second);
  for (unsigned warp = 0; warp != dst.numWarps(); ++warp)
    for (unsigned lane = 0; lane != dst.numLanes(); ++lane)
      for (unsigned reg = 0; reg != dst.numRegs(); ++reg) {
        unsigned shift =
            plan->laneShift.apply(lane) ^ plan->warpShift.apply(warp);
        unsigned place = plan->dstPlace[reg];
        EXPECT_LT(shift, 32u);
        EXPECT_EQ(shift & place, 0u);
        unsigned from = plan->laneMap.apply(lane) ^ plan->warpMap.apply(warp) ^
                        plan->regLane[reg];
        EXPECT_EQ(src.elementOf(regAt.at(place + shift), from, warp),
                  dst.elementOf(reg, lane, warp));
      }
}

TEST(LayoutConversion, Noop) {
  LinearLayout layout = getBlockedLayout({16, 64}, {1, 0}, 4, 32, 4);
  EXPECT_TRUE(isNoop(layout, layout));
  EXPECT_EQ(classifyConversion(layout, layout), ConversionKind::Noop);
}

TEST(LayoutConversion, RegisterPermutation) {
  LinearLayout src =
      LinearLayout::fromBits({16}, {{0, 0}, {0, 3}}, {{0, 1}, {0, 2}}, {});
  LinearLayout dst = src.permuteRegisterBits({1, 0});
  EXPECT_FALSE(isNoop(src, dst));
  EXPECT_EQ(getRegisterMap(src, dst), (RegisterMap{0, 2, 1, 3}));
  EXPECT_EQ(classifyConversion(src, dst), ConversionKind::RegisterPermutation);
  // A replicated register copies; fewer registers of the source suffice.
  LinearLayout twice = LinearLayout::fromBits(
      {16}, {{0, 3}, BitTarget::replicated(), {0, 0}}, {{0, 1}, {0, 2}}, {});
  EXPECT_EQ(getRegisterMap(src, twice), (RegisterMap{0, 2, 0, 2, 1, 3, 1, 3}));
  EXPECT_EQ(getRegisterMap(twice, src), (RegisterMap{0, 4, 1, 5}));
}

TEST(LayoutConversion, BitsOfNeighbours) {
  // Lanes have pairs of columns, and four lanes eight; sources have eight.
  LinearLayout pairs = getMmaM64NAccumulatorLayout(64);
  LinearLayout eights = *LinearLayout::fromBases(
      {64, 64}, {{0, 1}, {8, 0}, {0, 2}, {0, 4}, {0, 32}},
      {{0, 8}, {0, 16}, {1, 0}, {2, 0}, {4, 0}}, {{16, 0}, {32, 0}});
  EXPECT_FALSE(getShufflePlan(eights, pairs));
  expectPlanMovesBits(eights, pairs);
  // What a lane chooses by are the lowest bits of places.
  std::optional<BitShufflePlan> plan = getBitShufflePlan(eights, pairs);
  EXPECT_EQ(plan->laneShift.apply(3), 3u);
  EXPECT_EQ(plan->laneShift.apply(4), 0u);
  EXPECT_EQ(plan->regLane[0], 0u);
  // Along rows, of which eight lanes have one each.
  LinearLayout rows = *LinearLayout::fromBases(
      {64, 64}, {{2, 0}, {1, 0}, {4, 0}, {0, 16}, {0, 32}},
      {{0, 2}, {0, 4}, {8, 0}, {0, 1}, {0, 8}}, {{16, 0}, {32, 0}});
  expectPlanMovesBits(rows, pairs);
  // More than one word, of which all lanes use both.
  LinearLayout wide = getMmaM64NAccumulatorLayout(128);
  expectPlanMovesBits(
      *LinearLayout::fromBases(
          {64, 128}, {{0, 1}, {8, 0}, {0, 2}, {0, 4}, {0, 32}, {0, 64}},
          {{0, 8}, {0, 16}, {1, 0}, {2, 0}, {4, 0}}, {{16, 0}, {32, 0}}),
      wide);
  // Another warp's elements.
  LinearLayout warps = *LinearLayout::fromBases(
      {64, 64}, {{0, 1}, {16, 0}, {0, 2}, {0, 4}, {0, 32}},
      {{0, 8}, {0, 16}, {1, 0}, {2, 0}, {4, 0}}, {{8, 0}, {32, 0}});
  EXPECT_FALSE(getBitShufflePlan(warps, pairs));
}

TEST(LayoutConversion, ShuffleWithinAWarp) {
  // Lane bits in another order.
  LinearLayout src = LinearLayout::fromBits(
      {64}, {{0, 0}}, {{0, 1}, {0, 2}, {0, 3}}, {{0, 4}, {0, 5}});
  LinearLayout rotated = LinearLayout::fromBits(
      {64}, {{0, 0}}, {{0, 3}, {0, 1}, {0, 2}}, {{0, 4}, {0, 5}});
  EXPECT_TRUE(isWithinWarp(src, rotated));
  expectPlanMoves(src, rotated);
  EXPECT_EQ(classifyConversion(src, rotated), ConversionKind::Shuffle);
  EXPECT_FALSE(getShufflePlan(src, rotated)->isButterfly());

  // The destination replicates what the lanes of the source hold apart: all
  // gather, by flipping lane bits.
  LinearLayout gathered = LinearLayout::fromBits(
      {64}, {{0, 0}, {0, 1}}, {BitTarget::replicated(), {0, 2}, {0, 3}},
      {{0, 4}, {0, 5}});
  expectPlanMoves(src, gathered);
  EXPECT_EQ(classifyConversion(src, gathered), ConversionKind::Shuffle);

  // Lanes that depend on the warp.
  LinearLayout skewed = *LinearLayout::fromBases({64}, {{1}}, {{2}, {4}, {8}},
                                                 {{16 + 2}, {32 + 8}});
  expectPlanMoves(src, skewed);

  // A flip of lanes per register is a butterfly.
  LinearLayout flipped =
      *LinearLayout::fromBases({64}, {{1 + 8}}, {{2}, {4}, {8}}, {{16}, {32}});
  expectPlanMoves(src, flipped);
  EXPECT_TRUE(getShufflePlan(src, flipped)->isButterfly());
}

TEST(LayoutConversion, TransposeWithinAWarpNeedsMoreThanOneShuffle) {
  // Register and lane bits trade places: lanes choose registers at run time.
  LinearLayout src =
      LinearLayout::fromBits({4, 4}, {{1, 0}, {1, 1}}, {{0, 0}, {0, 1}}, {});
  LinearLayout dst = src.permuteDims({1, 0});
  EXPECT_TRUE(isWithinWarp(src, dst));
  EXPECT_FALSE(getShufflePlan(src, dst));
  EXPECT_EQ(classifyConversion(src, dst), ConversionKind::Shared);
}

TEST(LayoutConversion, AcrossWarpsIsShared) {
  LinearLayout src = getBlockedLayout({32, 128}, {1, 0}, 4, 32, 4);
  LinearLayout dst = getBlockedLayout({32, 128}, {0, 1}, 4, 32, 4);
  EXPECT_FALSE(isWithinWarp(src, dst));
  EXPECT_EQ(classifyConversion(src, dst), ConversionKind::Shared);
  // Other numbers of warps: through shared memory too.
  EXPECT_EQ(
      classifyConversion(src, getBlockedLayout({32, 128}, {1, 0}, 4, 32, 8)),
      ConversionKind::Shared);
}

TEST(LayoutConversion, BetweenBlocksIsUnsupported) {
  LinearLayout src = LinearLayout::fromBits({4}, {{0, 0}}, {}, {}, {{0, 1}});
  LinearLayout dst = LinearLayout::fromBits({4}, {{0, 1}}, {}, {}, {{0, 0}});
  EXPECT_EQ(classifyConversion(src, dst), ConversionKind::Unsupported);
  // Elements that the source lacks.
  LinearLayout part = LinearLayout::fromBits({4}, {{0, 0}}, {}, {});
  LinearLayout whole = LinearLayout::fromBits({4}, {{0, 0}, {0, 1}}, {}, {});
  EXPECT_EQ(classifyConversion(part, whole), ConversionKind::Unsupported);
}

TEST(LayoutConversion, BroadcastRegisterMap) {
  LinearLayout parent = getMmaM64NAccumulatorLayout(32);
  LayoutProjection rows = parent.project({0});
  EXPECT_EQ(getBroadcastRegisterMap(rows.layout, parent, {0}), rows.regMap);
  // The same with the reduced extent kept as 1.
  LinearLayout keptUnit = rows.layout.expandDim(1);
  EXPECT_EQ(getBroadcastRegisterMap(keptUnit, parent, {0, 1}), rows.regMap);
  LayoutProjection columns = parent.project({1});
  std::optional<RegisterMap> map =
      getBroadcastRegisterMap(columns.layout, parent, {1});
  ASSERT_TRUE(map);
  for (unsigned warp = 0; warp != 4; ++warp)
    for (unsigned lane = 0; lane != 32; ++lane)
      for (unsigned reg = 0; reg != parent.numRegs(); ++reg)
        EXPECT_EQ(columns.layout.elementOf((*map)[reg], lane, warp)[0],
                  parent.elementOf(reg, lane, warp)[1]);
  // A row vector spread over the lanes another way does not broadcast in place.
  LinearLayout other = getBlockedLayout({64}, {0}, 1, 32, 4);
  EXPECT_FALSE(getBroadcastRegisterMap(other, parent, {0}));
}

/// Simulates the reduction (sum of element numbers + 1) with the bits claimed
/// and compares every place with the true sum.
void expectReduces(const LinearLayout &layout, unsigned dim) {
  std::optional<ReductionBits> bits = getReductionBits(layout, dim);
  ASSERT_TRUE(bits) << layout.str();
  LinearLayout result = layout.sliceDim(dim);
  llvm::SmallVector<RegisterMap, 4> groups =
      getReductionRegisterGroups(layout, dim, *bits);
  ASSERT_EQ(groups.size(), result.numRegs());

  std::map<uint64_t, uint64_t> expected;
  llvm::SmallVector<unsigned, 4> kept;
  for (unsigned i = 0; i != layout.rank(); ++i)
    if (i != dim)
      kept.push_back(i);
  LinearLayout projected = layout.selectDims(kept);
  for (uint64_t element = 0; element != uint64_t(layout.numElements());
       ++element) {
    Coords coords = layout.delinearize(element), rest;
    for (unsigned i : kept)
      rest.push_back(coords[i]);
    expected[projected.linearize(rest)] += element + 1;
  }

  // values[reg][warp][lane] after the registers of each thread combined.
  auto at = [&](unsigned reg, unsigned lane, unsigned warp) {
    return (reg * layout.numWarps() + warp) * layout.numLanes() + lane;
  };
  std::vector<uint64_t> values(groups.size() * layout.numLanes() *
                               layout.numWarps());
  for (unsigned warp = 0; warp != layout.numWarps(); ++warp)
    for (unsigned lane = 0; lane != layout.numLanes(); ++lane)
      for (auto [child, group] : llvm::enumerate(groups))
        for (unsigned reg : group)
          values[at(child, lane, warp)] +=
              layout.linearElementOf({reg, lane, warp}) + 1;
  auto butterfly = [&](unsigned laneMask, unsigned warpMask) {
    std::vector<uint64_t> next = values;
    for (unsigned warp = 0; warp != layout.numWarps(); ++warp)
      for (unsigned lane = 0; lane != layout.numLanes(); ++lane)
        for (unsigned child = 0; child != groups.size(); ++child)
          next[at(child, lane, warp)] +=
              values[at(child, lane ^ laneMask, warp ^ warpMask)];
    values = next;
  };
  for (unsigned bit = 0; bit != 5; ++bit) {
    if (bits->laneMask >> bit & 1)
      butterfly(1u << bit, 0);
    if (bits->warpMask >> bit & 1)
      butterfly(0, 1u << bit);
  }
  for (unsigned warp = 0; warp != layout.numWarps(); ++warp)
    for (unsigned lane = 0; lane != layout.numLanes(); ++lane)
      for (unsigned child = 0; child != groups.size(); ++child)
        ASSERT_EQ(values[at(child, lane, warp)],
                  expected[result.linearElementOf({child, lane, warp})])
            << layout.str();
}

TEST(LayoutConversion, ReductionsCombineEachElementOnce) {
  for (const LinearLayout &layout :
       {getBlockedLayout({16, 64}, {1, 0}, 4, 32, 4),
        getBlockedLayout({16, 64}, {0, 1}, 4, 32, 4),
        getBlockedLayout({2, 4}, {1, 0}, 2, 32, 4),
        getBlockedLayout({4, 256}, {1, 0}, 4, 32, 4, {1, 32}, {4, 1}),
        getMmaM64NAccumulatorLayout(64), getMma16816AccumulatorLayout(),
        // Replicating registers; lane bits that repeat or combine others; one
        // that moves along both dims while others cover dim 1 alone.
        *LinearLayout::fromBases({4, 8}, {{0, 1}, {0, 0}, {0, 1}},
                                 {{0, 2}, {1, 0}, {0, 3}, {0, 4}}, {{2, 0}}),
        *LinearLayout::fromBases({4, 8}, {{0, 1}},
                                 {{0, 2}, {1, 5}, {0, 0}, {0, 4}}, {{2, 0}})})
    expectReduces(layout, 1);
  for (unsigned dim : {0u, 1u, 2u})
    expectReduces(getBlockedLayout({8, 16, 4}, {2, 1, 0}, 2, 32, 4), dim);
}

TEST(LayoutConversion, ReductionBitsByLevel) {
  LinearLayout rowPerWarp =
      getBlockedLayout({4, 256}, {1, 0}, 4, 32, 4, {1, 32}, {4, 1});
  std::optional<ReductionBits> bits = getReductionBits(rowPerWarp, 1);
  ASSERT_TRUE(bits);
  EXPECT_EQ(bits->regMask, 0b111u);
  EXPECT_EQ(bits->laneMask, 31u);
  EXPECT_TRUE(bits->isWithinWarp());
  EXPECT_FALSE(bits->isWithinThread());
  bits = getReductionBits(rowPerWarp, 0);
  EXPECT_EQ(bits->warpMask, 3u);
  EXPECT_EQ(bits->regMask | bits->laneMask, 0u);
}

TEST(LayoutConversion, RowMaximumOfAnAccumulatorIsTwoShuffles) {
  std::optional<ReductionBits> bits =
      getReductionBits(getMmaM64NAccumulatorLayout(64), 1);
  ASSERT_TRUE(bits);
  EXPECT_EQ(bits->regMask, 0b11101u);
  EXPECT_EQ(bits->laneMask, 0b11u);
  EXPECT_TRUE(bits->isWithinWarp());
}

TEST(LayoutConversion, SwizzledLayoutsAreRefused) {
  LinearLayout swizzled =
      *LinearLayout::fromBases({2, 2}, {{1, 1}}, {{0, 1}}, {});
  EXPECT_FALSE(getReductionBits(swizzled, 0));
  EXPECT_TRUE(getReductionBits(swizzled, 1));
  expectReduces(swizzled, 1);
}

/// Compares every answer about a pair of layouts with a search of all places.
void expectAnalysesHold(const LinearLayout &src, const LinearLayout &dst) {
  bool sameWarp = true;
  for (unsigned warp = 0; warp != dst.numWarps(); ++warp) {
    std::set<uint64_t> inWarp;
    for (unsigned lane = 0; lane != src.numLanes(); ++lane)
      for (unsigned reg = 0; reg != src.numRegs(); ++reg)
        inWarp.insert(src.linearElementOf({reg, lane, warp}));
    for (unsigned lane = 0; lane != dst.numLanes(); ++lane)
      for (unsigned reg = 0; reg != dst.numRegs(); ++reg)
        sameWarp &= inWarp.count(dst.linearElementOf({reg, lane, warp})) != 0;
  }
  auto holdsEverywhere = [&](unsigned srcReg, unsigned dstReg) {
    for (unsigned warp = 0; warp != dst.numWarps(); ++warp)
      for (unsigned lane = 0; lane != dst.numLanes(); ++lane)
        if (src.linearElementOf({srcReg, lane, warp}) !=
            dst.linearElementOf({dstReg, lane, warp}))
          return false;
    return true;
  };
  bool sameThread = true;
  std::optional<RegisterMap> regs = getRegisterMap(src, dst);
  for (unsigned dstReg = 0; dstReg != dst.numRegs(); ++dstReg) {
    bool found = false;
    for (unsigned srcReg = 0; srcReg != src.numRegs(); ++srcReg)
      found |= holdsEverywhere(srcReg, dstReg);
    sameThread &= found;
    if (regs)
      EXPECT_TRUE(holdsEverywhere((*regs)[dstReg], dstReg));
  }
  EXPECT_EQ(regs.has_value(), sameThread) << src.str() << " -> " << dst.str();
  EXPECT_EQ(isWithinWarp(src, dst), sameWarp)
      << src.str() << " -> " << dst.str();
  if (getShufflePlan(src, dst)) {
    expectPlanMoves(src, dst);
    EXPECT_TRUE(sameWarp);
  }
  EXPECT_TRUE(!regs || getShufflePlan(src, dst));
  if (getBitShufflePlan(src, dst))
    expectPlanMovesBits(src, dst);
}

TEST(LayoutConversion, RandomPairs) {
  std::mt19937 random(11);
  std::map<ConversionKind, unsigned> seen;
  for (unsigned trial = 0; trial != 600; ++trial) {
    llvm::SmallVector<int64_t, 2> shape = {int64_t(1) << random() % 3,
                                           int64_t(1) << random() % 4};
    LinearLayout src = randomLayout(random, shape, 2, random() % 2, trial % 2);
    LinearLayout dst =
        randomLayout(random, shape, 2, src.numBits(HwDim::Warp), trial % 2);
    if (trial % 3 == 0) {
      // Other orders of the source's own bits, or cheap conversions would
      // hardly occur.
      auto basesOf = [&](HwDim dim) {
        llvm::SmallVector<Coords, 8> result;
        for (unsigned bit = 0; bit != src.numBits(dim); ++bit)
          result.push_back(src.basis(dim, bit));
        return result;
      };
      auto regs = basesOf(HwDim::Register), lanes = basesOf(HwDim::Lane);
      std::shuffle(regs.begin(), regs.end(), random);
      if (random() % 2)
        std::shuffle(lanes.begin(), lanes.end(), random);
      dst = *LinearLayout::fromBases(shape, regs, lanes, basesOf(HwDim::Warp));
    }
    expectAnalysesHold(src, dst);
    ++seen[classifyConversion(src, dst)];
  }
  for (ConversionKind kind :
       {ConversionKind::Noop, ConversionKind::RegisterPermutation,
        ConversionKind::Shuffle, ConversionKind::Shared})
    EXPECT_GT(seen[kind], 10u) << stringifyConversionKind(kind).str();
}

TEST(LayoutConversion, RandomReductions) {
  std::mt19937 random(13);
  unsigned refused = 0;
  for (unsigned trial = 0; trial != 300; ++trial) {
    LinearLayout layout =
        randomLayout(random, {4, 8, 2}, 3, random() % 3, trial % 2);
    unsigned dim = random() % 3;
    if (getReductionBits(layout, dim))
      expectReduces(layout, dim);
    else
      ++refused;
    // Only layouts that mix dimensions may be refused.
    EXPECT_TRUE(trial % 2 || getReductionBits(layout, dim)) << layout.str();
  }
  EXPECT_GT(refused, 0u);
}

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

TEST(LayoutConversion, ThreadsHoldWhatTheyRepeat) {
  // Two elements of eight columns each: one is a register, one a lane.
  LinearLayout layout = LinearLayout::fromBits(
      {4, 16}, {{1, 0}, {1, 3}}, {{1, 1}, {1, 2}, {0, 0}, {0, 1}}, {});
  LinearLayout once = getRepeatedLayout(layout, 1, 2);
  EXPECT_EQ(once.shape(), (llvm::SmallVector<int64_t, 4>{4, 4}));
  EXPECT_EQ(once.numRegs(), 2u);
  std::optional<RegisterMap> map = getRepeatRegisterMap(once, layout, 1, 2);
  ASSERT_TRUE(map);
  for (unsigned lane = 0; lane != layout.numLanes(); ++lane)
    for (unsigned reg = 0; reg != layout.numRegs(); ++reg) {
      Coords at = layout.elementOf(reg, lane, 0);
      EXPECT_EQ(once.elementOf((*map)[reg], lane, 0),
                (Coords{at[0], at[1] / 4}));
    }
  // Another thread has it.
  LinearLayout other = LinearLayout::fromBits(
      {4, 4}, {{1, 1}}, {{1, 0}, {0, 0}, {0, 1}, BitTarget::replicated()}, {});
  EXPECT_FALSE(getRepeatRegisterMap(other, layout, 1, 2));
}

} // namespace
