//===- HostTensorTest.cpp - Tests of host tensors -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/HostTensor.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace fusionrt;
using fusionpkg::ErrorCode;

static const double kInf = std::numeric_limits<double>::infinity();

TEST(HostTensorTest, KnownBitPatterns) {
  EXPECT_EQ(encodeFloat(DType::F16, 1.0), 0x3c00u);
  EXPECT_EQ(encodeFloat(DType::F16, -2.0), 0xc000u);
  EXPECT_EQ(encodeFloat(DType::F16, 65504.0), 0x7bffu);
  EXPECT_EQ(encodeFloat(DType::F16, 65520.0), 0x7c00u); // rounds to infinity
  EXPECT_EQ(encodeFloat(DType::F16, 65519.9), 0x7bffu);
  EXPECT_EQ(encodeFloat(DType::F16, std::ldexp(1.0, -24)), 1u);
  EXPECT_EQ(encodeFloat(DType::F16, std::ldexp(1.0, -25)), 0u); // tie to even
  EXPECT_EQ(encodeFloat(DType::F16, std::ldexp(1.5, -25)), 1u);
  EXPECT_EQ(encodeFloat(DType::BF16, 1.0), 0x3f80u);
  EXPECT_EQ(encodeFloat(DType::BF16, 1.0 + 1.0 / 256), 0x3f80u); // tie
  EXPECT_EQ(encodeFloat(DType::BF16, 1.0 + 3.0 / 256), 0x3f82u); // tie
  EXPECT_EQ(encodeFloat(DType::BF16, 1e300), 0x7f80u);
  EXPECT_EQ(encodeFloat(DType::F8E4M3, 448.0), 0x7eu);
  EXPECT_EQ(encodeFloat(DType::F8E4M3, 464.0), 0x7eu); // tie to even
  EXPECT_EQ(encodeFloat(DType::F8E4M3, 465.0), 0x7fu); // NaN
  EXPECT_EQ(encodeFloat(DType::F8E4M3, -kInf), 0xffu);
  EXPECT_EQ(encodeFloat(DType::F8E4M3, std::ldexp(1.0, -9)), 1u);
  EXPECT_EQ(encodeFloat(DType::F8E5M2, 57344.0), 0x7bu);
  EXPECT_EQ(encodeFloat(DType::F8E5M2, 61440.0), 0x7cu);
  EXPECT_EQ(encodeFloat(DType::F8E5M2, kInf), 0x7cu);
  EXPECT_EQ(encodeFloat(DType::F32, -0.0), 0x80000000u);
  EXPECT_TRUE(std::isnan(decodeFloat(DType::F8E4M3, 0x7f)));
  EXPECT_EQ(decodeFloat(DType::F8E4M3, 0x78), 256.0);
  EXPECT_EQ(decodeFloat(DType::F8E5M2, 0xfc), -kInf);
  EXPECT_TRUE(std::isnan(decodeFloat(DType::F8E5M2, 0x7d)));
}

TEST(HostTensorTest, EveryBitPatternSurvivesARoundTrip) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2}) {
    uint64_t count = uint64_t(1) << fusionpkg::getStorageBits(dtype);
    for (uint64_t bits = 0; bits < count; ++bits) {
      double value = decodeFloat(dtype, bits);
      uint64_t back = encodeFloat(dtype, value);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decodeFloat(dtype, back)));
      else
        EXPECT_EQ(back, bits) << getDTypeName(dtype);
    }
  }
}

TEST(HostTensorTest, RoundingIsToTheNearestValue) {
  // Between each two neighbours: just below, at and just above the middle.
  for (DType dtype : {DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2}) {
    uint64_t half = uint64_t(1) << (fusionpkg::getStorageBits(dtype) - 1);
    for (uint64_t bits = 0; bits + 1 < half; ++bits) {
      double low = decodeFloat(dtype, bits),
             high = decodeFloat(dtype, bits + 1);
      if (!std::isfinite(low) || !std::isfinite(high))
        continue;
      double middle = low + (high - low) / 2;
      EXPECT_EQ(encodeFloat(dtype, std::nextafter(middle, 0)), bits);
      EXPECT_EQ(encodeFloat(dtype, std::nextafter(middle, kInf)), bits + 1);
      EXPECT_EQ(encodeFloat(dtype, middle), bits + bits % 2);
    }
  }
}

TEST(HostTensorTest, IntegersSaturateAndPack) {
  auto tensor = *HostTensor::create(DType::I4, {3});
  EXPECT_EQ(tensor.getNumBytes(), 2u);
  tensor.setDouble(0, -3.7);
  tensor.setDouble(1, 100);
  tensor.setDouble(2, -100);
  EXPECT_EQ(tensor.getInteger(0), -3);
  EXPECT_EQ(tensor.getInteger(1), 7);
  EXPECT_EQ(tensor.getInteger(2), -8);
  EXPECT_EQ(tensor.data()[0], 0x7d);

  auto wide = *HostTensor::create(DType::I64, {2});
  wide.setDouble(0, 1e30);
  wide.setDouble(1, -1e30);
  EXPECT_EQ(wide.getInteger(0), INT64_MAX);
  EXPECT_EQ(wide.getInteger(1), INT64_MIN);
  wide.setDouble(0, std::nan(""));
  EXPECT_EQ(wide.getInteger(0), 0);
  wide.setInteger(0, (int64_t(1) << 53) + 1);
  EXPECT_EQ(wide.getInteger(0), (int64_t(1) << 53) + 1);

  auto flags = *HostTensor::create(DType::I1, {2});
  flags.setDouble(0, 0.5);
  flags.setInteger(1, 256);
  EXPECT_EQ(flags.getInteger(0), 1);
  EXPECT_EQ(flags.data()[1], 1);
}

TEST(HostTensorTest, WildShapesAreErrors) {
  EXPECT_EQ(HostTensor::create(DType::F32, {-1}).getError().getCode(),
            ErrorCode::ShapeMismatch);
  EXPECT_EQ(HostTensor::create(DType::F32, {INT64_MAX, INT64_MAX})
                .getError()
                .getCode(),
            ErrorCode::SizeOverflow);
  EXPECT_EQ(HostTensor::create(DType::F32, {1000}, 3999).getError().getCode(),
            ErrorCode::SizeOverflow);
  auto empty = HostTensor::create(DType::F32, {INT64_MAX, 0, INT64_MAX});
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->getNumElements(), 0);
  EXPECT_EQ(HostTensor::create(DType::F32, {})->getNumElements(), 1);
}
