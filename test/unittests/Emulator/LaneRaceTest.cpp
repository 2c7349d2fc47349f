//===- LaneRaceTest.cpp - Planted faults between lanes --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file proves by planted faults that races between the lanes of one warp
// are found, and by their repairs that nothing else is.
//
//===----------------------------------------------------------------------===//

#include "AsyncTestUtils.h"
#include "Machine/Context.h"

using namespace fusionemu;

static constexpr ErrorKind race = ErrorKind::SharedRace;
static const AsyncLaunch oneWarp{{1, 1, 1}, {32, 1, 1}};

static const std::string meet = "bar.warp.sync -1;\n";
static const std::string writeMine = "st.shared.u32 [%my], %t;\n";
static const std::string readMine = "ld.shared.u32 %r1, [%my];\n";
/// The word of the lane whose number differs in the lowest bit, or by 16.
static const std::string readNext =
    "xor.b32 %r2, %my, 4; ld.shared.u32 %r1, [%r2];\n";
static const std::string readFar =
    "xor.b32 %r2, %my, 64; ld.shared.u32 %r1, [%r2];\n";
static const std::string isLow = "setp.lt.u32 %p1, %lane, 16;\n";
static const std::string isFirst = "setp.eq.u32 %p2, %lane, 0;\n";

/// A fault that both modes report, in a block of one warp.
static AsyncFault fault(const char *name, const std::string &faulty,
                        const std::string &repaired,
                        std::vector<std::string> says) {
  return {name, race, race, faulty, repaired, std::move(says), oneWarp};
}

TEST(EmulatorLaneRaces, LoadsAndStores) {
  expectReports({
      fault("a neighbour's word", writeMine + readNext,
            writeMine + meet + readNext,
            {"thread (0,0,0) of block (0,0,0) reads 4 bytes at 0x4 of shared "
             "memory, offset 4 of 'tile', which thread (1,0,0) of the same "
             "warp wrote with no barrier in between"}),
      fault("a barrier of the block", writeMine + readNext,
            writeMine + "bar.sync 0;\n" + readNext, {"thread (1,0,0)"}),
      fault("written before another lane has read",
            writeMine + meet + readNext + writeMine,
            writeMine + meet + readNext + meet + writeMine,
            {"thread (0,0,0)", "writes 4 bytes", "thread (1,0,0)", "read"}),
      fault("two values for one word", "st.shared.u32 [%s], %t;\n",
            "st.shared.u32 [%s], 7;\n" + meet + "st.shared.u32 [%s], 7;\n",
            {"thread (1,0,0)", "writes 4 bytes", "thread (0,0,0)", "wrote"}),
      fault("one after the other",
            isFirst + "@%p2 st.shared.u32 [%s], 5;\n@!%p2 st.shared.u32 [%s], "
                      "6;\n",
            isFirst + "@%p2 st.shared.u32 [%s], 5;\n@!%p2 st.shared.u32 [%s], "
                      "5;\n",
            {"thread (1,0,0)", "writes 4 bytes", "thread (0,0,0)"}),
      fault("half of a vector",
            "shl.b32 %r3, %t, 4; add.u32 %r3, %r3, %s;\n"
            "st.shared.v4.u32 [%r3], {%t, %t, %t, %t};\n"
            "ld.shared.v2.u32 {%r4, %r5}, [%r3+8];\n" +
                readNext,
            "shl.b32 %r3, %t, 4; add.u32 %r3, %r3, %s;\n"
            "st.shared.v4.u32 [%r3], {%t, %t, %t, %t};\n"
            "ld.shared.v2.u32 {%r4, %r5}, [%r3+8];\n" +
                meet + readNext,
            {"thread (1,0,0)", "thread (0,0,0) of the same warp wrote"}),
      fault("written over what all read",
            isFirst + "@%p2 st.shared.u32 [%s], 1;\n" + meet +
                "ld.shared.u32 %r1, [%s];\n@%p2 st.shared.u32 [%s], 2;\n",
            isFirst + "@%p2 st.shared.u32 [%s], 1;\n" + meet +
                "ld.shared.u32 %r1, [%s];\n" + meet +
                "@%p2 st.shared.u32 [%s], 2;\n",
            {"thread (0,0,0)", "writes",
             "thread (1,0,0) of the same warp "
             "read"}),
      fault("a store beside atomics",
            isFirst + "@%p2 st.shared.u32 [%s], 0;\n"
                      "atom.shared.add.u32 %r1, [%s], 1;\n",
            isFirst + "@%p2 st.shared.u32 [%s], 0;\n" + meet +
                "atom.shared.add.u32 %r1, [%s], 1;\n"
                "ld.volatile.shared.u32 %r1, [%s];\n",
            {"updates 4 bytes"}),
      fault("an exchange is no barrier",
            writeMine + "shfl.sync.bfly.b32 %r1, %t, 1, 31, -1;\n" + readNext,
            writeMine + "shfl.sync.bfly.b32 %r1, %t, 1, 31, -1;\n" + meet +
                readNext,
            {"thread (1,0,0)"}),
      fault("through a generic address",
            writeMine + "cvt.u64.u32 %x3, %my; cvta.shared.u64 %x3, %x3;\n"
                        "xor.b64 %x3, %x3, 4; ld.u32 %r1, [%x3];\n",
            writeMine + meet +
                "cvt.u64.u32 %x3, %my; cvta.shared.u64 %x3, %x3;\n"
                "xor.b64 %x3, %x3, 4; ld.u32 %r1, [%x3];\n",
            {"thread (1,0,0)"}),
  });
}

TEST(EmulatorLaneRaces, OwnBytesDoNotRace) {
  const std::string bodies[] = {
      writeMine + readMine + writeMine + readMine,
      // Halves of one word, of two lanes.
      "shl.b32 %r1, %t, 1; add.u32 %r1, %r1, %s; cvt.u16.u32 %h0, %t;\n"
      "st.shared.u16 [%r1], %h0; ld.shared.u16 %h1, [%r1];\n",
      // Every other lane, and lanes in reverse.
      "shl.b32 %r1, %t, 3; add.u32 %r1, %r1, %s;\n"
      "st.shared.u32 [%r1], %t; ld.shared.u32 %r2, [%r1];\n",
      "xor.b32 %r1, %my, 124; st.shared.u32 [%r1], %t;\n"
      "ld.shared.u32 %r2, [%r1];\n",
      // What all lanes only read.
      isFirst + "@%p2 st.shared.u32 [%s], 1;\n" + meet +
          "ld.shared.u32 %r1, [%s]; ld.shared.u32 %r2, [%s];\n"};
  for (const std::string &body : bodies)
    for (uint32_t threads : {1u, 31u, 32u, 64u, 100u}) {
      AsyncLaunch launch{{3, 1, 1}, {threads, 1, 1}};
      // Words of other warps are other warps' business.
      Status s =
          runAsync("@!%first bra END;\n" + body + "END: mov.u32 %r9, 0;\n",
                   launch, Asynchrony::Late, 1);
      EXPECT_TRUE(s.ok()) << threads << ": " << s.message() << "\n" << body;
    }
}

TEST(EmulatorLaneRaces, SecondWarp) {
  AsyncLaunch launch{{1, 1, 1}, {16, 4, 1}};
  Status s = runAsync("mov.u32 %r3, %tid.y; mad.lo.u32 %r3, %r3, 64, %s;\n"
                      "shl.b32 %r4, %t, 2; add.u32 %r3, %r3, %r4;\n"
                      "st.shared.u32 [%r3], %t; mov.u32 %r5, %tid.y;\n"
                      "setp.eq.u32 %p1, %r5, 3; @!%p1 bra END;\n"
                      "ld.shared.u32 %r1, [%r3+-64];\n"
                      "END: mov.u32 %r9, 0;\n",
                      launch, Asynchrony::Late, 1);
  EXPECT_EQ(s.getKind(), race);
  for (const char *text : {"thread (0,3,0)", "thread (0,2,0) of the same warp"})
    EXPECT_NE(s.message().find(text), std::string::npos) << s.message();
}

TEST(EmulatorLaneRaces, SomeLanesMeet) {
  std::string halves = isLow + "selp.u32 %r5, 0xffff, 0xffff0000, %p1;\n";
  std::string meetHalves = "bar.warp.sync %r5;\n";
  expectReports({
      fault("each half by itself", halves + writeMine + meetHalves + readFar,
            halves + writeMine + meetHalves + readNext,
            {"thread (0,0,0)", "thread (16,0,0)"}),
      fault("one half only",
            isLow + writeMine + "@%p1 bar.warp.sync 0xffff;\n" + readNext,
            isLow + writeMine +
                "@%p1 bar.warp.sync 0xffff;\n@%p1 "
                "xor.b32 %r2, %my, 4;\n@%p1 ld.shared.u32 %r1, "
                "[%r2];\n" +
                meet + readFar,
            {"thread (16,0,0)", "thread (17,0,0)"}),
      fault("read, and a barrier of others",
            halves + writeMine + meet + readFar + meetHalves + writeMine,
            halves + writeMine + meet + readNext + meetHalves + writeMine,
            {"writes 4 bytes", "thread (16,0,0) of the same warp read"}),
      // Lane 2 hears of lane 0 from lane 1.
      fault(
          "told by nobody",
          "setp.eq.u32 %p1, %lane, 2; setp.eq.u32 %p3, %lane, 1;\n" + isFirst +
              "@%p2 st.shared.u32 [%s], 1;\nsetp.lt.u32 %p4, %lane, 2;\n"
              "@%p4 bar.warp.sync 3;\n@%p1 ld.shared.u32 %r1, [%s];\n",
          "setp.eq.u32 %p1, %lane, 2; setp.eq.u32 %p3, %lane, 1;\n" + isFirst +
              "@%p2 st.shared.u32 [%s], 1;\nsetp.lt.u32 %p4, %lane, 2;\n"
              "@%p4 bar.warp.sync 3;\nor.pred %p3, %p3, %p1;\n"
              "@%p3 bar.warp.sync 6;\n@%p1 ld.shared.u32 %r1, [%s];\n",
          {"thread (2,0,0)", "thread (0,0,0)"}),
      fault("told too early",
            "setp.eq.u32 %p1, %lane, 2; setp.eq.u32 %p3, %lane, 1;\n" +
                isFirst +
                "@%p2 st.shared.u32 [%s], 1;\nsetp.lt.u32 %p4, %lane, 2;\n"
                "or.pred %p3, %p3, %p1; @%p3 bar.warp.sync 6;\n"
                "@%p4 bar.warp.sync 3;\n@%p1 ld.shared.u32 %r1, [%s];\n",
            isFirst + "@%p2 st.shared.u32 [%s], 1;\n" + meet +
                "ld.shared.u32 %r1, [%s];\n",
            {"thread (2,0,0)", "thread (0,0,0)"}),
  });
}

TEST(EmulatorLaneRaces, Diverged) {
  std::string store = isLow + "@!%p1 bra ELSE;\n" + writeMine;
  expectReports({
      fault("two arms",
            store + "bra END;\nELSE: " + readFar + "END: mov.u32 %r9, 0;\n",
            store + "bra END;\nELSE: mov.u32 %r8, 0;\nEND: mov.u32 %r9, 0;\n" +
                meet +
                "@!%p1 xor.b32 %r2, %my, 64;\n"
                "@!%p1 ld.shared.u32 %r1, [%r2];\n",
            {"of the same warp"}),
      fault("the other arm later",
            isLow +
                "@%p1 bra THEN;\nmov.u32 %r8, 0;\n"
                "bra END;\nTHEN: " +
                writeMine +
                "END: mov.u32 %r9, 0;\n@!%p1 xor.b32 %r2, %my, 64;"
                "\n@!%p1 ld.shared.u32 %r1, [%r2];\n",
            isLow +
                "@%p1 bra THEN;\nmov.u32 %r8, 0;\n"
                "bra END;\nTHEN: " +
                writeMine +
                "END: bar.sync 0;\n@!%p1 xor.b32 %r2, %my, 64;"
                "\n@!%p1 ld.shared.u32 %r1, [%r2];\n",
            {"thread (16,0,0)", "thread (0,0,0)"}),
      // The arms meet inside.
      fault("a barrier in each arm, too early",
            writeMine + isLow + "@!%p1 bra ELSE;\n" + meet + writeMine +
                "bra END;\nELSE: " + meet + readFar + "END: mov.u32 %r9, 0;\n",
            store + meet + "bra END;\nELSE: " + meet + readFar +
                "END: mov.u32 %r9, 0;\n",
            {"of the same warp"}),
      fault("rounds of a loop",
            "mov.u32 %r4, 0;\nL: st.shared.u32 [%my], %r4;\n" + meet +
                readNext +
                "add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 3; @%p3 bra L;\n",
            "mov.u32 %r4, 0;\nL: st.shared.u32 [%my], %r4;\n" + meet +
                readNext + meet +
                "add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 3; @%p3 bra L;\n",
            {"writes 4 bytes", "read with no barrier"}),
      fault("lanes that are gone",
            writeMine + isLow + "@!%p1 exit;\n" + readFar,
            writeMine + isLow + "@!%p1 exit;\n" + meet + readFar,
            {"thread (0,0,0)", "thread (16,0,0)"}),
  });
}

TEST(EmulatorLaneRaces, MatricesAndCopies) {
  std::string rows = "shl.b32 %r3, %t, 4; add.u32 %r3, %r3, %s;\n"
                     "st.shared.v4.u32 [%r3], {%t, %t, %t, %t};\n"
                     "xor.b32 %r4, %r3, 16;\n";
  std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                     "{%r5, %r6, %r7, %r8}, [%r4];\n";
  std::string store =
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%r5};\n";
  std::string copy = "cp.async.ca.shared.global [%my], [%x0], 4;\n";
  std::string wait = "cp.async.wait_all;\n";
  std::string bulk =
      "@%one cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 128;\n"
      "@%one cp.async.bulk.commit_group;\n"
      "@%one cp.async.bulk.wait_group 0;\n";
  expectReports({
      fault("rows of other lanes", rows + load, rows + meet + load,
            {"'ldmatrix", "reads 16 bytes", "thread (1,0,0)"}),
      fault("rows at one place",
            "st.shared.u32 [%my], %t;\nadd.u32 %r5, %lane, 1;\n" + meet +
                "mov.u32 %r4, %s;\n" + store,
            "st.shared.u32 [%my], %t;\nadd.u32 %r5, %lane, 1;\n" + meet +
                "shl.b32 %r4, %t, 4; add.u32 %r4, %r4, %s;\n" + store,
            {"'stmatrix", "thread (1,0,0)", "writes 16 bytes"}),
      fault("a product is no barrier",
            writeMine +
                "mov.u32 %r5, 0; mov.f32 %f0, 0f00000000;\n"
                "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                "{%f0, %f1, %f2, %f3}, {%r5, %r5}, {%r5}, "
                "{%f0, %f0, %f0, %f0};\n" +
                readNext,
            writeMine +
                "mov.u32 %r5, 0; mov.f32 %f0, 0f00000000;\n"
                "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                "{%f0, %f1, %f2, %f3}, {%r5, %r5}, {%r5}, "
                "{%f0, %f0, %f0, %f0};\n" +
                meet + readNext,
            {"thread (1,0,0)"}),
      fault("a copy that its thread alone has waited for",
            copy + wait + readNext, copy + wait + meet + readNext,
            {"thread (0,0,0)", "reads 4 bytes", "thread (1,0,0)", "wrote"}),
      fault("a barrier before the wait",
            copy + "cp.async.commit_group;\ncp.async.wait_group 0;\n" +
                readMine + copy + meet + wait + readNext,
            copy + "cp.async.commit_group;\ncp.async.wait_group 0;\n" +
                readMine + copy + wait + meet + readNext,
            {"thread (1,0,0)"}),
      fault("a copy over what others read",
            writeMine + meet + readNext + copy + wait,
            writeMine + meet + readNext + meet + copy + wait,
            {"'cp.async", "writes 4 bytes", "read"}),
      fault("a store of what others wrote",
            writeMine + "fence.proxy.async;\n" + bulk,
            writeMine + "fence.proxy.async;\n" + meet + bulk,
            {"'cp.async.bulk", "reads 128 bytes", "thread (1,0,0)"}),
  });
}

TEST(EmulatorLaneRaces, Arrivals) {
  std::string arrive = "mbarrier.arrive.shared.b64 _, [%bar];\n";
  std::string wait = waitFor("W", 0, "0");
  std::string all = "barrier.cluster.arrive.aligned;\n";
  std::string done = "barrier.cluster.wait.aligned;\n";
  expectReports({
      fault("an arrival before the store",
            initBarrier(0, 32) + arrive + writeMine + wait + readNext,
            initBarrier(0, 32) + writeMine + arrive + wait + readNext,
            {"thread (1,0,0)"}),
      fault("an mbarrier that is new to other lanes",
            "@%one mbarrier.init.shared.b64 [%bar], 32;\n" + arrive + wait,
            "@%one mbarrier.init.shared.b64 [%bar], 32;\n" + meet + arrive +
                wait,
            {"thread (1,0,0)", "uses the mbarrier",
             "thread (0,0,0) of the "
             "same warp initialised with no barrier"}),
      fault("an arrival without a wait",
            initBarrier(0, 32) + writeMine + arrive + readNext,
            initBarrier(0, 32) + writeMine + arrive + wait + readNext,
            {"thread (1,0,0)"}),
      fault("an arrival of others",
            initBarrier(0, 16) + isLow + writeMine + "@%p1 " + arrive + wait +
                readFar,
            initBarrier(0, 16) + isLow + writeMine + "@%p1 " + arrive + wait +
                "@!%p1 xor.b32 %r2, %my, 64;\n@!%p1 ld.shared.u32 %r1, "
                "[%r2];\n",
            {"thread (0,0,0)", "thread (16,0,0)"}),
      fault("a copy that arrives",
            initBarrier(0, 1) + writeMine +
                "@%one mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 64;\n"
                "@%one cp.async.bulk.shared::cluster.global.mbarrier::complete_"
                "tx::bytes [%s+1024], [%in], 64, [%bar];\n" +
                wait + readNext,
            initBarrier(0, 1) + writeMine +
                "@%one mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 64;\n"
                "@%one cp.async.bulk.shared::cluster.global.mbarrier::complete_"
                "tx::bytes [%s+1024], [%in], 64, [%bar];\n" +
                wait + meet + readNext + "ld.shared.u32 %r1, [%s+1024];\n",
            {"thread (1,0,0)"}),
      fault("copies of threads that arrive",
            initBarrier(0, 32) +
                "cp.async.ca.shared.global [%my], [%x0], 4;\n"
                "cp.async.wait_all;\n"
                "cp.async.mbarrier.arrive.noinc.shared.b64 [%bar];\n" +
                readNext,
            initBarrier(0, 32) +
                "cp.async.ca.shared.global [%my], [%x0], 4;\n"
                "cp.async.mbarrier.arrive.noinc.shared.b64 [%bar];\n" +
                wait + readNext,
            {"thread (1,0,0)"}),
      fault("the barrier of the cluster, too early",
            all + writeMine + done + readNext,
            writeMine + all + done + readNext, {"thread (1,0,0)"}),
      fault("a relaxed arrival behind a fence",
            initBarrier(0, 32) + "fence.acq_rel.cta;\n" + writeMine +
                "mbarrier.arrive.relaxed.cta.shared.b64 _, [%bar];\n" + wait +
                readNext,
            initBarrier(0, 32) + writeMine +
                "fence.acq_rel.cta;\n"
                "mbarrier.arrive.relaxed.cta.shared.b64 _, [%bar];\n" +
                wait + readNext,
            {"thread (1,0,0)"}),
  });
}

TEST(EmulatorLaneRaces, ManyArrivalsAreForgivenNotBlamed) {
  // More arrivals than are remembered; the warp never meets as a whole.
  std::string body =
      initBarrier(0, 32) + writeMine +
      "mov.u32 %r4, 0;\nL: mbarrier.arrive.shared.b64 _, [%bar];\n"
      "and.b32 %r5, %r4, 1;\n" +
      waitFor("W", 0, "%r5") + readNext +
      "fence.acq_rel.cta; fence.acq_rel.cta; fence.acq_rel.cta;\n"
      "add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 50; @%p3 bra L;\n";
  for (Asynchrony mode : {Asynchrony::Late, Asynchrony::Early}) {
    Status s = runAsync(body, oneWarp, mode, 1);
    EXPECT_TRUE(s.ok()) << s.message();
  }
}

TEST(EmulatorLaneRaces, TimeGoesOnFromBlockToBlock) {
  // The race is in the last block; the others run on the same host thread.
  std::string body = writeMine + meet + readNext + meet + writeMine +
                     "setp.eq.u32 %p3, %c, 4; @!%p3 " + meet + readNext;
  AsyncLaunch launch{{5, 1, 1}, {32, 1, 1}};
  Status s = runAsync(body, launch, Asynchrony::Late, 1);
  EXPECT_EQ(s.getKind(), race);
  EXPECT_NE(s.message().find("block (4,0,0)"), std::string::npos)
      << s.message();
}

TEST(EmulatorLaneRaces, TimeComesToAnEnd) {
  auto w = std::make_unique<Warp>();
  w->agent = 3;
  w->exists = w->live = ~uint32_t(0);
  w->clock[3] = 1;
  startLanes(*w);
  LaneOrder &order = w->lanes;
  uint32_t before = order.stamp | 5;
  EXPECT_TRUE(order.isRecent(before));
  EXPECT_TRUE(order.isUnknown(before, 5, 4));
  meetLanes(*w, ~uint32_t(0));
  EXPECT_FALSE(order.isRecent(before));
  EXPECT_TRUE(order.isRecent(order.stamp | 5));
  order.stamp = w->agent << laneAgentShift | maxLaneTime << laneTimeShift;
  meetLanes(*w, 0xff);
  EXPECT_FALSE(order.isRecent(order.stamp | 5));
  meetLanes(*w, ~uint32_t(0));
  EXPECT_FALSE(order.isRecent(order.stamp | 5));
  EXPECT_FALSE(order.isRecent(before));
  // A new block begins anew.
  order.stamp = 0;
  startLanes(*w);
  EXPECT_TRUE(order.isRecent(order.stamp | 5));
  EXPECT_EQ(order.stamp >> laneAgentShift, 3u);
}

TEST(EmulatorLaneRaces, CanBeLeftOut) {
  Fixture f;
  ASSERT_TRUE(f.parse(asyncKernel(writeMine + readNext)).ok());
  f.passEmpty("source", 256);
  f.passEmpty("result", 256);
  f.options.checks.sharedRaces = false;
  Status s = f.run({1, 1, 1}, {32, 1, 1});
  EXPECT_TRUE(s.ok()) << s.message();
}
