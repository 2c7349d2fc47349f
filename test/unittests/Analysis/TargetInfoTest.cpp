//===- TargetInfoTest.cpp - Tests of the table of chips -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the table of known chips and the search in it.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/TargetInfo.h"
#include "gtest/gtest.h"
#include <string>

using namespace mlir::fusion;

namespace {

TEST(TargetInfoTest, FindsEveryChipByName) {
  for (const char *name : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_90a",
                           "sm_100", "sm_100a", "sm_120"}) {
    const TargetInfo *target = lookupTarget(name);
    ASSERT_NE(target, nullptr) << name;
    EXPECT_EQ(target->name.str(), name);
  }
  EXPECT_EQ(getKnownTargets().size(), 8u);
}

TEST(TargetInfoTest, UnknownChipIsAnErrorThatListsTheNames) {
  llvm::Expected<const TargetInfo *> target = getTarget("sm_37");
  ASSERT_FALSE(bool(target));
  std::string text = llvm::toString(target.takeError());
  EXPECT_EQ(text, "FUS-2001: unknown target 'sm_37'; known targets: sm_80, "
                  "sm_86, sm_89, sm_90, sm_90a, sm_100, sm_100a, sm_120");
  // Names are exact: nothing close is taken for another.
  EXPECT_EQ(lookupTarget("sm_90A"), nullptr);
  EXPECT_EQ(lookupTarget(""), nullptr);
}

TEST(TargetInfoTest, MeasuredFiguresOfTheDefault) {
  const TargetInfo &target = getDefaultTarget();
  EXPECT_EQ(target.name.str(), "sm_90a");
  EXPECT_EQ(target.numSMs, 132);
  EXPECT_EQ(target.l2Bytes, 60 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(target.dramBytesPerSecond, 4.38e12);
  EXPECT_DOUBLE_EQ(target.tensorFlopsPerSecond, 802e12);
  // 132 SMs, 128 multiply-adds a clock, 1.98 GHz.
  EXPECT_NEAR(target.fp32FlopsPerSecond, 66.9e12, 0.1e12);
}

TEST(TargetInfoTest, TableIsConsistent) {
  for (const TargetInfo &target : getKnownTargets()) {
    SCOPED_TRACE(target.name.str());
    EXPECT_GT(target.numSMs, 0);
    EXPECT_EQ(target.warpSize, 32);
    EXPECT_EQ(target.registersPerSM, 65536);
    EXPECT_EQ(target.maxRegistersPerThread, 255);
    EXPECT_LE(target.maxThreadsPerBlock, target.maxThreadsPerSM);
    // The programming guide: a block may opt in to all but one kilobyte.
    EXPECT_EQ(target.sharedPerSM - target.maxSharedPerBlock,
              target.reservedSharedPerBlock);
    // Faster levels are nearer.
    EXPECT_GT(target.l2BytesPerSecond, target.dramBytesPerSecond);
    EXPECT_GT(target.sharedBytesPerSecond(), target.l2BytesPerSecond);
    EXPECT_GT(target.tensorFlopsPerSecond, target.fp32FlopsPerSecond);
    EXPECT_GE(target.fp32FlopsPerSecond, target.fp64FlopsPerSecond);
  }
}

} // namespace
