//===- FloatTest.cpp - Float instructions ---------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests float arithmetic, bit for bit, and the bounds of the
// approximations.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include <cfenv>
#include <cmath>

using namespace fusionemu;

static uint32_t canonical(float x) { return x != x ? 0x7fffffffu : bits(x); }
static float flush(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

TEST(EmulatorFloat, Nearest) {
  expectBinary("add.f32 %d, %a, %b;", 32, 32, [](uint32_t a, uint32_t b) {
    return canonical(asFloat(a) + asFloat(b));
  });
  expectBinary("sub.rn.f32 %d, %a, %b;", 32, 32, [](uint32_t a, uint32_t b) {
    return canonical(asFloat(a) - asFloat(b));
  });
  expectBinary("mul.f32 %d, %a, %b;", 32, 32, [](uint32_t a, uint32_t b) {
    return canonical(asFloat(a) * asFloat(b));
  });
  expectTernary("fma.rn.f32 %d, %a, %b, %c;", 32, 32, 32,
                [](uint32_t a, uint32_t b, uint32_t c) {
                  return canonical(
                      std::fmaf(asFloat(a), asFloat(b), asFloat(c)));
                });
  expectBinary("div.rn.f32 %d, %a, %b;", 32, 32, [](uint32_t a, uint32_t b) {
    return canonical(asFloat(a) / asFloat(b));
  });
  expectUnary("sqrt.rn.f32 %d, %a;", 32, 32,
              [](uint32_t a) { return canonical(std::sqrt(asFloat(a))); });
  expectUnary("rcp.rn.f32 %d, %a;", 32, 32,
              [](uint32_t a) { return canonical(1.0f / asFloat(a)); });
}

TEST(EmulatorFloat, FlushAndSaturate) {
  expectBinary("mul.ftz.f32 %d, %a, %b;", 32, 32, [](uint32_t a, uint32_t b) {
    return canonical(flush(flush(asFloat(a)) * flush(asFloat(b))));
  });
  expectBinary("add.sat.f32 %d, %a, %b;", 32, 32, [](uint32_t a, uint32_t b) {
    float x = asFloat(a) + asFloat(b);
    return x > 0 ? bits(std::fmin(x, 1.0f)) : 0;
  });
}

template <typename F>
static auto rounded(int mode, F f) {
  std::fesetround(mode);
  volatile auto result = f();
  std::fesetround(FE_TONEAREST);
  return decltype(f())(result);
}

TEST(EmulatorFloat, DirectedRounding) {
  struct Mode {
    const char *name;
    int host;
  };
  for (Mode mode : {Mode{"rz", FE_TOWARDZERO}, Mode{"rm", FE_DOWNWARD},
                    Mode{"rp", FE_UPWARD}}) {
    std::string m = mode.name;
    expectBinary(
        "add." + m + ".f32 %d, %a, %b;", 32, 32, [&](uint32_t a, uint32_t b) {
          volatile float x = asFloat(a), y = asFloat(b);
          return canonical(rounded(mode.host, [&] { return float(x + y); }));
        });
    expectTernary("fma." + m + ".f32 %d, %a, %b, %c;", 32, 32, 32,
                  [&](uint32_t a, uint32_t b, uint32_t c) {
                    return canonical(rounded(mode.host, [&] {
                      return std::fmaf(asFloat(a), asFloat(b), asFloat(c));
                    }));
                  });
    expectBinary(
        "div." + m + ".f32 %d, %a, %b;", 32, 32, [&](uint32_t a, uint32_t b) {
          volatile float x = asFloat(a), y = asFloat(b);
          return canonical(rounded(mode.host, [&] { return float(x / y); }));
        });
    expectUnary("cvt." + m + ".f32.s64 %d, %a;", 64, 32, [&](uint64_t a) {
      volatile int64_t x = int64_t(a);
      return bits(rounded(mode.host, [&] { return float(x); }));
    });
    expectUnary("cvt." + m + ".f64.u64 %d, %a;", 64, 64, [&](uint64_t a) {
      volatile uint64_t x = a;
      return bits(rounded(mode.host, [&] { return double(x); }));
    });
    expectUnary("cvt." + m + ".f32.f64 %d, %a;", 64, 32, [&](uint64_t a) {
      volatile double x = asDouble(a);
      if (x != x)
        return 0x7fc00000 | uint32_t(a >> 32 & 0x80000000) |
               uint32_t(a >> 29 & 0x3fffff);
      return canonical(rounded(mode.host, [&] { return float(x); }));
    });
  }
}

TEST(EmulatorFloat, FlushBeforeTheExponentIsBounded) {
  // 1 - 2^-24 of the smallest normal number: it needs no rounding when the
  // exponent is free, and is flushed. 1 - 2^-46 of it rounds up, and is not.
  Values x{0x3f7fffff, 0x3f000001}, y{0x00800000, 0x00fffffe};
  Values d = evaluate("mul.ftz.f32 %d, %a, %b;", {32, 32}, {x, y}, 32);
  EXPECT_EQ(d, (Values{0, 0x00800000}));
  d = evaluate("mul.rn.ftz.sat.f32 %d, %a, %b;", {32, 32}, {x, y}, 32);
  EXPECT_EQ(d, (Values{0, 0x00800000}));
  d = evaluate("fma.rp.ftz.f32 %d, %a, %b, 0f80000000;", {32, 32}, {x, y}, 32);
  EXPECT_EQ(d, (Values{0, 0x00800000}));
  d = evaluate("mul.f32 %d, %a, %b;", {32, 32}, {x, y}, 32);
  EXPECT_EQ(d, (Values{0x00800000, 0x00800000}));
  Values h{0x3bff}, smallest{0x8400};
  d = evaluate("mul.ftz.f16 %d, %a, %b;", {16, 16}, {h, smallest}, 16);
  EXPECT_EQ(d, (Values{0x8000}));
}

TEST(EmulatorFloat, DoublePassesNaN) {
  uint64_t n1 = 0x7ff0000000000011, n2 = 0xfff0000000000022;
  uint64_t n3 = 0x7ff8000000000033, quiet = uint64_t(1) << 51;
  uint64_t one = bits(1.0), none = uint64_t(0xfff8) << 48;
  Values a{n1, n1, one}, b{n2, one, n2};
  EXPECT_EQ(evaluate("add.f64 %d, %a, %b;", {64, 64}, {a, b}, 64),
            (Values{n2 | quiet, n1 | quiet, n2 | quiet}));
  EXPECT_EQ(evaluate("sub.rz.f64 %d, %a, %b;", {64, 64}, {a, b}, 64),
            (Values{n2 | quiet, n1 | quiet, n2 | quiet}));
  EXPECT_EQ(evaluate("div.rn.f64 %d, %a, %b;", {64, 64}, {a, b}, 64),
            (Values{n1 | quiet, n1 | quiet, n2 | quiet}));
  Values x{n1, n1, n1, one}, y{n2, one, one, one}, z{n3, n3, one, n3};
  EXPECT_EQ(evaluate("fma.rn.f64 %d, %a, %b, %c;", {64, 64, 64}, {x, y, z}, 64),
            (Values{n2 | quiet, n3, n1 | quiet, n3}));
  uint64_t infinity = bits(HUGE_VAL);
  EXPECT_EQ(evaluate("sub.f64 %d, %a, %a;", {64}, {{infinity}}, 64),
            (Values{none}));
}

TEST(EmulatorFloat, Double) {
  auto same = [](double x, uint64_t got) {
    return x != x ? asDouble(got) != asDouble(got) : got == bits(x);
  };
  Values a = interesting(1024, 64, 1), b = interesting(1024, 64, 2),
         c = interesting(1024, 64, 3);
  Values d =
      evaluate("fma.rn.f64 %d, %a, %b, %c;", {64, 64, 64}, {a, b, c}, 64);
  Values q = evaluate("div.rn.f64 %d, %a, %b;", {64, 64}, {a, b}, 64);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(
        same(std::fma(asDouble(a[i]), asDouble(b[i]), asDouble(c[i])), d[i]));
    EXPECT_TRUE(same(asDouble(a[i]) / asDouble(b[i]), q[i]));
  }
}

TEST(EmulatorFloat, MinMax) {
  auto isNaN = [](uint32_t x) { return (x & 0x7fffffff) > 0x7f800000; };
  auto less = [](uint32_t a, uint32_t b) {
    if (asFloat(a) == asFloat(b)) // -0 lies below +0.
      return (a >> 31) > (b >> 31);
    return asFloat(a) < asFloat(b);
  };
  expectBinary("min.f32 %d, %a, %b;", 32, 32, [&](uint32_t a, uint32_t b) {
    if (isNaN(a))
      return isNaN(b) ? 0x7fffffffu : b;
    return isNaN(b) ? a : less(a, b) ? a : b;
  });
  expectBinary("max.NaN.f32 %d, %a, %b;", 32, 32, [&](uint32_t a, uint32_t b) {
    if (isNaN(a) || isNaN(b))
      return 0x7fffffffu;
    return less(a, b) ? b : a;
  });
  Values zero{0, 0x80000000}, negative{0x80000000, 0};
  EXPECT_EQ(evaluate("min.f32 %d, %a, %b;", {32, 32}, {zero, negative}, 32),
            (Values{0x80000000, 0x80000000}));
  EXPECT_EQ(evaluate("max.f32 %d, %a, %b;", {32, 32}, {zero, negative}, 32),
            (Values{0, 0}));
}

TEST(EmulatorFloat, SignAndProperties) {
  expectUnary("neg.f32 %d, %a;", 32, 32,
              [](uint32_t a) { return canonical(-asFloat(a)); });
  expectUnary("abs.f64 %d, %a;", 64, 64, [](uint64_t a) {
    double x = asDouble(a);
    return x != x ? a | uint64_t(1) << 51 : a & ~(uint64_t(1) << 63);
  });
  expectBinary("copysign.f32 %d, %a, %b;", 32, 32, [](uint32_t a, uint32_t b) {
    return (a & 0x80000000) | (b & 0x7fffffff);
  });
  expectUnary(
      "testp.subnormal.f32 %p0, %a; selp.u32 %d, 1, 0, %p0;", 32, 32,
      [](uint32_t a) { return std::fpclassify(asFloat(a)) == FP_SUBNORMAL; });
  // Zeros count as normal numbers.
  expectUnary(
      "testp.normal.f32 %p0, %a; selp.u32 %d, 1, 0, %p0;", 32, 32,
      [](uint32_t a) { return asFloat(a) == 0 || std::isnormal(asFloat(a)); });
  expectUnary("slct.ftz.s32.f32 %d, 1, 2, %a;", 32, 32,
              [](uint32_t a) { return asFloat(a) > -0x1p-126f ? 1 : 2; });
}

TEST(EmulatorFloat, Compare) {
  struct Case {
    const char *name;
    bool (*holds)(float, float);
  };
  static const Case cases[] = {
      {"eq", [](float a, float b) { return a == b; }},
      {"ne", [](float a, float b) { return a < b || a > b; }},
      {"lt", [](float a, float b) { return a < b; }},
      {"ge", [](float a, float b) { return a >= b; }},
      {"equ", [](float a, float b) { return !(a < b || a > b); }},
      {"neu", [](float a, float b) { return !(a == b); }},
      {"ltu", [](float a, float b) { return !(a >= b); }},
      {"gtu", [](float a, float b) { return !(a <= b); }},
      {"num", [](float a, float b) { return a == a && b == b; }},
      {"nan", [](float a, float b) { return a != a || b != b; }},
  };
  for (const Case &c : cases)
    expectBinary(std::string("setp.") + c.name +
                     ".f32 %p0, %a, %b; selp.u32 %d, 1, 0, %p0;",
                 32, 32, [&](uint32_t a, uint32_t b) {
                   return uint32_t(c.holds(asFloat(a), asFloat(b)));
                 });
  expectBinary("set.lt.f32.f32 %d, %a, %b;", 32, 32,
               [](uint32_t a, uint32_t b) {
                 return asFloat(a) < asFloat(b) ? 0x3f800000 : 0;
               });
}

TEST(EmulatorFloat, PackedFloats) {
  expectTernary("fma.rn.f32x2 %d, %a, %b, %c;", 64, 64, 64,
                [](uint64_t a, uint64_t b, uint64_t c) {
                  uint64_t low =
                      canonical(std::fmaf(asFloat(a), asFloat(b), asFloat(c)));
                  uint64_t high = canonical(std::fmaf(
                      asFloat(a >> 32), asFloat(b >> 32), asFloat(c >> 32)));
                  return high << 32 | low;
                });
}

/// The error of `got` in units of the last place of the exact result.
static double ulps(float got, double exact) {
  float nearest = float(exact);
  int exponent = std::ilogb(nearest == 0 ? 0x1p-126f : nearest);
  double ulp = std::ldexp(1.0, std::max(exponent, -126) - 23);
  return std::fabs(double(got) - exact) / ulp;
}

/// Bounds as published in the PTX ISA, for the arguments they hold for.
TEST(EmulatorFloat, ApproximationsAreWithinBounds) {
  std::mt19937 random(7);
  Values x, wide;
  for (unsigned i = 0; i < 1024; ++i) {
    x.push_back(bits(std::uniform_real_distribution<float>(-3, 3)(random)));
    wide.push_back(
        bits(std::ldexp(std::uniform_real_distribution<float>(1, 2)(random),
                        int(random() % 240) - 120)));
  }
  auto check = [&](const char *code, const Values &in, double (*f)(double),
                   double maxUlps, double maxAbsolute) {
    Values d = evaluate(code, {32}, {in}, 32);
    ASSERT_EQ(d.size(), in.size());
    for (size_t i = 0; i < in.size(); ++i) {
      double exact = f(double(asFloat(in[i])));
      EXPECT_TRUE(ulps(asFloat(d[i]), exact) <= maxUlps ||
                  std::fabs(asFloat(d[i]) - exact) <= maxAbsolute)
          << code << " of " << asFloat(in[i]) << " gives " << asFloat(d[i])
          << ", exactly " << exact;
    }
  };
  check(
      "ex2.approx.ftz.f32 %d, %a;", x, [](double v) { return std::exp2(v); }, 2,
      0);
  check(
      "lg2.approx.f32 %d, %a;", wide, [](double v) { return std::log2(v); }, 1,
      0x1p-22);
  check(
      "sin.approx.f32 %d, %a;", x, [](double v) { return std::sin(v); }, 0,
      0x1p-20);
  check(
      "cos.approx.f32 %d, %a;", x, [](double v) { return std::cos(v); }, 0,
      0x1p-20);
  check(
      "rcp.approx.ftz.f32 %d, %a;", wide, [](double v) { return 1 / v; }, 1, 0);
  check(
      "rsqrt.approx.f32 %d, %a;", wide,
      [](double v) { return 1 / std::sqrt(v); }, 1, 0);
  check(
      "sqrt.approx.f32 %d, %a;", wide, [](double v) { return std::sqrt(v); }, 1,
      0);
  check(
      "tanh.approx.f32 %d, %a;", x, [](double v) { return std::tanh(v); }, 1,
      0);
}

TEST(EmulatorFloat, ApproximationsAtTheEdges) {
  float inf = INFINITY;
  Values in{bits(0.0f), bits(-0.0f), bits(inf),
            bits(-inf), bits(NAN),   bits(-1.0f)};
  EXPECT_EQ(
      evaluate("ex2.approx.f32 %d, %a;", {32}, {in}, 32),
      (Values{bits(1.0f), bits(1.0f), bits(inf), 0, 0x7fffffff, bits(0.5f)}));
  EXPECT_EQ(evaluate("lg2.approx.f32 %d, %a;", {32}, {in}, 32),
            (Values{bits(-inf), bits(-inf), bits(inf), 0x7fffffff, 0x7fffffff,
                    0x7fffffff}));
  EXPECT_EQ(
      evaluate("rcp.approx.f32 %d, %a;", {32}, {in}, 32),
      (Values{bits(inf), bits(-inf), 0, 0x80000000, 0x7fffffff, bits(-1.0f)}));
  EXPECT_EQ(
      evaluate("rsqrt.approx.f32 %d, %a;", {32}, {in}, 32),
      (Values{bits(inf), bits(-inf), 0, 0x7fffffff, 0x7fffffff, 0x7fffffff}));
  EXPECT_EQ(evaluate("tanh.approx.f32 %d, %a;", {32}, {in}, 32)[2], bits(1.0f));
}

/// Factors of 16 bits are widened, which is exact, and the result rounds once.
TEST(EmulatorFloat, MixedPrecision) {
  Values h = interesting(1024, 16, 1), k = interesting(1024, 16, 2),
         f = interesting(1024, 32, 3);
  for (const char *type : {"f16", "bf16"})
    for (const char *round : {".rn", ".rz", ".rp.sat", ""}) {
      std::string t = type, r = round;
      std::string wide =
          "cvt.f32." + t + " %t0, %a; cvt.f32." + t + " %t1, %b; ";
      for (const char *op : {"add", "sub"}) {
        std::string o = op + r + ".f32";
        EXPECT_EQ(
            evaluate(o + "." + t + " %d, %a, %c;", {16, 16, 32}, {h, k, f}, 32),
            evaluate(wide + o + " %d, %t0, %c;", {16, 16, 32}, {h, k, f}, 32))
            << o;
      }
      std::string o = "fma" + (r.empty() ? ".rm" : r) + ".f32";
      EXPECT_EQ(evaluate(o + "." + t + " %d, %a, %b, %c;", {16, 16, 32},
                         {h, k, f}, 32),
                evaluate(wide + o + " %d, %t0, %t1, %c;", {16, 16, 32},
                         {h, k, f}, 32))
          << o;
    }
  Module module;
  ASSERT_TRUE(module
                  .parse(header() +
                         ".visible .entry k()\n{\n.reg .b16 %h; .reg .b32 %f;\n"
                         "mul.rn.f32.bf16 %f, %h, %f;\nret;\n}\n")
                  .ok());
  EXPECT_NE(module.findKernel("k")->unsupported, "");
}
