//===- ControlTest.cpp - Control flow and barriers ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests divergence, calls, barriers and scheduling.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

using namespace fusionemu;

/// Runs a kernel of one output array and returns it.
static std::vector<uint32_t> runKernel(const std::string &text, Dim3 grid,
                                       Dim3 block, uint32_t argument = 0) {
  Fixture f;
  Status s = f.parse(text);
  EXPECT_TRUE(s.ok()) << s.message();
  size_t count = size_t(grid.x) * block.x * block.y * block.z;
  uint64_t out = f.passEmpty("out", count * 4);
  EXPECT_TRUE(f.memory.fill(out, 0, count * 4).ok());
  f.pass(argument);
  s = f.run(grid, block);
  EXPECT_TRUE(s.ok()) << s.message();
  return f.get<uint32_t>(out, count);
}

static const char *const prologue = R"(
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .b64 %o; .reg .b32 %t, %n, %r<20>; .reg .pred %p<8>;
  mov.u32 %t, %tid.x; mov.u32 %r10, %ctaid.x; mov.u32 %r11, %ntid.x;
  mad.lo.u32 %t, %r10, %r11, %t;
  ld.param.u64 %o, [out]; ld.param.u32 %n, [n];
  mad.wide.u32 %o, %t, 4, %o;
)";
static const char *const epilogue = "\nst.global.u32 [%o], %r0;\nret;\n}\n";

TEST(EmulatorControl, IfElse) {
  auto got = runKernel(std::string(prologue) + R"(
  setp.lt.u32 %p0, %t, 20; @%p0 bra LOW;
  mov.u32 %r0, 100; setp.gt.u32 %p1, %t, 40; @%p1 bra HIGH; bra JOIN;
HIGH: add.u32 %r0, %r0, 1; bra JOIN;
LOW: mov.u32 %r0, 50;
JOIN: activemask.b32 %r1; popc.b32 %r1, %r1; add.u32 %r0, %r0, %r1;)" +
                           epilogue,
                       {}, {64, 1, 1});
  for (uint32_t t = 0; t < 64; ++t) // All 32 lanes have met again.
    EXPECT_EQ(got[t], 32 + (t < 20 ? 50 : t > 40 ? 101 : 100u)) << t;
}

TEST(EmulatorControl, LoopsOfDifferentLength) {
  auto got = runKernel(std::string(prologue) + R"(
  mov.u32 %r0, 0; mov.u32 %r1, 0;
OUTER: mov.u32 %r2, 0;
INNER: add.u32 %r0, %r0, 1; add.u32 %r2, %r2, 1;
  setp.le.u32 %p0, %r2, %r1; @%p0 bra INNER;
  add.u32 %r1, %r1, 1; setp.le.u32 %p1, %r1, %t; @%p1 bra OUTER;
  activemask.b32 %r3; setp.ne.u32 %p2, %r3, -1; @%p2 trap;)" +
                           epilogue,
                       {3, 1, 1}, {32, 1, 1});
  for (uint32_t t = 0; t < 96; ++t)
    EXPECT_EQ(got[t], (t + 1) * (t + 2) / 2);
}

TEST(EmulatorControl, EarlyExitAndGuards) {
  auto got = runKernel(std::string(prologue) + R"(
  setp.ge.u32 %p0, %t, %n; @%p0 ret;
  mov.u32 %r0, 5; and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 1;
  @%p1 add.u32 %r0, %r0, 10; @!%p1 add.u32 %r0, %r0, 20;
  bar.sync 0;)" + epilogue,
                       {}, {96, 1, 1}, 70);
  for (uint32_t t = 0; t < 96; ++t)
    EXPECT_EQ(got[t], t >= 70 ? 0 : t % 2 ? 15u : 25u);
}

TEST(EmulatorControl, BranchTable) {
  auto got = runKernel(std::string(prologue) + R"(
TABLE: .branchtargets A, B, C, A;
  and.b32 %r1, %t, 3; brx.idx %r1, TABLE;
A: mov.u32 %r0, 1; bra DONE;
B: mov.u32 %r0, 2; bra DONE;
C: mov.u32 %r0, 3;
DONE: activemask.b32 %r3; setp.ne.u32 %p2, %r3, -1; @%p2 trap;)" +
                           epilogue,
                       {}, {64, 1, 1});
  for (uint32_t t = 0; t < 64; ++t)
    EXPECT_EQ(got[t], (t % 4 == 3) ? 1u : t % 4 + 1);
}

TEST(EmulatorControl, Calls) {
  auto got = runKernel(R"(
.func (.param .b32 result) scale(.param .b32 x, .param .b32 y)
{
  .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u32 %r0, [x]; ld.param.u32 %r1, [y];
  setp.gt.u32 %p, %r0, 10; @%p bra BIG;
  mul.lo.u32 %r2, %r0, %r1; st.param.b32 [result], %r2; ret;
BIG: add.u32 %r2, %r0, %r1; st.param.b32 [result+0], %r2; ret;
}
)" + std::string(prologue) +
                           R"(
  { .param .b32 p0; .param .b32 p1; .param .b32 v;
  st.param.b32 [p0], %t; st.param.b32 [p1], 7;
  call.uni (v), scale, (p0, p1);
  ld.param.b32 %r0, [v]; }
  setp.eq.u32 %p0, %t, 3;
  { .param .b32 p0; .param .b32 p1; .param .b32 v;
  st.param.b32 [p0], %r0; st.param.b32 [p1], 1000; st.param.b32 [v], %r0;
  @%p0 call (v), scale, (p0, p1);
  ld.param.b32 %r0, [v]; })" +
                           epilogue,
                       {}, {32, 1, 1});
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], t > 10 ? t + 7 : t == 3 ? 1021 : t * 7) << t;
}

TEST(EmulatorControl, LabelsOfInnerScopes) {
  auto got = runKernel(std::string(prologue) + R"(
  mov.u32 %r0, 0;
  { .reg .pred %q; setp.lt.u32 %q, %t, 8; @%q bra SKIP;
    add.u32 %r0, %r0, 1; SKIP: }
  { .reg .pred %q; setp.lt.u32 %q, %t, 16; @%q bra SKIP;
    add.u32 %r0, %r0, 2; SKIP: })" +
                           epilogue,
                       {}, {32, 1, 1});
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], (t >= 8 ? 1u : 0) + (t >= 16 ? 2u : 0));
}

TEST(EmulatorControl, SharedMemoryAcrossWarps) {
  auto got = runKernel(R"(
.shared .align 4 .b32 tile[256];
)" + std::string(prologue) +
                           R"(
  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile;
  add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %t;
  bar.sync 0;
  sub.u32 %r5, 255, %r1; shl.b32 %r5, %r5, 2; add.u32 %r5, %r3, %r5;
  ld.shared.u32 %r0, [%r5];)" +
                           epilogue,
                       {2, 1, 1}, {256, 1, 1});
  for (uint32_t t = 0; t < 512; ++t)
    EXPECT_EQ(got[t], t / 256 * 256 + 255 - t % 256);
}

TEST(EmulatorControl, NamedBarriers) {
  // Warp 0 hands values to warp 1 through barrier 3; warp 2 does not take part.
  auto got = runKernel(R"(
.shared .align 4 .b32 tile[32];
)" + std::string(prologue) +
                           R"(
  mov.u32 %r1, %laneid; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile;
  add.u32 %r3, %r3, %r2; shr.u32 %r4, %t, 5; mov.u32 %r0, 9;
  setp.eq.u32 %p0, %r4, 0; @%p0 bra PRODUCE;
  setp.eq.u32 %p1, %r4, 1; @%p1 bra CONSUME; bra DONE;
PRODUCE: add.u32 %r5, %r1, 500; st.shared.u32 [%r3], %r5;
  bar.arrive 3, 64; bra DONE;
CONSUME: bar.sync 3, 64; ld.shared.u32 %r0, [%r3];
DONE:)" + epilogue,
                       {}, {96, 1, 1});
  for (uint32_t t = 0; t < 96; ++t)
    EXPECT_EQ(got[t], t / 32 == 1 ? 500 + t % 32 : 9u);
}

TEST(EmulatorControl, BarrierReductions) {
  auto got = runKernel(std::string(prologue) + R"(
  setp.lt.u32 %p0, %t, 37;
  bar.red.popc.u32 %r0, 0, %p0;
  bar.red.and.pred %p1, 0, %p0; @%p1 add.u32 %r0, %r0, 1000;
  barrier.red.or.pred %p2, 0, !%p0; @%p2 add.u32 %r0, %r0, 2000;)" +
                           epilogue,
                       {}, {64, 1, 1});
  for (uint32_t value : got)
    EXPECT_EQ(value, 2037u);
}

TEST(EmulatorControl, WarpsCanSpinOnEachOther) {
  // Warp 1 waits for a flag that warp 0 sets later, with no barrier.
  auto got = runKernel(R"(
.shared .align 4 .b32 flag;
)" + std::string(prologue) +
                           R"(
  setp.eq.u32 %p3, %t, 0; @%p3 st.volatile.shared.u32 [flag], 0; bar.sync 0;
  mov.u32 %r0, 1; setp.lt.u32 %p0, %t, 32; @%p0 bra SETTER;
WAIT: ld.volatile.shared.u32 %r1, [flag]; setp.eq.u32 %p1, %r1, 0;
  @%p1 bra WAIT; mov.u32 %r0, %r1; bra DONE;
SETTER: mov.u32 %r2, 0;
DELAY: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 5000; @%p2 bra DELAY;
  st.volatile.shared.u32 [flag], 42;
DONE:)" + epilogue,
                       {}, {64, 1, 1});
  EXPECT_EQ(got[0], 1u);
  EXPECT_EQ(got[63], 42u);
}

TEST(EmulatorControl, LanesCanSpinOnEachOther) {
  // A lock taken by one lane at a time, inside one warp.
  auto got = runKernel(R"(
.shared .align 4 .b32 lock; .shared .align 4 .b32 sum;
)" + std::string(prologue) +
                           R"(
  setp.eq.u32 %p3, %t, 0; @%p3 st.shared.u32 [lock], 0;
  @%p3 st.shared.u32 [sum], 0; bar.warp.sync -1;
TRY: atom.shared.cas.b32 %r1, [lock], 0, 1; setp.ne.u32 %p0, %r1, 0;
  @%p0 bra TRY;
  ld.volatile.shared.u32 %r2, [sum]; add.u32 %r2, %r2, 1;
  st.volatile.shared.u32 [sum], %r2;
  atom.shared.exch.b32 %r3, [lock], 0;
  bar.warp.sync -1; ld.volatile.shared.u32 %r0, [sum];)" +
                           epilogue,
                       {}, {32, 1, 1});
  EXPECT_EQ(got[0], 32u);
  EXPECT_EQ(got[31], 32u);
}

TEST(EmulatorControl, ThreeDimensionalBlocks) {
  Fixture f;
  ASSERT_TRUE(f.parse(R"(
.visible .entry k(.param .u64 out)
{
  .reg .b64 %o; .reg .b32 %r<16>;
  ld.param.u64 %o, [out];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y; mov.u32 %r5, %ctaid.z;
  mov.u32 %r6, %ntid.x; mov.u32 %r7, %ntid.y; mov.u32 %r8, %nctaid.x;
  mov.u32 %r12, %nctaid.y; mov.u32 %r13, %ntid.z;
  mad.lo.u32 %r9, %r5, %r12, %r4; mad.lo.u32 %r9, %r9, %r8, %r3;
  mad.lo.u32 %r9, %r9, %r13, %r2; mad.lo.u32 %r9, %r9, %r7, %r1;
  mad.lo.u32 %r9, %r9, %r6, %r0;
  mad.wide.u32 %o, %r9, 4, %o; st.global.u32 [%o], %r9; ret;
})")
                  .ok());
  uint32_t count = 2 * 3 * 4 * 5 * 3 * 2;
  uint64_t out = f.passEmpty("out", count * 4);
  Status s = f.run({2, 3, 4}, {5, 3, 2});
  ASSERT_TRUE(s.ok()) << s.message();
  std::vector<uint32_t> got = f.get<uint32_t>(out, count);
  for (uint32_t i = 0; i < count; ++i)
    EXPECT_EQ(got[i], i);
}
