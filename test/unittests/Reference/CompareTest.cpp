//===- CompareTest.cpp - Wrong results are found --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the rule by which results are verified: right results pass,
// planted wrong ones do not.
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestUtils.h"

#include "fusion/Reference/Compare.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fusion;

namespace {

ReferenceTensor makeExpected(DType dtype, std::vector<Bounded> elements) {
  ReferenceTensor tensor;
  tensor.dtype = dtype;
  tensor.dims = {static_cast<int64_t>(elements.size())};
  tensor.elements = std::move(elements);
  tensor.isBounded = true;
  return tensor;
}

HostTensor makeTensor(DType dtype, const std::vector<double> &values) {
  HostTensor tensor =
      createTensor(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    tensor.setDouble(i, values[i]);
  return tensor;
}

OutputReport compare(DType dtype, const std::vector<double> &got,
                     std::vector<Bounded> expected) {
  return compareOutput(makeTensor(dtype, got),
                       makeExpected(dtype, std::move(expected)));
}

TEST(CompareTest, EveryElementHasAnAllowanceOfItsOwn) {
  // Small results beside large ones are checked as closely.
  std::vector<Bounded> expected{Bounded(1e6, 0.1), Bounded(1e-3, 1e-9)};
  EXPECT_TRUE(compare(DType::F32, {1e6, 1e-3}, expected).isVerified());
  EXPECT_TRUE(compare(DType::F32, {1e6 + 0.06, 1e-3}, expected).isVerified());
  OutputReport report = compare(DType::F32, {1e6, 0}, expected);
  EXPECT_EQ(report.verdict, Verdict::Wrong);
  EXPECT_EQ(report.failingIndex, 1);
  EXPECT_NE(report.failure.find("is 0, expected 0.001: error 0.001, allowed"),
            std::string::npos)
      << report.failure;
}

TEST(CompareTest, ExactNumbersMustBeEqual) {
  EXPECT_TRUE(compare(DType::F32, {1, 2}, {1.0, 2.0}).isVerified());
  EXPECT_FALSE(compare(DType::F32, {1 + 0x1p-23, 2}, {1.0, 2.0}).isVerified());
  EXPECT_FALSE(compare(DType::BF16, {1 + 0x1p-7}, {1.0}).isVerified());
  // A number between two of the type may be either.
  EXPECT_TRUE(compare(DType::BF16, {1}, {1 + 0x1p-8}).isVerified());
  EXPECT_TRUE(compare(DType::BF16, {1 + 0x1p-7}, {1 + 0x1p-8}).isVerified());
}

TEST(CompareTest, NaNAndInfinity) {
  EXPECT_TRUE(compare(DType::F32, {NAN, 1}, {NAN, 1.0}).isVerified());
  EXPECT_FALSE(compare(DType::F32, {1, 1}, {NAN, 1.0}).isVerified());
  EXPECT_FALSE(compare(DType::F32, {NAN}, {1.0}).isVerified());
  EXPECT_TRUE(compare(DType::F32, {INFINITY}, {INFINITY}).isVerified());
  EXPECT_FALSE(compare(DType::F32, {-INFINITY}, {INFINITY}).isVerified());
  EXPECT_FALSE(compare(DType::F32, {INFINITY}, {1.0}).isVerified());
  // An interval that reaches beyond the largest number, and one that does not.
  EXPECT_TRUE(
      compare(DType::F16, {INFINITY}, {Bounded(65500, 100)}).isVerified());
  EXPECT_FALSE(
      compare(DType::F16, {-INFINITY}, {Bounded(65500, 100)}).isVerified());
  EXPECT_FALSE(
      compare(DType::F16, {INFINITY}, {Bounded(65400, 10)}).isVerified());
}

TEST(CompareTest, InfinityThatIsAGuessIsNotChecked) {
  double infinity = std::numeric_limits<double>::infinity();
  OutputReport report = compare(DType::F16, {1}, {Bounded::unknown(infinity)});
  EXPECT_EQ(report.verdict, Verdict::NotChecked);
  EXPECT_EQ(compare(DType::F16, {1}, {Bounded(infinity)}).verdict,
            Verdict::Wrong);
}

TEST(CompareTest, ElementsThatWereNeverWritten) {
  HostTensor got = makeTensor(DType::F32, {1, 2});
  float first = 1;
  poison(got);
  std::memcpy(got.data(), &first, sizeof(first));
  for (Bounded second : {Bounded(2), Bounded(NAN), Bounded::unknown()}) {
    OutputReport report =
        compareOutput(got, makeExpected(DType::F32, {1.0, second}));
    EXPECT_EQ(report.verdict, Verdict::Wrong);
    EXPECT_EQ(report.failingIndex, 1);
    EXPECT_NE(report.failure.find("was never written"), std::string::npos);
  }
}

// Every float that is poisoned is one that is not a number; what instructions
// make is not poisoned.
TEST(CompareTest, PoisonIsNoResult) {
  HostTensor packed = makeTensor(DType::I4, {1, 2});
  poison(packed);
  EXPECT_EQ(packed.data()[0], 0xFF);
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    HostTensor got = makeTensor(dtype, {1});
    poison(got);
    EXPECT_TRUE(std::isnan(got.getDouble(0)));
    std::fill_n(got.data(), got.getNumBytes(), 0xFF);
    EXPECT_TRUE(
        compareOutput(got, makeExpected(dtype, {Bounded(NAN)})).isVerified());
  }
}

TEST(CompareTest, WhatCannotBeToldFromWrongIsNotChecked) {
  std::vector<double> got(200, 1);
  std::vector<Bounded> expected(200, Bounded(1, 1e-6));
  EXPECT_EQ(compare(DType::F32, got, expected).numUnchecked, 0);
  // One in a hundred may be open.
  expected[3] = Bounded::unknown(7);
  expected[4] = Bounded(1, 1.5);
  OutputReport report = compare(DType::F32, got, expected);
  EXPECT_TRUE(report.isVerified());
  EXPECT_EQ(report.numUnchecked, 2);
  expected[5] = Bounded(1, 1.5);
  report = compare(DType::F32, got, expected);
  EXPECT_EQ(report.verdict, Verdict::NotChecked);
  EXPECT_NE(report.failure.find("3 of 200 elements"), std::string::npos);
  // What is wrong elsewhere is wrong.
  got[9] = 2;
  EXPECT_EQ(compare(DType::F32, got, expected).verdict, Verdict::Wrong);
  // All of it.
  EXPECT_EQ(compare(DType::F32, {1}, {Bounded(1, 1e33)}).verdict,
            Verdict::NotChecked);
  EXPECT_EQ(compare(DType::F32, {1}, {Bounded::unknown()}).verdict,
            Verdict::NotChecked);
}

TEST(CompareTest, IntegersOfFloatsAreOpenOnlyNearABoundary) {
  std::vector<double> got(1000, 5);
  std::vector<Bounded> expected(1000, Bounded(5));
  expected[7] = Bounded(5, 1);
  EXPECT_TRUE(compare(DType::I32, got, expected).isVerified());
  got[7] = 4;
  EXPECT_TRUE(compare(DType::I32, got, expected).isVerified());
  got[7] = 3;
  EXPECT_FALSE(compare(DType::I32, got, expected).isVerified());
  got[7] = 5;
  // A thousandth of the places, without a rounding near.
  got[8] = 4;
  OutputReport report = compare(DType::I32, got, expected);
  EXPECT_EQ(report.verdict, Verdict::Wrong);
  EXPECT_EQ(report.failingIndex, 8);
}

TEST(CompareTest, TruthValues) {
  EXPECT_TRUE(compare(DType::I1, {1, 0}, {1.0, 0.0}).isVerified());
  EXPECT_FALSE(compare(DType::I1, {1, 1}, {1.0, 0.0}).isVerified());
  EXPECT_EQ(compare(DType::I1, {1}, {openTruth(true)}).verdict,
            Verdict::NotChecked);
  HostTensor got = makeTensor(DType::I1, {1});
  poison(got);
  OutputReport report = compareOutput(got, makeExpected(DType::I1, {1.0}));
  EXPECT_EQ(report.failure,
            "is the byte 255, which is neither 0 nor 1 (never written)");
}

TEST(CompareTest, IntegersThatDependOnNoFloatAreEqual) {
  ReferenceTensor expected;
  expected.dtype = DType::I64;
  expected.dims = {2};
  expected.integers = makeTensor(DType::I64, {3, 4});
  HostTensor got = expected.integers;
  EXPECT_TRUE(compareOutput(got, expected).isVerified());
  got.setInteger(1, INT64_MAX);
  EXPECT_FALSE(compareOutput(got, expected).isVerified());
}

TEST(CompareTest, TypesAndShapesMustAgree) {
  ReferenceTensor expected = makeExpected(DType::F32, {1.0, 2.0});
  EXPECT_EQ(compareOutput(makeTensor(DType::F32, {1}), expected).failure,
            "is f32[1], expected f32[2]");
  EXPECT_FALSE(
      compareOutput(makeTensor(DType::BF16, {1, 2}), expected).isVerified());
}

TEST(CompareTest, IndicesHaveOneNumberPerExtent) {
  EXPECT_EQ(formatIndex(0, {}), "[]");
  EXPECT_EQ(formatIndex(17, {2, 3, 5}), "[1, 0, 2]");
}

} // namespace
