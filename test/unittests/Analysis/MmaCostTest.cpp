//===- MmaCostTest.cpp - Tests of schedules of large products -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file holds the choice among schedules of products whose epilogue reads a
// whole tensor to what was measured (docs/CostModel.md).
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/MmaCost.h"
#include "gtest/gtest.h"

using namespace mlir::fusion;

namespace {

const TargetInfo &chip() { return *lookupTarget("sm_90a"); }

/// bf16 with bias and GELU, and a residual if asked for.
MmaProblem product(int64_t rows, int64_t columns, int64_t depth,
                   bool residual) {
  MmaProblem problem;
  problem.rows = rows;
  problem.columns = columns;
  problem.depth = depth;
  problem.isStatic = true;
  problem.vectors[1] = {2};
  problem.epilogueOps = 10 + residual;
  problem.copiedWrites.push_back({nullptr, 2, 1});
  if (residual) {
    problem.epilogueReadBytes = 2;
    problem.copiedReads.push_back({nullptr, 2, 1});
  }
  return problem;
}

MmaConfig choose(const MmaProblem &problem) {
  return getWgmmaConfigs(problem, chip()).front();
}

TEST(MmaCost, LargeTilesWithResiduals) {
  for (int64_t rows : {4096, 8192}) {
    MmaConfig config = choose(product(rows, 4096, 4096, /*residual=*/true));
    EXPECT_EQ(config.rows, 128);
    EXPECT_EQ(config.columns, 256);
    EXPECT_EQ(config.stages, 3);
    EXPECT_EQ(config.groups, 1);
    EXPECT_EQ(config.chunk, 64);
  }
}

TEST(MmaCost, TurnsWhereTheEpilogueIsLong) {
  for (bool residual : {false, true}) {
    MmaConfig config = choose(product(12608, 3072, 768, residual));
    EXPECT_EQ(config.groups, 2);
    EXPECT_EQ(config.warps, 4);
  }
}

TEST(MmaCost, RowsOfTilesWalkedTogether) {
  for (const MmaConfig &config :
       getWgmmaConfigs(product(4096, 4096, 4096, /*residual=*/false), chip()))
    if (config.multicast == 1) {
      EXPECT_EQ(config.group,
                config.rows == 128 && config.columns == 256 && config.split == 1
                    ? 16
                    : 8);
    }
  // 24 rows of tiles.
  for (const MmaConfig &config :
       getWgmmaConfigs(product(3072, 4096, 4096, /*residual=*/false), chip()))
    EXPECT_LE(config.group, 8);
}

TEST(MmaCost, ThreeStagesOfLargeTiles) {
  MmaProblem problem = product(4096, 4096, 4096, /*residual=*/false);
  auto seconds = [&](int64_t columns, int64_t stages) {
    MmaConfig config;
    config.columns = columns;
    config.stages = stages;
    config.blocks = chip().numSMs;
    return getMmaSeconds(problem, config, chip());
  };
  // A stage's products take longer than the way to its next use, or do not.
  EXPECT_EQ(seconds(256, 3), seconds(256, 4));
  EXPECT_GT(seconds(256, 2), 1.1 * seconds(256, 3));
  EXPECT_GT(seconds(128, 3), 1.1 * seconds(128, 6));
}

} // namespace
