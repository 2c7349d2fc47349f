//===- HostTensorTest.cpp - Element conversions ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the conversions of host tensors, against the conversions of
// LLVM's APFloat.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/HostTensor.h"

#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir::fusion;
using llvm::APFloat;

static const llvm::fltSemantics &getSemantics(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return APFloat::IEEEhalf();
  case DType::BF16:
    return APFloat::BFloat();
  case DType::F8E4M3:
    return APFloat::Float8E4M3FN();
  default:
    return APFloat::Float8E5M2();
  }
}

static uint32_t encodeByAPFloat(double value, DType dtype) {
  APFloat number(value);
  bool losesInfo;
  number.convert(getSemantics(dtype), APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint32_t>(number.bitcastToAPInt().getZExtValue());
}

class SmallFloatTest : public testing::TestWithParam<DType> {};

TEST_P(SmallFloatTest, EveryCodeSurvives) {
  SmallFloat type = *getSmallFloat(GetParam());
  unsigned width = 1 + type.exponentBits + type.mantissaBits;
  for (uint32_t code = 0; code < 1u << width; ++code) {
    APFloat exact(getSemantics(GetParam()), llvm::APInt(width, code));
    double value = type.decode(code);
    if (exact.isNaN()) {
      EXPECT_TRUE(std::isnan(value)) << code;
      EXPECT_TRUE(std::isnan(type.decode(type.encode(value)))) << code;
      continue;
    }
    bool losesInfo;
    exact.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    EXPECT_EQ(value, exact.convertToDouble()) << code;
    EXPECT_EQ(type.encode(value), code);
  }
}

TEST_P(SmallFloatTest, RoundsAsAPFloatDoes) {
  SmallFloat type = *getSmallFloat(GetParam());
  std::mt19937_64 random(7);
  unsigned width = 1 + type.exponentBits + type.mantissaBits;
  for (int i = 0; i < 200000; ++i) {
    // Near a code, half way between two codes, and anywhere.
    uint32_t code = random() & ((1u << (width - 1)) - 1);
    double low = type.decode(code), high = type.decode(code + 1);
    double value = i % 3 == 0   ? low * (1 + 1e-9 * (random() % 5))
                   : i % 3 == 1 ? low + (high - low) / 2
                                : std::ldexp(double(random() % 4096),
                                             int(random() % 60) - 40);
    if (std::isnan(value))
      continue;
    if (i % 2)
      value = -value;
    APFloat sameType(getSemantics(GetParam()),
                     llvm::APInt(width, type.encode(value)));
    APFloat expected(getSemantics(GetParam()),
                     llvm::APInt(width, encodeByAPFloat(value, GetParam())));
    if (expected.isNaN())
      EXPECT_TRUE(sameType.isNaN()) << value;
    else
      EXPECT_TRUE(sameType.bitwiseIsEqual(expected)) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, SmallFloatTest,
                         testing::Values(DType::F16, DType::BF16, DType::F8E4M3,
                                         DType::F8E5M2));

TEST(HostTensorTest, CountsWithoutOverflow) {
  EXPECT_EQ(HostTensor::countElements({}), 1);
  EXPECT_EQ(HostTensor::countElements({3, 5}), 15);
  EXPECT_EQ(HostTensor::countElements({int64_t(1) << 40, int64_t(1) << 40}),
            std::nullopt);
  EXPECT_EQ(HostTensor::countElements({int64_t(1) << 40, int64_t(1) << 40, 0}),
            0);
  EXPECT_EQ(HostTensor::countElements({3, -1}), std::nullopt);
  EXPECT_EQ(HostTensor::countBytes(DType::F64, {int64_t(1) << 61}),
            std::nullopt);
  EXPECT_EQ(HostTensor::countBytes(DType::I4, {3}), 2);
}

TEST(HostTensorTest, PacksI4LowHalfFirst) {
  HostTensor tensor = HostTensor::zeros(DType::I4, {3});
  tensor.setInt(0, 7);
  tensor.setInt(1, -8);
  tensor.setInt(2, -1);
  EXPECT_EQ(tensor.data, (std::vector<uint8_t>{0x87, 0x0F}));
  EXPECT_EQ(tensor.getInt(0), 7);
  EXPECT_EQ(tensor.getInt(1), -8);
  EXPECT_EQ(tensor.getInt(2), -1);
}

TEST(HostTensorTest, NamesItsType) {
  EXPECT_EQ(HostTensor::zeros(DType::BF16, {3, 5}).getTypeString(),
            "bf16[3,5]");
  EXPECT_EQ(HostTensor::zeros(DType::I64, {}).getTypeString(), "i64[]");
}
