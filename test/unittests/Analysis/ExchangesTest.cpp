//===- ExchangesTest.cpp - Coordinates that differ in a bit ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Exchanges.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace mlir::fusion;

namespace {

class ExchangesTest : public ::testing::Test {
protected:
  MLIRContext context;
  AffineExpr d0 = getAffineDimExpr(0, &context);
  AffineExpr d1 = getAffineDimExpr(1, &context);

  std::optional<Exchange> match(AffineExpr expr,
                                std::optional<int64_t> extent) {
    return matchExchange(expr, [&](unsigned) { return extent; });
  }
  int64_t evaluate(AffineExpr expr, int64_t at) {
    AffineExpr value = expr.replaceDims(getAffineConstantExpr(at, &context));
    return cast<AffineConstantExpr>(value).getValue();
  }
  void expectMask(AffineExpr expr, std::optional<int64_t> extent,
                  int64_t mask) {
    std::optional<Exchange> exchange = match(expr, extent);
    ASSERT_TRUE(exchange.has_value());
    EXPECT_EQ(exchange->dim, 0u);
    EXPECT_EQ(exchange->mask, mask);
  }
};

TEST_F(ExchangesTest, FlippedBits) {
  for (int64_t mask = 1; mask < 64; ++mask) {
    AffineExpr flipped = flipBits(d0, mask);
    for (int64_t at = 0; at < 128; ++at)
      EXPECT_EQ(evaluate(flipped, at), at ^ mask);
    expectMask(flipped, 640, mask);
  }
  EXPECT_EQ((Exchange{0, 0}.getSpan()), 1);
  EXPECT_EQ((Exchange{0, 1}.getSpan()), 2);
  EXPECT_EQ((Exchange{0, 64}.getSpan()), 128);
  EXPECT_EQ((Exchange{0, 65}.getSpan()), 128);
}

TEST_F(ExchangesTest, ThroughViews) {
  // Heads of 128 columns, split and put together again.
  AffineExpr head = d0.floorDiv(128), column = d0 % 128;
  expectMask(head * 128 + column, 1024, 0);
  expectMask(head * 128 + flipBits(column, 64), 1024, 64);
  expectMask(head * 128 + (column + 64) % 128, 1024, 64);
  // One head, however its columns are written.
  expectMask(flipBits(d0 % 128, 64), 128, 64);
  expectMask(d0 % 512, 512, 0);
  expectMask(d0 % 512, 300, 0);
  // Identities need no extent.
  expectMask(d0.floorDiv(96) * 96 + d0 % 96, std::nullopt, 0);
}

TEST_F(ExchangesTest, Refused) {
  EXPECT_FALSE(match(d0 + 1, 128));
  EXPECT_FALSE(match(d0 % 512, 1024));
  EXPECT_FALSE(match(d0.floorDiv(2), 128));
  EXPECT_FALSE(match(d0 + d1, 128));
  EXPECT_FALSE(match(getAffineConstantExpr(3, &context), 128));
  EXPECT_FALSE(match(d0 + getAffineSymbolExpr(0, &context), 128));
  // Halves of 96: no bit.
  EXPECT_FALSE(match((d0 + 48) % 96, 96));
  // The partner may be past the end, or nothing says that it is not.
  EXPECT_FALSE(match(flipBits(d0, 64), 192));
  EXPECT_FALSE(match(flipBits(d0, 64), std::nullopt));
  // A rotation by one is an exchange of two, not of four.
  expectMask(d0.floorDiv(2) * 2 + (d0 + 1) % 2, 64, 1);
  EXPECT_FALSE(match(d0.floorDiv(4) * 4 + (d0 + 1) % 4, 64));
}

// Whatever the expression: what is matched is an exchange at every place.
TEST_F(ExchangesTest, RandomExpressions) {
  std::mt19937 random(7);
  auto pick = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(0, most)(random);
  };
  unsigned matched = 0;
  for (unsigned trial = 0; trial < 4000; ++trial) {
    AffineExpr expr = d0;
    for (unsigned step = pick(4); step-- > 0;) {
      int64_t number = int64_t(1) << pick(4);
      if (pick(3) == 0)
        number += 1;
      switch (pick(4)) {
      case 0:
        expr = expr.floorDiv(number) * number + expr % number;
        break;
      case 1:
        expr = flipBits(expr, number);
        break;
      case 2:
        expr = expr % (number * 4);
        break;
      case 3:
        expr = (expr + number) % (2 * number) +
               expr.floorDiv(2 * number) * (2 * number);
        break;
      default:
        expr = d0 + expr - expr.floorDiv(number) * number - d0 % number;
      }
    }
    int64_t extent = 1 + pick(130);
    std::optional<Exchange> exchange = match(expr, extent);
    if (!exchange)
      continue;
    ++matched;
    for (int64_t at = 0; at < extent; ++at) {
      EXPECT_EQ(evaluate(expr, at), at ^ exchange->mask);
      EXPECT_LT(at ^ exchange->mask, extent);
    }
  }
  EXPECT_GT(matched, 100u);
}

} // namespace
