//===- ExprTest.cpp - Tests of expressions --------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fusion/Executable/Expr.h"

#include <gtest/gtest.h>

using namespace fusionpkg;

static std::optional<int64_t> evaluate(const ExprPool &pool, ExprId id,
                                       std::vector<int64_t> symbols) {
  return ExprValues(pool.getNodes(), symbols.data(), symbols.size()).get(id);
}

TEST(ExprTest, DivisionRoundsTowardsItsName) {
  EXPECT_EQ(applyExprOp(ExprOp::FloorDiv, 7, 2), 3);
  EXPECT_EQ(applyExprOp(ExprOp::FloorDiv, -7, 2), -4);
  EXPECT_EQ(applyExprOp(ExprOp::FloorDiv, 7, -2), -4);
  EXPECT_EQ(applyExprOp(ExprOp::CeilDiv, 7, 2), 4);
  EXPECT_EQ(applyExprOp(ExprOp::CeilDiv, -7, 2), -3);
  EXPECT_EQ(applyExprOp(ExprOp::CeilDiv, 8, 2), 4);
  EXPECT_EQ(applyExprOp(ExprOp::Mod, -7, 4), 1);
  EXPECT_EQ(applyExprOp(ExprOp::Mod, 7, -4), -1);
  EXPECT_EQ(applyExprOp(ExprOp::Mod, INT64_MIN, 3), 1);
}

TEST(ExprTest, OverflowAndDivisionByZeroHaveNoValue) {
  EXPECT_EQ(applyExprOp(ExprOp::Add, INT64_MAX, 1), std::nullopt);
  EXPECT_EQ(applyExprOp(ExprOp::Sub, INT64_MIN, 1), std::nullopt);
  EXPECT_EQ(applyExprOp(ExprOp::Mul, int64_t(1) << 32, int64_t(1) << 31),
            std::nullopt);
  for (ExprOp op : {ExprOp::FloorDiv, ExprOp::CeilDiv, ExprOp::Mod}) {
    EXPECT_EQ(applyExprOp(op, 1, 0), std::nullopt);
    EXPECT_EQ(applyExprOp(op, INT64_MIN, -1), std::nullopt);
  }
}

TEST(ExprTest, EqualNodesAreMadeOnceAndConstantsFold) {
  ExprPool pool;
  ExprId m = pool.symbol(0), four = pool.constant(4);
  EXPECT_EQ(pool.add(m, four), pool.add(four, m));
  EXPECT_EQ(pool.getConstant(pool.ceilDiv(pool.constant(9), four)), 3);
  EXPECT_EQ(pool.mul(m, pool.constant(1)), m);
  EXPECT_EQ(pool.getConstant(pool.le(m, m)), 1);
  // Folding never hides an overflow.
  ExprId big = pool.constant(INT64_MAX);
  EXPECT_EQ(pool.getConstant(pool.add(big, four)), std::nullopt);
  EXPECT_EQ(evaluate(pool, pool.add(big, four), {1}), std::nullopt);
}

TEST(ExprTest, ReadPoolsCanBeExtended) {
  ExprPool pool;
  ExprId sum = pool.add(pool.symbol(0), pool.symbol(1));
  ExprPool copy;
  copy.setNodes(pool.getNodes());
  EXPECT_EQ(copy.add(copy.symbol(0), copy.symbol(1)), sum);
  EXPECT_EQ(copy.size(), pool.size());
}

TEST(ExprTest, LogicGuardsItsRightSide) {
  ExprPool pool;
  ExprId m = pool.symbol(0), zero = pool.constant(0);
  ExprId quotient = pool.floorDiv(pool.constant(12), m);
  ExprId isThree = pool.eq(quotient, pool.constant(3));
  ExprId guarded = pool.logicalAnd(pool.ne(m, zero), isThree);
  ExprId either = pool.logicalOr(pool.eq(m, zero), isThree);
  EXPECT_EQ(evaluate(pool, guarded, {4}), 1);
  EXPECT_EQ(evaluate(pool, guarded, {5}), 0);
  EXPECT_EQ(evaluate(pool, guarded, {0}), 0);
  EXPECT_EQ(evaluate(pool, either, {0}), 1);
  EXPECT_EQ(evaluate(pool, isThree, {0}), std::nullopt);
}

TEST(ExprTest, MissingSymbolsAndWildIdsHaveNoValue) {
  ExprPool pool;
  ExprId second = pool.symbol(1);
  EXPECT_EQ(evaluate(pool, second, {7}), std::nullopt);
  EXPECT_EQ(evaluate(pool, 99, {7}), std::nullopt);
  EXPECT_EQ(evaluate(pool, kNoExpr, {7}), std::nullopt);
}

TEST(ExprTest, PrintsWithNames) {
  ExprPool pool;
  ExprId m = pool.symbol(0), n = pool.symbol(1);
  ExprId id = pool.ceilDiv(pool.mul(pool.add(m, n), pool.constant(2)),
                           pool.constant(128));
  EXPECT_EQ(pool.print(id, {"m", "n"}), "ceildiv(((m + n) * 2), 128)");
  EXPECT_EQ(pool.print(pool.lt(m, n), {"m"}), "m < s1");
}

TEST(ExprTest, PrintingASharedGraphIsBounded) {
  ExprPool pool;
  ExprId id = pool.symbol(0);
  for (int i = 0; i < 60; ++i)
    id = pool.mul(id, id);
  EXPECT_LT(pool.print(id, {"m"}).size(), 4096u);
}
