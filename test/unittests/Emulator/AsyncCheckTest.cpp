//===- AsyncCheckTest.cpp - Planted faults of asynchrony ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file proves the checks of asynchronous operations by planted faults in
// both modes, and their silence by the repairs.
//
//===----------------------------------------------------------------------===//

#include "AsyncTestUtils.h"

using namespace fusionemu;

static const std::string init = initBarrier(0, 1);
static const std::string load = loadTile(0, 256);
static const std::string waitAll = waitFor("W", 0, "0");
static const std::string fence = "fence.proxy.async;\n";
static const std::string meet = "bar.sync 0;\n";
static const std::string readMine = "ld.shared.u32 %r1, [%my];\n";
static const std::string writeMine = "st.shared.u32 [%my], %t;\n";

static constexpr ErrorKind none = ErrorKind::None;
static constexpr ErrorKind inFlight = ErrorKind::InFlight;
static constexpr ErrorKind race = ErrorKind::SharedRace;
static constexpr ErrorKind noFence = ErrorKind::MissingFence;
static constexpr ErrorKind misuse = ErrorKind::BarrierMisuse;
static constexpr ErrorKind leak = ErrorKind::BarrierLeak;
static constexpr ErrorKind deadlock = ErrorKind::Deadlock;

static const std::string storeTile =
    "@%one cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 256;\n"
    "@%one cp.async.bulk.commit_group;\n";
static const std::string storeWait = "@%one cp.async.bulk.wait_group 0;\n";
static const std::string copyMine =
    "cp.async.ca.shared.global [%my], [%x0], 4;\ncp.async.commit_group;\n";

TEST(EmulatorAsyncChecks, InFlight) {
  expectReports({
      {"read while a load is in flight",
       inFlight,
       race,
       init + load + "@%one ld.shared.u32 %r1, [%s];\n" + waitAll,
       init + load + waitAll + "@%one ld.shared.u32 %r1, [%s];\n",
       {"reads 4 bytes", "offset 0 of 'tile'", "cp.async.bulk"}},
      {"written while a load is in flight",
       inFlight,
       race,
       init + load + "@%one st.shared.u32 [%s+252], %r1;\n" + waitAll,
       init + load + waitAll + "@%one st.shared.u32 [%s+252], %r1;\n",
       {"writes 4 bytes"}},
      {"read before cp.async is waited for",
       inFlight,
       inFlight,
       copyMine + readMine + "cp.async.wait_all;",
       copyMine + "cp.async.wait_all;" + readMine,
       {"'cp.async.ca.shared.global'"}},
      {"one group too many left",
       inFlight,
       inFlight,
       copyMine + "cp.async.wait_group 1;" + readMine,
       copyMine + "cp.async.wait_group 0;" + readMine,
       {"reads 4 bytes"}},
      {"a group that was not committed",
       inFlight,
       inFlight,
       "cp.async.ca.shared.global [%my], [%x0], 4; cp.async.wait_group 0;" +
           readMine,
       copyMine + "cp.async.wait_group 0;" + readMine,
       {"reads 4 bytes"}},
      {"the source of a store is overwritten",
       inFlight,
       inFlight,
       writeMine + fence + meet + storeTile + meet + writeMine + storeWait,
       writeMine + fence + meet + storeTile + storeWait + meet + writeMine,
       {"writes 4 bytes", "in use by"}},
      {"a store that nobody waits for",
       inFlight,
       inFlight,
       writeMine + fence + meet + storeTile,
       writeMine + fence + meet + storeTile +
           "@%one cp.async.bulk.wait_group.read 0;\n",
       {"exits before", "wait_group"}},
      {"a load that nobody waits for",
       inFlight,
       inFlight,
       init + load,
       init + load + waitAll,
       {"exit"}},
      {"the wrong parity",
       inFlight,
       deadlock,
       init + load + waitFor("W", 0, "1") + readMine,
       init + load + waitAll + readMine,
       {"reads 4 bytes"}},
      {"the wrong mbarrier",
       inFlight,
       race,
       init + initBarrier(1, 1) + load +
           "@%one mbarrier.arrive.shared.b64 _, [%bar+8];\n" +
           waitFor("V", 1, "0") + readMine + waitAll,
       init + initBarrier(1, 1) + load +
           "@%one mbarrier.arrive.shared.b64 _, [%bar+8];\n" +
           waitFor("V", 1, "0") + waitAll + readMine,
       {"reads 4 bytes"}},
      // What is complete at once needs no second try.
      {"a wait that does not try again",
       inFlight,
       none,
       init + load + "mbarrier.try_wait.parity.shared.b64 %done, [%bar], 0;\n" +
           readMine + waitAll,
       init + load + waitAll + readMine,
       {"reads 4 bytes"}},
      {"two loads into the same bytes",
       inFlight,
       race,
       init + initBarrier(1, 1) + load + loadTile(1, 256) + waitAll +
           waitFor("V", 1, "0"),
       init + initBarrier(1, 1) + load + waitAll + loadTile(1, 256) +
           waitFor("V", 1, "0"),
       {"writes 256 bytes"}},
  });
}

TEST(EmulatorAsyncChecks, MissingFence) {
  std::string rest = meet + storeTile + storeWait;
  expectReports({
      {"no fence before a store",
       noFence,
       noFence,
       writeMine + rest,
       writeMine + fence + rest,
       {"reads 256 bytes", "warp 0", "no fence.proxy.async"}},
      {"the fence before the write",
       noFence,
       noFence,
       fence + writeMine + rest,
       writeMine + fence + rest,
       {"no fence.proxy.async"}},
      {"a fence of another space",
       noFence,
       noFence,
       writeMine + "fence.proxy.async.global;\n" + rest,
       writeMine + "fence.proxy.async.shared::cta;\n" + rest,
       {"no fence.proxy.async"}},
      {"a fence of one warp before the barrier",
       noFence,
       noFence,
       writeMine + "@%first fence.proxy.async;\n" + rest,
       writeMine + meet + "@%first fence.proxy.async;\n" + storeTile +
           storeWait,
       {"warp 1", "no fence.proxy.async"}},
      {"a fence of memory is none of proxies",
       noFence,
       noFence,
       writeMine + "fence.acq_rel.cta;\n" + rest,
       writeMine + fence + rest,
       {"no fence.proxy.async"}},
      {"an mbarrier that copies do not see",
       noFence,
       noFence,
       "@%one mbarrier.init.shared.b64 [%bar], 1;\n" + meet + load + waitAll,
       init + load + waitAll,
       {"initialisation", "fence.mbarrier_init"}},
      {"overwritten by a load",
       noFence,
       noFence,
       init + writeMine + meet + load + waitAll,
       init + writeMine + fence + meet + load + waitAll,
       {"writes 256 bytes"}},
      {"what cp.async brought",
       noFence,
       noFence,
       copyMine + "cp.async.wait_all;\n" + rest,
       copyMine + "cp.async.wait_all;\n" + fence + rest,
       {"no fence.proxy.async"}},
  });
}

TEST(EmulatorAsyncChecks, BarrierMisuse) {
  std::string arrive = "@%one mbarrier.arrive.shared.b64 %state, [%bar];\n";
  expectReports({
      {"not initialised",
       misuse,
       misuse,
       arrive,
       init + arrive,
       {"none was initialised"}},
      {"initialised twice",
       misuse,
       misuse,
       init + init,
       init + "@%one mbarrier.inval.shared.b64 [%bar];\n" + init,
       {"there is one already"}},
      {"used after its end",
       misuse,
       misuse,
       init + "@%one mbarrier.inval.shared.b64 [%bar];\n" + arrive,
       init + arrive + "@%one mbarrier.inval.shared.b64 [%bar];\n",
       {"none was initialised"}},
      {"too many arrivals",
       misuse,
       misuse,
       initBarrier(0, 2) + "@%one mbarrier.arrive.shared.b64 _, [%bar], 3;\n",
       initBarrier(0, 2) + "@%one mbarrier.arrive.shared.b64 _, [%bar], 2;\n",
       {"arrives 3 times", "expects 2"}},
      {"too many bytes",
       misuse,
       misuse,
       init + "@%one mbarrier.expect_tx.shared.b64 [%bar], 1048576;\n",
       init + "@%one mbarrier.expect_tx.shared.b64 [%bar], 1048575;\n"
              "@%one mbarrier.complete_tx.shared.b64 [%bar], 1048575;\n",
       {"transaction count"}},
      {"read as memory",
       misuse,
       misuse,
       init + "ld.shared.u64 %x2, [%bar];\n",
       init + "mbarrier.test_wait.parity.shared.b64 %p1, [%bar], 1;\n",
       {"holds the mbarrier"}},
      {"written as memory",
       misuse,
       misuse,
       init + "@%one st.shared.u32 [%bar+4], 0;\n",
       init + "@%one st.shared.u32 [%bar+8], 0;\n",
       {"holds the mbarrier"}},
      {"overwritten by a copy",
       misuse,
       misuse,
       init + "cp.async.ca.shared.global [%bar], [%in], 8;\n"
              "cp.async.wait_all;\n",
       init + "@%one cp.async.ca.shared.global [%bar+8], [%in], 8;\n"
              "cp.async.wait_all;\n",
       {"holds the mbarrier"}},
      {"a parity that is none",
       misuse,
       misuse,
       init + arrive + waitFor("W", 0, "2"),
       init + arrive + waitAll,
       {"parity 2"}},
      {"a state from two phases ago",
       misuse,
       misuse,
       init + arrive + "@%one mbarrier.arrive.shared.b64 _, [%bar];\n" +
           "@%one mbarrier.test_wait.shared.b64 %p1, [%bar], %state;\n",
       init + arrive +
           "@%one mbarrier.test_wait.shared.b64 %p1, [%bar], %state;\n",
       {"for phase 0", "in phase 2"}},
      {"completed by noComplete",
       misuse,
       misuse,
       init + "@%one mbarrier.arrive.noComplete.shared.b64 %state, [%bar], "
              "1;\n",
       initBarrier(0, 2) +
           "@%one mbarrier.arrive.noComplete.shared.b64 %state, [%bar], 1;\n" +
           arrive,
       {".noComplete"}},
      {"for no arrival",
       misuse,
       misuse,
       initBarrier(0, 0),
       initBarrier(0, 1),
       {"for 0 arrivals"}},
      {"waits in another block",
       misuse,
       misuse,
       init + "barrier.cluster.arrive; barrier.cluster.wait;\n"
              "mapa.shared::cluster.u32 %r1, %bar, 0;\n"
              "mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], 1;\n"
              "barrier.cluster.arrive; barrier.cluster.wait;\n",
       init + "barrier.cluster.arrive; barrier.cluster.wait;\n"
              "mbarrier.test_wait.parity.shared::cta.b64 %p1, [%bar], 1;\n"
              "barrier.cluster.arrive; barrier.cluster.wait;\n",
       {"only that block"},
       {{2, 1, 1}, {64, 1, 1}, {2, 1, 1}}},
  });
}

TEST(EmulatorAsyncChecks, BarrierLeak) {
  std::string arrive = "@%one mbarrier.arrive.shared.b64 _, [%bar];\n";
  std::string expect =
      "@%one mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 64;\n";
  expectReports({
      {"an arrival is missing",
       leak,
       leak,
       initBarrier(0, 2) + arrive,
       initBarrier(0, 2) + arrive + arrive,
       {"1 of 2 arrivals are missing"}},
      {"bytes do not come",
       leak,
       leak,
       init + expect,
       init + expect + "@%one mbarrier.complete_tx.shared.b64 [%bar], 64;\n",
       {"64 bytes did not come"}},
      {"bytes that nobody expected",
       leak,
       leak,
       init + "@%one mbarrier.complete_tx.shared.b64 [%bar], 32;\n",
       init + "@%one mbarrier.complete_tx.shared.b64 [%bar], 32;\n"
              "@%one mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 32;\n",
       {"32 bytes came"}},
      {"one arrival too many for a phase",
       leak,
       leak,
       initBarrier(0, 2) + arrive + arrive + arrive,
       initBarrier(0, 2) + arrive + arrive,
       {"phase 1"}},
      {"invalidated in the middle of a phase",
       leak,
       leak,
       initBarrier(0, 2) + arrive + "@%one mbarrier.inval.shared.b64 [%bar];\n",
       initBarrier(0, 2) + arrive + arrive +
           "@%one mbarrier.inval.shared.b64 [%bar];\n",
       {"in the middle of a phase"}},
      {"arrivals of cp.async fall short",
       leak,
       leak,
       initBarrier(0, 65) + copyMine +
           "cp.async.mbarrier.arrive.noinc.shared.b64 [%bar];\n"
           "cp.async.wait_all;\n",
       initBarrier(0, 64) + copyMine +
           "cp.async.mbarrier.arrive.noinc.shared.b64 [%bar];\n"
           "cp.async.wait_all;\n",
       {"1 of 65 arrivals"}},
  });
}
