//===- LinearExprTest.cpp - Tests of expressions as sums ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fusion/Support/LinearExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {

class LinearExprTest : public testing::Test {
protected:
  MLIRContext context;
  AffineExpr d0 = getAffineDimExpr(0, &context);
  AffineExpr d1 = getAffineDimExpr(1, &context);
  AffineExpr s0 = getAffineSymbolExpr(0, &context);
  AffineExpr s1 = getAffineSymbolExpr(1, &context);
};

TEST_F(LinearExprTest, SumsOfMultiples) {
  std::optional<LinearExpr> linear =
      getLinear((d1 * 3 - d0) * 2 + s1 * -5 + 7 + d0, 2, 2);
  ASSERT_TRUE(linear);
  EXPECT_EQ(linear->factors, (llvm::SmallVector<int64_t>{-1, 6}));
  EXPECT_EQ(linear->symbols, (llvm::SmallVector<int64_t>{0, -5}));
  EXPECT_EQ(linear->number, 7);
}

TEST_F(LinearExprTest, NumbersAndMultiplesDividedAgain) {
  std::optional<LinearExpr> number =
      getLinear(getAffineConstantExpr(-3, &context), 0, 0);
  ASSERT_TRUE(number);
  EXPECT_EQ(number->number, -3);
  EXPECT_TRUE(getLinear((d0 * 8 + s0 * 4).floorDiv(4), 1, 1));
}

TEST_F(LinearExprTest, Divisions) {
  EXPECT_FALSE(getLinear(d0.floorDiv(4), 1, 0));
  EXPECT_FALSE(getLinear(d0 % 4 + d1, 2, 0));
  EXPECT_FALSE(getLinear((d0 + s0).ceilDiv(2), 1, 1));
}

TEST_F(LinearExprTest, ProductsAndDivisionsBySymbols) {
  EXPECT_FALSE(getLinear(d0 * s0, 1, 1));
  EXPECT_FALSE(getLinear(d0 + d1.floorDiv(s0), 2, 1));
  EXPECT_FALSE(getLinear((d0 * s0) % s1, 1, 2));
}

} // namespace
