//===- HostTensorTest.cpp - Host tensors of the reference -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests what the reference adds to host tensors.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/HostTensor.h"

#include "gtest/gtest.h"

using namespace mlir::fusion;

TEST(HostTensorTest, CountsWithoutOverflow) {
  EXPECT_EQ(countBytes(DType::F32, {}), 4);
  EXPECT_EQ(countBytes(DType::F32, {3, 5}), 60);
  int64_t large = int64_t(1) << 40;
  EXPECT_EQ(countBytes(DType::I8, {large, large}), std::nullopt);
  EXPECT_EQ(countBytes(DType::I8, {large, large, 0}), 0);
  EXPECT_EQ(countBytes(DType::I8, {3, -1}), std::nullopt);
  EXPECT_EQ(countBytes(DType::F64, {int64_t(1) << 61}), std::nullopt);
  EXPECT_EQ(countBytes(DType::F64, {large}), std::nullopt);
  EXPECT_EQ(countBytes(DType::I4, {3}), 2);
}

TEST(HostTensorTest, NamesItsType) {
  EXPECT_EQ(getTypeString(createTensor(DType::BF16, {3, 5})), "bf16[3,5]");
  EXPECT_EQ(getTypeString(createTensor(DType::I64, {})), "i64[]");
}
