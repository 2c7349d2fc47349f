//===- MatrixTest.cpp - Layouts and the fused dot product -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the layouts of fragments against the formulae of the PTX
// ISA, and the fused dot product against its definition in real numbers.
//
//===----------------------------------------------------------------------===//

#include "MatrixUtils.h"

#include <functional>
#include <set>

using namespace fusionemu;

namespace {
/// Row and column of element `i` of a lane with `group` = lane / 4 and
/// `thread` = lane % 4, as the PTX ISA writes them.
struct Formula {
  const char *name;
  MatrixOperand operand;
  unsigned m, perRegister, rows, columns;
  std::function<unsigned(unsigned group, unsigned thread, unsigned i)> row;
  std::function<unsigned(unsigned group, unsigned thread, unsigned i)> column;
};
} // namespace

#define FORMULA [](unsigned group, unsigned thread, unsigned i)->unsigned
#define IGNORE (void)group, (void)thread, (void)i

static const Formula formulae[] = {
    {"m8n8k4 f64 A", MatrixOperand::A, 8, 1, 8, 4, FORMULA{IGNORE;
return group;
}
, FORMULA {
  IGNORE;
  return thread;
}
}
, {"m8n8k4 f64 B", MatrixOperand::B, 8, 1, 4, 8, FORMULA{IGNORE;
return thread;
}
, FORMULA {
  IGNORE;
  return group;
}
}
, {"m8n8k4 f64 C", MatrixOperand::D, 8, 1, 8, 8, FORMULA{IGNORE;
return group;
}
, FORMULA {
  IGNORE;
  return thread * 2 + (i & 1);
}
}
, {"m16n8k16 f64 A", MatrixOperand::A, 16, 1, 16, 16, FORMULA{IGNORE;
return i % 2 == 0 ? group : group + 8;
}
, FORMULA {
  IGNORE;
  return i % 2 == 0 ? i * 2 + thread : i * 2 - 2 + thread;
}
}
, {"m16n8k16 f64 B", MatrixOperand::B, 16, 1, 16, 8, FORMULA{IGNORE;
return thread + 4 * i;
}
, FORMULA {
  IGNORE;
  return group;
}
}
, {"m16n8k8 tf32 A", MatrixOperand::A, 16, 1, 16, 8, FORMULA{IGNORE;
return i == 0 || i == 2 ? group : group + 8;
}
, FORMULA {
  IGNORE;
  return i < 2 ? thread : thread + 4;
}
}
, {"m16n8k8 tf32 B", MatrixOperand::B, 16, 1, 8, 8, FORMULA{IGNORE;
return i == 0 ? thread : thread + 4;
}
, FORMULA {
  IGNORE;
  return group;
}
}
, {"m16n8k8 f16 A", MatrixOperand::A, 16, 2, 16, 8, FORMULA{IGNORE;
return i < 2 ? group : group + 8;
}
, FORMULA {
  IGNORE;
  return thread * 2 + (i & 1);
}
}
, {"m16n8k8 f16 B", MatrixOperand::B, 16, 2, 8, 8, FORMULA{IGNORE;
return thread * 2 + i;
}
, FORMULA {
  IGNORE;
  return group;
}
}
, {"m16n8k16 f16 A", MatrixOperand::A, 16, 2, 16, 16, FORMULA{IGNORE;
return i < 2 || (i >= 4 && i < 6) ? group : group + 8;
}
, FORMULA {
  IGNORE;
  return i < 4 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8;
}
}
, {"m16n8k16 f16 B", MatrixOperand::B, 16, 2, 16, 8, FORMULA{IGNORE;
return i < 2 ? thread * 2 + (i & 1) : thread * 2 + (i & 1) + 8;
}
, FORMULA {
  IGNORE;
  return group;
}
}
, {"m16n8 f32 C", MatrixOperand::D, 16, 1, 16, 8, FORMULA{IGNORE;
return i < 2 ? group : group + 8;
}
, FORMULA {
  IGNORE;
  return thread * 2 + (i & 1);
}
}
, {"m16n8 f16 C", MatrixOperand::D, 16, 2, 16, 8, FORMULA{IGNORE;
return i < 2 ? group : group + 8;
}
, FORMULA {
  IGNORE;
  return thread * 2 + (i & 1);
}
}
, {"m8n8k16 s8 A", MatrixOperand::A, 8, 4, 8, 16, FORMULA{IGNORE;
return group;
}
, FORMULA {
  IGNORE;
  return thread * 4 + i;
}
}
, {"m8n8k16 s8 B", MatrixOperand::B, 8, 4, 16, 8, FORMULA{IGNORE;
return thread * 4 + i;
}
, FORMULA {
  IGNORE;
  return group;
}
}
, {"m16n8k32 s8 A", MatrixOperand::A, 16, 4, 16, 32, FORMULA{IGNORE;
return i < 4 || (i >= 8 && i < 12) ? group : group + 8;
}
, FORMULA {
  IGNORE;
  return i < 8 ? thread * 4 + (i & 3) : thread * 4 + (i & 3) + 16;
}
}
, {"m16n8k32 s8 B", MatrixOperand::B, 16, 4, 32, 8, FORMULA{IGNORE;
return i < 4 ? thread * 4 + (i & 3) : thread * 4 + (i & 3) + 16;
}
, FORMULA {
  IGNORE;
  return group;
}
}
, {"m64n256 f32 D, a warp", MatrixOperand::D, 16, 1, 16, 256, FORMULA{IGNORE;
return group + 8 * ((i / 2) % 2);
}
, FORMULA {
  IGNORE;
  return 8 * (i / 4) + 2 * thread + i % 2;
}
}
,
}
;

TEST(EmulatorMatrix, LayoutsFollowTheIsa) {
  for (const Formula &f : formulae) {
    unsigned elements = f.rows * f.columns / 32;
    std::set<std::pair<unsigned, unsigned>> places;
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < elements; ++i) {
        MatrixPlace p = getMatrixPlace(f.operand, f.m, f.perRegister, lane,
                                       i / f.perRegister, i % f.perRegister);
        EXPECT_EQ(p.row, f.row(lane / 4, lane % 4, i)) << f.name << i;
        EXPECT_EQ(p.column, f.column(lane / 4, lane % 4, i)) << f.name << i;
        places.insert({p.row, p.column});
      }
    EXPECT_EQ(places.size(), f.rows * f.columns) << f.name;
  }
}

TEST(EmulatorMatrix, RegistersOfAnOperand) {
  EXPECT_EQ(countMatrixRegisters(MatrixType::F16, 16, 16), 4u);
  EXPECT_EQ(countMatrixRegisters(MatrixType::E4M3, 32, 8), 2u);
  EXPECT_EQ(countMatrixRegisters(MatrixType::F64, 16, 16), 8u);
  EXPECT_EQ(countMatrixRegisters(MatrixType::F32, 16, 256), 128u);
  EXPECT_EQ(countMatrixRegisters(MatrixType::F16, 16, 256), 64u);
}

/// The exponent that terms are aligned by: that of a subnormal is the least.
static int exponentOf(MatrixType type, uint64_t bits) {
  FloatFields f = fieldsOf(type);
  int bias = (1 << (f.exponent - 1)) - 1;
  double x = valueOf(type, bits);
  return std::max(std::ilogb(x), 1 - bias);
}

/// The definition, in real numbers: doubles hold every value here exactly.
static double referenceDot(const DotModel &model, MatrixType a, MatrixType b,
                           MatrixType c, const uint32_t *as, const uint32_t *bs,
                           unsigned count, uint32_t accumulator) {
  std::vector<double> terms = {valueOf(c, accumulator)};
  int greatest = terms[0] == 0 ? -133 : exponentOf(c, accumulator);
  for (unsigned i = 0; i < count; ++i) {
    terms.push_back(valueOf(a, as[i]) * valueOf(b, bs[i]));
    if (terms.back() != 0)
      greatest =
          std::max(greatest, exponentOf(a, as[i]) + exponentOf(b, bs[i]));
  }
  double sum = 0;
  for (double term : terms)
    sum += std::trunc(std::ldexp(term, int(model.fractionBits) - greatest));
  sum = std::ldexp(sum, greatest - int(model.fractionBits));
  if (sum == 0)
    return 0;
  int precision = model.rounding == DotRounding::TowardZero     ? 23
                  : model.rounding == DotRounding::TowardZero13 ? 13
                                                                : 10;
  bool half = model.rounding == DotRounding::NearestF16;
  int last = std::max(std::ilogb(sum), half ? -14 : -126) - precision;
  double scaled = std::ldexp(sum, -last);
  double result =
      std::ldexp(half ? std::nearbyint(scaled) : std::trunc(scaled), last);
  double limit = half ? 65536 : 0x1p128;
  return std::fabs(result) >= limit ? std::copysign(INFINITY, result) : result;
}

TEST(EmulatorMatrix, DotProductsFollowTheirDefinition) {
  std::mt19937 random(7);
  const MatrixType types[] = {MatrixType::F16, MatrixType::BF16,
                              MatrixType::TF32, MatrixType::E4M3,
                              MatrixType::E5M2};
  for (MatrixType type : types)
    for (MatrixType c : {MatrixType::F32, MatrixType::F16})
      for (bool group : {false, true})
        for (unsigned trial = 0; trial < 400; ++trial) {
          if (c == MatrixType::F16 &&
              (type == MatrixType::BF16 || type == MatrixType::TF32))
            continue;
          FloatFields f = fieldsOf(type);
          unsigned span = trial % 3 == 0 ? 2 : trial % 3 == 1 ? 10 : 30;
          auto element = [&](FloatFields f, unsigned span) {
            uint32_t middle = (1u << (f.exponent - 1)) - 1;
            uint32_t width = std::min(span, middle);
            uint32_t field = middle - width + random() % (2 * width);
            return uint32_t(random() & 1) << (f.exponent + f.mantissa) |
                   field << f.mantissa | (random() & ((1u << f.mantissa) - 1));
          };
          unsigned k = 256 / getBits(type);
          DotModel model = getDotModel(type, c, k, group);
          uint32_t a[32], b[32];
          unsigned count = model.blockLength;
          for (unsigned i = 0; i < count; ++i) {
            a[i] = random() % 5 == 0 ? 0 : element(f, span);
            b[i] = element(f, span);
          }
          uint32_t x = element(fieldsOf(c), span);
          uint32_t result = fuseDot(model, type, type, c, a, b, count, x);
          double wanted = referenceDot(model, type, type, c, a, b, count, x);
          if (std::isinf(wanted))
            EXPECT_EQ(result & 0x7fffffff,
                      c == MatrixType::F16 ? 0x7c00u | (wanted < 0 ? 0x8000 : 0)
                                           : 0x7f800000u);
          else
            EXPECT_EQ(valueOf(c, result), wanted)
                << int(type) << " " << trial << " " << group;
        }
}

/// One block of f16 products with an f32 accumulator.
static float dot(std::vector<double> a, std::vector<double> b, float c) {
  uint32_t as[16] = {}, bs[16] = {};
  for (size_t i = 0; i < a.size(); ++i) {
    as[i] = uint32_t(bitsOf(MatrixType::F16, a[i]));
    bs[i] = uint32_t(bitsOf(MatrixType::F16, b[i]));
  }
  DotModel model = getDotModel(MatrixType::F16, MatrixType::F32, 16, false);
  return asFloat(fuseDot(model, MatrixType::F16, MatrixType::F16,
                         MatrixType::F32, as, bs, 16, bits(c)));
}

TEST(EmulatorMatrix, WhatIsCutOff) {
  // Sixteen products of 2^-25 beside a 1 are kept, of 2^-26 all are lost.
  std::vector<double> small(16, 0x1p-13);
  EXPECT_EQ(dot(small, std::vector<double>(16, 0x1p-12), 1.0f),
            1.0f + 0x1p-21f);
  EXPECT_EQ(dot(small, std::vector<double>(16, 0x1p-13), 1.0f), 1.0f);
  // Towards zero, for both signs: 2^-24 short of 1 loses its last bit only
  // in the result.
  EXPECT_EQ(dot({-0x1p-12}, {0x1p-12}, 1.0f), 1.0f - 0x1p-24f);
  EXPECT_EQ(dot({-0x1p-13}, {0x1p-12}, 1.0f), 1.0f - 0x1p-24f);
  EXPECT_EQ(dot({0x1p-12}, {0x1p-12}, -1.0f), -1.0f + 0x1p-24f);
  EXPECT_EQ(dot({0x1p-12}, {0x1p-12}, 1.0f), 1.0f);
  // The order of products within a block does not matter.
  EXPECT_EQ(dot({1, 0x1p-12, -1}, {1024, 0x1p-12, 1024}, 0.0f), 0.0f);
  // Subnormal elements count in full.
  EXPECT_EQ(dot({0x1p-24}, {0x1p-24}, 0.0f), 0x1p-48f);
}

TEST(EmulatorMatrix, NarrowTypesWiden) {
  for (MatrixType type : {MatrixType::E4M3, MatrixType::E5M2})
    for (uint32_t x = 0; x < 256; ++x) {
      uint32_t half = widenToHalf(type, x);
      bool isNaN =
          type == MatrixType::E4M3 ? (x & 0x7f) == 0x7f : (x & 0x7f) > 0x7c;
      EXPECT_EQ((half & 0x7fff) > 0x7c00, isNaN) << x;
      if (isNaN || (half & 0x7fff) == 0x7c00)
        continue;
      EXPECT_EQ(valueOf(MatrixType::F16, half), valueOf(type, x)) << x;
      EXPECT_EQ(half >> 15, x >> 7) << x;
    }
}

TEST(EmulatorMatrix, TinyTermsAreCutOffAtAFixedPlace) {
  // Nothing is kept below 2^-158, however small the largest term is: 2^-156
  // short of 2^-148, fifteen times 2^-159 do not make up for it.
  DotModel model = getDotModel(MatrixType::BF16, MatrixType::F32, 16, false);
  auto power = [](int e) { return uint32_t(127 + e) << 7; };
  uint32_t a[16], b[16];
  auto run = [&](uint32_t first, uint32_t others) {
    for (unsigned i = 0; i < 16; ++i) {
      a[i] = power(-76);
      b[i] = i == 0 ? first : others;
    }
    return fuseDot(model, MatrixType::BF16, MatrixType::BF16, MatrixType::F32,
                   a, b, 16, 0);
  };
  EXPECT_EQ(run(power(-73) | 0x7f, power(-83)), 1u);
  EXPECT_EQ(run(power(-73) | 0x7f, power(-82)), 2u);
}

TEST(EmulatorMatrix, SpecialValues) {
  DotModel model = getDotModel(MatrixType::F16, MatrixType::F32, 16, false);
  auto run = [&](uint32_t a, uint32_t b, uint32_t c) {
    uint32_t as[16] = {a}, bs[16] = {b};
    return fuseDot(model, MatrixType::F16, MatrixType::F16, MatrixType::F32, as,
                   bs, 16, c);
  };
  EXPECT_EQ(run(0x7c00, 0x3c00, bits(1.0f)), 0x7f800000u);
  EXPECT_EQ(run(0x7c00, 0xbc00, bits(1.0f)), 0xff800000u);
  EXPECT_EQ(run(0x7c00, 0x3c00, 0xff800000), 0x7fffffffu); // inf - inf
  EXPECT_EQ(run(0x7c00, 0, 0), 0x7fffffffu);               // inf * 0
  EXPECT_EQ(run(0x7e01, 0x3c00, 0), 0x7fffffffu);
  EXPECT_EQ(run(0x3c00, 0x3c00, 0x7fc00001), 0x7fffffffu);
  // A zero has no sign, whatever it is made of.
  EXPECT_EQ(run(0x8000, 0x3c00, 0x80000000), 0u);
  // Nothing rounds up to infinity, but the sum can reach it.
  EXPECT_EQ(run(0x3c00, 0x3c00, 0x7f7fffff), 0x7f7fffffu);
  DotModel wide = getDotModel(MatrixType::BF16, MatrixType::F32, 16, false);
  uint32_t as[16] = {0x7f00}, bs[16] = {0x4000};
  EXPECT_EQ(fuseDot(wide, MatrixType::BF16, MatrixType::BF16, MatrixType::F32,
                    as, bs, 16, 0),
            0x7f800000u);
}

TEST(EmulatorMatrix, NarrowTypesOfWgmmaKeepThirteenBits) {
  DotModel model = getDotModel(MatrixType::E4M3, MatrixType::F32, 32, true);
  EXPECT_EQ(model.fractionBits, 13u);
  uint32_t one = uint32_t(bitsOf(MatrixType::E4M3, 1));
  uint32_t tiny = uint32_t(bitsOf(MatrixType::E4M3, 0x1p-7));
  uint32_t as[32], bs[32];
  for (unsigned i = 0; i < 32; ++i)
    as[i] = bs[i] = tiny;
  as[0] = bs[0] = one;
  // 31 products of 2^-14 are below what is kept beside 1.
  EXPECT_EQ(fuseDot(model, MatrixType::E4M3, MatrixType::E4M3, MatrixType::F32,
                    as, bs, 32, 0),
            bits(1.0f));
  // The accumulator loses its low bits too.
  EXPECT_EQ(fuseDot(model, MatrixType::E4M3, MatrixType::E4M3, MatrixType::F32,
                    as, bs, 32, bits(1.0f + 0x1p-13f + 0x1p-20f)),
            bits(2.0f));
}
