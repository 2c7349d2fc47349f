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
#include <numeric>

using namespace mlir::fusion;

namespace {

/// Results of a sum of `terms` numbers per element, exact and as rounded by a
/// sequential sum in the type.
struct Sums {
  HostTensor exact, declared, fused;
  std::vector<HostTensor> perturbed;

  Sums(DType dtype, int64_t count, int terms) {
    exact = createTensor(DType::F64, {count});
    declared = createTensor(dtype, {count});
    fused = declared;
    perturbed.assign(3, exact);
    double epsilon = getEpsilon(dtype);
    HostTensor cell = createTensor(dtype, {1});
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < count; ++i) {
      std::vector<double> numbers(terms);
      for (double &number : numbers) {
        cell.setDouble(0, normal(random));
        number = cell.getDouble(0);
      }
      double sequential = 0, pairs = 0;
      for (int k = 0; k < terms; ++k) {
        cell.setDouble(0, sequential + numbers[k]);
        sequential = cell.getDouble(0);
        if (k % 2) {
          cell.setDouble(0, numbers[k - 1] + numbers[k]);
          cell.setDouble(0, pairs + cell.getDouble(0));
          pairs = cell.getDouble(0);
        }
      }
      exact.setDouble(i, std::accumulate(numbers.begin(), numbers.end(), 0.0));
      for (HostTensor &tensor : perturbed) {
        double sum = 0;
        for (double number : numbers)
          sum += number * (1 + epsilon * (random() % 2 ? 1 : -1));
        tensor.setDouble(i, sum);
      }
      declared.setDouble(i, sequential);
      fused.setDouble(i, pairs);
    }
  }

  OutputReport compare(const HostTensor &got) const {
    return compareOutput(got, exact, declared,
                         {&perturbed[0], &perturbed[1], &perturbed[2]}, false);
  }

  static double getEpsilon(DType dtype) {
    switch (dtype) {
    case DType::F64:
      return 0x1p-52;
    case DType::F32:
      return 0x1p-23;
    case DType::F16:
      return 0x1p-10;
    case DType::BF16:
      return 0x1p-7;
    case DType::F8E4M3:
      return 0x1p-3;
    default:
      return 0x1p-2;
    }
  }
};

class FloatCompareTest : public testing::TestWithParam<DType> {};

TEST_P(FloatCompareTest, AnotherOrderOfTheSumPasses) {
  for (int64_t count : {1, 10, 5000}) {
    Sums sums(GetParam(), count, 64);
    EXPECT_TRUE(sums.compare(sums.declared).verified);
    OutputReport report = sums.compare(sums.fused);
    EXPECT_TRUE(report.verified) << report.failure;
    EXPECT_EQ(report.failingIndex, -1);
  }
}

TEST_P(FloatCompareTest, PlantedErrorsAreFound) {
  Sums sums(GetParam(), 5000, 16);
  HostTensor got = sums.fused;
  bool isCoarse = fusionpkg::getStorageBits(GetParam()) == 8;
  got.setDouble(4321, got.getDouble(4321) + (isCoarse ? 24 : 4));
  OutputReport report = sums.compare(got);
  EXPECT_FALSE(report.verified);
  EXPECT_EQ(report.failingIndex, 4321);
  EXPECT_GE(report.maxError, 3);

  // All results shifted by one element.
  got = sums.fused;
  for (int64_t i = 0; i < 5000; ++i)
    got.setDouble(i, sums.exact.getDouble((i + 1) % 5000));
  EXPECT_FALSE(sums.compare(got).verified);

  // A bias of some roundings: no element stands out, the mean does.
  got = sums.declared;
  double bias = 1.5 * sums.compare(sums.declared).allowedRmsError;
  for (int64_t i = 0; i < 5000; ++i)
    got.setDouble(i, got.getDouble(i) + bias);
  report = sums.compare(got);
  EXPECT_FALSE(report.verified);
  EXPECT_NE(report.failure.find("root-mean-square"), std::string::npos);
}

TEST_P(FloatCompareTest, AnElementThatIsNeverWrittenIsFound) {
  Sums sums(GetParam(), 100, 4);
  HostTensor got = sums.fused;
  size_t bytes = fusionpkg::getStorageBits(GetParam()) / 8;
  std::fill_n(got.data() + 7 * bytes, bytes, kPoisonByte);
  OutputReport report = sums.compare(got);
  EXPECT_FALSE(report.verified);
  EXPECT_EQ(report.failingIndex, 7);
  EXPECT_NE(report.failure.find("never written"), std::string::npos);
  // Even where NaN is right.
  sums.exact.setDouble(7, NAN);
  sums.declared.setDouble(7, NAN);
  if (GetParam() != DType::F8E4M3) {
    EXPECT_FALSE(sums.compare(got).verified);
    got.setDouble(7, NAN);
    EXPECT_TRUE(sums.compare(got).verified);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, FloatCompareTest,
                         testing::Values(DType::F64, DType::F32, DType::F16,
                                         DType::BF16, DType::F8E4M3,
                                         DType::F8E5M2));

HostTensor makeTensor(DType dtype, const std::vector<double> &values) {
  HostTensor tensor =
      createTensor(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    tensor.setDouble(i, values[i]);
  return tensor;
}

TEST(CompareTest, NanAndInfinityMustAgree) {
  HostTensor exact = makeTensor(DType::F64, {1, NAN, INFINITY, -INFINITY});
  HostTensor declared = makeTensor(DType::F32, {1, NAN, INFINITY, -INFINITY});
  EXPECT_TRUE(compareOutput(declared, exact, declared, {}, false).verified);
  for (int i = 0; i < 4; ++i)
    for (double wrong :
         {2.0, double(NAN), double(INFINITY), -double(INFINITY)}) {
      HostTensor got = declared;
      got.setDouble(i, wrong);
      if (getBytes(got) == getBytes(declared))
        continue;
      OutputReport report = compareOutput(got, exact, declared, {}, false);
      EXPECT_FALSE(report.verified) << i << " " << wrong;
      EXPECT_EQ(report.failingIndex, i);
    }
}

TEST(CompareTest, OverflowOfTheTypeIsInfinity) {
  HostTensor exact = makeTensor(DType::F64, {1, 70000});
  HostTensor declared = makeTensor(DType::F16, {1, 70000});
  EXPECT_TRUE(std::isinf(declared.getDouble(1)));
  EXPECT_TRUE(compareOutput(declared, exact, declared, {}, false).verified);
  HostTensor got = makeTensor(DType::F16, {1, 65504});
  EXPECT_FALSE(compareOutput(got, exact, declared, {}, false).verified);
}

TEST(CompareTest, WhereTheReferencesDisagreeEitherIsRight) {
  // An intermediate overflowed in the declared type only.
  HostTensor exact = makeTensor(DType::F64, {1, 3});
  HostTensor declared = makeTensor(DType::F16, {1, INFINITY});
  EXPECT_TRUE(compareOutput(declared, exact, declared, {}, false).verified);
  HostTensor got = makeTensor(DType::F16, {1, 3});
  EXPECT_TRUE(compareOutput(got, exact, declared, {}, false).verified);
  got = makeTensor(DType::F16, {1, 9});
  EXPECT_FALSE(compareOutput(got, exact, declared, {}, false).verified);
  got = makeTensor(DType::F16, {1, NAN});
  EXPECT_FALSE(compareOutput(got, exact, declared, {}, false).verified);
}

TEST(CompareTest, ResultsOfZeroDemandZero) {
  HostTensor exact = makeTensor(DType::F64, {0, 0});
  HostTensor declared = makeTensor(DType::F32, {0, 0});
  EXPECT_TRUE(compareOutput(declared, exact, declared, {}, false).verified);
  HostTensor got = makeTensor(DType::F32, {0, 1e-30});
  EXPECT_FALSE(compareOutput(got, exact, declared, {}, false).verified);
}

TEST(CompareTest, AWeakCheckSaysSo) {
  // The unfused program itself is wrong by as much as its results are large.
  HostTensor exact = makeTensor(DType::F64, {1, -1, 1, -1});
  HostTensor declared = makeTensor(DType::F32, {-1, 1, 1, -1});
  EXPECT_GT(
      compareOutput(declared, exact, declared, {}, false).allowedRelativeError,
      1);
  declared = makeTensor(DType::F32, {1, -1, 1, -1});
  EXPECT_LT(
      compareOutput(declared, exact, declared, {}, false).allowedRelativeError,
      1e-5);
}

TEST(CompareTest, IntegersAreExact) {
  HostTensor declared = makeTensor(DType::I32, {1, 2, -3});
  EXPECT_TRUE(compareOutput(declared, declared, declared, {}, false).verified);
  HostTensor got = makeTensor(DType::I32, {1, 3, -3});
  OutputReport report = compareOutput(got, declared, declared, {}, false);
  EXPECT_FALSE(report.verified);
  EXPECT_EQ(report.failingIndex, 1);
  EXPECT_EQ(report.failure, "is 3, expected 2 (1 of 3 differ)");
  // Few elements leave no room for chance.
  EXPECT_FALSE(compareOutput(got, declared, declared, {}, true).verified);
}

TEST(CompareTest, IntegersFromFloatsMayDifferWhereRoundingDecides) {
  HostTensor declared = createTensor(DType::I8, {5000}), exact = declared;
  exact.setInteger(10, 1);
  HostTensor got = declared;
  for (int i = 0; i < 7; ++i)
    got.setInteger(i, 1);
  EXPECT_FALSE(compareOutput(got, exact, declared, {}, false).verified);
  OutputReport report = compareOutput(got, exact, declared, {}, true);
  EXPECT_TRUE(report.verified);
  EXPECT_EQ(report.numTolerated, 7);
  got.setInteger(7, 1);
  EXPECT_FALSE(compareOutput(got, exact, declared, {}, true).verified);
}

TEST(CompareTest, BooleansAreZeroOrOne) {
  HostTensor declared = makeTensor(DType::I1, {0, 1});
  HostTensor got = declared;
  EXPECT_TRUE(compareOutput(got, declared, declared, {}, false).verified);
  got.data()[0] = kPoisonByte;
  OutputReport report = compareOutput(got, declared, declared, {}, true);
  EXPECT_FALSE(report.verified);
  EXPECT_NE(report.failure.find("never written"), std::string::npos);
}

TEST(CompareTest, TypesAndShapesMustAgree) {
  HostTensor declared = makeTensor(DType::F32, {1, 2});
  HostTensor exact = makeTensor(DType::F64, {1, 2});
  EXPECT_FALSE(
      compareOutput(makeTensor(DType::F32, {1}), exact, declared, {}, false)
          .verified);
  EXPECT_FALSE(
      compareOutput(makeTensor(DType::BF16, {1, 2}), exact, declared, {}, false)
          .verified);
}

TEST(CompareTest, IndicesHaveOneNumberPerExtent) {
  EXPECT_EQ(formatIndex(0, {}), "[]");
  EXPECT_EQ(formatIndex(17, {2, 3, 5}), "[1, 0, 2]");
}

/// What the analysis says about the only result of @f.
bool derives(const char *text) {
  Program program(text);
  auto reference = program.compile("f", ReferenceMode::Declared);
  EXPECT_TRUE(reference) << program.getErrors();
  return reference && reference->getSignature().outputs[0].derivesFromFloat;
}

TEST(CompareTest, TheReferenceKnowsWhichIntegersDeriveFromFloats) {
  EXPECT_TRUE(derives(R"(
func.func @f(%a: tensor<4xf32>) -> tensor<4xi8> {
  %b = arith.addf %a, %a : tensor<4xf32>
  %c = arith.fptosi %b : tensor<4xf32> to tensor<4xi32>
  %d = arith.trunci %c : tensor<4xi32> to tensor<4xi8>
  return %d : tensor<4xi8>
})"));
  EXPECT_FALSE(derives(R"(
func.func @f(%a: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4xi32> {
  %b = arith.addi %i, %i : tensor<4xi32>
  return %b : tensor<4xi32>
})"));
  EXPECT_FALSE(derives(R"(
func.func @f(%a: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  return %n : index
})"));
  EXPECT_TRUE(derives(R"(
func.func private @g(%a: tensor<4xf32>) -> tensor<4xi1> {
  %c = arith.cmpf olt, %a, %a : tensor<4xf32>
  return %c : tensor<4xi1>
}
func.func @f(%a: tensor<4xf32>) -> tensor<4xi1> {
  %c = call @g(%a) : (tensor<4xf32>) -> tensor<4xi1>
  return %c : tensor<4xi1>
})"));
}

} // namespace
