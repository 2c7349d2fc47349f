//===- MemoryTest.cpp - Memory, from both sides ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the device memory, loads, stores and atomics.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

using namespace fusionemu;

TEST(EmulatorMemory, AllocationsAreApartAndAligned) {
  Memory memory;
  uint64_t a, b;
  ASSERT_TRUE(memory.allocate(100, "a", a).ok());
  ASSERT_TRUE(memory.allocate(100, "b", b).ok());
  EXPECT_EQ(a % 256, 0u);
  EXPECT_GE(b - a, 4096u);
  EXPECT_EQ(memory.getBytesInUse(), 200u);
  ASSERT_TRUE(memory.free(a).ok());
  EXPECT_EQ(memory.getBytesInUse(), 100u);
  uint64_t c;
  ASSERT_TRUE(memory.allocate(100, "c", c).ok());
  EXPECT_NE(c, a) << "an address was used again";
}

TEST(EmulatorMemory, ReadBackAndCopy) {
  Memory memory;
  uint64_t a, b;
  ASSERT_TRUE(memory.allocate(64, "a", a).ok());
  ASSERT_TRUE(memory.allocate(64, "b", b).ok());
  uint32_t value = 0x12345678, got = 0;
  ASSERT_TRUE(memory.fill(a, 0xab, 64).ok());
  ASSERT_TRUE(memory.write(a + 4, &value, 4).ok());
  ASSERT_TRUE(memory.copy(b, a, 64).ok());
  ASSERT_TRUE(memory.read(b + 4, &got, 4).ok());
  EXPECT_EQ(got, value);
  ASSERT_TRUE(memory.read(b, &got, 4).ok());
  EXPECT_EQ(got, 0xababababu);
}

TEST(EmulatorMemory, HostMistakesAreErrors) {
  Memory memory;
  uint64_t a;
  uint32_t value = 0;
  ASSERT_TRUE(memory.allocate(16, "tensor", a).ok());
  Status s = memory.read(a + 14, &value, 4);
  EXPECT_EQ(s.getKind(), ErrorKind::OutOfBounds);
  EXPECT_NE(s.message().find("'tensor'"), std::string::npos) << s.message();
  EXPECT_EQ(memory.write(64, &value, 4).getKind(), ErrorKind::InvalidAddress);
  EXPECT_EQ(memory.free(a + 4).getKind(), ErrorKind::BadFree);
  ASSERT_TRUE(memory.free(a).ok());
  EXPECT_EQ(memory.free(a).getKind(), ErrorKind::BadFree);
  EXPECT_EQ(memory.read(a, &value, 4).getKind(), ErrorKind::UseAfterFree);
  EXPECT_EQ(memory.fill(a, 0, ~uint64_t(0)).getKind(), ErrorKind::UseAfterFree);
}

TEST(EmulatorMemory, TooMuchIsAnError) {
  Memory memory;
  uint64_t a;
  EXPECT_EQ(memory.allocate(~uint64_t(0), "all", a).getKind(),
            ErrorKind::OutOfMemory);
  memory.setLimit(1000);
  ASSERT_TRUE(memory.allocate(600, "a", a).ok());
  EXPECT_EQ(memory.allocate(600, "b", a).getKind(), ErrorKind::OutOfMemory);
}

TEST(EmulatorMemory, PagesAreBackedWhenTouched) {
  // Far more than the machine has.
  Memory memory;
  uint64_t a;
  uint8_t got = 1;
  ASSERT_TRUE(memory.allocate(uint64_t(1) << 40, "huge", a).ok());
  uint64_t last = a + (uint64_t(1) << 40) - 1;
  ASSERT_TRUE(memory.fill(last, 7, 1).ok());
  ASSERT_TRUE(memory.read(last, &got, 1).ok());
  EXPECT_EQ(got, 7);
}

/// Every width, signedness and vector length of loads and stores.
TEST(EmulatorMemory, LoadsAndStores) {
  Fixture f;
  ASSERT_TRUE(f.parse(R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b64 %in, %out, %x, %y; .reg .b32 %t, %a, %b, %c, %d;
  .reg .b16 %h; .reg .f32 %f;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %in, %t, 16, %in;
  mad.wide.u32 %out, %t, 64, %out;
  ld.global.v4.u32 {%a, %b, %c, %d}, [%in];
  st.global.v4.b32 [%out], {%d, %c, %b, %a};
  ld.global.s8 %a, [%in+1]; st.global.u32 [%out+16], %a;
  ld.global.u8 %h, [%in+1]; st.global.u16 [%out+20], %h;
  ld.global.s16 %a, [%in+2]; st.global.u32 [%out+24], %a;
  ld.global.nc.L1::no_allocate.u16 %a, [%in+2]; st.global.b8 [%out+28], %a;
  ld.global.v2.b64 {%x, %y}, [%in]; st.global.v2.u64 [%out+32], {%y, %x};
  ld.global.s32 %x, [%in+4]; st.global.wb.u64 [%out+48], %x;
  ld.global.f32 %f, [%in+8]; st.global.f32 [%out+56], %f;
  ret;
})")
                  .ok());
  std::vector<uint8_t> in(64 * 16);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = uint8_t(i * 37 + 128);
  f.passBuffer("in", in);
  uint64_t out = f.passEmpty("out", 64 * 64);
  ASSERT_TRUE(f.memory.fill(out, 0, 64 * 64).ok());
  ASSERT_TRUE(f.run({}, {64, 1, 1}).ok());
  std::vector<uint8_t> got = f.get<uint8_t>(out, 64 * 64);
  auto at = [](const uint8_t *p, unsigned n) {
    uint64_t v = 0;
    std::memcpy(&v, p, n);
    return v;
  };
  for (size_t i = 0; i < 64; ++i) {
    const uint8_t *p = &in[i * 16], *q = &got[i * 64];
    for (unsigned k = 0; k < 4; ++k)
      EXPECT_EQ(at(q + 4 * k, 4), at(p + 12 - 4 * k, 4));
    EXPECT_EQ(at(q + 16, 4), uint32_t(int32_t(int8_t(p[1]))));
    EXPECT_EQ(at(q + 20, 2), p[1]);
    EXPECT_EQ(at(q + 24, 4), uint32_t(int32_t(int16_t(at(p + 2, 2)))));
    EXPECT_EQ(q[28], p[2]);
    EXPECT_EQ(at(q + 32, 8), at(p + 8, 8));
    EXPECT_EQ(at(q + 40, 8), at(p, 8));
    EXPECT_EQ(at(q + 48, 8), uint64_t(int64_t(int32_t(at(p + 4, 4)))));
    EXPECT_EQ(at(q + 56, 4), at(p + 8, 4));
  }
}

/// Shared, local, constant, parameter and generic addresses.
TEST(EmulatorMemory, StateSpaces) {
  Fixture f;
  ASSERT_TRUE(f.parse(R"(
.const .align 4 .b32 table[4] = {10, 20, 30, 40};
.global .align 8 .u64 pointer = generic(values);
.global .align 4 .b32 values[2] = {7, 8};
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 out, .param .align 4 .b8 struct[12])
{
  .shared .align 4 .b32 tile[32];
  .local .align 4 .b8 frame[16];
  .reg .b64 %o, %x, %g; .reg .b32 %t, %s, %a, %b, %i; .reg .pred %p;
  mov.u32 %t, %tid.x;
  ld.param.u64 %o, [out];
  mad.wide.u32 %o, %t, 4, %o;
  // shared through its own and through a generic address
  mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s;
  st.shared.u32 [%s], %t;
  mov.u64 %x, tile; cvta.shared.u64 %g, %x; mad.wide.u32 %g, %t, 4, %g;
  ld.u32 %a, [%g];
  isspacep.shared %p, %g; @!%p trap;
  // dynamic shared
  mov.u32 %s, dynamic; mad.lo.u32 %s, %t, 4, %s;
  st.shared.u32 [%s], %a; ld.shared.u32 %b, [%s];
  add.u32 %a, %a, %b;
  // local, its own for each thread
  mov.u64 %x, frame; cvta.local.u64 %g, %x;
  st.local.u32 [frame+4], %t; ld.u32 %b, [%g+4];
  add.u32 %a, %a, %b;
  // constant by index
  and.b32 %i, %t, 3; mov.u64 %x, table; mad.wide.u32 %x, %i, 4, %x;
  ld.const.u32 %b, [%x]; add.u32 %a, %a, %b;
  // a pointer in global memory to global memory
  ld.global.u64 %g, [pointer]; ld.u32 %b, [%g+4]; add.u32 %a, %a, %b;
  // a struct parameter by address
  mov.b64 %x, struct; ld.param.u32 %b, [%x+8]; add.u32 %a, %a, %b;
  cvta.param.u64 %g, %x; ld.u32 %b, [%g]; add.u32 %a, %a, %b;
  st.global.u32 [%o], %a;
  ret;
})")
                  .ok());
  uint64_t out = f.passEmpty("out", 32 * 4);
  f.pass(uint32_t(1000));
  f.pass(uint32_t(0));
  f.pass(uint32_t(5000));
  const KernelInfo *info = f.module.findKernel("k");
  ASSERT_NE(info, nullptr);
  EXPECT_TRUE(info->usesDynamicShared);
  EXPECT_EQ(info->staticSharedBytes, 128u);
  EXPECT_EQ(info->localBytes, 16u);
  EXPECT_EQ(info->argumentBytes, 20u);
  Status s = f.run({}, {32, 1, 1}, 128);
  ASSERT_TRUE(s.ok()) << s.message();
  std::vector<uint32_t> got = f.get<uint32_t>(out, 32);
  for (uint32_t t = 0; t < 32; ++t)
    EXPECT_EQ(got[t], 3 * t + 10 * (t % 4 + 1) + 8 + 6000);
  EXPECT_NE(getGlobalAddress(f.memory, f.module, "values"), 0u);
  EXPECT_EQ(getGlobalAddress(f.memory, f.module, "nothing"), 0u);
}

TEST(EmulatorMemory, Atomics) {
  Fixture f;
  ASSERT_TRUE(f.parse(R"(
.visible .entry k(.param .u64 c, .param .u64 old)
{
  .shared .align 4 .b32 count;
  .reg .b64 %c, %o; .reg .b32 %t, %a, %b; .reg .f32 %f; .reg .pred %p;
  ld.param.u64 %c, [c]; ld.param.u64 %o, [old];
  mov.u32 %t, %tid.x;
  atom.global.add.u32 %a, [%c], 1;
  mad.wide.u32 %o, %a, 4, %o; st.global.u32 [%o], %t;
  red.global.max.s32 [%c+4], %t;
  cvt.rn.f32.u32 %f, %t; red.global.add.f32 [%c+8], %f;
  atom.global.cas.b32 %b, [%c+12], 0, 77;
  atom.global.exch.b32 %b, [%c+16], %t;
  atom.global.inc.u32 %b, [%c+20], 9;
  red.global.or.b32 [%c+24], %t;
  setp.ne.u32 %p, %t, 0; @!%p st.shared.u32 [count], 0;
  bar.sync 0;
  atom.shared.add.u32 %a, [count], 2;
  bar.sync 0;
  ld.shared.u32 %a, [count];
  @!%p st.global.u32 [%c+28], %a;
  ret;
})")
                  .ok());
  uint64_t c = f.passBuffer("c", std::vector<uint32_t>(8, 0));
  uint64_t old = f.passEmpty("old", 128 * 4);
  Status s = f.run({2, 1, 1}, {64, 1, 1});
  ASSERT_TRUE(s.ok()) << s.message();
  std::vector<uint32_t> got = f.get<uint32_t>(c, 8);
  EXPECT_EQ(got[0], 128u);
  EXPECT_EQ(got[1], 63u);
  EXPECT_EQ(asFloat(got[2]), 2 * 63 * 32.0f);
  EXPECT_EQ(got[3], 77u);
  EXPECT_EQ(got[5], 128 % 10u);
  EXPECT_EQ(got[6], 63u);
  EXPECT_EQ(got[7], 128u);
  std::vector<uint32_t> seen(64, 0);
  for (uint32_t t : f.get<uint32_t>(old, 128))
    ++seen[t];
  EXPECT_EQ(seen, std::vector<uint32_t>(64, 2));
}

TEST(EmulatorMemory, FloatAtomicsFlushInGlobalMemoryOnly) {
  Fixture f;
  ASSERT_TRUE(f.parse(R"(
.visible .entry k(.param .u64 out)
{
  .shared .align 4 .b32 s; .reg .b64 %o; .reg .b32 %r; .reg .f32 %f;
  ld.param.u64 %o, [out]; mov.f32 %f, 0f00000003;
  st.shared.u32 [s], 4; red.shared.add.f32 [s], %f; ld.shared.u32 %r, [s];
  st.global.u32 [%o+4], %r; red.global.add.f32 [%o], %f; ret;
})")
                  .ok());
  uint64_t out = f.passBuffer("out", std::vector<uint32_t>{4, 0});
  Status s = f.run({}, {});
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(f.get<uint32_t>(out, 2), (std::vector<uint32_t>{0, 7}));
}

TEST(EmulatorMemory, BytesThatAreNotUsedAreOnes) {
  Fixture f;
  Status s = f.parse(R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b64 %in, %out, %x<4>; .reg .b32 %t, %r<8>; .reg .b16 %h<4>;
  .reg .pred %p;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
  mad.wide.u32 %x0, %t, 8, %in; mad.wide.u32 %x1, %t, 40, %out;
  .pragma "nounroll", "used_bytes_mask 0x3f";
  ld.global.v2.b32 {%r0, %r1}, [%x0];
  st.global.v2.b32 [%x1], {%r0, %r1};
  .pragma "used_bytes_mask 0xcU";
  .loc 1 1 1
  ld.global.v2.s16 {%r2, %r3}, [%x0];
  st.global.v2.b32 [%x1+8], {%r2, %r3};
  .pragma "used_bytes_mask 0xf0";
  ld.global.b64 %x2, [%x0];
  st.global.b64 [%x1+16], %x2;
  setp.ne.u32 %p, %t, 1; mov.u32 %r4, 5;
  .pragma "used_bytes_mask 0x2";
  @%p ld.global.u32 %r4, [%x0];
  st.global.b32 [%x1+24], %r4;
  .pragma "used_bytes_mask 0x1";
  mov.u32 %r5, 7;
  ld.global.v2.b32 {%r6, %r7}, [%x0];
  st.global.b32 [%x1+28], %r7;
  .pragma "used_bytes_mask 0xffffff0f";
  ld.global.u32 %r6, [%x0];
  st.global.b32 [%x1+32], %r6; st.global.b32 [%x1+36], %r5;
  ret;
}
)");
  ASSERT_TRUE(s.ok()) << s.message();
  std::vector<uint32_t> in;
  for (uint32_t i = 0; i < 128; ++i)
    in.push_back(0x80818283 + i);
  f.passBuffer("in", in);
  uint64_t out = f.passEmpty("out", 64 * 40);
  s = f.run({}, {64, 1, 1});
  ASSERT_TRUE(s.ok()) << s.message();
  std::vector<uint32_t> values = f.get<uint32_t>(out, 64 * 10);
  for (uint32_t t = 0; t < 64; ++t) {
    const uint32_t *got = &values[t * 10], *from = &in[t * 2];
    EXPECT_EQ(got[0], from[0]);
    EXPECT_EQ(got[1], from[1] | 0xffff0000);
    EXPECT_EQ(got[2], 0xffffffff) << "every float is a NaN";
    EXPECT_EQ(got[3], uint32_t(int32_t(from[0]) >> 16)) << "signed";
    EXPECT_EQ(got[4], 0xffffffff);
    EXPECT_EQ(got[5], from[1]);
    EXPECT_EQ(got[6], t == 1 ? 5 : from[0] | 0xffff00ff);
    EXPECT_EQ(got[7], from[1]) << "the pragma is not before a load";
    EXPECT_EQ(got[8], from[0]);
    EXPECT_EQ(got[9], 7u);
  }
  // A load is one request, whatever parts of it are used.
  EXPECT_EQ(f.counters.globalLoadRequests, 2 * 6u);
}
