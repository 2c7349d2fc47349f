//===- Logistic.cpp - Reciprocals of one plus a power -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the recognition and the arithmetic of logistic
// functions.
//
//===----------------------------------------------------------------------===//

#include "Logistic.h"

#include "Constants.h"
#include "Operands.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

/// Coefficients from the constant one on; empty for what is no polynomial.
using Polynomial = SmallVector<double, 8>;

/// Arguments of activations are of degree three at most; beyond this depth of
/// expressions the search is not worth its time.
static constexpr unsigned kMaxDegree = 7, kMaxDepth = 8;

static Polynomial multiply(const Polynomial &a, const Polynomial &b) {
  if (a.empty() || b.empty() || a.size() + b.size() - 2 > kMaxDegree)
    return {};
  Polynomial product(a.size() + b.size() - 1, 0);
  for (unsigned i = 0; i < a.size(); ++i)
    for (unsigned j = 0; j < b.size(); ++j)
      product[i + j] += a[i] * b[j];
  return product;
}

/// a + `scale` b.
static Polynomial add(const Polynomial &a, const Polynomial &b, double scale) {
  if (a.empty() || b.empty())
    return {};
  Polynomial sum(std::max(a.size(), b.size()), 0);
  for (unsigned i = 0; i < sum.size(); ++i)
    sum[i] = (i < a.size() ? a[i] : 0) + (i < b.size() ? scale * b[i] : 0);
  return sum;
}

/// `value` as a polynomial of `x`.
static Polynomial getPolynomial(Value value, Value x, unsigned depth = 0) {
  if (value == x)
    return {0, 1};
  APFloat constant(0.0f);
  if (matchPattern(value, m_ConstantFloat(&constant)))
    return {constant.convertToDouble()};
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMaxDepth)
    return {};
  auto operand = [&](unsigned i) {
    return getPolynomial(op->getOperand(i), x, depth + 1);
  };
  if (isa<arith::NegFOp>(op))
    return multiply({-1}, operand(0));
  if (isa<arith::MulFOp>(op))
    return multiply(operand(0), operand(1));
  if (isa<arith::AddFOp>(op))
    return add(operand(0), operand(1), 1);
  if (isa<arith::SubFOp>(op))
    return add(operand(0), operand(1), -1);
  if (isa<math::PowFOp>(op)) {
    Polynomial exponent = operand(1), power = {1};
    if (exponent.size() != 1 || exponent[0] < 1 || exponent[0] > kMaxDegree ||
        exponent[0] != std::floor(exponent[0]))
      return {};
    for (unsigned i = 0; i < exponent[0]; ++i)
      power = multiply(power, operand(0));
    return power;
  }
  return {};
}

/// The coefficients of the odd powers where `value` is an odd polynomial of
/// `x` with coefficients of one sign: it grows with the magnitude of x, so that
/// no order of evaluation loses digits or makes a NaN of anything but a NaN.
/// Empty for others.
static SmallVector<double, 4> getOddCoefficients(Value value, Value x) {
  Polynomial polynomial = getPolynomial(value, x);
  SmallVector<double, 4> odd;
  for (auto [power, coefficient] : llvm::enumerate(polynomial)) {
    if (power % 2 == 0) {
      if (coefficient != 0)
        return {};
      continue;
    }
    // Far from the ends of the range of f32, whatever they are multiplied by.
    double magnitude = std::abs(coefficient);
    if (coefficient * polynomial[1] <= 0 || magnitude < 0x1p-60 ||
        magnitude > 0x1p60)
      return {};
    odd.push_back(coefficient);
  }
  return odd;
}

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

static bool isOne(Value value) { return matchPattern(value, m_OneFloat()); }

/// What `value` is half of; null for another value.
static Value getWhole(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  for (unsigned i = 0; product && i < 2; ++i) {
    APFloat factor(0.0f);
    if (matchPattern(product->getOperand(i), m_ConstantFloat(&factor)) &&
        factor.isExactlyValue(0.5))
      return product->getOperand(1 - i);
  }
  return nullptr;
}

/// The operand by which the use of `op` multiplies it, when it has one use and
/// that is a product.
static OpOperand *getFactor(Operation *op) {
  if (!op->hasOneUse())
    return nullptr;
  OpOperand &use = *op->use_begin();
  auto product = dyn_cast<arith::MulFOp>(use.getOwner());
  return product ? &product->getOpOperand(1 - use.getOperandNumber()) : nullptr;
}

bool Logistic::matchTanh(arith::AddFOp sum) {
  if (!getElementTypeOrSelf(sum.getType()).isF32())
    return false;
  for (unsigned i = 0; i < 2 && !tanh; ++i)
    if (isOne(sum->getOperand(1 - i)))
      tanh = sum->getOperand(i).getDefiningOp<math::TanhOp>();
  if (!tanh || !tanh->hasOneUse())
    return false;
  OpOperand *factor = getFactor(sum);
  if (!factor)
    return true;
  Value whole = getWhole(factor->get());
  Value x = whole ? whole : factor->get();
  coefficients = getOddCoefficients(tanh.getOperand(), x);
  if (!coefficients.empty())
    variable = x;
  return true;
}

math::ExpOp Logistic::getExponential(Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  for (unsigned i = 0; sum && i < 2; ++i)
    if (auto exp = sum->getOperand(i).getDefiningOp<math::ExpOp>())
      if (isOne(sum->getOperand(1 - i)))
        return exp;
  return nullptr;
}

bool Logistic::matchQuotient(arith::DivFOp quotient) {
  Type element = getElementTypeOrSelf(quotient.getType());
  exp = getExponential(quotient.getRhs());
  if (!exp || !isExpandableFloat(quotient.getType()) || element.isF64())
    return false;
  Value x = quotient.getLhs();
  if (isOne(x))
    return true;
  // x / (1 + exp(-x)): the divisor is large where x is not, and the quotient
  // then too small to matter, so that the reciprocal's lack of subnormal
  // numbers does not show.
  auto negation = exp.getOperand().getDefiningOp<arith::NegFOp>();
  if (!negation || negation.getOperand() != x)
    return false;
  numerator = x;
  return true;
}

std::optional<Logistic> Logistic::match(Operation *op) {
  Logistic logistic(op);
  auto sum = dyn_cast<arith::AddFOp>(op);
  auto quotient = dyn_cast<arith::DivFOp>(op);
  if ((sum && logistic.matchTanh(sum)) ||
      (quotient && logistic.matchQuotient(quotient)))
    return logistic;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Num Logistic::emitDivisor(ImplicitLocOpBuilder &b) {
  if (exp)
    return computeNum(b, cast<arith::DivFOp>(op).getRhs());
  constexpr double scale = -2.0 * constants::log2e;
  if (coefficients.empty()) {
    Num y = computeNum(b, tanh.getOperand());
    return ex2ApproxFtz(y * y.c(scale)) + y.c(1.0);
  }
  // The constants' product is rounded once, and sums are not rounded before
  // the products that they are part of: no error of the program's own order
  // becomes larger by it.
  Num x = computeNum(b, variable);
  Num factor = x.c(scale * coefficients.back());
  if (coefficients.size() > 1) {
    Num square = x * x;
    for (double coefficient : llvm::drop_begin(llvm::reverse(coefficients)))
      factor = fma(square, factor, x.c(scale * coefficient));
  }
  return ex2ApproxFtz(x * factor) + x.c(1.0);
}

void Logistic::replace(PatternRewriter &rewriter, Num reciprocal) {
  Num result = reciprocal;
  if (numerator)
    result = computeNum(result.b(), numerator) * result;
  if (tanh) {
    // Where the sum is multiplied by half of something, as in GELU, the factor
    // 2 makes that the whole of it, exactly.
    OpOperand *factor = getFactor(op);
    Value whole = factor ? getWhole(factor->get()) : nullptr;
    if (whole)
      rewriter.modifyOpInPlace(factor->getOwner(), [&] { factor->set(whole); });
    else
      result = result * result.c(2.0);
  }
  rewriter.replaceOp(op, restore(result, op->getResult(0).getType()));
  if (tanh)
    rewriter.eraseOp(tanh);
}
