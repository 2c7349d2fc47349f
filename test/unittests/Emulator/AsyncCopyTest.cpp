//===- AsyncCopyTest.cpp - cp.async and cp.async.bulk ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the copies of single threads and the plain bulk copies.
//
//===----------------------------------------------------------------------===//

#include "AsyncTestUtils.h"

using namespace fusionemu;

/// Each thread stores the word of tile at its place.
static const char *const storeMine =
    "ld.shared.u32 %r15, [%my]; st.global.u32 [%x1], %r15;\n";

TEST(EmulatorAsyncCopy, SizesAndFill) {
  struct Case {
    const char *copy;
    unsigned bytes, filled;
  };
  // Every thread copies its `bytes`, the last `filled` of them zeros.
  for (const Case &k : {
           Case{"cp.async.ca.shared.global [%r1], [%x2], 4;", 4, 0},
           Case{"cp.async.ca.shared::cta.global [%r1], [%x2], 8;", 8, 0},
           Case{"cp.async.ca.shared.global [%r1], [%x2], 16;", 16, 0},
           Case{"cp.async.cg.shared.global [%r1], [%x2], 16;", 16, 0},
           Case{"cp.async.cg.shared.global.L2::128B [%r1], [%x2], 16;", 16, 0},
           Case{"cp.async.cg.shared.global [%r1], [%x2], 16, 4;", 16, 12},
           Case{"mov.u32 %r5, 8; cp.async.ca.shared.global [%r1], [%x2], 16, "
                "%r5;",
                16, 8},
           Case{"cp.async.ca.shared.global [%r1], [%x2], 8, 0;", 8, 8},
           Case{"setp.eq.u32 %p5, %t, %t; cp.async.ca.shared.global [%r1], "
                "[%x2], 4, %p5;",
                4, 4},
           Case{"setp.ne.u32 %p5, %t, %t; cp.async.ca.shared.global [%r1], "
                "[%x2], 4, %p5;",
                4, 0},
       }) {
    std::string n = std::to_string(k.bytes);
    for (const char *wait : {"cp.async.wait_all;",
                             "cp.async.commit_group; cp.async.wait_group 0;"})
      expectAsync("mad.lo.u32 %r1, %t, " + n + ", %s; mad.wide.u32 %x2, %t, " +
                      n + ", %in;\n" + k.copy + wait + "\nbar.sync 0;\n" +
                      "mov.u32 %r3, %t;\n"
                      "L: shl.b32 %r4, %r3, 2; add.u32 %r4, %r4, %s;\n"
                      "ld.shared.u32 %r5, [%r4]; mad.wide.u32 %x3, %r3, 4, "
                      "%out; st.global.u32 [%x3], %r5;\n"
                      "add.u32 %r3, %r3, 64; setp.lt.u32 %p1, %r3, " +
                      std::to_string(16 * k.bytes) + "; @%p1 bra L;\n",
                  {}, [&](unsigned i) {
                    unsigned inThread = i * 4 % k.bytes;
                    return i >= 16 * k.bytes                ? untouched
                           : inThread >= k.bytes - k.filled ? 0
                                                            : i;
                  });
  }
}

TEST(EmulatorAsyncCopy, GroupsCompleteInOrder) {
  // Three groups; the data of the older ones are read while the last is under
  // way.
  expectAsync("cp.async.ca.shared.global [%my], [%x0], 4;\n"
              "cp.async.commit_group;\n"
              "cp.async.ca.shared.global [%my+1024], [%x0+1024], 4;\n"
              "cp.async.commit_group;\n"
              "cp.async.ca.shared.global [%my+2048], [%x0+2048], 4;\n"
              "cp.async.commit_group;\ncp.async.wait_group 2;\n"
              "ld.shared.u32 %r1, [%my];\ncp.async.wait_group 1;\n"
              "ld.shared.u32 %r2, [%my+1024]; add.u32 %r1, %r1, %r2;\n"
              "cp.async.wait_group 0; ld.shared.u32 %r2, [%my+2048];\n"
              "add.u32 %r1, %r1, %r2; st.global.u32 [%x1], %r1;",
              {}, [](unsigned i) { return i < 64 ? 3 * i + 768 : untouched; });
}

TEST(EmulatorAsyncCopy, ArrivesWhenDone) {
  // The copies of one warp arrive for the other one.
  for (bool noinc : {false, true})
    expectAsync(
        initBarrier(0, noinc ? 32 : 1) +
            "@!%first bra WAIT;\n"
            "cp.async.ca.shared.global [%my], [%x0], 4;\n"
            "cp.async.mbarrier.arrive" +
            (noinc ? ".noinc" : "") + ".shared::cta.b64 [%bar];\n" +
            (noinc ? "" : "@%one mbarrier.arrive.shared.b64 _, [%bar];\n") +
            "bra END;\nWAIT:\n" + waitFor("W", 0, "0") +
            "ld.shared.u32 %r1, [%my+-128]; st.global.u32 [%x1], %r1;\n"
            "END: mov.u32 %r9, 0;",
        {}, [](unsigned i) { return i >= 32 && i < 64 ? i - 32 : untouched; });
}

TEST(EmulatorAsyncCopy, BulkLoad) {
  for (const char *space : {"shared::cluster", "shared::cta"})
    expectAsync(
        initBarrier(0, 1) +
            "@%one mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;\n"
            "@%one cp.async.bulk." +
            space +
            ".global.mbarrier::complete_tx::bytes [%s], [%in+16], 256, "
            "[%bar];\n" +
            waitFor("W", 0, "0") + storeMine,
        {}, [](unsigned i) { return i < 64 ? i + 4 : untouched; });
}

TEST(EmulatorAsyncCopy, BulkStore) {
  // One of two groups is waited for by its source only.
  expectAsync("st.shared.u32 [%my], %t; fence.proxy.async.shared::cta;\n"
              "bar.sync 0; @!%one bra END;\n"
              "cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 128;\n"
              "cp.async.bulk.commit_group;\n"
              "cp.async.bulk.global.shared::cta.bulk_group [%out+512], "
              "[%s+128], 128;\ncp.async.bulk.commit_group;\n"
              "cp.async.bulk.wait_group 1;\ncp.async.bulk.wait_group.read 0;\n"
              "st.shared.u32 [%s+128], 9;\nEND: mov.u32 %r9, 0;",
              {}, [](unsigned i) {
                return i < 32 ? i : i >= 128 && i < 160 ? i - 96 : untouched;
              });
}

TEST(EmulatorAsyncCopy, RingOfBuffers) {
  // A producer warp refills two buffers eight times; consumers add up.
  expectAsync(
      initBarrier(0, 1) + initBarrier(1, 1) + initBarrier(2, 32) +
          initBarrier(3, 32) +
          "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r10, 0;\n"
          "@%first bra CONSUME;\nsetp.ne.u32 %p1, %t, 32; @%p1 bra END;\n"
          "P: and.b32 %r3, %r1, 1; shl.b32 %r4, %r3, 3; add.u32 %r5, %bar, "
          "%r4; xor.b32 %r6, %r2, 1;\n"
          "P1: mbarrier.try_wait.parity.shared.b64 %p2, [%r5+16], %r6; @!%p2 "
          "bra P1;\n"
          "shl.b32 %r7, %r3, 10; add.u32 %r7, %r7, %s; mad.wide.u32 %x2, %r1, "
          "128, %in;\n"
          "mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 128;\n"
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
          "[%r7], [%x2], 128, [%r5];\n"
          "add.u32 %r1, %r1, 1; and.b32 %r3, %r1, 1; setp.eq.u32 %p3, %r3, 0; "
          "@%p3 xor.b32 %r2, %r2, 1;\n"
          "setp.lt.u32 %p3, %r1, 16; @%p3 bra P; bra END;\n"
          "CONSUME: and.b32 %r3, %r1, 1; shl.b32 %r4, %r3, 3; add.u32 %r5, "
          "%bar, %r4;\n"
          "C1: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], %r2; @!%p2 bra "
          "C1;\n"
          "shl.b32 %r7, %r3, 10; add.u32 %r7, %r7, %my; ld.shared.u32 %r8, "
          "[%r7]; add.u32 %r10, %r10, %r8;\n"
          "mbarrier.arrive.shared.b64 _, [%r5+16];\n"
          "add.u32 %r1, %r1, 1; and.b32 %r3, %r1, 1; setp.eq.u32 %p3, %r3, 0; "
          "@%p3 xor.b32 %r2, %r2, 1;\n"
          "setp.lt.u32 %p3, %r1, 16; @%p3 bra CONSUME;\n"
          "st.global.u32 [%x1], %r10;\nEND: mov.u32 %r9, 0;",
      {}, [](unsigned i) {
        uint32_t sum = 0;
        for (unsigned k = 0; k < 16; ++k)
          sum += i + 32 * k;
        return i < 32 ? sum : untouched;
      });
}

TEST(EmulatorAsyncCopy, Prefetch) {
  expectAsync("cp.async.bulk.prefetch.L2.global [%in], 256;", {},
              [](unsigned) { return untouched; });
}

TEST(EmulatorAsyncCopy, RefusedByName) {
  for (const char *body :
       {"multimem.ld_reduce.global.add.u32 %r1, [%in];",
        "tensormap.replace.tile.rank.global.b1024.b32 [%x0], 3;",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release."
        "gpu.sync.aligned [%x0], [%s], 128;",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%out], [%s], 16, "
        "%h1;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%out], "
        "[%s], 16;",
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_"
        "tx::bytes.add.f32 [%s], [%s], 16, [%bar];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::"
        "bytes.exch.b32 [%s], %t, [%bar];"}) {
    std::string text = body;
    Status s = runAsync(text, {}, Asynchrony::Late, 1);
    EXPECT_EQ(s.getKind(), ErrorKind::Unsupported) << text << s.message();
    EXPECT_NE(s.message().find(text.substr(0, text.find(' '))),
              std::string::npos)
        << s.message();
  }
}
