//===- ClusterCheckTest.cpp - Planted faults in clusters ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file proves by planted faults what is checked between the blocks of a
// cluster, and the silence by the repairs.
//
//===----------------------------------------------------------------------===//

#include "AsyncTestUtils.h"

using namespace fusionemu;

static const std::string init = initBarrier(0, 1);
static const std::string waitAll = waitFor("W", 0, "0");
static const std::string readMine = "ld.shared.u32 %r1, [%my];\n";
static const std::string writeMine = "st.shared.u32 [%my], %t;\n";

static constexpr ErrorKind inFlight = ErrorKind::InFlight;
static constexpr ErrorKind race = ErrorKind::SharedRace;
static constexpr ErrorKind diverged = ErrorKind::BarrierDivergence;
static constexpr ErrorKind gone = ErrorKind::UseAfterFree;

static const AsyncLaunch twoBlocks{{2, 1, 1}, {64, 1, 1}, {2, 1, 1}};
static const std::string all = "barrier.cluster.arrive.aligned;\n"
                               "barrier.cluster.wait.aligned;\n";
/// Addresses of tile and bars in the other block.
static const std::string other =
    "xor.b32 %r0, %rank, 1; mapa.shared::cluster.u32 %r10, %s, %r0;\n"
    "mapa.shared::cluster.u32 %r11, %bar, %r0;\n"
    "mapa.shared::cluster.u32 %r12, %my, %r0;\n";
static const std::string zero = "setp.eq.u32 %p4, %rank, 0;\n";

TEST(EmulatorAsyncChecks, RacesBetweenBlocks) {
  std::string give = "st.shared::cluster.u32 [%r12], %t;\n";
  std::string take = "ld.shared::cluster.u32 %r1, [%r12];\n";
  expectReports({
      {"a store that nobody has waited for",
       race,
       race,
       other + writeMine + all + give + readMine + all,
       other + writeMine + all + give + all + readMine,
       {"which warp 0 of block 0 of the cluster read"},
       twoBlocks},
      {"a read before the other block has written",
       race,
       race,
       other + writeMine + all + take + writeMine + all,
       other + writeMine + all + take + all + writeMine,
       {},
       twoBlocks},
      {"within a block of a cluster of more than 32 warps",
       race,
       race,
       "xor.b32 %r0, %t, 32; shl.b32 %r0, %r0, 2; add.u32 %r10, %s, %r0;\n" +
           writeMine + all + writeMine + "ld.shared.u32 %r1, [%r10];\n" + all,
       "xor.b32 %r0, %t, 32; shl.b32 %r0, %r0, 2; add.u32 %r10, %s, %r0;\n" +
           writeMine + all + "ld.shared.u32 %r1, [%r10];\n" + all,
       {"no barrier in between"},
       {{2, 1, 1}, {576, 1, 1}, {2, 1, 1}}},
      {"a relaxed barrier without a fence",
       race,
       race,
       other + all + give +
           "barrier.cluster.arrive.relaxed.aligned; "
           "barrier.cluster.wait.aligned;\n" +
           readMine + all,
       other + all + give +
           "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed.aligned; "
           "barrier.cluster.wait.aligned;\n" +
           readMine + all,
       {"no barrier in between"},
       twoBlocks},
      {"both blocks write one word",
       race,
       race,
       zero + "mapa.shared::cluster.u32 %r10, %s, 0;\n" + all +
           "@%one st.shared::cluster.u32 [%r10], %c;\n" + all,
       zero +
           "mapa.shared::cluster.u32 %r10, %s, 0;\n"
           "@%one st.shared.u32 [%s], 0;\n" +
           all + "@%one red.shared::cluster.add.u32 [%r10], %c;\n" + all,
       {"writes 4 bytes"},
       twoBlocks},
      {"an arrival that does not release",
       race,
       race,
       init + other + all +
           "@%one st.shared::cluster.u32 [%r10], 1;\n"
           "@%one mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, "
           "[%r11];\n" +
           waitAll + "@%one ld.shared.u32 %r1, [%s];\n" + all,
       init + other + all +
           "@%one st.shared::cluster.u32 [%r10], 1;\n"
           "@%one mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
           "[%r11];\n" +
           waitAll + "@%one ld.shared.u32 %r1, [%s];\n" + all,
       {"which warp 0 of block 0 of the cluster wrote"},
       twoBlocks},
      {"st.async that nobody has waited for",
       inFlight,
       race,
       initBarrier(0, 1) +
           "@%one mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;\n" +
           other + all +
           "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r12], "
           "%t, [%r11];\n" +
           all + readMine + waitAll + all,
       initBarrier(0, 1) +
           "@%one mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;\n" +
           other + all +
           "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r12], "
           "%t, [%r11];\n" +
           waitAll + readMine + all,
       {},
       twoBlocks},
  });
}

TEST(EmulatorAsyncChecks, BlocksThatExit) {
  std::string start = other + "st.shared.u32 [%my], %t;\n" + all;
  expectReports({
      {"read by another block",
       gone,
       gone,
       start + "ld.shared::cluster.u32 %r1, [%r12];\n",
       start + "ld.shared::cluster.u32 %r1, [%r12];\n" + all,
       {"may exit before", "'ld.shared::cluster.u32'"},
       twoBlocks},
      {"written by another block",
       gone,
       gone,
       start + "st.shared::cluster.u32 [%r12], 5;\n",
       start + "st.shared::cluster.u32 [%r12], 5;\n" + all,
       {"block 1 of the cluster"},
       twoBlocks},
      {"updated by another block",
       gone,
       gone,
       start + "atom.shared::cluster.add.u32 %r1, [%r12], 5;\n",
       start + "atom.shared::cluster.add.u32 %r1, [%r12], 5;\n" + all,
       {},
       twoBlocks},
      {"a last arrival that nobody awaits",
       gone,
       gone,
       init + start +
           "@%one mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
           "[%r11];\n",
       init + start +
           "@%one mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
           "[%r11];\n" +
           waitAll,
       {},
       twoBlocks},
      {"one block only reads",
       gone,
       gone,
       start + zero + "@%p4 ld.shared::cluster.u32 %r1, [%r12];\n",
       start + zero + "@%p4 ld.shared::cluster.u32 %r1, [%r12];\n" + all,
       {"block (1,0,0)"},
       twoBlocks},
      {"a copy from another block",
       inFlight,
       inFlight,
       init + start + zero +
           "and.pred %p4, %p4, %one;\n"
           "@%p4 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
           "bytes [%r10+1024], [%in], 64, [%r11];\n"
           "@%p4 mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 "
           "_, [%r11], 64;\n",
       init + start + zero +
           "@!%p4 bra V;\n"
           "@%one cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
           "bytes [%r10+1024], [%in], 64, [%r11];\n"
           "@%one "
           "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 "
           "_, [%r11], 64;\nbra END;\nV: " +
           waitAll + "END: mov.u32 %r1, 0;\n",
       {},
       twoBlocks},
  });
}

TEST(EmulatorAsyncChecks, ClusterBarrierDivergence) {
  expectReports({
      {"arrives twice",
       diverged,
       diverged,
       "barrier.cluster.arrive; barrier.cluster.arrive; "
       "barrier.cluster.wait;\n",
       "barrier.cluster.arrive; barrier.cluster.wait;\n",
       {"again without having waited"},
       twoBlocks},
      {"waits without having arrived",
       diverged,
       diverged,
       "barrier.cluster.wait;\n",
       "barrier.cluster.arrive; barrier.cluster.wait;\n",
       {"without having arrived"},
       twoBlocks},
      {"waits twice",
       diverged,
       diverged,
       all + "barrier.cluster.wait;\n",
       all + all,
       {"without having arrived"},
       twoBlocks},
      {"half a warp arrives",
       diverged,
       diverged,
       "setp.lt.u32 %p1, %lane, 16; @%p1 barrier.cluster.arrive; "
       "barrier.cluster.wait;\n",
       "setp.lt.u32 %p1, %lane, 16; @%p1 barrier.cluster.arrive; @!%p1 "
       "barrier.cluster.arrive; barrier.cluster.wait;\n",
       {"thread (16,0,0)", "without having arrived"},
       twoBlocks},
      {"half a warp arrives at an aligned one",
       diverged,
       diverged,
       "setp.lt.u32 %p1, %lane, 16; @%p1 bra A;\n"
       "barrier.cluster.arrive.aligned; bra B;\nA: "
       "barrier.cluster.arrive.aligned;\nB: barrier.cluster.wait.aligned;\n",
       "setp.lt.u32 %p1, %lane, 16; @%p1 bra A;\nbarrier.cluster.arrive; bra "
       "B;\nA: barrier.cluster.arrive;\nB: barrier.cluster.wait;\n",
       {"threads 0-15", "threads 16-31"},
       twoBlocks},
      {"two waits of one warp",
       diverged,
       diverged,
       "barrier.cluster.arrive.aligned; setp.lt.u32 %p1, %lane, 16; @%p1 bra "
       "A;\nbarrier.cluster.wait.aligned; bra B;\nA: "
       "barrier.cluster.wait.aligned;\nB: mov.u32 %r1, 0;\n",
       all,
       {"wait for their warp"},
       twoBlocks},
      {"registers for half a warp",
       diverged,
       diverged,
       "setp.lt.u32 %p1, %lane, 16; @!%p1 bra A;\n"
       "setmaxnreg.dec.sync.aligned.u32 40;\nA: add.u32 %r1, %t, 1; "
       "st.shared.u32 [%my], %r1;\n",
       "setmaxnreg.dec.sync.aligned.u32 40;\n"
       "A: add.u32 %r1, %t, 1; st.shared.u32 [%my], %r1;\n",
       {"wait for their warp"}},
  });
}
