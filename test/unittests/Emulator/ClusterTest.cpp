//===- ClusterTest.cpp - Blocks that run together -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests clusters: their barrier, distributed shared memory, stores
// that signal, and copies between blocks.
//
//===----------------------------------------------------------------------===//

#include "AsyncTestUtils.h"

using namespace fusionemu;

static const AsyncLaunch twoBlocks{{4, 1, 1}, {64, 1, 1}, {2, 1, 1}};

static const char *const clusterSync =
    "barrier.cluster.arrive.release.aligned; "
    "barrier.cluster.wait.acquire.aligned;\n";

/// The index of a thread in the grid, in %r19, and its word of out, in %x9.
static const char *const inGrid =
    "mad.lo.u32 %r19, %c, 64, %t; mad.wide.u32 %x9, %r19, 4, %out;\n";

TEST(EmulatorCluster, DistributedSharedMemory) {
  // Every thread gives a word to the other block, in every way there is.
  struct Case {
    const char *give;
    uint32_t plus;
  };
  for (const Case &k : {
           Case{"mapa.shared::cluster.u32 %r1, %my, %r0; "
                "st.shared::cluster.u32 [%r1], %r19;",
                0},
           Case{"cvt.u64.u32 %x2, %my; mapa.shared::cluster.u64 %x3, %x2, %r0; "
                "cvt.u32.u64 %r1, %x3; st.shared::cluster.u32 [%r1], %r19;",
                0},
           Case{"cvt.u64.u32 %x2, %my; cvta.shared.u64 %x2, %x2; mapa.u64 %x3, "
                "%x2, %r0; st.u32 [%x3], %r19;",
                0},
           Case{"mapa.shared::cluster.u32 %r1, %my, %r0; "
                "atom.shared::cluster.add.u32 %r2, [%r1+1024], %r19; "
                "ld.shared::cluster.u32 %r3, [%r1+1024]; "
                "st.shared::cluster.u32 [%r1], %r3;",
                7},
           Case{"mapa.shared::cluster.u32 %r1, %my, %r0; "
                "red.shared::cluster.add.u32 [%r1+1024], %r19; "
                "ld.shared::cluster.u32 %r3, [%r1+1024]; "
                "st.shared::cluster.u32 [%r1], %r3;",
                7},
       })
    expectAsync(
        std::string(inGrid) + "st.shared.u32 [%my+1024], 7;\n" + clusterSync +
            "xor.b32 %r0, %rank, 1;\n" + k.give + clusterSync +
            "ld.shared.u32 %r4, [%my]; st.global.u32 [%x9], %r4;",
        twoBlocks,
        [&](unsigned i) { return i < 256 ? (i ^ 64) + k.plus : untouched; });
}

TEST(EmulatorCluster, BarrierForms) {
  for (const char *sync :
       {"barrier.cluster.arrive; barrier.cluster.wait;",
        "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;",
        "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed.aligned; "
        "barrier.cluster.wait.aligned;",
        "fence.sc.cluster; barrier.cluster.arrive.relaxed; "
        "barrier.cluster.wait;"})
    expectAsync(std::string(inGrid) +
                    "mapa.shared::cluster.u32 %r1, %my, 0; mov.u32 %r5, 0;\n"
                    "st.shared.u32 [%my], 0;\nL: " +
                    sync +
                    "\nand.b32 %r6, %r5, 1; setp.eq.u32 %p1, %r6, %rank;\n"
                    "@%p1 ld.shared::cluster.u32 %r2, [%r1]; @%p1 add.u32 %r2, "
                    "%r2, %r19; @%p1 st.shared::cluster.u32 [%r1], %r2;\n"
                    "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 10; "
                    "@%p2 bra L;\n" +
                    sync +
                    "\nsetp.eq.u32 %p1, %rank, 0; @%p1 ld.shared.u32 %r2, "
                    "[%my]; @%p1 st.global.u32 [%x9], %r2;",
                twoBlocks, [](unsigned i) {
                  return i < 256 && i / 64 % 2 == 0 ? 5 * (2 * i + 64)
                                                    : untouched;
                });
}

TEST(EmulatorCluster, SpecialRegisters) {
  static const char *const names[] = {"%clusterid.x",      "%clusterid.y",
                                      "%nclusterid.x",     "%nclusterid.y",
                                      "%cluster_ctaid.x",  "%cluster_ctaid.y",
                                      "%cluster_nctaid.x", "%cluster_nctaid.y",
                                      "%cluster_ctarank",  "%cluster_nctarank"};
  std::string body = "@!%one bra END; mov.u32 %r0, %ctaid.y; mov.u32 %r1, "
                     "%nctaid.x; mad.lo.u32 %r0, %r0, %r1, %c; mul.lo.u32 "
                     "%r0, %r0, 40; cvt.u64.u32 %x2, %r0; add.u64 %x2, %x2, "
                     "%out;\n";
  for (unsigned i = 0; i < 10; ++i)
    body += "mov.u32 %r2, " + std::string(names[i]) + "; st.global.u32 [%x2+" +
            std::to_string(4 * i) + "], %r2;\n";
  expectAsync(body + "END: mov.u32 %r3, 0;", {{6, 4, 1}, {32, 1, 1}, {3, 2, 1}},
              [](unsigned i) {
                unsigned block = i / 10, x = block % 6, y = block / 6;
                const uint32_t expected[] = {
                    x / 3, y / 2, 2, 2, x % 3, y % 2, 3, 2, x % 3 + y % 2 * 3,
                    6};
                return block < 24 ? expected[i % 10] : untouched;
              });
}

TEST(EmulatorCluster, RankOfAnAddress) {
  expectAsync("mov.u32 %r0, 1; mapa.shared::cluster.u32 %r1, %s, %r0;\n"
              "getctarank.shared::cluster.u32 %r2, %r1; cvt.u64.u32 %x2, %s;\n"
              "cvta.shared.u64 %x2, %x2; getctarank.u64 %r3, %x2;\n"
              "mapa.u64 %x3, %x2, 1; getctarank.u64 %r4, %x3;\n"
              "mad.wide.u32 %x4, %c, 16, %out;\n"
              "@%one st.global.v4.u32 [%x4], {%r2,%r3,%r4,%rank};",
              twoBlocks, [](unsigned i) {
                const uint32_t expected[] = {1, i / 4 % 2, 1, i / 4 % 2};
                return i < 16 ? expected[i % 4] : untouched;
              });
}

TEST(EmulatorCluster, StoreAsync) {
  // Each lane stores a vector and its bytes complete in the other block.
  struct Case {
    const char *store;
    unsigned bytes;
  };
  for (const Case &k :
       {Case{"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 "
             "[%r1], %r19, [%r2];",
             4},
        Case{"cvt.u64.u32 %x2, %r19; "
             "st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 "
             "[%r1], %x2, [%r2];",
             8},
        Case{"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.s32"
             " [%r1], {%r19, %t}, [%r2];",
             8},
        Case{"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32"
             " [%r1], {%r19, %t, %t, %t}, [%r2];",
             16}}) {
    std::string n = std::to_string(k.bytes);
    expectAsync(inGrid + initBarrier(0, 1) +
                    "@%one mbarrier.arrive.expect_tx.shared.b64 _, [%bar], " +
                    std::to_string(64 * k.bytes) + ";\n" + clusterSync +
                    "xor.b32 %r0, %rank, 1; mad.lo.u32 %r3, %t, " + n +
                    ", %s; mapa.shared::cluster.u32 %r1, %r3, %r0; "
                    "mapa.shared::cluster.u32 %r2, %bar, %r0;\n" +
                    k.store + "\n" + waitFor("W", 0, "0") +
                    "ld.shared.u32 %r4, [%r3]; st.global.u32 [%x9], %r4;\n" +
                    clusterSync,
                twoBlocks,
                [](unsigned i) { return i < 256 ? i ^ 64 : untouched; });
  }
}

TEST(EmulatorCluster, ReduceAsync) {
  // All threads of both blocks reduce into one word of block 0.
  struct Case {
    const char *op, *operand;
    uint32_t start, result;
  };
  for (const Case &k :
       {Case{"add.u32", "%t", 1, 1 + 64 * 63},
        Case{"add.s32", "%t", 1, 1 + 64 * 63}, Case{"min.u32", "%t", 50, 0},
        Case{"max.s32", "%t", 0xffffffff, 63}, Case{"inc.u32", "1000", 0, 128},
        Case{"dec.u32", "1000", 500, 372}, Case{"or.b32", "%t", 128, 128 | 63},
        Case{"xor.b32", "%t", 5, 5}, Case{"and.b32", "%t", 0xff, 0}}) {
    expectAsync(
        initBarrier(0, 1) + "@%one st.shared.u32 [%s], " +
            std::to_string(k.start) +
            ";\n@%one mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 512;\n" +
            clusterSync +
            "mapa.shared::cluster.u32 %r1, %s, 0; "
            "mapa.shared::cluster.u32 %r2, %bar, 0;\n"
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::"
            "bytes." +
            k.op + " [%r1], " + k.operand +
            ", [%r2];\nsetp.ne.u32 %p1, %rank, 0; @%p1 bra "
            "END;\n" +
            waitFor("W", 0, "0") +
            "@%one ld.shared.u32 %r4, [%s]; @%one st.global.u32 [%out], %r4;\n"
            "bra DONE;\nEND: @%one mbarrier.complete_tx.shared.b64 [%bar], "
            "512;\n"
            "DONE: mov.u32 %r5, 0;",
        {{2, 1, 1}, {64, 1, 1}, {2, 1, 1}},
        [&](unsigned i) { return i == 0 ? k.result : untouched; });
  }
}

TEST(EmulatorCluster, CopyBetweenBlocks) {
  // Each block's 256 bytes go to the other one.
  expectAsync(inGrid + initBarrier(0, 1) +
                  "@%one mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;\n"
                  "st.shared.u32 [%my], %r19; fence.proxy.async;\n" +
                  clusterSync +
                  "xor.b32 %r0, %rank, 1; add.u32 %r3, %s, 1024; "
                  "mapa.shared::cluster.u32 %r1, %r3, %r0; "
                  "mapa.shared::cluster.u32 %r2, %bar, %r0;\n"
                  "@%one cp.async.bulk.shared::cluster.shared::cta.mbarrier::"
                  "complete_tx::bytes [%r1], [%s], 256, [%r2];\n" +
                  waitFor("W", 0, "0") +
                  "ld.shared.u32 %r4, [%my+1024]; st.global.u32 [%x9], %r4;\n" +
                  clusterSync,
              twoBlocks,
              [](unsigned i) { return i < 256 ? i ^ 64 : untouched; });
}

TEST(EmulatorCluster, ReductionsBetweenBlocks) {
  // Both blocks add their words to those of block 0.
  expectAsync(
      initBarrier(0, 1) +
          "@%one mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 512;\n"
          "st.shared.u32 [%my], %t; st.shared.u32 [%my+1024], 100; "
          "fence.proxy.async;\n" +
          clusterSync +
          "add.u32 %r3, %s, 1024; mapa.shared::cluster.u32 %r1, %r3, 0; "
          "mapa.shared::cluster.u32 %r2, %bar, 0;\n"
          "@%one cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::"
          "complete_tx::bytes.add.u32 [%r1], [%s], 256, [%r2];\n"
          "setp.ne.u32 %p1, %rank, 0; @%p1 bra OTHER;\n" +
          waitFor("W", 0, "0") +
          "ld.shared.u32 %r4, [%my+1024]; st.global.u32 [%x1], %r4;\n"
          "bra DONE;\nOTHER: @%one mbarrier.complete_tx.shared.b64 [%bar], "
          "512;\nDONE: " +
          clusterSync,
      {{2, 1, 1}, {64, 1, 1}, {2, 1, 1}},
      [](unsigned i) { return i < 64 ? 100 + 2 * i : untouched; });
}

TEST(EmulatorCluster, Multicast) {
  // Block 0 loads for both; each waits at its own mbarrier.
  expectAsync(
      inGrid + initBarrier(0, 1) +
          "@%one mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;\n" +
          clusterSync +
          "mov.u16 %h0, 3; setp.eq.u32 %p1, %rank, 0; and.pred %p1, %p1, "
          "%one;\n"
          "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
          "bytes.multicast::cluster [%s], [%in+64], 256, [%bar], %h0;\n" +
          waitFor("W", 0, "0") +
          "ld.shared.u32 %r4, [%my]; st.global.u32 [%x9], %r4;\n" + clusterSync,
      twoBlocks, [](unsigned i) { return i < 256 ? i % 64 + 16 : untouched; });
}

TEST(EmulatorCluster, LaunchesThatCannotBe) {
  auto kindOf = [](Dim3 grid, Dim3 cluster, const std::string &directive) {
    Fixture f;
    EXPECT_TRUE(f.parse(".visible .entry k() " + directive + " { ret; }").ok());
    f.options.cluster = cluster;
    return f.run(grid, {32, 1, 1}).getKind();
  };
  const char *two = ".reqnctapercluster 2, 1, 1";
  EXPECT_EQ(kindOf({4, 1, 1}, {0, 0, 0}, two), ErrorKind::None);
  EXPECT_EQ(kindOf({3, 1, 1}, {0, 0, 0}, two), ErrorKind::BadLaunch);
  EXPECT_EQ(kindOf({4, 1, 1}, {4, 1, 1}, two), ErrorKind::BadLaunch);
  EXPECT_EQ(kindOf({4, 1, 1}, {2, 1, 1}, two), ErrorKind::None);
  EXPECT_EQ(kindOf({4, 1, 1}, {2, 0, 0}, two), ErrorKind::None);
  EXPECT_EQ(kindOf({4, 3, 1}, {1, 2, 1}, ""), ErrorKind::BadLaunch);
  EXPECT_EQ(kindOf({32, 1, 1}, {32, 1, 1}, ""), ErrorKind::BadLaunch);
  EXPECT_EQ(kindOf({32, 1, 1}, {16, 1, 1}, ""), ErrorKind::None);
}

TEST(EmulatorCluster, RegistersElectAndDependence) {
  expectAsync("griddepcontrol.wait; griddepcontrol.launch_dependents;\n"
              "@!%first bra OTHER;\nsetmaxnreg.dec.sync.aligned.u32 40;\n"
              "bra MEET;\nOTHER: setmaxnreg.inc.sync.aligned.u32 232;\n"
              "MEET: elect.sync %r1|%p1, 0xffffffff;\n"
              "@%p1 st.global.u32 [%x1], %r1;",
              {}, [](unsigned i) { return i == 0 || i == 32 ? 0 : untouched; });
  for (const char *count : {"23", "257", "44", "16"})
    EXPECT_FALSE(
        runAsync("setmaxnreg.inc.sync.aligned.u32 " + std::string(count) + ";",
                 {}, Asynchrony::Late, 1)
            .ok());
}
