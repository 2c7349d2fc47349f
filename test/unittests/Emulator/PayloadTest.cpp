//===- PayloadTest.cpp - Floats replaced by integers ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the mapping of payload mode: ring operations are exact,
// functions are fixed and commute with truncation, and a wrong kernel shows
// where a reordered one does not.
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include <algorithm>

using namespace fusionemu;

namespace {
const ParseOptions payload{/*payload=*/true};

Values apply(const std::string &code, unsigned in,
             const std::vector<Values> &inputs, unsigned out) {
  return evaluate(code, std::vector<unsigned>(inputs.size(), in), inputs, out,
                  payload);
}

/// One value of a register that the code computes from nothing.
uint64_t literal(const std::string &code, unsigned bits) {
  return apply(code, bits, {Values(1, 0)}, bits).at(0);
}

uint64_t lowBits(uint64_t x, unsigned bits) {
  return bits == 64 ? x : x & ((uint64_t(1) << bits) - 1);
}
int64_t asSigned(uint64_t x, unsigned bits) {
  return int64_t(x << (64 - bits)) >> (64 - bits);
}

struct FloatType {
  const char *name;
  unsigned bits;
  unsigned partBits; ///< Of one value, for packed types.
};
const FloatType ringTypes[] = {
    {"f16", 16, 16},   {"bf16", 16, 16},   {"f32", 32, 32},  {"f64", 64, 64},
    {"f16x2", 32, 16}, {"bf16x2", 32, 16}, {"f32x2", 64, 32}};

/// `f` on each part of packed values.
template <typename F>
uint64_t forParts(const FloatType &type, F f) {
  uint64_t result = 0;
  for (unsigned at = 0; at < type.bits; at += type.partBits)
    result |= lowBits(f(at), type.partBits) << at;
  return result;
}
uint64_t part(uint64_t x, unsigned at, const FloatType &type) {
  return lowBits(x >> at, type.partBits);
}

TEST(Payload, RingOperationsWrap) {
  for (const FloatType &type : ringTypes) {
    Values a = interesting(512, type.bits, 1),
           b = interesting(512, type.bits, 2),
           c = interesting(512, type.bits, 3);
    std::string suffix = std::string(".") + type.name + " %d, %a, %b";
    Values add = apply("add.rn" + suffix + ";", type.bits, {a, b}, type.bits);
    Values sub = apply("sub.rn" + suffix + ";", type.bits, {a, b}, type.bits);
    Values mul = apply("mul.rn" + suffix + ";", type.bits, {a, b}, type.bits);
    Values fma =
        apply("fma.rn" + suffix + ", %c;", type.bits, {a, b, c}, type.bits);
    ASSERT_EQ(fma.size(), a.size()) << type.name;
    for (size_t i = 0; i < a.size(); ++i) {
      auto x = [&](unsigned at) { return part(a[i], at, type); };
      auto y = [&](unsigned at) { return part(b[i], at, type); };
      auto z = [&](unsigned at) { return part(c[i], at, type); };
      ASSERT_EQ(add[i],
                forParts(type, [&](unsigned at) { return x(at) + y(at); }));
      ASSERT_EQ(sub[i],
                forParts(type, [&](unsigned at) { return x(at) - y(at); }));
      ASSERT_EQ(mul[i],
                forParts(type, [&](unsigned at) { return x(at) * y(at); }));
      ASSERT_EQ(
          fma[i],
          forParts(type, [&](unsigned at) { return x(at) * y(at) + z(at); }))
          << type.name;
    }
  }
}

TEST(Payload, RoundingAndFlushingMeanNothing) {
  Values a = interesting(256, 32, 1), b = interesting(256, 32, 2);
  Values expected = apply("add.rn.f32 %d, %a, %b;", 32, {a, b}, 32);
  for (const char *form : {"add.f32", "add.rz.f32", "add.rp.ftz.f32"})
    EXPECT_EQ(apply(std::string(form) + " %d, %a, %b;", 32, {a, b}, 32),
              expected);
  // Saturation is what it says, on integers.
  Values clamped = apply("add.sat.f32 %d, %a, %b;", 32, {a, b}, 32);
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(clamped[i], asSigned(expected[i], 32) > 0 ? 1u : 0u);
}

TEST(Payload, OrderIsThatOfSignedIntegers) {
  for (const FloatType &type : {FloatType{"f32", 32, 32},
                                {"f64", 64, 64},
                                {"f16", 16, 16},
                                {"bf16", 16, 16}}) {
    Values a = interesting(512, type.bits, 1),
           b = interesting(512, type.bits, 2);
    a[0] = b[0];
    std::string t = type.name;
    Values least =
        apply("min." + t + " %d, %a, %b;", type.bits, {a, b}, type.bits);
    Values most =
        apply("max.NaN." + t + " %d, %a, %b;", type.bits, {a, b}, type.bits);
    Values negative = apply("neg." + t + " %d, %a;", type.bits, {a}, type.bits);
    Values absolute = apply("abs." + t + " %d, %a;", type.bits, {a}, type.bits);
    auto compare = [&](const std::string &op) {
      return apply("setp." + op + "." + t +
                       " %p0, %a, %b; selp.b32 %d, 1, 0, %p0;",
                   type.bits, {a, b}, 32);
    };
    Values less = compare("lt"), atMostUnordered = compare("leu"),
           equal = compare("equ"), ordered = compare("num"),
           unordered = compare("nan");
    if (t == "f64") // PTX has no such form.
      most = apply("max." + t + " %d, %a, %b;", type.bits, {a, b}, type.bits);
    ASSERT_EQ(most.size(), a.size()) << t;
    for (size_t i = 0; i < a.size(); ++i) {
      int64_t x = asSigned(a[i], type.bits), y = asSigned(b[i], type.bits);
      ASSERT_EQ(asSigned(least[i], type.bits), std::min(x, y));
      ASSERT_EQ(asSigned(most[i], type.bits), std::max(x, y));
      ASSERT_EQ(negative[i], lowBits(0 - a[i], type.bits));
      ASSERT_EQ(absolute[i],
                lowBits(x < 0 ? 0 - uint64_t(x) : uint64_t(x), type.bits));
      ASSERT_EQ(less[i], uint64_t(x < y));
      ASSERT_EQ(atMostUnordered[i], uint64_t(x <= y));
      ASSERT_EQ(equal[i], uint64_t(x == y));
      ASSERT_EQ(ordered[i], 1u);
      ASSERT_EQ(unordered[i], 0u);
    }
  }
}

TEST(Payload, SetGivesOne) {
  Values a = {1, 2}, b = {2, 1};
  EXPECT_EQ(apply("set.lt.f32.f32 %d, %a, %b;", 32, {a, b}, 32),
            (Values{1, 0}));
  EXPECT_EQ(apply("set.lt.u32.f32 %d, %a, %b;", 32, {a, b}, 32),
            (Values{0xffffffff, 0}));
}

/// Online softmax: factors of exponentials combine.
TEST(Payload, ExponentialsMultiply) {
  Values a = interesting(512, 32, 1), b = interesting(512, 32, 2);
  Values together =
      apply("add.f32 %t0, %a, %b; ex2.approx.f32 %d, %t0;", 32, {a, b}, 32);
  Values apart = apply("ex2.approx.ftz.f32 %t0, %a; ex2.approx.f32 %t1, %b; "
                       "mul.f32 %d, %t0, %t1;",
                       32, {a, b}, 32);
  EXPECT_EQ(together, apart);
  EXPECT_EQ(apply("ex2.approx.f32 %d, %a;", 32, {Values{0, 1, 5}}, 32),
            (Values{1, 3, 243}));
}

TEST(Payload, OddNumbersHaveReciprocals) {
  Values a = interesting(512, 32, 1), b = interesting(512, 32, 2);
  for (uint64_t &x : a)
    x |= 1;
  Values ones =
      apply("rcp.approx.ftz.f32 %t0, %a; mul.f32 %d, %t0, %a;", 32, {a}, 32);
  for (uint64_t one : ones)
    ASSERT_EQ(one, 1u);
  // Division is multiplication by the reciprocal, also where there is none.
  EXPECT_EQ(apply("div.full.f32 %d, %b, %a;", 32, {b, a}, 32),
            apply("rcp.rn.f32 %t0, %a; mul.f32 %d, %b, %t0;", 32, {b, a}, 32));
  for (uint64_t &x : a)
    x &= ~uint64_t(1);
  EXPECT_EQ(apply("div.rn.f32 %d, %b, %a;", 32, {b, a}, 32),
            apply("rcp.rn.f32 %t0, %a; mul.f32 %d, %b, %t0;", 32, {b, a}, 32));
}

/// Narrowing before or after a function gives the same bits, so that a rounding
/// may sit on either side of a fused kernel's border.
TEST(Payload, FunctionsCommuteWithNarrowing) {
  Values a = interesting(512, 32, 1);
  for (const char *op : {"ex2.approx", "tanh.approx"}) {
    std::string name = op;
    EXPECT_EQ(
        apply(name + ".f32 %t0, %a; cvt.rn.f16.f32 %d, %t0;", 32, {a}, 16),
        apply("cvt.rn.f16.f32 %h0, %a; " + name + ".f16 %d, %h0;", 32, {a}, 16))
        << op;
  }
  Values wide = interesting(512, 64, 1);
  for (const char *op : {"sqrt.rn", "rcp.rn"}) {
    std::string name = op;
    EXPECT_EQ(
        apply(name + ".f64 %l0, %a; cvt.rn.f32.f64 %d, %l0;", 64, {wide}, 32),
        apply("cvt.rn.f32.f64 %t0, %a; " + name + ".f32 %d, %t0;", 64, {wide},
              32))
        << op;
  }
}

/// Every function is a permutation of its own, so that no error is swallowed.
TEST(Payload, FunctionsAreInjectiveAndDiffer) {
  Values a = interesting(512, 32, 7);
  std::sort(a.begin(), a.end());
  a.erase(std::unique(a.begin(), a.end()), a.end());
  std::vector<Values> all;
  for (const char *op :
       {"sqrt.approx", "rsqrt.approx", "sin.approx", "cos.approx", "lg2.approx",
        "tanh.approx", "rcp.approx"}) {
    Values d = apply(std::string(op) + ".f32 %d, %a;", 32, {a}, 32);
    for (const Values &other : all)
      EXPECT_NE(d, other) << op;
    all.push_back(d);
    std::sort(d.begin(), d.end());
    EXPECT_EQ(std::unique(d.begin(), d.end()), d.end()) << op;
  }
}

TEST(Payload, ConversionsKeepLowBitsAndSigns) {
  Values a = interesting(512, 32, 1), h = interesting(512, 16, 2),
         b = interesting(512, 8, 3);
  auto check = [](const Values &in, const Values &out, auto f) {
    ASSERT_EQ(in.size(), out.size());
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i], uint64_t(f(in[i]))) << std::hex << in[i];
  };
  check(a, apply("cvt.rn.bf16.f32 %d, %a;", 32, {a}, 16),
        [](uint64_t x) { return uint16_t(x); });
  check(h, apply("cvt.f32.bf16 %d, %a;", 16, {h}, 32),
        [](uint64_t x) { return uint32_t(int16_t(x)); });
  check(a, apply("cvt.f64.f32 %d, %a;", 32, {a}, 64),
        [](uint64_t x) { return int64_t(int32_t(x)); });
  check(a, apply("cvt.rn.f32.s32 %d, %a;", 32, {a}, 32),
        [](uint64_t x) { return x; });
  check(a, apply("cvt.rzi.s32.f32 %d, %a;", 32, {a}, 32),
        [](uint64_t x) { return x; });
  check(a, apply("cvt.rni.f32.f32 %d, %a;", 32, {a}, 32),
        [](uint64_t x) { return x; });
  check(h, apply("cvt.rn.f32.u16 %d, %a;", 16, {h}, 32),
        [](uint64_t x) { return uint16_t(x); });
  check(a, apply("cvt.rna.tf32.f32 %d, %a;", 32, {a}, 32),
        [](uint64_t x) { return x; });
  check(a, apply("cvt.rn.relu.bf16.f32 %d, %a;", 32, {a}, 16),
        [](uint64_t x) { return uint16_t(int32_t(x) < 0 ? 0 : x); });
  Values pair = apply("cvt.rn.f16x2.f32 %d, %a, %b;", 32,
                      {a, Values(a.rbegin(), a.rend())}, 32);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(pair[i], (a[i] & 0xffff) << 16 | (a[a.size() - 1 - i] & 0xffff));
  Values bytes = apply("cvt.rn.satfinite.e4m3x2.f32 %h0, %a, %b; "
                       "cvt.rn.f16x2.e4m3x2 %d, %h0;",
                       32, {a, Values(a.rbegin(), a.rend())}, 32);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(bytes[i], uint64_t(uint16_t(int8_t(a[i]))) << 16 |
                            uint16_t(int8_t(a[a.size() - 1 - i])));
}

TEST(Payload, Literals) {
  EXPECT_EQ(literal("mov.f32 %d, 0f00000000;", 32), 0u);
  EXPECT_EQ(literal("mov.f32 %d, 0f80000000;", 32), 0u); // -0.0
  EXPECT_EQ(literal("mov.b32 %d, 0f40E00000;", 32), 7u);
  EXPECT_EQ(literal("mov.f32 %d, 0fC0400000;", 32), 0xfffffffdu); // -3
  EXPECT_EQ(literal("mov.f32 %d, 7.0;", 32), 7u);
  EXPECT_EQ(literal("mov.f64 %d, 0d4008000000000000;", 64), 3u);
  EXPECT_EQ(literal("mov.f32 %d, 0fFF800000;", 32), 0x80000000u);
  EXPECT_EQ(literal("mov.f32 %d, 0f7F800000;", 32), 0x7fffffffu);
  EXPECT_EQ(literal("mov.f64 %d, 0dFFF0000000000000;", 64), uint64_t(1) << 63);
  // The lowest finite number starts maxima as well.
  EXPECT_EQ(literal("mov.f32 %d, 0fFF7FFFFF;", 32), 0x80000000u);
  uint64_t half = literal("mov.f32 %d, 0f3F000000;", 32);
  EXPECT_NE(half, 0u);
  EXPECT_LT(half, 0x8000u);
  EXPECT_EQ(literal("mov.f32 %d, 0fBF000000;", 32), lowBits(0 - half, 32));
  EXPECT_EQ(literal("mov.f64 %d, 0d3FE0000000000000;", 64), half);
  EXPECT_NE(literal("mov.f32 %d, 0f3E800000;", 32), half);
  // An integer is an integer.
  EXPECT_EQ(literal("mov.b32 %d, 1065353216;", 32), 0x3f800000u);
}

TEST(Payload, AtomicsAddIntegers) {
  Fixture f;
  Status status = f.module.parse(header() + R"(.visible .entry k(.param .u64 x)
{
  .reg .b32 %t; .reg .b64 %x; .reg .b16 %h;
  ld.param.u64 %x, [x];
  mov.u32 %t, %tid.x;
  red.global.add.f32 [%x], %t;
  red.global.add.f64 [%x+8], 0d4000000000000000;
  mov.b32 %t, 131071;
  red.global.add.noftz.f16x2 [%x+16], %t;
  ret;
}
)",
                                 "<ptx>", payload);
  ASSERT_TRUE(status.ok()) << status.message();
  uint64_t x = f.passBuffer<uint32_t>("x", {5, 0, 0, 0, 0, 0});
  status = f.run({3, 1, 1}, {64, 1, 1});
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<uint32_t> d = f.get<uint32_t>(x, 6);
  EXPECT_EQ(d[0], 5u + 3 * 63 * 32);
  EXPECT_EQ(d[2], 2u * 192);
  // 192 times (1, -1), each half for itself.
  EXPECT_EQ(d[4], 192u << 16 | (0x10000 - 192));
}

/// Matrices of one value each: every element is the same sum of products of
/// sign-extended integers.
TEST(Payload, MatricesMultiplyIntegers) {
  struct Form {
    const char *text;
    unsigned bits, k;
  };
  for (const Form &form : {Form{"bf16", 16, 16}, {"tf32", 32, 8}}) {
    Fixture f;
    std::string k = std::to_string(form.k), t = form.text;
    Status status = f.module.parse(
        header() + R"(.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .b32 %a, %b, %c, %d<4>, %t; .reg .b64 %x, %y;
  ld.param.u64 %x, [x];
  ld.param.u64 %y, [y];
  ld.global.b32 %a, [%x];
  ld.global.b32 %b, [%x+4];
  ld.global.b32 %c, [%x+8];
  mma.sync.aligned.m16n8k)" +
            k + ".row.col.f32." + t + "." + t + R"(.f32 {%d0, %d1, %d2, %d3},
      {%a, %a, %a, %a}, {%b, %b}, {%c, %c, %c, %c};
  mov.u32 %t, %tid.x;
  mad.wide.u32 %y, %t, 16, %y;
  st.global.v4.b32 [%y], {%d0, %d1, %d2, %d3};
  ret;
}
)",
        "<ptx>", payload);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(f.module.findKernel("k")->unsupported, "");
    uint64_t a = form.bits == 16 ? 0x8003 : 0x80000003, b = 0x7001, c = 5;
    uint32_t pack = form.bits == 16 ? 0x10001 : 1;
    f.passBuffer<uint32_t>(
        "x", {uint32_t(a) * pack, uint32_t(b) * pack, uint32_t(c)});
    uint64_t y = f.passEmpty("y", 512);
    status = f.run({1, 1, 1}, {32, 1, 1});
    ASSERT_TRUE(status.ok()) << status.message();
    uint32_t expected = uint32_t(c + form.k * uint64_t(asSigned(a, form.bits)) *
                                         asSigned(b, form.bits));
    for (uint32_t d : f.get<uint32_t>(y, 128))
      ASSERT_EQ(d, expected) << t;
  }
}

/// A sum in steps of `step`, from the back if it is negative, of `count`
/// numbers.
std::string sumKernel(int first, int step, int count) {
  return header() + R"(.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .b32 %i, %n, %f, %s; .reg .b64 %x, %y, %o; .reg .pred %p;
  ld.param.u64 %x, [x];
  ld.param.u64 %y, [y];
  mov.u32 %n, 0;
  mov.b32 %s, 0f00000000;
  mov.u32 %i, )" +
         std::to_string(first) + R"(;
L:
  mul.wide.s32 %o, %i, 4;
  add.u64 %o, %x, %o;
  ld.global.b32 %f, [%o];
  fma.rn.f32 %s, %f, %f, %s;
  add.s32 %i, %i, )" +
         std::to_string(step) + R"(;
  add.u32 %n, %n, 1;
  setp.lt.u32 %p, %n, )" +
         std::to_string(count) + R"(;
  @%p bra L;
  st.global.b32 [%y], %s;
  ret;
}
)";
}

/// Two kernels that add in another order agree, one that leaves out a single
/// small term does not: floats show neither.
TEST(Payload, TellsReorderingFromErrors) {
  std::vector<float> values;
  for (int i = 0; i < 1024; ++i)
    values.push_back(float(i % 37) * 1.25e3f + 0.1f);
  values[700] = 1e-4f;
  auto sum = [&](const std::string &text, const ParseOptions &options) {
    Fixture f;
    Status status = f.module.parse(text, "<ptx>", options);
    EXPECT_TRUE(status.ok()) << status.message();
    f.passBuffer<float>("x", values);
    uint64_t y = f.passEmpty("y", 4);
    status = f.run({1, 1, 1}, {1, 1, 1});
    EXPECT_TRUE(status.ok()) << status.message();
    return f.get<uint32_t>(y, 1)[0];
  };
  std::string forward = sumKernel(0, 1, 1024),
              backward = sumKernel(1023, -1, 1024);
  EXPECT_NE(sum(forward, {}), sum(backward, {}));
  EXPECT_EQ(sum(forward, payload), sum(backward, payload));
  std::string without = sumKernel(0, 1, 700);
  values.resize(701);
  EXPECT_EQ(sum(without, {}), sum(sumKernel(0, 1, 701), {}));
  EXPECT_NE(sum(without, payload), sum(sumKernel(0, 1, 701), payload));
}

TEST(Payload, RefusesWhatFloatsRefuse) {
  Fixture f;
  ASSERT_TRUE(f.module
                  .parse(header() + ".visible .entry k()\n{\n.reg .b32 %f;\n"
                                    "div.f32 %f, %f, %f;\nret;\n}\n",
                         "<ptx>", payload)
                  .ok());
  EXPECT_NE(f.module.findKernel("k")->unsupported.find("div.f32"),
            std::string::npos);
}
} // namespace
