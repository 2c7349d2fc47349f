//===- ConvertTest.cpp - Conversions and 16-bit floats --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests conversions and 16-bit arithmetic against a naive reference.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include <cmath>

using namespace fusionemu;

namespace {
/// A 16-bit float format, written down naively: the reference of these tests.
struct Format {
  unsigned mantissa, exponent;
  uint32_t infinity() const { return ((1u << exponent) - 1) << mantissa; }
  double decode(uint32_t x) const {
    int bias = (1 << (exponent - 1)) - 1;
    uint32_t magnitude = x & 0x7fff;
    double sign = x & 0x8000 ? -1 : 1;
    if (magnitude > infinity())
      return NAN;
    if (magnitude == infinity())
      return sign * INFINITY;
    uint32_t e = magnitude >> mantissa, m = magnitude & ((1u << mantissa) - 1);
    if (e == 0)
      return sign * std::ldexp(m, 1 - bias - int(mantissa));
    return sign *
           std::ldexp(m + (1u << mantissa), int(e) - bias - int(mantissa));
  }
  /// The nearest value, ties to even, found by bisection among all of them.
  uint32_t encode(long double x) const {
    if (x != x)
      return 0x7fff;
    uint32_t sign = std::signbit(x) ? 0x8000 : 0;
    long double a = std::fabs(x);
    uint32_t low = 0, high = infinity();
    // As if there were one more finite value in infinity's place.
    int bias = (1 << (exponent - 1)) - 1;
    auto value = [&](uint32_t code) -> long double {
      return code == infinity() ? std::ldexp(1.0L, (1 << exponent) - 1 - bias)
                                : (long double)decode(code);
    };
    if (a >= value(high))
      return sign | high;
    while (high - low > 1) {
      uint32_t middle = (low + high) / 2;
      (value(middle) <= a ? low : high) = middle;
    }
    long double below = a - value(low), above = value(high) - a;
    if (below < above || (below == above && low % 2 == 0))
      return sign | low;
    return sign | high;
  }
};
} // namespace

static const Format half{10, 5}, bfloat{7, 8};

TEST(EmulatorConvert, FloatToHalf) {
  expectUnary("cvt.rn.f16.f32 %d, %a;", 32, 16,
              [](uint32_t a) { return half.encode(asFloat(a)); });
  expectUnary("cvt.rn.bf16.f32 %d, %a;", 32, 16,
              [](uint32_t a) { return bfloat.encode(asFloat(a)); });
  // A double's NaN keeps its sign and the upper bits of its payload.
  expectUnary("cvt.rn.f16.f64 %d, %a;", 64, 16, [](uint64_t a) {
    double x = asDouble(a);
    return x != x ? 0x7e00 | (a >> 48 & 0x8000) | (a >> 42 & 0x3ff)
                  : half.encode(x);
  });
  expectBinary(
      "cvt.rn.bf16x2.f32 %d, %a, %b;", 32, 32, [](uint32_t a, uint32_t b) {
        return bfloat.encode(asFloat(a)) << 16 | bfloat.encode(asFloat(b));
      });
  expectBinary("cvt.rn.relu.f16x2.f32 %d, %a, %b;", 32, 32,
               [](uint32_t a, uint32_t b) {
                 auto relu = [](float x) { return x <= 0 ? 0.0f : x; };
                 return half.encode(relu(asFloat(a))) << 16 |
                        half.encode(relu(asFloat(b)));
               });
}

TEST(EmulatorConvert, EveryHalfToFloatAndBack) {
  for (unsigned chunk = 0; chunk < 64; ++chunk) {
    Values a;
    for (unsigned i = 0; i < 1024; ++i)
      a.push_back(chunk * 1024 + i);
    Values h = evaluate("cvt.f32.f16 %d, %a;", {16}, {a}, 32);
    Values b = evaluate("cvt.f32.bf16 %d, %a;", {16}, {a}, 32);
    Values back = evaluate("cvt.rn.f16.f32 %d, %a;", {32}, {h}, 16);
    for (unsigned i = 0; i < 1024; ++i) {
      double exact = half.decode(uint32_t(a[i]));
      double exactB = bfloat.decode(uint32_t(a[i]));
      ASSERT_EQ(h[i], exact != exact ? 0x7fffffff : bits(float(exact)));
      // A bfloat is the upper half of a float, also when it is NaN.
      ASSERT_EQ(b[i], a[i] << 16);
      ASSERT_TRUE(exactB != exactB || b[i] == bits(float(exactB)));
      ASSERT_EQ(back[i], exact != exact ? 0x7fff : a[i]);
    }
  }
}

TEST(EmulatorConvert, HalfArithmetic) {
  struct Case {
    const char *type;
    const Format &format;
  };
  for (const Case &c : {Case{"f16", half}, Case{"bf16", bfloat}}) {
    std::string type = c.type;
    const Format &f = c.format;
    expectBinary("add.rn." + type + " %d, %a, %b;", 16, 16,
                 [&](uint64_t a, uint64_t b) {
                   return f.encode((long double)f.decode(a) + f.decode(b));
                 });
    expectBinary("mul.rn." + type + " %d, %a, %b;", 16, 16,
                 [&](uint64_t a, uint64_t b) {
                   return f.encode((long double)f.decode(a) * f.decode(b));
                 });
    expectBinary("max.NaN." + type + " %d, %a, %b;", 16, 16,
                 [&](uint64_t a, uint64_t b) {
                   double x = f.decode(a), y = f.decode(b);
                   if (x != x || y != y)
                     return uint64_t(0x7fff);
                   if (x == y)
                     return a & 0x8000 ? b : a;
                   return x > y ? a : b;
                 });
    expectUnary("neg." + type + " %d, %a;", 16, 16, [&](uint64_t a) {
      return f.decode(a) != f.decode(a) ? 0x7fff : a ^ 0x8000;
    });
    expectBinary("setp.ltu." + type + " %p0, %a, %b; selp.b16 %d, 1, 0, %p0;",
                 16, 16, [&](uint64_t a, uint64_t b) {
                   return uint64_t(!(f.decode(a) >= f.decode(b)));
                 });
  }
}

TEST(EmulatorConvert, HalfFusedMultiplyAdd) {
  // An f16 product and its sum are exact in a long double.
  expectTernary("fma.rn.f16 %d, %a, %b, %c;", 16, 16, 16,
                [](uint64_t a, uint64_t b, uint64_t c) {
                  return half.encode((long double)half.decode(a) *
                                         half.decode(b) +
                                     half.decode(c));
                });
  // A tie that a tiny addend breaks: rounding twice would get it wrong.
  // 1.0078125 * 1.0078125 = 1.015686..., 1.5 * 1.0078125 = 1.51171875, whose
  // neighbours are 1.5078125 and 1.515625.
  Values a{0x3fc0, 0x3fc0}, b{0x3f81, 0x3f81}, c{0x0001, 0x8001};
  EXPECT_EQ(bfloat.decode(0x3f81), 1.0078125);
  EXPECT_EQ(
      evaluate("fma.rn.bf16 %d, %a, %b, %c;", {16, 16, 16}, {a, b, c}, 16),
      (Values{0x3fc2, 0x3fc1}));
  expectTernary("fma.rn.f16x2 %d, %a, %b, %c;", 32, 32, 32,
                [](uint64_t a, uint64_t b, uint64_t c) {
                  auto one = [](uint64_t x, uint64_t y, uint64_t z) {
                    return half.encode((long double)half.decode(x & 0xffff) *
                                           half.decode(y & 0xffff) +
                                       half.decode(z & 0xffff));
                  };
                  return uint64_t(one(a >> 16, b >> 16, c >> 16)) << 16 |
                         one(a, b, c);
                });
  expectTernary("fma.rn.relu.f16 %d, %a, %b, %c;", 16, 16, 16,
                [](uint64_t a, uint64_t b, uint64_t c) {
                  uint32_t r =
                      half.encode((long double)half.decode(a) * half.decode(b) +
                                  half.decode(c));
                  return r & 0x8000 && r <= 0xfc00 ? 0u : r;
                });
}

TEST(EmulatorConvert, FloatToInteger) {
  expectUnary("cvt.rzi.s32.f32 %d, %a;", 32, 32, [](uint32_t a) {
    double x = std::trunc(asFloat(a));
    return x != x             ? 0u
           : x >= 2147483648. ? 0x7fffffffu
           : x < -2147483648. ? 0x80000000u
                              : uint32_t(int32_t(x));
  });
  expectUnary("cvt.rni.u32.f32 %d, %a;", 32, 32, [](uint32_t a) {
    double x = std::nearbyint(asFloat(a));
    return x != x ? 0u : x >= 4294967296. ? ~0u : x < 0 ? 0u : uint32_t(x);
  });
  expectUnary("cvt.rmi.s64.f64 %d, %a;", 64, 64, [](uint64_t a) {
    double x = std::floor(asDouble(a));
    if (x != x || x < -0x1p63)
      return uint64_t(1) << 63;
    return x >= 0x1p63 ? ~(uint64_t(1) << 63) : uint64_t(int64_t(x));
  });
  expectUnary("cvt.rpi.u8.f32 %t0, %a; mov.b32 %d, %t0;", 32, 32,
              [](uint32_t a) {
                double x = std::ceil(asFloat(a));
                return x != x ? 0u : x > 255 ? 255u : x < 0 ? 0u : uint32_t(x);
              });
  expectUnary("cvt.rzi.s16.f16 %d, %a;", 16, 16, [](uint64_t a) {
    double x = std::trunc(half.decode(a));
    return x != x ? 0u
                  : uint16_t(int16_t(std::fmax(-32768, std::fmin(32767, x))));
  });
}

TEST(EmulatorConvert, IntegerToFloat) {
  expectUnary("cvt.rn.f32.s32 %d, %a;", 32, 32,
              [](int32_t a) { return bits(float(a)); });
  expectUnary("cvt.rn.f32.u64 %d, %a;", 64, 32,
              [](uint64_t a) { return bits(float(a)); });
  expectUnary("cvt.rn.f64.s64 %d, %a;", 64, 64,
              [](int64_t a) { return bits(double(a)); });
  expectUnary("cvt.rn.f16.s64 %d, %a;", 64, 16,
              [](int64_t a) { return half.encode((long double)a); });
  expectUnary("cvt.rn.f32.u8 %d, %a;", 32, 32,
              [](uint32_t a) { return bits(float(a & 255)); });
  expectUnary("cvt.rn.f32.s8 %d, %a;", 32, 32,
              [](uint32_t a) { return bits(float(int8_t(a))); });
}

TEST(EmulatorConvert, IntegerToInteger) {
  expectUnary("cvt.s64.s32 %d, %a;", 32, 64,
              [](int32_t a) { return uint64_t(int64_t(a)); });
  expectUnary("cvt.u64.u32 %d, %a;", 32, 64, [](uint32_t a) { return a; });
  expectUnary("cvt.u32.u64 %d, %a;", 64, 32,
              [](uint64_t a) { return uint32_t(a); });
  expectUnary("cvt.s32.s8 %d, %a;", 32, 32,
              [](uint32_t a) { return uint32_t(int32_t(int8_t(a))); });
  expectUnary("cvt.u16.u8 %d, %a;", 16, 16, [](uint64_t a) { return a & 255; });
  expectUnary("cvt.sat.u8.s32 %d, %a;", 32, 32, [](int32_t a) {
    return uint32_t(a < 0 ? 0 : a > 255 ? 255 : a);
  });
  expectUnary("cvt.sat.s16.u32 %d, %a;", 32, 16,
              [](uint32_t a) { return a > 32767 ? 32767 : a; });
}

TEST(EmulatorConvert, RoundToIntegral) {
  expectUnary("cvt.rni.f32.f32 %d, %a;", 32, 32, [](uint32_t a) {
    float x = std::nearbyint(asFloat(a));
    return x != x ? 0x7fffffff : bits(x);
  });
  expectUnary("cvt.rmi.f32.f32 %d, %a;", 32, 32, [](uint32_t a) {
    float x = std::floor(asFloat(a));
    return x != x ? 0x7fffffff : bits(x);
  });
  expectUnary("cvt.sat.f32.f32 %d, %a;", 32, 32, [](uint32_t a) {
    float x = asFloat(a);
    return x > 0 ? bits(std::fmin(x, 1.0f)) : 0;
  });
}

TEST(EmulatorConvert, TensorFloat) {
  expectUnary("cvt.rna.tf32.f32 %d, %a;", 32, 32, [](uint32_t a) {
    if ((a & 0x7fffffff) >= 0x7f800000) // Nothing is added to a NaN.
      return a & ~0x1fffu;
    return (a + 0x1000) & ~0x1fffu;
  });
  expectUnary("cvt.rz.tf32.f32 %d, %a;", 32, 32, [](uint32_t a) {
    return (a & 0x7fffffff) > 0x7f800000 ? 0x7fffe000u : a & ~0x1fffu;
  });
}

TEST(EmulatorConvert, EightBitFloats) {
  // All bytes there and back; NaN has one encoding.
  Values a;
  for (unsigned i = 0; i < 256; ++i)
    a.push_back(i | (255 - i) << 8);
  Values h = evaluate("cvt.rn.f16x2.e4m3x2 %d, %a;", {16}, {a}, 32);
  Values back =
      evaluate("cvt.rn.satfinite.e4m3x2.f16x2 %d, %a;", {32}, {h}, 16);
  for (unsigned i = 0; i < 256; ++i) {
    unsigned expected = (i & 0x7f) == 0x7f ? 0x7f : i;
    EXPECT_EQ(back[i] & 0xff, expected);
    double exact = i & 0x80 ? -1 : 1;
    unsigned e = (i >> 3) & 15, m = i & 7;
    exact *= e ? std::ldexp(8 + m, int(e) - 10) : std::ldexp(m, -9);
    if (i != 0x7f && expected == i)
      EXPECT_EQ(half.decode(h[i] & 0xffff), exact);
  }
  Values x{bits(448.0f), bits(1000.0f), bits(-0.001f), bits(1.0625f)};
  Values y{bits(1.0f), bits(NAN), bits(464.0f), bits(1.1875f)};
  EXPECT_EQ(
      evaluate("cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;", {32, 32}, {x, y}, 16),
      (Values{0x7e38, 0x7e7f, 0x817e, 0x383a}));
  EXPECT_EQ(evaluate("cvt.rn.satfinite.e5m2x2.f32 %d, %a, %b;", {32, 32},
                     {{bits(1e9f)}, {bits(-1.25f)}}, 16),
            (Values{0x7bbd}));
}
