//===- BufferPlanTest.cpp - Tests of the workspace planner ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fusion/Executable/BufferPlan.h"
#include "SamplePackage.h"

#include <gtest/gtest.h>
#include <random>

using namespace fusionpkg;

/// Whether no two blocks that live together share a byte, and all lie inside
/// the workspace at aligned offsets.
static bool isSound(const std::vector<Lifetime> &lives,
                    const BufferPlan &plan) {
  for (size_t i = 0; i < lives.size(); ++i) {
    if (lives[i].bytes == 0)
      continue;
    if (plan.offsets[i] % kWorkspaceAlignment != 0 ||
        plan.offsets[i] + lives[i].bytes > plan.bytes)
      return false;
    for (size_t j = 0; j < i; ++j) {
      bool together =
          lives[i].first <= lives[j].last && lives[j].first <= lives[i].last;
      bool overlap = plan.offsets[i] < plan.offsets[j] + lives[j].bytes &&
                     plan.offsets[j] < plan.offsets[i] + lives[i].bytes;
      if (together && overlap && lives[j].bytes != 0)
        return false;
    }
  }
  return true;
}

TEST(BufferPlanTest, BlocksThatDoNotMeetShareMemory) {
  // A chain a -> b -> c: a and c never live together.
  std::vector<Lifetime> lives = {{1000, 0, 1}, {1000, 1, 2}, {1000, 2, 3}};
  Result<BufferPlan> plan = planBuffers(lives);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(isSound(lives, *plan));
  EXPECT_EQ(plan->offsets[0], plan->offsets[2]);
  EXPECT_EQ(plan->bytes, 2048);
}

TEST(BufferPlanTest, InputAndOutputOfOneStepDoNotShare) {
  Result<BufferPlan> plan = planBuffers({{256, 0, 3}, {256, 3, 4}});
  ASSERT_TRUE(plan);
  EXPECT_NE(plan->offsets[0], plan->offsets[1]);
}

TEST(BufferPlanTest, RandomPlansAreSoundAndNotWorseThanNoReuse) {
  std::mt19937 rng(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Lifetime> lives;
    int64_t sum = 0;
    for (unsigned i = 0, n = rng() % 24; i < n; ++i) {
      auto first = static_cast<uint32_t>(rng() % 20);
      auto length = static_cast<uint32_t>(rng() % 8);
      lives.push_back({int64_t(rng() % 5000), first, first + length});
      sum += (lives.back().bytes + 255) / 256 * 256;
    }
    Result<BufferPlan> plan = planBuffers(lives);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(isSound(lives, *plan)) << "round " << round;
    EXPECT_LE(plan->bytes, sum);
  }
}

TEST(BufferPlanTest, OverflowIsAnError) {
  EXPECT_EQ(planBuffers({{INT64_MAX, 0, 0}}).getError().getCode(),
            ErrorCode::SizeOverflow);
  EXPECT_EQ(
      planBuffers(
          {{INT64_MAX / 2, 0, 0}, {INT64_MAX / 2, 1, 1}, {INT64_MAX / 2, 2, 2}})
          .getError()
          .getCode(),
      ErrorCode::SizeOverflow);
  EXPECT_EQ(planBuffers({{-1, 0, 0}}).getError().getCode(),
            ErrorCode::SizeOverflow);
}

TEST(BufferPlanTest, LifetimesComeFromTheSteps) {
  PackageModel model = makeSamplePackage();
  const Entry &entry = model.entries[0];
  std::vector<Lifetime> lives = computeLifetimes(entry);
  EXPECT_EQ(lives[6].first, 0u); // the fill
  EXPECT_EQ(lives[6].last, 2u);  // the second launch
  EXPECT_EQ(lives[5].first, 3u); // the copy's destination

  int64_t m = 5;
  ExprValues values(entry.exprs.getNodes(), &m, 1);
  Result<BufferPlan> plan = planWorkspace(entry, values);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->offsets[6], 0);
  EXPECT_EQ(plan->offsets[0], -1);
  EXPECT_EQ(plan->bytes, 2560); // 5 * 128 * 4
}

/// A chain of copies through three temporaries; the last reads the first again.
static Entry makeChain() {
  Entry entry;
  entry.name = "chain";
  for (const char *name : {"a", "b", "c"}) {
    Buffer buffer;
    buffer.kind = BufferKind::Temp;
    buffer.name = name;
    entry.buffers.push_back(buffer);
  }
  for (auto [src, dst] : {std::pair(0, 1), std::pair(1, 2), std::pair(0, 2)}) {
    Step step;
    step.kind = StepKind::Copy;
    step.src = src, step.dst = dst;
    entry.steps.push_back(step);
  }
  return entry;
}

TEST(BufferPlanTest, ChecksPlansByWalkingTheSteps) {
  Entry entry = makeChain();
  std::vector<int64_t> bytes(3, 512);
  EXPECT_FALSE(checkPlan(entry, bytes, {{0, 512, 1024}, 1536}));
  // The source and the destination of a step.
  EXPECT_EQ(checkPlan(entry, bytes, {{0, 256, 1024}, 1536}).getCode(),
            ErrorCode::WorkspaceOverlap);
  // One that is needed again, though the steps that write are apart.
  EXPECT_EQ(checkPlan(entry, bytes, {{0, 512, 0}, 1024}).getCode(),
            ErrorCode::WorkspaceOverlap);
  entry.steps.pop_back();
  EXPECT_FALSE(checkPlan(entry, bytes, {{0, 512, 0}, 1024}));
  // What is empty is nowhere.
  bytes[1] = 0;
  EXPECT_FALSE(checkPlan(entry, bytes, {{0, 0, 512}, 1024}));
}
