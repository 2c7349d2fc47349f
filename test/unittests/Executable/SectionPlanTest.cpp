//===- SectionPlanTest.cpp - Tests of launches in sections ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fusion/Executable/SectionPlan.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace fusionpkg;

namespace {

/// An entry of copies alone, built buffer by buffer.
struct Program {
  Entry entry;
  std::vector<int64_t> bytes;
  std::vector<bool> isReleased;

  uint32_t add(BufferKind kind, int64_t size) {
    Buffer buffer;
    buffer.kind = kind;
    if (kind == BufferKind::Input) {
      buffer.index = static_cast<uint32_t>(entry.inputs.size());
      entry.inputs.emplace_back();
      isReleased.push_back(true);
    } else if (kind == BufferKind::Output) {
      buffer.index = static_cast<uint32_t>(entry.outputs.size());
      entry.outputs.emplace_back();
    }
    entry.buffers.push_back(buffer);
    bytes.push_back(size);
    return static_cast<uint32_t>(bytes.size() - 1);
  }
  void copy(uint32_t src, uint32_t dst) {
    Step step;
    step.kind = StepKind::Copy;
    step.src = src;
    step.dst = dst;
    entry.steps.push_back(step);
  }
  SectionPlan plan(int64_t workspace = 0, int64_t leastGain = 0) const {
    Result<SectionPlan> made =
        planSections(entry, bytes, isReleased, workspace, leastGain);
    EXPECT_TRUE(made);
    return made ? *made : SectionPlan();
  }
  /// What the neediest step needs, counted step by step.
  int64_t countNeediest() const {
    std::vector<Lifetime> lives = computeLifetimes(entry);
    int64_t most = 0;
    for (uint32_t step = 0; step < entry.steps.size(); ++step) {
      int64_t now = 0;
      for (size_t i = 0; i < lives.size(); ++i) {
        bool isUsed = lives[i].first <= lives[i].last;
        bool isOutput = entry.buffers[i].kind == BufferKind::Output;
        bool isInput = entry.buffers[i].kind == BufferKind::Input;
        if (isInput && !isReleased[entry.buffers[i].index])
          continue;
        bool isBegun = isInput || !isUsed || lives[i].first <= step;
        bool isNeeded = isOutput || (isUsed && step <= lives[i].last);
        now += isBegun && isNeeded ? bytes[i] : 0;
      }
      most = std::max(most, now);
    }
    return most;
  }
};

/// Two inputs, each copied to an output, one after the other.
Program makeTwoCopies() {
  Program program;
  uint32_t a = program.add(BufferKind::Input, 1024);
  uint32_t b = program.add(BufferKind::Input, 1024);
  uint32_t x = program.add(BufferKind::Output, 1024);
  uint32_t y = program.add(BufferKind::Output, 1024);
  program.copy(a, x);
  program.copy(b, y);
  return program;
}

} // namespace

TEST(SectionPlanTest, OutputsComeAndInputsGo) {
  SectionPlan plan = makeTwoCopies().plan();
  EXPECT_EQ(plan.firstSteps, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(plan.bytes, 3 * 1024);
  EXPECT_EQ(plan.wholeBytes, 4 * 1024);
  EXPECT_EQ(plan.uses[0].last, 0u);
  EXPECT_EQ(plan.uses[3].first, 1u);
  EXPECT_EQ(plan.uses[2].last, 1u); // an output stays
}

TEST(SectionPlanTest, NothingIsGainedWhereInputsStay) {
  Program program = makeTwoCopies();
  program.isReleased = {false, false};
  SectionPlan plan = program.plan();
  EXPECT_EQ(plan.firstSteps.size(), 1u);
  EXPECT_EQ(plan.bytes, plan.wholeBytes);
}

TEST(SectionPlanTest, InputsThatAreOverwrittenStay) {
  Program program = makeTwoCopies();
  program.entry.outputs.emplace_back();
  program.entry.outputs.back().overwrites = 0;
  EXPECT_EQ(program.plan().wholeBytes, 3 * 1024);
}

TEST(SectionPlanTest, SmallGainsAreNotWorthIt) {
  Program program = makeTwoCopies();
  EXPECT_EQ(program.plan(0, 1024).firstSteps.size(), 2u);
  SectionPlan whole = program.plan(0, 1025);
  EXPECT_EQ(whole.firstSteps.size(), 1u);
  EXPECT_EQ(whole.uses[3].first, 0u);
  // What is gained is for all sections but the first together.
  uint32_t c = program.add(BufferKind::Input, 1024);
  program.copy(c, program.add(BufferKind::Output, 1024));
  EXPECT_EQ(program.plan().firstSteps.size(), 3u);
  EXPECT_EQ(program.plan(0, 1024).firstSteps.size(), 3u);
  EXPECT_EQ(program.plan(0, 1025).firstSteps.size(), 1u);
}

TEST(SectionPlanTest, StepsThatNeedLessShareASection) {
  Program program;
  uint32_t large = program.add(BufferKind::Input, 8192);
  uint32_t small = program.add(BufferKind::Output, 256);
  program.copy(large, small);
  // From here on the large one is gone: what comes together needs no more.
  for (int i = 0; i < 8; ++i)
    program.copy(small, program.add(BufferKind::Output, 1024));
  EXPECT_EQ(program.plan().firstSteps, (std::vector<uint32_t>{0, 1}));
}

TEST(SectionPlanTest, TemporariesOfTheSameSectionsShareABlock) {
  Program program;
  uint32_t in = program.add(BufferKind::Input, 4096);
  uint32_t a = program.add(BufferKind::Temp, 1000);
  uint32_t b = program.add(BufferKind::Temp, 1000);
  uint32_t c = program.add(BufferKind::Temp, 1000);
  uint32_t out = program.add(BufferKind::Output, 8192);
  program.copy(in, a);
  program.copy(a, b);
  program.copy(b, c);
  program.copy(c, out);
  SectionPlan plan = program.plan(2048);
  ASSERT_EQ(plan.firstSteps, (std::vector<uint32_t>{0, 3}));
  // a and b are there in the first section alone, c in both.
  EXPECT_EQ(plan.blockOf[a], plan.blockOf[b]);
  EXPECT_NE(plan.blockOf[a], plan.blockOf[c]);
  EXPECT_NE(plan.offsets[a], plan.offsets[b]);
  EXPECT_EQ(plan.blockOf[in], UINT32_MAX);
}

TEST(SectionPlanTest, SignalsHaveABlockFromBeginningToEnd) {
  Program program = makeTwoCopies();
  uint32_t signals = program.add(BufferKind::Signals, kSignalBytes);
  SectionPlan plan = program.plan();
  ASSERT_EQ(plan.blocks.size(), 1u);
  EXPECT_EQ(plan.blockOf[signals], 0u);
  EXPECT_EQ(plan.blocks[0].bytes, kSignalBytes);
  EXPECT_EQ(plan.blocks[0].last + 1, plan.firstSteps.size());
}

TEST(SectionPlanTest, AnEntryWithoutStepsHasOneSection) {
  Program program;
  program.add(BufferKind::Output, 0);
  EXPECT_EQ(program.plan().firstSteps, std::vector<uint32_t>{0});
}

TEST(SectionPlanTest, OverflowIsAnError) {
  Program program = makeTwoCopies();
  program.bytes[0] = program.bytes[1] = INT64_MAX / 2 + 1;
  EXPECT_EQ(planSections(program.entry, program.bytes, program.isReleased, 0, 0)
                .getError()
                .getCode(),
            ErrorCode::SizeOverflow);
}

/// No section may need more than the neediest step, what a step names must be
/// there, and blocks must keep what lives together apart.
TEST(SectionPlanTest, RandomPlansNeedNoMoreThanTheNeediestStep) {
  std::mt19937 rng(11);
  unsigned numDivided = 0;
  for (int round = 0; round < 300; ++round) {
    Program program;
    for (unsigned i = 0, n = 2 + rng() % 20; i < n; ++i) {
      const BufferKind kinds[] = {BufferKind::Input, BufferKind::Output,
                                  BufferKind::Temp};
      program.add(kinds[rng() % 3], int64_t(rng() % 40) * 256);
    }
    auto count = static_cast<unsigned>(program.bytes.size());
    for (unsigned i = 0, n = 1 + rng() % 30; i < n; ++i)
      program.copy(rng() % count, rng() % count);
    for (size_t i = 0; i < program.isReleased.size(); ++i)
      program.isReleased[i] = rng() % 2;
    SectionPlan plan = program.plan(1 << 20);
    numDivided += plan.firstSteps.size() > 1;
    if (plan.firstSteps.size() > 1)
      EXPECT_LE(plan.bytes, program.countNeediest()) << "round " << round;

    std::vector<Lifetime> lives = computeLifetimes(program.entry);
    std::vector<Lifetime> temps;
    for (uint32_t i = 0; i < count; ++i) {
      const Lifetime &use = plan.uses[i];
      if (lives[i].first > lives[i].last)
        continue;
      EXPECT_LE(plan.firstSteps[use.first], lives[i].first);
      if (use.last + 1 < plan.firstSteps.size())
        EXPECT_GT(plan.firstSteps[use.last + 1], lives[i].last);
      if (program.entry.buffers[i].kind != BufferKind::Temp ||
          program.bytes[i] == 0)
        continue;
      const Lifetime &block = plan.blocks[plan.blockOf[i]];
      EXPECT_LE(block.first, use.first);
      EXPECT_GE(block.last, use.last);
      EXPECT_LE(plan.offsets[i] + program.bytes[i], block.bytes);
      for (uint32_t j = 0; j < i; ++j) {
        if (program.entry.buffers[j].kind != BufferKind::Temp ||
            program.bytes[j] == 0 || lives[j].first > lives[i].last ||
            lives[i].first > lives[j].last ||
            plan.blockOf[i] != plan.blockOf[j])
          continue;
        EXPECT_TRUE(plan.offsets[i] + program.bytes[i] <= plan.offsets[j] ||
                    plan.offsets[j] + program.bytes[j] <= plan.offsets[i]);
      }
    }
  }
  EXPECT_GT(numDivided, 100u);
}
