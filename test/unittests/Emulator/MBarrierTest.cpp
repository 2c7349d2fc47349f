//===- MBarrierTest.cpp - mbarrier objects --------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests every form of the mbarrier instructions.
//
//===----------------------------------------------------------------------===//

#include "AsyncTestUtils.h"

using namespace fusionemu;

TEST(EmulatorMBarrier, OrdersItsThreads) {
  // All store, arrive and wait; then each reads what the other warp stored.
  for (const char *arrive :
       {"mbarrier.arrive.shared.b64 %state, [%bar];",
        "mbarrier.arrive.shared::cta.b64 _, [%bar];",
        "mbarrier.arrive.release.cta.shared.b64 %state, [%bar];",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%bar];",
        "mbarrier.arrive.shared.b64 %state, [%bar], 1;",
        "fence.acq_rel.cta; mbarrier.arrive.relaxed.cta.shared.b64 %state, "
        "[%bar];",
        "mov.u32 %r9, 0; mbarrier.arrive.expect_tx.shared.b64 _, [%bar], %r9;",
        "cvt.u64.u32 %x9, %bar; cvta.shared.u64 %x9, %x9; "
        "mbarrier.arrive.b64 %state, [%x9];"})
    expectAsync(initBarrier(0, 64) + "st.shared.u32 [%my], %t;\n" + arrive +
                    waitFor("W", 0, "0") +
                    "xor.b32 %r1, %my, 252; ld.shared.u32 %r2, [%r1]; "
                    "st.global.u32 [%x1], %r2;",
                {}, [](unsigned i) { return i < 64 ? 63 - i : untouched; });
}

TEST(EmulatorMBarrier, EveryWayToWait) {
  for (const char *wait :
       {"W: mbarrier.test_wait.shared.b64 %p1, [%bar], %state; @!%p1 bra W;",
        "W: mbarrier.try_wait.shared.b64 %p1, [%bar], %state; @!%p1 bra W;",
        "W: mbarrier.test_wait.parity.shared::cta.b64 %p1, [%bar], 0; "
        "@!%p1 bra W;",
        "W: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%bar], "
        "0, 1000; @!%p1 bra W;",
        "W: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p1, [%bar], "
        "0; @!%p1 bra W; fence.acq_rel.cta;",
        "cvt.u64.u32 %x9, %bar; cvta.shared.u64 %x9, %x9;\n"
        "W: mbarrier.test_wait.parity.b64 %p1, [%x9], 0; @!%p1 bra W;"})
    expectAsync(initBarrier(0, 64) +
                    "st.shared.u32 [%my], %t;\n"
                    "mbarrier.arrive.shared.b64 %state, [%bar];\n" +
                    wait +
                    "xor.b32 %r1, %my, 252; ld.shared.u32 %r2, [%r1]; "
                    "st.global.u32 [%x1], %r2;",
                {}, [](unsigned i) { return i < 64 ? 63 - i : untouched; });
}

TEST(EmulatorMBarrier, PhasesOverManyRounds) {
  // A word goes back and forth between the warps, twenty times.
  expectAsync(
      initBarrier(0, 32) + initBarrier(1, 32) +
          "mov.u32 %r1, 0; mov.u32 %r2, 0; @!%first bra OTHER;\n"
          "@%one st.shared.u32 [%s], 5;\n"
          "A: mbarrier.arrive.shared.b64 _, [%bar];\n" +
          waitFor("A1", 1, "%r1") +
          "@%one ld.shared.u32 %r3, [%s]; @%one add.u32 %r3, %r3, 1;\n"
          "@%one st.shared.u32 [%s], %r3;\n"
          "xor.b32 %r1, %r1, 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, "
          "20;\n@%p2 bra A;\n"
          "@%one ld.shared.u32 %r3, [%s]; @%one st.global.u32 [%out], %r3; "
          "bra END;\nOTHER:\n" +
          waitFor("B0", 0, "%r1") +
          "setp.eq.u32 %p3, %lane, 7; @%p3 ld.shared.u32 %r3, [%s];\n"
          "@%p3 mul.lo.u32 %r3, %r3, 3; @%p3 st.shared.u32 [%s], %r3;\n"
          "mbarrier.arrive.shared.b64 _, [%bar+8];\n"
          "xor.b32 %r1, %r1, 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, "
          "20;\n@%p2 bra OTHER;\nEND: mov.u32 %r4, 0;",
      {}, [](unsigned i) {
        uint32_t x = 5;
        for (int k = 0; k < 20; ++k)
          x = x * 3 + 1;
        return i == 0 ? x : untouched;
      });
}

TEST(EmulatorMBarrier, CountsAndDrops) {
  // Arrivals of 3, 1 without completion and a drop; then one less is due.
  expectAsync(
      initBarrier(0, 6) +
          "@!%one bra END;\n"
          "mbarrier.arrive.shared.b64 %x2, [%bar], 3;\n"
          "mbarrier.arrive.noComplete.shared.b64 %x3, [%bar], 1;\n"
          "mbarrier.arrive_drop.noComplete.shared.b64 %x4, [%bar], 1;\n"
          "mbarrier.pending_count.b64 %r1, %x2;\n"
          "mbarrier.pending_count.b64 %r2, %x3;\n"
          "mbarrier.pending_count.b64 %r3, %x4;\n"
          "mbarrier.test_wait.shared.b64 %p1, [%bar], %x2;\n"
          "selp.u32 %r4, 1, 0, %p1;\n"
          "mbarrier.arrive_drop.shared.b64 %x5, [%bar];\n"
          "mbarrier.test_wait.shared.b64 %p1, [%bar], %x5;\n"
          "selp.u32 %r5, 1, 0, %p1;\n"
          "mbarrier.arrive.shared.b64 %x6, [%bar];\n"
          "mbarrier.pending_count.b64 %r6, %x6;\n"
          "mbarrier.arrive.shared.b64 %x7, [%bar], 3;\n"
          "mbarrier.test_wait.parity.shared.b64 %p1, [%bar], 1;\n"
          "selp.u32 %r7, 1, 0, %p1;\n"
          "st.global.v4.u32 [%out], {%r1,%r2,%r3,%r4};\n"
          "st.global.v2.u32 [%out+16], {%r5,%r6}; st.global.u32 [%out+24], "
          "%r7;\nmbarrier.inval.shared.b64 [%bar];\n"
          "mbarrier.init.shared.b64 [%bar], 1;\nEND: mov.u32 %r9, 0;",
      {}, [](unsigned i) {
        const uint32_t expected[] = {6, 3, 2, 0, 1, 4, 1};
        return i < 7 ? expected[i] : untouched;
      });
}

TEST(EmulatorMBarrier, TransactionsKeepAPhaseOpen) {
  // Bytes that come before they are expected, and a phase of bytes alone.
  expectAsync(
      initBarrier(0, 1) +
          "@!%one bra END;\n"
          "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], 64;\n"
          "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 96;\n"
          "mbarrier.arrive.shared.b64 %x2, [%bar];\n"
          "mbarrier.test_wait.parity.shared.b64 %p1, [%bar], 0;\n"
          "selp.u32 %r1, 1, 0, %p1;\n"
          "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%bar], "
          "32;\nmbarrier.test_wait.parity.shared.b64 %p1, [%bar], 0;\n"
          "selp.u32 %r2, 1, 0, %p1; st.global.v2.u32 [%out], {%r1,%r2};\n"
          "END: mov.u32 %r9, 0;",
      {}, [](unsigned i) { return i < 2 ? i : untouched; });
}

TEST(EmulatorMBarrier, LanesThatWaitForDifferentOnes) {
  // Even and odd lanes of warp 0 wait at two barriers, which the other warp
  // completes one after the other by copies.
  expectAsync(
      initBarrier(0, 1) + initBarrier(1, 1) +
          "@%first bra WAIT;\nsetp.eq.u32 %p1, %t, 32;\n" +
          loadTile(1, 256, "@%p1 ") +
          "@%p1 add.u32 %s, %s, 1024; @%p1 add.u64 %in, %in, 256;\n" +
          loadTile(0, 256, "@%p1 ") +
          "bra END;\nWAIT: and.b32 %r1, %lane, 1; shl.b32 %r2, %r1, 3;\n"
          "add.u32 %r3, %bar, %r2;\n"
          "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;\n"
          "@!%p2 bra W;\n"
          "xor.b32 %r4, %r1, 1; shl.b32 %r4, %r4, 10; add.u32 %r4, %r4, %my;\n"
          "ld.shared.u32 %r5, [%r4]; st.global.u32 [%x1], %r5;\n"
          "END: mov.u32 %r9, 0;",
      {}, [](unsigned i) { return i >= 32 ? untouched
                                  : i % 2 ? i
                                          : i + 64; });
}

TEST(EmulatorMBarrier, ArrivesInAnotherBlock) {
  // Block 1 hands a word to block 0.
  for (const char *arrive :
       {"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];",
        "fence.acq_rel.cluster; "
        "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r2];",
        "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r2], 8; "
        "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r2], 8; "
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2], 1;",
        "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%r2];"})
    expectAsync(
        initBarrier(0, 1) +
            "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
            "mapa.shared::cluster.u32 %r1, %s, 0;\n"
            "mapa.shared::cluster.u32 %r2, %bar, 0;\n"
            "setp.eq.u32 %p1, %rank, 0; @%p1 bra WAIT; @!%one bra END;\n"
            "st.shared::cluster.u32 [%r1], 77;\n" +
            arrive + "\nbra END;\nWAIT:\n" + waitFor("W", 0, "0") +
            "ld.shared.u32 %r3, [%s]; @%one st.global.u32 [%out], %r3;\n"
            "END: mov.u32 %r9, 0;",
        {{2, 1, 1}, {64, 1, 1}, {2, 1, 1}},
        [](unsigned i) { return i == 0 ? 77 : untouched; });
}
