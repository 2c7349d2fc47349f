//===- WarpTest.cpp - Instructions that cross lanes -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests shuffles, votes and their kin, also from diverged lanes.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

using namespace fusionemu;

/// Runs `code` in one warp; %a is 100 + lane, the result %d.
static Values warp(const std::string &code) {
  Values a;
  for (unsigned i = 0; i < 32; ++i)
    a.push_back(100 + i);
  return evaluate(code, {32}, {a}, 32);
}

TEST(EmulatorWarp, Shuffles) {
  Values up = warp("shfl.sync.up.b32 %d, %a, 3, 0, -1;");
  Values down = warp("shfl.sync.down.b32 %d, %a, 5, 31, -1;");
  Values bfly = warp("shfl.sync.bfly.b32 %d, %a, 16, 31, -1;");
  Values idx = warp("shfl.sync.idx.b32 %d, %a, 7, 31, -1;");
  Values segments = warp("shfl.sync.idx.b32 %d, %a, 1, 0x181f, -1;");
  Values inRange = warp("shfl.sync.down.b32 %t0|%p0, %a, 5, 31, -1;\n"
                        "selp.u32 %d, %t0, 0, %p0;");
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(up[i], 100 + (i >= 3 ? i - 3 : i));
    EXPECT_EQ(down[i], 100 + (i < 27 ? i + 5 : i));
    EXPECT_EQ(bfly[i], 100 + (i ^ 16));
    EXPECT_EQ(idx[i], 107u);
    EXPECT_EQ(segments[i], 100 + (i / 8 * 8) + 1);
    EXPECT_EQ(inRange[i], i < 27 ? 105 + i : 0);
  }
}

TEST(EmulatorWarp, Votes) {
  std::string odd = "and.b32 %t0, %a, 1; setp.eq.u32 %p0, %t0, 1;\n";
  EXPECT_EQ(warp(odd + "vote.sync.ballot.b32 %d, %p0, -1;")[5], 0xaaaaaaaau);
  EXPECT_EQ(warp(odd + "vote.sync.any.pred %p1, %p0, -1;\n"
                       "selp.u32 %d, 1, 0, %p1;")[0],
            1u);
  EXPECT_EQ(warp(odd + "vote.sync.all.pred %p1, %p0, -1;\n"
                       "selp.u32 %d, 1, 0, %p1;")[0],
            0u);
  EXPECT_EQ(warp(odd + "vote.sync.uni.pred %p1, !%p0, -1;\n"
                       "selp.u32 %d, 1, 0, %p1;")[0],
            0u);
}

TEST(EmulatorWarp, MatchReduceElect) {
  Values any = warp("and.b32 %t0, %a, 3; match.any.sync.b32 %d, %t0, -1;");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(any[i], 0x11111111u << (i & 3));
  EXPECT_EQ(warp("match.all.sync.b32 %d|%p0, %a, -1;")[3], 0u);
  EXPECT_EQ(warp("mov.u32 %t0, 5; match.all.sync.b32 %d|%p0, %t0, -1;")[3],
            0xffffffffu);
  EXPECT_EQ(warp("redux.sync.add.s32 %d, %a, -1;")[9], 32 * 100 + 31 * 16u);
  EXPECT_EQ(warp("redux.sync.max.u32 %d, %a, -1;")[9], 131u);
  EXPECT_EQ(warp("neg.s32 %t0, %a; redux.sync.min.s32 %d, %t0, -1;")[9],
            uint32_t(-131));
  EXPECT_EQ(warp("redux.sync.xor.b32 %d, %a, -1;")[0], 0u);
  Values elected = warp("elect.sync %t0|%p0, -1; selp.u32 %d, 1, 0, %p0;");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(elected[i], i == 0);
}

TEST(EmulatorWarp, DivergedLanesGather) {
  // Both arms reach the shuffle by themselves and must wait for each other.
  Values d = warp(R"(
  and.b32 %t0, %a, 1; setp.eq.u32 %p0, %t0, 1;
  mov.u32 %t1, 0; @%p0 bra ODD;
  add.u32 %t1, %a, 1000;
  bar.warp.sync -1;
  bra NEXT;
ODD: add.u32 %t1, %a, 2000;
  bar.warp.sync -1;
NEXT: shfl.sync.bfly.b32 %d, %t1, 1, 31, -1;)");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(d[i], 100 + (i ^ 1) + ((i ^ 1) & 1 ? 2000 : 1000));
}

TEST(EmulatorWarp, PartialMasks) {
  // Lanes 0-15 shuffle among themselves while the others do something else.
  Values d = warp(R"(
  mov.u32 %t0, %laneid; setp.ge.u32 %p0, %t0, 16; mov.u32 %d, 7;
  @%p0 bra DONE;
  shfl.sync.down.b32 %d, %a, 8, 0x101f, 0xffff;
DONE:)");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(d[i], i >= 16 ? 7 : i < 8 ? 108 + i : 100 + i);
}

TEST(EmulatorWarp, LoopWithLeavingLanes) {
  // Lanes leave a loop one by one and gather behind it for a full shuffle.
  Values d = warp(R"(
  mov.u32 %t0, %laneid; mov.u32 %t1, 0;
LOOP: add.u32 %t1, %t1, 1; setp.lt.u32 %p0, %t1, %t0; @%p0 bra LOOP;
  shfl.sync.bfly.b32 %d, %t1, 31, 31, -1;)");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(d[i], std::max(31 - i, 1u));
}

TEST(EmulatorWarp, SpecialRegisters) {
  Values lanes = warp("mov.u32 %d, %laneid;");
  Values below = warp("mov.u32 %d, %lanemask_lt;");
  Values above = warp("mov.u32 %d, %lanemask_ge;");
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(lanes[i], i);
    EXPECT_EQ(below[i], (1u << i) - 1);
    EXPECT_EQ(above[i], ~((1u << i) - 1));
  }
  Values clock = warp("mov.u64 %l0, %clock64; mov.u64 %l1, %clock64;\n"
                      "sub.u64 %l2, %l1, %l0; cvt.u32.u64 %d, %l2;\n"
                      "min.u32 %d, %d, 1;");
  EXPECT_LE(clock[0], 1u);
}
