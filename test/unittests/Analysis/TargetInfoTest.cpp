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
#include "fusion/Support/DefaultChip.h"
#include "gtest/gtest.h"
#include <cmath>
#include <set>
#include <string>

using namespace mlir::fusion;

namespace {

TEST(TargetInfoTest, FindsEveryChipByName) {
  for (const char *name :
       {"sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100",
        "sm_100a", "sm_103", "sm_110", "sm_120", "sm_121"}) {
    const TargetInfo *target = lookupTarget(name);
    ASSERT_NE(target, nullptr) << name;
    EXPECT_EQ(target->name.str(), name);
  }
  EXPECT_EQ(getKnownTargets().size(), 12u);
}

TEST(TargetInfoTest, UnknownChipIsAnErrorThatListsTheNames) {
  llvm::Expected<const TargetInfo *> target = getTarget("sm_37");
  ASSERT_FALSE(bool(target));
  std::string text = llvm::toString(target.takeError());
  EXPECT_EQ(text, "FUS-2001: unknown target 'sm_37'; the nearest known one is "
                  "sm_80; known targets: sm_80, sm_86, sm_87, sm_89, sm_90, "
                  "sm_90a, sm_100, sm_100a, sm_103, sm_110, sm_120, sm_121");
  // Names are exact: nothing close is taken for another.
  EXPECT_EQ(lookupTarget("sm_90A"), nullptr);
  EXPECT_EQ(lookupTarget(""), nullptr);
}

TEST(TargetInfoTest, NamesTheNearestChip) {
  auto nearest = [](llvm::StringRef name) {
    std::string text = llvm::toString(getTarget(name).takeError());
    llvm::StringRef rest = llvm::StringRef(text).split("known one is ").second;
    return rest.split(';').first.str();
  };
  // The newest that is no newer, with the suffix that was asked for.
  EXPECT_EQ(nearest("sm_88"), "sm_87");
  EXPECT_EQ(nearest("sm_90b"), "sm_90");
  EXPECT_EQ(nearest("sm_103a"), "sm_103");
  EXPECT_EQ(nearest("sm_75"), "sm_80");
  EXPECT_EQ(nearest("sm90a"), "sm_90a");
  EXPECT_EQ(nearest("SM_86"), "sm_86");
}

TEST(TargetInfoTest, FindsCodeForEveryDevice) {
  auto find = [](int major, int minor) {
    const TargetInfo *target = findTargetFor(major, minor);
    return target ? target->name.str() : std::string();
  };
  EXPECT_EQ(find(8, 0), "sm_80");
  EXPECT_EQ(find(8, 7), "sm_87");
  EXPECT_EQ(find(8, 8), "sm_87");
  EXPECT_EQ(find(9, 0), "sm_90a");
  EXPECT_EQ(find(10, 0), "sm_100a");
  EXPECT_EQ(find(10, 3), "sm_103");
  EXPECT_EQ(find(11, 0), "sm_110");
  EXPECT_EQ(find(12, 1), "sm_121");
  EXPECT_EQ(find(13, 0), "sm_121");
  // No code is for chips before sm_80.
  EXPECT_EQ(find(7, 5), "");
}

TEST(TargetInfoTest, SingleWarpsReachWhatTheyDoOnOtherChips) {
  EXPECT_EQ(lookupTarget("sm_80")->fitted.rates.warpProductShare, 1);
  EXPECT_EQ(lookupTarget("sm_121")->fitted.rates.warpProductShare, 1);
  // Without warpgroups a chip is no faster for having them.
  EXPECT_DOUBLE_EQ(lookupTarget("sm_90")->fitted.rates.warpProductShare, 0.6);
  EXPECT_NEAR(lookupTarget("sm_100")->fitted.rates.warpProductShare, 0.29,
              0.01);
}

TEST(TargetInfoTest, SaysWhichInstructionsThereAre) {
  // A chip's own instructions come with its own name only.
  EXPECT_TRUE(lookupTarget("sm_90a")->hasWarpgroups);
  EXPECT_FALSE(lookupTarget("sm_90")->hasWarpgroups);
  EXPECT_FALSE(lookupTarget("sm_100a")->hasWarpgroups);
  EXPECT_FALSE(lookupTarget("sm_89")->hasWaitingBarriers);
  EXPECT_TRUE(lookupTarget("sm_90")->hasWaitingBarriers);
  EXPECT_FALSE(lookupTarget("sm_87")->hasFloat8Products);
  EXPECT_TRUE(lookupTarget("sm_89")->hasFloat8Products);
  EXPECT_TRUE(lookupTarget("sm_121")->hasFloat8Products);
}

TEST(TargetInfoTest, MeasuredFiguresOfTheDefault) {
  const TargetInfo &target = getDefaultTarget();
  EXPECT_EQ(target.name.str(), kDefaultChip.str());
  EXPECT_EQ(target.numSMs, 132);
  EXPECT_EQ(target.l2Bytes, 60 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(target.fitted.rates.dramBytesPerSecond, 4.38e12);
  EXPECT_DOUBLE_EQ(target.fitted.rates.tensorFlopsPerSecond, 802e12);
  // 132 SMs, 128 multiply-adds a clock, 1.98 GHz.
  EXPECT_NEAR(target.fp32FlopsPerSecond(), 66.9e12, 0.1e12);
}

TEST(TargetInfoTest, TableIsConsistent) {
  for (const TargetInfo &target : getKnownTargets()) {
    SCOPED_TRACE(target.name.str());
    EXPECT_GT(target.numSMs, 0);
    EXPECT_EQ(target.registersPerSM, 65536);
    EXPECT_EQ(target.maxRegistersPerThread, 255);
    EXPECT_LE(target.maxThreadsPerBlock, target.maxThreadsPerSM);
    // The programming guide: a block may opt in to all but one kilobyte.
    EXPECT_EQ(target.sharedPerSM - target.maxSharedPerBlock,
              target.reservedSharedPerBlock);
    // Faster levels are nearer.
    EXPECT_GT(target.l2BytesPerSecond(),
              target.fitted.rates.dramBytesPerSecond);
    EXPECT_GT(target.sharedBytesPerSecond(), target.l2BytesPerSecond());
    EXPECT_GT(target.fitted.rates.tensorFlopsPerSecond,
              target.fp32FlopsPerSecond());
    EXPECT_GE(target.fp32FlopsPerSecond(), target.fp64FlopsPerSecond());
  }
}

TEST(TargetInfoTest, AllFittedConstantsAreSet) {
  for (const TargetInfo &target : getKnownTargets()) {
    SCOPED_TRACE(target.name.str());
    std::set<std::string> names;
    target.fitted.visit(
        [&](llvm::StringRef group, llvm::StringRef name, double value) {
          SCOPED_TRACE((group + "." + name).str());
          EXPECT_GT(value, 0);
          EXPECT_TRUE(std::isfinite(value));
          EXPECT_TRUE(names.insert((group + "." + name).str()).second);
        });
    EXPECT_GT(names.size(), 100u);
  }
}

TEST(TargetInfoTest, FittedSharesAreShares) {
  for (const TargetInfo &target : getKnownTargets()) {
    const FittedConstants &fitted = target.fitted;
    for (double share :
         {fitted.kernels.overlap, fitted.kernels.keptInL2,
          fitted.kernels.finishedShare, fitted.kernels.joinedShare,
          fitted.kernels.relativeShare, fitted.loops.walkingShare,
          fitted.loops.runningShare, fitted.scans.busyShare,
          fitted.windows.exposed, fitted.windows.walkExposed,
          fitted.mma.trafficShare, fitted.kernels.clusterShare,
          fitted.kernels.wideClusterShare, fitted.warpProducts.copiedShare,
          fitted.warpProducts.elementShare, fitted.warpProducts.windowShare,
          fitted.fewRows.shortRowShare, fitted.fewRows.trafficShare})
      EXPECT_LE(share, 1);
    // Larger clusters find less room, and loads of elements are no copies.
    EXPECT_LE(fitted.kernels.wideClusterShare, fitted.kernels.clusterShare);
    EXPECT_LT(fitted.warpProducts.elementShare,
              fitted.warpProducts.copiedShare);
  }
}

TEST(TargetInfoTest, FittedConstantsOfTheDefault) {
  const FittedConstants &fitted = getDefaultTarget().fitted;
  EXPECT_EQ(fitted.part.str(), getDefaultTarget().part.str());
  EXPECT_EQ(fitted.loops.accessInstructions, 8);
  EXPECT_EQ(fitted.reductions.columnTile, 16384);
  EXPECT_DOUBLE_EQ(fitted.mma.startSeconds, 5.06e-6);
}

TEST(TargetInfoTest, FittedConstantsAreSetByName) {
  FittedConstants fitted = getDefaultTarget().fitted;
  EXPECT_FALSE(bool(fitted.set("loops", "accessInstructions", 5.5)));
  EXPECT_EQ(fitted.loops.accessInstructions, 5.5);
  EXPECT_FALSE(bool(fitted.set("reductions", "columnTile", 8192)));
  EXPECT_EQ(fitted.reductions.columnTile, 8192);
  auto refuse = [&](llvm::StringRef group, llvm::StringRef name, double value) {
    return llvm::toString(fitted.set(group, name, value));
  };
  EXPECT_EQ(refuse("loops", "columnTile", 1),
            "there is no constant loops.columnTile");
  EXPECT_EQ(refuse("reductions", "columnTile", 1.5),
            "reductions.columnTile is a whole number, not 1.5");
  EXPECT_EQ(refuse("loops", "walkingShare", 0),
            "loops.walkingShare is a positive number, not 0");
  EXPECT_EQ(refuse("loops", "walkingShare", NAN),
            "loops.walkingShare is a positive number, not nan");
  EXPECT_EQ(fitted.reductions.columnTile, 8192);
}

} // namespace
