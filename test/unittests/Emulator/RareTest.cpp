//===- RareTest.cpp - Instructions that are seldom used -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests instructions that few kernels have: fns, cvt.pack, SIMD
// video instructions, vectors of atomics and packed single precision.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include <algorithm>

using namespace fusionemu;

TEST(EmulatorRare, FindNthSet) {
  Values mask{0x50, 0x50, 0x50, 0x50, 0x50, 0x50, 0}, base{0, 4, 5, 7, 0, 4, 0};
  Values n{1, 0, 0, uint32_t(-1), 3, uint32_t(-2), 1};
  Values d =
      evaluate("fns.b32 %d, %a, %b, %c;", {32, 32, 32}, {mask, base, n}, 32);
  uint32_t none = 0xffffffff;
  EXPECT_EQ(d, (Values{4, 4, none, 6, none, none, none}));
}

TEST(EmulatorRare, SaturatingMultiplyAdd) {
  expectTernary("mad.hi.sat.s32 %d, %a, %b, %c;", 32, 32, 32,
                [](int32_t a, int32_t b, int32_t c) {
                  int64_t sum = (int64_t(a) * b >> 32) + c;
                  return uint32_t(
                      std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
                });
}

TEST(EmulatorRare, ConvertAndPack) {
  expectBinary("cvt.pack.sat.s16.s32 %d, %a, %b;", 32, 32,
               [](int32_t a, int32_t b) {
                 return uint32_t(std::clamp(a, -32768, 32767)) << 16 |
                        (uint32_t(std::clamp(b, -32768, 32767)) & 0xffff);
               });
  expectTernary("cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;", 32, 32, 32,
                [](int32_t a, int32_t b, uint32_t c) {
                  return c << 16 | uint32_t(std::clamp(a, 0, 255)) << 8 |
                         uint32_t(std::clamp(b, 0, 255));
                });
}

TEST(EmulatorRare, Video) {
  auto bytes = [](uint32_t a, uint32_t b, auto f) {
    uint32_t result = 0;
    for (unsigned k = 0; k < 32; k += 8)
      result |= uint32_t(uint8_t(f(int(a >> k & 0xff), int(b >> k & 0xff))))
                << k;
    return result;
  };
  expectBinary("vabsdiff4.u32.u32.u32 %d, %a, %b, 0;", 32, 32,
               [&](uint32_t a, uint32_t b) {
                 return bytes(a, b,
                              [](int x, int y) { return std::abs(x - y); });
               });
  expectBinary("vadd4.s32.s32.s32.sat %d, %a, %b, 0;", 32, 32,
               [&](uint32_t a, uint32_t b) {
                 return bytes(a, b, [](int x, int y) {
                   return std::clamp(int8_t(x) + int8_t(y), -128, 127);
                 });
               });
  expectBinary("vmax2.u32.u32.u32 %d, %a, %b, 0;", 32, 32,
               [](uint32_t a, uint32_t b) {
                 return std::max(a >> 16, b >> 16) << 16 |
                        std::max(a & 0xffff, b & 0xffff);
               });
  expectTernary("vsub2.s32.u32.u32.add %d, %a, %b, %c;", 32, 32, 32,
                [](uint32_t a, uint32_t b, uint32_t c) {
                  return (a >> 16) - (b >> 16) + (a & 0xffff) - (b & 0xffff) +
                         c;
                });
}

TEST(EmulatorRare, EveryVideoInstruction) {
  struct Case {
    const char *text;
    int64_t (*apply)(int64_t, int64_t);
    unsigned parts;
  };
  auto add = [](int64_t x, int64_t y) { return x + y; };
  auto sub = [](int64_t x, int64_t y) { return x - y; };
  auto differ = [](int64_t x, int64_t y) { return std::abs(x - y); };
  auto least = [](int64_t x, int64_t y) { return std::min(x, y); };
  auto most = [](int64_t x, int64_t y) { return std::max(x, y); };
  const Case cases[] = {{"vadd2.s32.s32.s32 %d, %a, %b, 0;", add, 2},
                        {"vsub2.s32.s32.s32 %d, %a, %b, 0;", sub, 2},
                        {"vabsdiff2.s32.s32.s32 %d, %a, %b, 0;", differ, 2},
                        {"vmin2.s32.s32.s32 %d, %a, %b, 0;", least, 2},
                        {"vmax2.s32.s32.s32 %d, %a, %b, 0;", most, 2},
                        {"vadd4.s32.s32.s32 %d, %a, %b, 0;", add, 4},
                        {"vsub4.s32.s32.s32 %d, %a, %b, 0;", sub, 4},
                        {"vmin4.s32.s32.s32 %d, %a, %b, 0;", least, 4},
                        {"vmax4.s32.s32.s32 %d, %a, %b, 0;", most, 4},
                        {"vabsdiff4.s32.s32.s32 %d, %a, %b, 0;", differ, 4}};
  for (const Case &c : cases) {
    unsigned bits = 32 / c.parts;
    expectBinary(c.text, 32, 32, [&](uint32_t a, uint32_t b) {
      uint32_t result = 0, mask = (1u << bits) - 1;
      for (unsigned k = 0; k < 32; k += bits) {
        unsigned up = 32 - bits;
        int64_t x = int32_t(a >> k << up) >> up;
        int64_t y = int32_t(b >> k << up) >> up;
        result |= (uint32_t(c.apply(x, y)) & mask) << k;
      }
      return result;
    });
  }
}

TEST(EmulatorRare, WhatHasNoEffect) {
  Fixture f;
  Status s = f.parse(".visible .entry k(.param .u64 p)\n{\n.reg .b64 %x<3>;\n"
                     "ld.param.u64 %x0, [p];\nprefetchu.L1 [%x0];\n"
                     "prefetch.global.L2 [%x0];\n"
                     "applypriority.global.L2::evict_normal [%x0], 128;\n"
                     "discard.global.L2 [%x0], 128;\n"
                     "createpolicy.fractional.L2::evict_first.b64 %x1, 0.25;\n"
                     "nanosleep.u32 100;\npmevent 7;\n"
                     "griddepcontrol.launch_dependents;\n"
                     "griddepcontrol.wait;\n"
                     "st.global.L2::cache_hint.u64 [%x0], 7, %x1;\nret;\n}\n");
  ASSERT_TRUE(s.ok()) << s.message();
  uint64_t p = f.passBuffer("p", std::vector<uint64_t>(16, 1));
  s = f.run({1, 1, 1}, {32, 1, 1});
  ASSERT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(f.get<uint64_t>(p, 2), (std::vector<uint64_t>{7, 1}));
}

TEST(EmulatorRare, PackedSingle) {
  // Two floats in a register of 64 bits, each by itself.
  auto each = [](uint64_t a, uint64_t b, auto f) {
    uint64_t low = bits(f(asFloat(a), asFloat(b)));
    return uint64_t(bits(f(asFloat(a >> 32), asFloat(b >> 32)))) << 32 | low;
  };
  Values x, y;
  for (unsigned i = 0; i < 64; ++i) {
    x.push_back(uint64_t(bits(float(i) * 0.1f)) << 32 | bits(float(i) - 7.3f));
    y.push_back(uint64_t(bits(3.7f)) << 32 | bits(float(i) * 1e-3f));
  }
  Values sum = evaluate("add.rn.f32x2 %d, %a, %b;", {64, 64}, {x, y}, 64);
  Values product = evaluate("mul.f32x2 %d, %a, %b;", {64, 64}, {x, y}, 64);
  Values fused = evaluate("fma.rz.f32x2 %d, %a, %b, %b;", {64, 64}, {x, y}, 64);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(sum[i], each(x[i], y[i], [](float a, float b) { return a + b; }));
    EXPECT_EQ(product[i],
              each(x[i], y[i], [](float a, float b) { return a * b; }));
    // Towards zero never exceeds the exact value.
    double exact =
        double(asFloat(x[i])) * asFloat(y[i]) + double(asFloat(y[i]));
    EXPECT_LE(std::abs(double(asFloat(fused[i]))), std::abs(exact));
  }
}

TEST(EmulatorRare, WarpExtremesOfFloats) {
  Values a;
  for (unsigned i = 0; i < 32; ++i)
    a.push_back(bits(float(int(i) - 20) * 0.5f));
  auto every = [](float x) { return Values(32, bits(x)); };
  auto run = [&](const std::string &form) {
    return evaluate("redux.sync." + form + ".f32 %d, %a, -1;", {32}, {a}, 32);
  };
  EXPECT_EQ(run("min"), every(-10.0f));
  EXPECT_EQ(run("max"), every(5.5f));
  EXPECT_EQ(run("max.abs"), every(10.0f));
  EXPECT_EQ(run("min.abs"), every(0.0f));
  a[3] = 0x7fc00000;
  EXPECT_EQ(run("max"), every(5.5f));
  EXPECT_EQ(run("max.NaN"), Values(32, 0x7fffffff));
  a.assign(32, 0xffc00001);
  EXPECT_EQ(run("min"), Values(32, 0x7fffffff));
  a.assign(32, 0);
  a[5] = 0x80000000;
  EXPECT_EQ(run("min"), Values(32, 0x80000000));
  EXPECT_EQ(run("max"), Values(32, 0));
}

TEST(EmulatorRare, VectorAtomics) {
  Fixture f;
  ASSERT_TRUE(f.module
                  .parse(header() +
                         ".visible .entry k(.param .u64 p, .param .u64 o)\n{\n"
                         ".reg .b64 %x<3>; .reg .f32 %f<4>; .reg .b32 %t<3>;\n"
                         "ld.param.u64 %x0, [p]; ld.param.u64 %x1, [o];\n"
                         "red.global.add.v4.f32 [%x0], "
                         "{0f3F800000, 0f40000000, 0f40400000, 0f40800000};\n"
                         "atom.global.v2.f32.add {%f0, %f1}, [%x0+8], "
                         "{0f3F800000, 0f3F800000};\n"
                         "red.global.max.noftz.v2.f16x2 [%x0+16], "
                         "{0x40003c00, 0xbc004200};\n"
                         "st.global.v2.f32 [%x1], {%f0, %f1};\nret;\n}\n")
                  .ok());
  f.kernel = "k";
  std::vector<float> start{1, 1, 1, 1};
  std::vector<float> memory = start;
  memory.push_back(bitsAs<float>(uint32_t(0x3c003e00)));
  memory.push_back(bitsAs<float>(uint32_t(0x3c003c00)));
  memory.resize(8, 0.0f);
  uint64_t p = f.passBuffer("p", memory);
  uint64_t o = f.passEmpty("o", 8);
  Status s = f.run({1, 1, 1}, {32, 1, 1});
  ASSERT_TRUE(s.ok()) << s.message();
  std::vector<float> got = f.get<float>(p, 6);
  EXPECT_EQ(got[0], 33.0f);
  EXPECT_EQ(got[1], 65.0f);
  EXPECT_EQ(got[2], 97.0f + 32.0f);
  EXPECT_EQ(got[3], 129.0f + 32.0f);
  EXPECT_EQ(bits(got[4]), 0x40003e00u);
  EXPECT_EQ(bits(got[5]), 0x3c004200u);
  // Of lanes that store to one address the highest wins.
  EXPECT_EQ(f.get<float>(o, 2), (std::vector<float>{97 + 31, 129 + 31}));
}

TEST(EmulatorRare, WideValues) {
  Fixture f;
  ASSERT_TRUE(
      f.module
          .parse(header() +
                 ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %x<5>;\n"
                 ".reg .b128 %q<3>; .reg .b32 %r<8>;\n"
                 "ld.param.u64 %x0, [p];\nmov.b128 %q0, {5, 6};\n"
                 "mov.b128 %q1, {1, 2};\n"
                 "atom.global.cas.b128 %q2, [%x0], %q1, %q0;\n"
                 "mov.b128 {%x1, %x2}, %q2;\n"
                 "st.global.v2.u64 [%x0+16], {%x1, %x2};\n"
                 "ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, "
                 "[%x0];\n"
                 "st.global.v8.b32 [%x0+32], {%r7, %r6, %r5, %r4, %r3, %r2, "
                 "%r1, %r0};\nret;\n}\n")
          .ok());
  f.kernel = "k";
  uint64_t p = f.passBuffer("p", std::vector<uint64_t>{1, 2, 0, 0, 0, 0, 0, 0});
  Status s = f.run({1, 1, 1}, {1, 1, 1});
  ASSERT_TRUE(s.ok()) << s.message();
  uint64_t up = uint64_t(1) << 32;
  EXPECT_EQ(
      f.get<uint64_t>(p, 8),
      (std::vector<uint64_t>{5, 6, 1, 2, 2 * up, 1 * up, 6 * up, 5 * up}));
}

TEST(EmulatorRare, RefusedFormsDoNotFailTheModule) {
  for (const char *text :
       {"min.f32 %f0, %f1, %f2, %f3;", "max.f32 %f0, %f1, %f2, %f3;",
        "lop3.or.b32 %r0|%p, %r1, %r2, %r3, 7, %p;",
        "cvt.rs.f16x2.f32 %r0, %f0, %f1, %r1;",
        "fma.rn.oob.f16 %h, %h, %h, %h;", "red.add.v2.f64 [%x], {%d, %d};",
        "cvt.rn.satfinite.e2m1x2.f32 %h, %f0, %f1;",
        "multimem.red.add.u32 [%x], %r0;", "st.bulk.weak [%x], 64, 0;"}) {
    Module module;
    Status s = module.parse(header() +
                            ".visible .entry k()\n{\n.reg .pred %p; .reg .b16 "
                            "%h; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .f64 "
                            "%d; .reg .b64 %x;\n" +
                            text + "\nret;\n}\n");
    ASSERT_TRUE(s.ok()) << s.message();
    EXPECT_NE(module.getKernels()[0].unsupported.find("PTX line 7: "),
              std::string::npos)
        << text << module.getKernels()[0].unsupported;
  }
}
