//===- FewRowsCostTest.cpp - Tests of schedules for few rows --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file holds the schedules for products with few rows to what the lowering
// and the chip need of them.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/FewRowsCost.h"
#include "gtest/gtest.h"

using namespace mlir::fusion;

namespace {

MmaProblem decode(int64_t rows, int64_t columns, int64_t depth, int64_t bits,
                  bool transposed = false) {
  MmaProblem problem;
  problem.rows = rows;
  problem.columns = columns;
  problem.depth = depth;
  problem.storedBits[1] = bits;
  problem.transposed[1] = transposed;
  return problem;
}

const TargetInfo &chip() { return *lookupTarget("sm_90a"); }

TEST(FewRowsCost, SchedulesFitTheChip) {
  for (int64_t rows : {1, 5, 16, 32})
    for (int64_t bits : {4, 8, 16})
      for (bool transposed : {false, true}) {
        MmaProblem problem = decode(rows, 8192, 8192, bits, transposed);
        auto configs = getFewRowsConfigs(problem, chip());
        ASSERT_FALSE(configs.empty());
        double last = 0;
        for (const MmaConfig &config : configs) {
          EXPECT_GE(config.stages, 2);
          EXPECT_EQ(config.depth % (config.warps * 16), 0);
          int64_t stage =
              (config.rows * 16 + config.columns * bits) * config.depth / 8;
          EXPECT_LE(config.stages * stage, chip().maxSharedPerBlock);
          // The cheapest first.
          double seconds = getFewRowsSeconds(problem, config, chip());
          EXPECT_GE(seconds, last);
          last = seconds;
        }
      }
}

TEST(FewRowsCost, IsForFewRowsOnly) {
  EXPECT_TRUE(getFewRowsConfigs(decode(65, 8192, 8192, 8), chip()).empty());
  EXPECT_FALSE(getFewRowsConfigs(decode(64, 8192, 8192, 8), chip()).empty());
  EXPECT_TRUE(getFewRowsConfigs(decode(33, 8192, 8192, 16), chip()).empty());
  // Steps deeper than the product, f32 operands, two sums.
  EXPECT_TRUE(getFewRowsConfigs(decode(16, 8192, 64, 8), chip()).empty());
  MmaProblem wide = decode(16, 8192, 8192, 32);
  wide.elementBits = 32;
  EXPECT_TRUE(getFewRowsConfigs(wide, chip()).empty());
  MmaProblem gated = decode(16, 8192, 8192, 8);
  gated.sums = 2;
  EXPECT_TRUE(getFewRowsConfigs(gated, chip()).empty());
}

TEST(FewRowsCost, TimeFollowsTheBytes) {
  auto best = [](const MmaProblem &problem) {
    return getFewRowsSeconds(
        problem, getFewRowsConfigs(problem, chip()).front(), chip());
  };
  double int4 = best(decode(16, 8192, 8192, 4)),
         int8 = best(decode(16, 8192, 8192, 8)),
         bf16 = best(decode(16, 8192, 8192, 16));
  EXPECT_LT(int4, int8);
  EXPECT_LT(int8, bf16);
  // Few columns still give blocks to most of the chip.
  MmaProblem narrow = decode(16, 4096, 14336, 16);
  EXPECT_EQ(getFewRowsConfigs(narrow, chip()).front().columns, 32);
}

} // namespace
