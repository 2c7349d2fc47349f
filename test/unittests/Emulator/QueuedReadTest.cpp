//===- QueuedReadTest.cpp - Loads that a copy may overtake ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file proves by planted faults that a load of shared memory counts as
// over only behind a use of what it brings or a fence, and the silence by the
// repairs.
//
//===----------------------------------------------------------------------===//

#include "AsyncTestUtils.h"

using namespace fusionemu;

static constexpr ErrorKind noFence = ErrorKind::MissingFence;

static const std::string fence = "fence.proxy.async.shared::cta;\n";
static const std::string arrive = "mbarrier.arrive.shared.b64 _, [%bar+8];\n";
static const std::string arriveLater =
    "mbarrier.arrive.shared.b64 _, [%bar+16];\n";
static const std::string meet = "bar.sync 0;\n";
static const std::string loadMine = "ld.shared.u32 %r1, [%my];\n";
static const std::string useMine = "add.u32 %r2, %r1, 1;\n";
static const std::string loadMatrix =
    "shl.b32 %r4, %lane, 4; and.b32 %r4, %r4, 112; add.u32 %r4, %r4, %s;\n"
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r5, %r6}, [%r4];\n";
static const std::string multiply =
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, "
    "{%r5, %r5}, {%r6}, {%f0, %f1, %f2, %f3};\n";

/// Warp 0 runs `reader` on a tile of 256 bytes; thread 32 issues the copy of
/// the next tile to the same place when mbarrier `awaited` has seen 32
/// arrivals, behind `before`.
static std::string handOver(const std::string &reader,
                            const std::string &before = "",
                            unsigned awaited = 1) {
  return initBarrier(0, 1) + initBarrier(1, 32) + initBarrier(2, 32) +
         loadTile(0, 256) + "setp.eq.u32 %p5, %t, 32; @!%first bra A;\n" +
         waitFor("W", 0, "0") + reader +
         "bra END;\nA: " + waitFor("V", 0, "0") + waitFor("X", awaited, "0") +
         before + loadTile(0, 256, "@%p5 ") + waitFor("U", 0, "1") +
         "END: mov.u32 %r3, 0;\n";
}

/// The same with all threads at a barrier of the block, and one warp.
static std::string meetThenRefill(const std::string &reader,
                                  const std::string &before = "") {
  return initBarrier(0, 1) + loadTile(0, 256) + waitFor("W", 0, "0") + reader +
         meet + before + loadTile(0, 256) + waitFor("U", 0, "1");
}

TEST(EmulatorQueuedReads, Arrivals) {
  expectReports({
      {"a load that nobody has used",
       noFence,
       noFence,
       handOver(loadMine + arrive + useMine),
       handOver(loadMine + useMine + arrive),
       {"writes 256 bytes", "warp 0 may not have read yet",
        "'ld.shared.u32' loads", "fence.proxy.async"}},
      {"a load before a fence",
       noFence,
       noFence,
       handOver(fence + loadMine + arrive + useMine),
       handOver(loadMine + fence + arrive + useMine),
       {"may not have read yet"}},
      {"fragments of a product",
       noFence,
       noFence,
       handOver(loadMatrix + arrive + multiply),
       handOver(loadMatrix + multiply + arrive),
       {"warp 0 may not have read yet", "'ldmatrix."}},
      {"a copy of a register is no use",
       noFence,
       noFence,
       handOver(loadMine + "mov.u32 %r7, %r1;\n" + arrive),
       handOver(loadMine + "mov.u32 %r7, %r1; add.u32 %r8, %r7, 1;\n" + arrive),
       {"may not have read yet"}},
      {"the address is no use",
       noFence,
       noFence,
       handOver(loadMine + "add.u32 %r7, %my, 4;\n" + arrive),
       handOver(loadMine + "add.u32 %r1, %my, 4;\n" + arrive),
       {"may not have read yet"}},
      {"the last of several loads",
       noFence,
       noFence,
       handOver(loadMine + "ld.shared.u32 %r7, [%my];\n" + useMine + arrive),
       handOver("ld.shared.v2.u32 {%r1, %r7}, [%s];\n" + useMine + arrive),
       {"may not have read yet"}},
      {"used behind the arrival that is waited for",
       noFence,
       noFence,
       handOver(loadMine + arrive + useMine + arriveLater, "", 1),
       handOver(loadMine + arrive + useMine + arriveLater, "", 2),
       {"may not have read yet"}},
  });
}

TEST(EmulatorQueuedReads, Barriers) {
  expectReports({
      {"a barrier of the block",
       noFence,
       noFence,
       meetThenRefill(loadMine),
       meetThenRefill(loadMine + useMine),
       {"may not have read yet"}},
      {"a fence of who issues the copy",
       noFence,
       noFence,
       meetThenRefill(loadMine),
       meetThenRefill(loadMine, fence),
       {"may not have read yet"}},
      {"a fence of who issues the copy, behind an mbarrier",
       noFence,
       noFence,
       handOver(loadMine + arrive),
       handOver(loadMine + arrive, fence),
       {"may not have read yet"}},
      {"a named barrier that is not waited for",
       noFence,
       noFence,
       handOver(arrive + loadMine + "bar.arrive 2, 64;\n", "bar.sync 2, 64;\n"),
       handOver(arrive + loadMine + useMine + "bar.arrive 2, 64;\n",
                "bar.sync 2, 64;\n"),
       {"may not have read yet"}},
      {"bytes beside those of the copy",
       noFence,
       noFence,
       "st.shared.u32 [%my+1024], %t;\n" +
           handOver("ld.shared.u32 %r1, [%my+124];\n" + arrive),
       "st.shared.u32 [%my+1024], %t;\n" +
           handOver("ld.shared.u32 %r1, [%my+1024];\n" + arrive),
       {"may not have read yet"}},
  });
}

/// Without one of the checks nothing is followed, and nothing is reported.
TEST(EmulatorQueuedReads, ChecksOff) {
  for (bool races : {true, false}) {
    Fixture f;
    ASSERT_TRUE(f.parse(asyncKernel(handOver(loadMine + arrive))).ok());
    f.passBuffer("source", std::vector<uint32_t>(256, 1));
    f.passBuffer("result", std::vector<uint32_t>(256, 0));
    f.options.checks.asynchrony = !races;
    f.options.checks.sharedRaces = races;
    Status s = f.run({1, 1, 1}, {64, 1, 1});
    EXPECT_TRUE(s.ok()) << s.message();
  }
}
