//===- LaunchTest.cpp - Launches and counters -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the checks of a launch, its counters and its determinism.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

using namespace fusionemu;

static const char *const copyKernel = R"(
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 stride)
{
  .reg .b64 %a, %b; .reg .b32 %t, %c, %n, %s; .reg .f32 %f;
  ld.param.u64 %a, [in]; ld.param.u64 %b, [out]; ld.param.u32 %s, [stride];
  mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x;
  mad.lo.u32 %t, %c, %n, %t;
  mad.wide.u32 %b, %t, 4, %b;
  mul.lo.u32 %t, %t, %s; mad.wide.u32 %a, %t, 4, %a;
  ld.global.f32 %f, [%a]; st.global.f32 [%b], %f; ret;
})";

TEST(EmulatorLaunch, BadLaunchesAreRefused) {
  Fixture f;
  ASSERT_TRUE(f.parse(std::string(copyKernel) +
                      ".visible .entry r() .reqntid 64 { ret; }\n"
                      ".visible .entry m() .maxntid 64 { ret; }\n")
                  .ok());
  f.passBuffer("in", std::vector<float>(64, 1));
  f.passEmpty("out", 256);
  auto expectBad = [&](Status s, const std::string &says) {
    EXPECT_EQ(s.getKind(), ErrorKind::BadLaunch) << s.message();
    EXPECT_NE(s.message().find(says), std::string::npos) << s.message();
  };
  expectBad(f.run({}, {64, 1, 1}), "16 bytes, the kernel takes 20");
  f.pass(uint32_t(1));
  EXPECT_TRUE(f.run({}, {64, 1, 1}).ok());
  expectBad(f.run({0, 1, 1}, {64, 1, 1}), "zero");
  expectBad(f.run({1, 70000, 1}, {64, 1, 1}), "exceeds");
  expectBad(f.run({}, {1025, 1, 1}), "exceeds");
  expectBad(f.run({}, {32, 32, 2}), "1024 threads");
  expectBad(f.run({}, {64, 1, 1}, 300000), "shared memory");
  f.arguments.clear();
  f.kernel = "r";
  expectBad(f.run({}, {32, 1, 1}), ".reqntid (64,1,1)");
  f.kernel = "m";
  EXPECT_TRUE(f.run({}, {32, 2, 1}).ok());
  expectBad(f.run({}, {128, 1, 1}), ".maxntid");
  f.kernel = "nothing";
  expectBad(f.run({}, {32, 1, 1}), "no kernel 'nothing'");
  Module empty;
  Memory memory;
  expectBad(launch(memory, empty, "k", {}, {}, 0, nullptr, 0), "empty module");
}

TEST(EmulatorLaunch, CountsCoalescedTraffic) {
  Fixture f;
  ASSERT_TRUE(f.parse(copyKernel).ok());
  f.passBuffer("in", std::vector<float>(1024, 1));
  f.passEmpty("out", 4096);
  f.pass(uint32_t(1));
  ASSERT_TRUE(f.run({8, 1, 1}, {128, 1, 1}).ok());
  EXPECT_EQ(f.counters.globalLoadRequests, 32u);
  EXPECT_EQ(f.counters.globalLoadSectors, 128u); // 4 sectors for each.
  EXPECT_EQ(f.counters.globalStoreSectors, 128u);
  EXPECT_EQ(f.counters.distinctLoadBytes, 4096u);
  EXPECT_EQ(f.counters.distinctStoreBytes, 4096u);
  EXPECT_EQ(f.counters.globalLoadBytes, 4096u);
  EXPECT_EQ(f.counters.instructions, 32u * 13);
  EXPECT_EQ(f.counters.laneInstructions, 1024u * 13);
}

TEST(EmulatorLaunch, CountsScatteredTraffic) {
  Fixture f;
  ASSERT_TRUE(f.parse(copyKernel).ok());
  f.passBuffer("in", std::vector<float>(1024 * 8, 1));
  f.passEmpty("out", 4096);
  f.pass(uint32_t(8));
  ASSERT_TRUE(f.run({8, 1, 1}, {128, 1, 1}).ok());
  EXPECT_EQ(f.counters.globalLoadSectors, 1024u);
  EXPECT_EQ(f.counters.distinctLoadBytes, 32768u);
}

TEST(EmulatorLaunch, CountsBankConflicts) {
  for (unsigned stride : {1u, 2u, 8u, 32u, 33u}) {
    Fixture f;
    ASSERT_TRUE(f.parse(R"(
.visible .entry k(.param .u32 stride)
{
  .shared .align 4 .b8 tile[8192]; .reg .b32 %s, %t, %a;
  ld.param.u32 %s, [stride]; mov.u32 %t, %tid.x;
  mul.lo.u32 %t, %t, %s; shl.b32 %t, %t, 2; mov.u32 %a, tile;
  add.u32 %a, %a, %t; st.shared.u32 [%a], %t; ld.shared.u32 %t, [%a]; ret;
})")
                    .ok());
    f.pass(uint32_t(stride));
    ASSERT_TRUE(f.run({}, {32, 1, 1}).ok());
    unsigned ways = stride == 33 ? 1 : stride;
    EXPECT_EQ(f.counters.bankConflicts, 2 * (ways - 1)) << stride;
    EXPECT_EQ(f.counters.sharedLoadRequests, 1u);
  }
}

TEST(EmulatorLaunch, ResultsDoNotDependOnHostThreads) {
  // A float sum whose rounding depends on the order of the blocks.
  std::vector<uint32_t> results;
  for (unsigned threads : {1u, 2u, 4u, 7u}) {
    Fixture f;
    ASSERT_TRUE(f.parse(R"(
.visible .entry k(.param .u64 out)
{
  .reg .b64 %o; .reg .b32 %t, %c; .reg .f32 %f, %g;
  ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;
  mad.lo.u32 %t, %c, 977, %t; cvt.rn.f32.u32 %f, %t; rcp.rn.f32 %g, %f;
  add.f32 %f, %f, %g; sqrt.rn.f32 %f, %f;
  red.global.add.f32 [%o], %f; ret;
})")
                    .ok());
    uint64_t out = f.passBuffer("out", std::vector<float>(1, 0));
    f.options.threads = threads;
    ASSERT_TRUE(f.run({200, 1, 1}, {64, 1, 1}).ok());
    results.push_back(f.get<uint32_t>(out, 1)[0]);
    EXPECT_EQ(results.back(), results[0]);
  }
}

TEST(EmulatorLaunch, TheFirstFailingBlockIsReported) {
  for (unsigned repeat = 0; repeat < 5; ++repeat) {
    Fixture f;
    ASSERT_TRUE(f.parse(R"(
.visible .entry k()
{
  .reg .b32 %c, %i; .reg .pred %p;
  mov.u32 %c, %ctaid.x; setp.lt.u32 %p, %c, 37; mov.u32 %i, 0; @!%p trap;
L: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 5000; @%p bra L; ret;
})")
                    .ok());
    f.options.threads = 4;
    Status s = f.run({100, 1, 1}, {32, 1, 1});
    EXPECT_NE(s.message().find("block (37,0,0)"), std::string::npos)
        << s.message();
  }
}

TEST(EmulatorLaunch, PacksArguments) {
  Fixture f;
  ASSERT_TRUE(f.parse(".visible .entry k(.param .u8 a, .param .u64 b, "
                      ".param .align 16 .b8 c[20], .param .f32 d) { ret; }")
                  .ok());
  const KernelInfo *info = f.module.findKernel("k");
  ASSERT_NE(info, nullptr);
  ASSERT_EQ(info->parameters.size(), 4u);
  EXPECT_EQ(info->parameters[1].offset, 8u);
  EXPECT_EQ(info->parameters[2].offset, 16u);
  EXPECT_EQ(info->parameters[3].offset, 36u);
  EXPECT_EQ(info->argumentBytes, 40u);
  uint8_t a = 1;
  uint64_t b = 2;
  uint8_t c[20] = {3};
  float d = 4;
  const void *pointers[] = {&a, &b, c, &d};
  std::vector<uint8_t> block = packArguments(*info, pointers);
  ASSERT_EQ(block.size(), 40u);
  EXPECT_EQ(block[0], 1);
  EXPECT_EQ(block[8], 2);
  EXPECT_EQ(block[16], 3);
  f.arguments = block;
  EXPECT_TRUE(f.run({}, {}).ok());
}

TEST(EmulatorLaunch, ModuleVariablesLiveOncePerMemory) {
  Fixture f;
  ASSERT_TRUE(f.parse(R"(
.global .align 4 .b32 counter = 5;
.visible .entry k() {
  .reg .b32 %r; .reg .b64 %x;
  mov.u64 %x, counter; ld.global.u32 %r, [%x]; add.u32 %r, %r, 1;
  st.global.u32 [counter], %r; ret;
})")
                  .ok());
  for (unsigned i = 0; i < 3; ++i)
    ASSERT_TRUE(f.run({}, {}).ok());
  uint64_t address = getGlobalAddress(f.memory, f.module, "counter");
  EXPECT_EQ(f.get<uint32_t>(address, 1)[0], 8u);
  Memory other;
  uint64_t there = getGlobalAddress(other, f.module, "counter");
  uint32_t value = 0;
  ASSERT_TRUE(other.read(there, &value, 4).ok());
  EXPECT_EQ(value, 5u);
}
