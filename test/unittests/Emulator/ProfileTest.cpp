//===- ProfileTest.cpp - Counts of instructions ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests what a profile says of each instruction, and its report.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include "fusion-rt/Emulator/Profile.h"

using namespace fusionemu;

namespace {
/// Loads `x` at `stride` bytes a thread, and stores a float to `y`.
std::string strided(unsigned stride) {
  return R"(.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .b32 %t; .reg .b64 %x, %y; .reg .f32 %f;
  .shared .align 4 .b8 tile[4096];
  .reg .b32 %s;
  ld.param.u64 %x, [x];
  ld.param.u64 %y, [y];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %y, %t, 4, %y;
  mov.u32 %s, tile;
  mad.lo.u32 %s, %t, )" +
         std::to_string(stride) + R"(, %s;
  mad.wide.u32 %x, %t, )" +
         std::to_string(stride) + R"(, %x;
  ld.global.f32 %f, [%x];
  st.shared.f32 [%s], %f;
  add.f32 %f, %f, %f;
  st.global.f32 [%y], %f;
  ret;
}
)";
}

class ProfileTest : public ::testing::Test, public Fixture {
protected:
  Profile profile;

  void runStrided(unsigned stride, unsigned threads = 32) {
    options.profile = &profile;
    Status status = parse(strided(stride));
    ASSERT_TRUE(status.ok()) << status.message();
    passBuffer<float>("x", std::vector<float>(stride / 4 * threads, 1));
    passEmpty("y", threads * 4);
    status = run({1, 1, 1}, {threads, 1, 1});
    ASSERT_TRUE(status.ok()) << status.message();
  }
  const InstructionProfile &find(const std::string &text) {
    for (const InstructionProfile &p : profile.instructions)
      if (p.text == text)
        return p;
    ADD_FAILURE() << text;
    return profile.instructions.front();
  }
};

TEST_F(ProfileTest, CountsCoalescedAccesses) {
  runStrided(4, 64);
  const InstructionProfile &load = find("ld.global.f32");
  EXPECT_EQ(load.counts.executions, 2u);
  EXPECT_EQ(load.counts.lanes, 64u);
  EXPECT_EQ(load.counts.globalRequests, 2u);
  EXPECT_EQ(load.counts.globalSectors, 8u);
  EXPECT_EQ(load.counts.globalBytes, 256u);
  EXPECT_EQ(load.counts.sharedRequests, 0u);
  EXPECT_EQ(load.pipe, Pipe::Lsu);
  const InstructionProfile &store = find("st.shared.f32");
  EXPECT_EQ(store.counts.sharedRequests, 2u);
  EXPECT_EQ(store.counts.bankConflicts, 0u);
  EXPECT_EQ(store.counts.globalRequests, 0u);
  EXPECT_EQ(find("add.f32").pipe, Pipe::Fma);
  EXPECT_EQ(find("ret").pipe, Pipe::Control);
}

TEST_F(ProfileTest, CountsSectorsAndConflictsOfStrides) {
  // 128 bytes apart: a sector for each lane, and all lanes in one bank.
  runStrided(128);
  EXPECT_EQ(find("ld.global.f32").counts.globalSectors, 32u);
  EXPECT_EQ(find("ld.global.f32").counts.globalBytes, 128u);
  EXPECT_EQ(find("st.shared.f32").counts.bankConflicts, 31u);
  EXPECT_EQ(find("st.global.f32").counts.globalSectors, 4u);
  EXPECT_EQ(counters.bankConflicts, 31u);
}

TEST_F(ProfileTest, PipesAddUpToTheInstructions) {
  runStrided(8, 256);
  uint64_t sum = 0, lanes = 0;
  for (const InstructionProfile &p : profile.instructions)
    lanes += p.counts.lanes;
  for (uint64_t count : counters.pipes)
    sum += count;
  EXPECT_EQ(sum, counters.instructions);
  EXPECT_EQ(lanes, counters.laneInstructions);
  EXPECT_EQ(counters.pipes[unsigned(Pipe::Lsu)], 3u * 8);
  // Two loads of parameters.
  EXPECT_EQ(counters.pipes[unsigned(Pipe::Other)], 2u * 8);
  // One add, three mads.
  EXPECT_EQ(counters.pipes[unsigned(Pipe::Fma)], 4u * 8);
}

TEST_F(ProfileTest, IsLeftOutUnlessAskedFor) {
  runStrided(4);
  uint64_t instructions = counters.instructions;
  options.profile = nullptr;
  ASSERT_TRUE(run({1, 1, 1}, {32, 1, 1}).ok());
  EXPECT_EQ(counters.instructions, instructions);
  for (uint64_t count : counters.pipes)
    EXPECT_EQ(count, 0u);
}

TEST_F(ProfileTest, DoesNotDependOnHostThreads) {
  options.profile = &profile;
  ASSERT_TRUE(parse(R"(.visible .entry k(.param .u64 x)
{
  .reg .b32 %t; .reg .b64 %x; .reg .pred %p;
  ld.param.u64 %x, [x];
  mov.u32 %t, %tid.x;
L:
  add.u32 %t, %t, 1;
  setp.lt.u32 %p, %t, 2000;
  @%p bra L;
  atom.global.add.u32 %t, [%x], 1;
  ret;
}
)")
                  .ok());
  passBuffer<uint32_t>("x", {0});
  std::vector<uint64_t> seen[2];
  for (unsigned i = 0; i < 2; ++i) {
    options.threads = i == 0 ? 1 : 4;
    ASSERT_TRUE(run({16, 1, 1}, {128, 1, 1}).ok());
    for (const InstructionProfile &p : profile.instructions) {
      seen[i].push_back(p.counts.executions);
      seen[i].push_back(p.counts.lanes);
    }
  }
  EXPECT_EQ(seen[0], seen[1]);
  const InstructionProfile &atomic = find("atom.global.add.u32");
  EXPECT_EQ(atomic.counts.globalRequests, 64u);
  EXPECT_EQ(atomic.counts.globalSectors, 64u);
  EXPECT_EQ(counters.globalAtomicSectors, 64u);
  // Atomics are no loads.
  EXPECT_EQ(counters.globalLoadSectors, 0u);
}

TEST_F(ProfileTest, AFunctionCountsOnceForAllItsCalls) {
  options.profile = &profile;
  Status status = parse(R"(.func (.param .b32 r) twice(.param .b32 a)
{
  .reg .b32 %a;
  ld.param.b32 %a, [a];
  shl.b32 %a, %a, 1;
  st.param.b32 [r], %a;
  ret;
}
.visible .entry k(.param .u64 x)
{
  .reg .b32 %t; .reg .b64 %x;
  ld.param.u64 %x, [x];
  mov.u32 %t, %tid.x;
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %t;
    call.uni (r), twice, (a); ld.param.b32 %t, [r]; }
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %t;
    call.uni (r), twice, (a); ld.param.b32 %t, [r]; }
  st.global.u32 [%x], %t;
  ret;
}
)");
  ASSERT_TRUE(status.ok()) << status.message();
  passEmpty("x", 4);
  status = run({1, 1, 1}, {1, 1, 1});
  ASSERT_TRUE(status.ok()) << status.message();
  unsigned found = 0;
  for (const InstructionProfile &p : profile.instructions)
    if (p.text == "shl.b32") {
      ++found;
      EXPECT_EQ(p.counts.executions, 2u);
    }
  EXPECT_EQ(found, 1u);
}

/// Lanes whose addresses lie in different allocations are one request.
TEST_F(ProfileTest, ScatteredLanesAreOneRequest) {
  options.profile = &profile;
  ASSERT_TRUE(parse(R"(.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .b32 %t; .reg .b64 %x, %y; .reg .pred %p;
  ld.param.u64 %x, [x];
  ld.param.u64 %y, [y];
  mov.u32 %t, %tid.x;
  setp.lt.u32 %p, %t, 7;
  selp.b64 %x, %x, %y, %p;
  ld.global.u32 %t, [%x];
  ret;
}
)")
                  .ok());
  passBuffer<uint32_t>("x", {1});
  passBuffer<uint32_t>("y", {1});
  ASSERT_TRUE(run({1, 1, 1}, {32, 1, 1}).ok());
  EXPECT_EQ(counters.globalLoadRequests, 1u);
  EXPECT_EQ(counters.globalLoadBytes, 128u);
}

TEST_F(ProfileTest, ReportAddsLaunchesUp) {
  runStrided(4);
  ProfileReport report;
  for (int i = 0; i < 3; ++i)
    report.addLaunch("k", {1, 1, 1}, {32, 1, 1}, counters, profile);
  report.addLaunch("a \"b\"\n", {1, 1, 1}, {32, 1, 1}, counters, profile);
  report.setPrediction("k", 768);
  ASSERT_EQ(report.getKernels().size(), 2u);
  const KernelProfile &k = report.getKernels()[0];
  EXPECT_EQ(k.launches, 3u);
  EXPECT_EQ(k.counters.distinctLoadBytes, 3u * 128);
  EXPECT_EQ(k.predictedBytes, 768);
  EXPECT_EQ(k.profile.instructions.size(), profile.instructions.size());
  for (size_t i = 0; i < profile.instructions.size(); ++i)
    EXPECT_EQ(k.profile.instructions[i].counts.executions,
              3 * profile.instructions[i].counts.executions);
  std::string json = report.toJson();
  EXPECT_NE(json.find("\"a \\\"b\\\"\\u000a\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"predicted_bytes\": 768"), std::string::npos) << json;
  EXPECT_NE(report.toText().find("4.00"), std::string::npos);
}
} // namespace
