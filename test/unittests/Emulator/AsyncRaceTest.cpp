//===- AsyncRaceTest.cpp - Planted faults between threads -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file proves by planted faults what is checked between threads and blocks
// that work with asynchronous operations, and the silence by the repairs.
//
//===----------------------------------------------------------------------===//

#include "AsyncTestUtils.h"

using namespace fusionemu;

static const std::string init = initBarrier(0, 1);
static const std::string load = loadTile(0, 256);
static const std::string waitAll = waitFor("W", 0, "0");
static const std::string fence = "fence.proxy.async;\n";
static const std::string meet = "bar.sync 0;\n";
static const std::string readMine =
    "ld.shared.u32 %r1, [%my]; add.u32 %r1, %r1, 1;\n";
static const std::string writeMine = "st.shared.u32 [%my], %t;\n";

static constexpr ErrorKind inFlight = ErrorKind::InFlight;
static constexpr ErrorKind race = ErrorKind::SharedRace;
static constexpr ErrorKind bad = ErrorKind::BadDescriptor;
static constexpr ErrorKind misaligned = ErrorKind::Misaligned;
static constexpr ErrorKind deadlock = ErrorKind::Deadlock;

static const AsyncLaunch twoBlocks{{2, 1, 1}, {64, 1, 1}, {2, 1, 1}};
static const std::string all = "barrier.cluster.arrive.aligned;\n"
                               "barrier.cluster.wait.aligned;\n";
/// Addresses of tile and bars in the other block.
static const std::string other =
    "xor.b32 %r0, %rank, 1; mapa.shared::cluster.u32 %r10, %s, %r0;\n"
    "mapa.shared::cluster.u32 %r11, %bar, %r0;\n"
    "mapa.shared::cluster.u32 %r12, %my, %r0;\n";
static const std::string zero = "setp.eq.u32 %p4, %rank, 0;\n";

TEST(EmulatorAsyncChecks, BadDescriptor) {
  std::string bulk =
      "@%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
  std::string expect = "@%one mbarrier.arrive.expect_tx.shared.b64 _, [%bar], ";
  expectReports({
      {"a size that is no multiple of 16",
       bad,
       bad,
       init + expect + "24;\n" + bulk + " [%s], [%in], 24, [%bar];\n" + waitAll,
       init + expect + "32;\n" + bulk + " [%s], [%in], 32, [%bar];\n" + waitAll,
       {"24 bytes", "multiple of 16"}},
      {"a destination that is not aligned",
       misaligned,
       misaligned,
       init + expect + "32;\n" + bulk + " [%s+8], [%in], 32, [%bar];\n" +
           waitAll,
       init + expect + "32;\n" + bulk + " [%s+16], [%in], 32, [%bar];\n" +
           waitAll,
       {"multiple of 16"}},
      {"a source that is not aligned",
       misaligned,
       misaligned,
       init + expect + "32;\n" + bulk + " [%s], [%in+4], 32, [%bar];\n" +
           waitAll,
       init + expect + "32;\n" + bulk + " [%s], [%in+16], 32, [%bar];\n" +
           waitAll,
       {"multiple of 16"}},
      {"a multicast beyond the cluster",
       bad,
       bad,
       init + expect + "32;\nmov.u16 %h0, 5;\n" + all + zero +
           "@!%p4 bra V;\n" + bulk +
           ".multicast::cluster [%s], [%in], 32, [%bar], %h0;\nV: " + waitAll +
           all,
       init + expect + "32;\nmov.u16 %h0, 3;\n" + all + zero +
           "@!%p4 bra V;\n" + bulk +
           ".multicast::cluster [%s], [%in], 32, [%bar], %h0;\nV: " + waitAll +
           all,
       {"multicast", "cluster of 2"},
       twoBlocks},
      {"a multicast to nobody",
       bad,
       bad,
       init + expect + "32;\nmov.u16 %h0, 0;\n" + bulk +
           ".multicast::cluster [%s], [%in], 32, [%bar], %h0;\n" + waitAll,
       init + expect + "32;\nmov.u16 %h0, 1;\n" + bulk +
           ".multicast::cluster [%s], [%in], 32, [%bar], %h0;\n" + waitAll,
       {"multicast"}},
      {"an mbarrier in another block",
       bad,
       bad,
       init + expect + "32;\n" + all + other + bulk +
           " [%s], [%in], 32, [%r11];\n" + waitAll + all,
       init + expect + "32;\n" + all + other + bulk +
           " [%r10], [%in], 32, [%r11];\n" + waitAll + all,
       {"signals an mbarrier in block 1"},
       twoBlocks},
      {"a source in another block",
       bad,
       bad,
       writeMine + fence + meet + all + other +
           "@%one cp.async.bulk.global.shared::cta.bulk_group [%out], [%r10], "
           "32;\n" +
           all,
       writeMine + fence + meet + all + zero +
           "@%p4 add.u64 %out, %out, 512;\n" +
           "@%one cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], "
           "32;\n@%one cp.async.bulk.commit_group;\n"
           "@%one cp.async.bulk.wait_group 0;\n" +
           all,
       {"another block"},
       twoBlocks},
      {"a block that the cluster does not have",
       bad,
       bad,
       "mapa.shared::cluster.u32 %r1, %s, 2;\n",
       "mapa.shared::cluster.u32 %r1, %s, 1;\n",
       {"block 2 of a cluster of 2"},
       twoBlocks},
      {"more bytes than the copy has",
       bad,
       bad,
       "cp.async.ca.shared.global [%my], [%x0], 4, 8; cp.async.wait_all;\n",
       "cp.async.ca.shared.global [%my], [%x0], 4, 2; cp.async.wait_all;\n",
       {"8 bytes of 4"}},
  });
}

TEST(EmulatorAsyncChecks, SharedRaces) {
  std::string loadTwice =
      load + waitAll + readMine + "%G" + load + waitFor("V", 0, "1");
  auto with = [&](const std::string &guard) {
    std::string text = loadTwice;
    return text.replace(text.find("%G"), 2, guard);
  };
  std::string copyMine = "cp.async.ca.shared.global [%my], [%x0], 4;\n"
                         "cp.async.wait_all;\n";
  std::string readOther = "xor.b32 %r1, %my, 128; ld.shared.u32 %r2, [%r1];\n";
  std::string store =
      "@%one cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 256;\n"
      "@%one cp.async.bulk.commit_group;\n"
      "@%one cp.async.bulk.wait_group.read 0;\n";
  expectReports({
      {"refilled while another warp may read",
       race,
       race,
       init + load + "setp.eq.u32 %p5, %t, 32; @!%first bra A;\n" + waitAll +
           readMine + "bra END;\nA: " + waitFor("V", 0, "0") +
           loadTile(0, 256, "@%p5 ") + waitFor("U", 0, "1") +
           "END: mov.u32 %r3, 0;\n",
       initBarrier(1, 32) + init + load +
           "setp.eq.u32 %p5, %t, 32; @!%first bra A;\n" + waitAll + readMine +
           "mbarrier.arrive.shared.b64 _, [%bar+8]; bra END;\nA: " +
           waitFor("V", 0, "0") + waitFor("X", 1, "0") +
           loadTile(0, 256, "@%p5 ") + waitFor("U", 0, "1") +
           "END: mov.u32 %r3, 0;\n",
       {"writes 256 bytes", "which warp 0 read"}},
      // Who is too late finds a later phase.
      {"refilled before another warp has read",
       inFlight,
       deadlock,
       init + with("bar.warp.sync -1;\n"),
       init + with(meet),
       {}},
      {"refilled before another lane has read",
       race,
       race,
       init + with(""),
       init + with(meet),
       {"writes 256 bytes", "which thread (1,0,0) of the same warp read"}},
      {"another warp has waited",
       race,
       race,
       init + initBarrier(1, 32) + load + "@!%first bra B;\n" + waitAll +
           "mbarrier.arrive.relaxed.cta.shared.b64 _, [%bar+8]; bra END;\nB: " +
           waitFor("V", 1, "0") + readMine + "END: mov.u32 %r3, 0;\n",
       init + initBarrier(1, 32) + load + "@!%first bra B;\n" + waitAll +
           "mbarrier.arrive.shared.b64 _, [%bar+8]; bra END;\nB: " +
           waitFor("V", 1, "0") + readMine + "END: mov.u32 %r3, 0;\n",
       {"no wait in between"}},
      {"cp.async of another warp",
       race,
       race,
       copyMine + "setp.eq.u32 %p1, %w, 1;\n@!%p1 bra END;\n" + readOther +
           "END: mov.u32 %r3, 0;\n",
       copyMine + meet + readOther,
       {"no wait in between"}},
      {"the source of a store that another warp waited for",
       race,
       race,
       writeMine + fence + meet + store + writeMine,
       writeMine + fence + meet + store + meet + writeMine,
       {}},
      {"a load over what another warp wrote",
       race,
       race,
       init +
           "setp.eq.u32 %p1, %w, 1; @%p1 st.shared.u32 [%my], %t;\n"
           "@%p1 bra END;\nmov.u32 %r4, 0;\n"
           "L: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 100000; @%p1 bra "
           "L;\n" +
           load + waitAll + "END: mov.u32 %r3, 0;\n",
       init + "setp.eq.u32 %p1, %w, 1; @%p1 st.shared.u32 [%my], %t;\n" +
           fence + meet + load + waitAll,
       {"warp 1"}},
      {"an mbarrier that is new to a warp",
       race,
       race,
       "@%one mbarrier.init.shared.b64 [%bar], 64;\n"
       "mbarrier.arrive.shared.b64 _, [%bar];\n",
       "@%one mbarrier.init.shared.b64 [%bar], 64;\n" + meet +
           "mbarrier.arrive.shared.b64 _, [%bar];\n",
       {"initialised with no barrier"}},
      {"an arrival that is relaxed",
       race,
       race,
       initBarrier(0, 64) + writeMine +
           "mbarrier.arrive.relaxed.cta.shared.b64 _, [%bar];\n" + waitAll +
           readOther,
       initBarrier(0, 64) + writeMine + "fence.acq_rel.cta;\n" +
           "mbarrier.arrive.relaxed.cta.shared.b64 _, [%bar];\n" + waitAll +
           readOther,
       {"no barrier in between"}},
  });
}

TEST(EmulatorAsyncChecks, Deadlocks) {
  std::string arrive = "@%one mbarrier.arrive.shared.b64 _, [%bar];\n";
  std::string expect =
      "@%one mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 512;\n";
  std::string bulk =
      "@%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%s], [%in], ";
  expectReports({
      {"an arrival is missing",
       deadlock,
       deadlock,
       initBarrier(0, 2) + arrive + waitAll,
       initBarrier(0, 2) + arrive + arrive + waitAll,
       {"threads 0-31 of warp 0", "1 of 2 arrivals missing"}},
      {"bytes are missing",
       deadlock,
       deadlock,
       init + expect + bulk + "256, [%bar];\n" + waitAll,
       init + expect + bulk + "512, [%bar];\n" + waitAll,
       {"256 bytes missing"}},
      {"the phase after the last",
       deadlock,
       deadlock,
       init + arrive + waitAll + waitFor("V", 0, "1"),
       init + arrive + waitAll + meet + arrive + waitFor("V", 0, "1"),
       {"phase 1"}},
      {"two warps wait for each other",
       deadlock,
       deadlock,
       initBarrier(0, 32) + initBarrier(1, 32) + "@%first bra A;\n" + waitAll +
           "mbarrier.arrive.shared.b64 _, [%bar+8]; bra END;\nA: " +
           waitFor("V", 1, "0") +
           "mbarrier.arrive.shared.b64 _, [%bar];\nEND: mov.u32 %r1, 0;\n",
       initBarrier(0, 32) + initBarrier(1, 32) + "@%first bra A;\n" + waitAll +
           "mbarrier.arrive.shared.b64 _, [%bar+8]; bra END;\nA: "
           "mbarrier.arrive.shared.b64 _, [%bar];\n" +
           waitFor("V", 1, "0") + "END: mov.u32 %r1, 0;\n",
       {"warp 0", "warp 1"}},
      {"another block does not arrive",
       deadlock,
       deadlock,
       init + other + all + zero + "@!%p4 bra END;\n" + waitAll +
           "END: mov.u32 %r1, 0;\n" + all,
       init + other + all + zero + "@!%p4 bra B;\n" + waitAll +
           "bra END;\nB: @%one mbarrier.arrive.release.cluster.shared::cluster"
           ".b64 _, [%r11];\nEND: mov.u32 %r1, 0;\n" +
           all,
       {"of block 0 of the cluster", "wait for the other threads"},
       twoBlocks},
      {"a barrier of the cluster that one warp does not reach",
       deadlock,
       deadlock,
       zero + "@%p4 bra A;\n" + all +
           "A: @!%p4 bra END;\n"
           "bar.sync 1, 96;\nEND: mov.u32 %r1, 0;\n",
       all + zero + "@%p4 bar.sync 1, 64;\n",
       {"wait for the other threads of the cluster"},
       twoBlocks},
  });
}
