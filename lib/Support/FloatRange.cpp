//===- FloatRange.cpp - What is known of a float ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the range of a float in an expression, and of integers
// that become one.
//
//===----------------------------------------------------------------------===//

#include "fusion/Support/FloatRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace mlir;
using namespace mlir::fusion;

/// Expressions in question are those of activations.
static constexpr unsigned kMaxDepth = 8;

static std::optional<double> getConstant(Value value) {
  APFloat constant(0.0f);
  if (!matchPattern(value, m_ConstantFloat(&constant)))
    return std::nullopt;
  return constant.convertToDouble();
}

static FloatRange multiply(FloatRange a, FloatRange b) {
  // A NaN, of 0 and an infinity, is one that the product may be too.
  double ends[] = {a.low * b.low, a.low * b.high, a.high * b.low,
                   a.high * b.high};
  if (llvm::any_of(ends, [](double end) { return std::isnan(end); }))
    return a.low >= 0 && b.low >= 0
               ? FloatRange{0, std::numeric_limits<double>::infinity()}
               : FloatRange();
  return {*llvm::min_element(ends), *llvm::max_element(ends)};
}

static FloatRange findRange(Value value, unsigned depth) {
  if (std::optional<double> constant = getConstant(value))
    return std::isnan(*constant) ? FloatRange()
                                 : FloatRange{*constant, *constant};
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMaxDepth)
    return {};
  auto operand = [&](unsigned i) {
    return findRange(op->getOperand(i), depth + 1);
  };
  return llvm::TypeSwitch<Operation *, FloatRange>(op)
      .Case([&](math::ExpOp) {
        FloatRange x = operand(0);
        return FloatRange{std::exp(x.low), std::exp(x.high)};
      })
      .Case([&](math::AbsFOp) {
        FloatRange x = operand(0);
        return FloatRange{std::max({x.low, -x.high, 0.0}),
                          std::max(-x.low, x.high)};
      })
      .Case([&](arith::NegFOp) {
        FloatRange x = operand(0);
        return FloatRange{-x.high, -x.low};
      })
      .Case([&](arith::AddFOp) {
        FloatRange x = operand(0), y = operand(1);
        return FloatRange{x.low + y.low, x.high + y.high};
      })
      .Case([&](arith::MulFOp) { return multiply(operand(0), operand(1)); })
      .Case([&](arith::MaximumFOp) {
        FloatRange x = operand(0), y = operand(1);
        return FloatRange{std::max(x.low, y.low), std::max(x.high, y.high)};
      })
      .Case([&](arith::MinimumFOp) {
        FloatRange x = operand(0), y = operand(1);
        return FloatRange{std::min(x.low, y.low), std::min(x.high, y.high)};
      })
      .Default([](Operation *) { return FloatRange(); });
}

FloatRange FloatRange::of(Value value) { return findRange(value, 0); }

static bool isMadeOfExponentials(Value value, bool &hasOne, unsigned depth) {
  if (std::optional<double> constant = getConstant(value))
    return *constant > 0;
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMaxDepth)
    return false;
  if (isa<math::ExpOp>(op))
    return hasOne = true;
  return isa<arith::AddFOp, arith::MulFOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isMadeOfExponentials(operand, hasOne, depth + 1);
         });
}

bool mlir::fusion::isMadeOfExponentials(Value value) {
  bool hasOne = false;
  return ::isMadeOfExponentials(value, hasOne, 0) && hasOne;
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

/// The largest count.
static constexpr int64_t kMaxCount = int64_t(1) << 20;

namespace {
/// The numbers that an integer may be, as a signed one.
struct IntRange {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();

  bool isCount() const { return low >= 0 && high <= kMaxCount; }
};
} // namespace

static IntRange findIntRange(Value value, unsigned depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) &&
      constant.getSignificantBits() <= 64)
    return {constant.getSExtValue(), constant.getSExtValue()};
  Operation *op = value.getDefiningOp();
  // Each dimension of a window has a few operations more.
  if (!op || depth == 2 * kMaxDepth)
    return {};
  auto operand = [&](unsigned i) {
    return findIntRange(op->getOperand(i), depth + 1);
  };
  return llvm::TypeSwitch<Operation *, IntRange>(op)
      .Case([&](arith::MaxSIOp) {
        IntRange x = operand(0), y = operand(1);
        return IntRange{std::max(x.low, y.low), std::max(x.high, y.high)};
      })
      .Case([&](arith::MinSIOp) {
        IntRange x = operand(0), y = operand(1);
        return IntRange{std::min(x.low, y.low), std::min(x.high, y.high)};
      })
      .Case([&](arith::SubIOp) {
        IntRange x = operand(0), y = operand(1);
        // Differences of such numbers do not wrap around.
        return x.low >= 0 && y.low >= 0 ? IntRange{-y.high, x.high - y.low}
                                        : IntRange();
      })
      .Case([&](arith::MulIOp) {
        IntRange x = operand(0), y = operand(1);
        return x.isCount() && y.isCount()
                   ? IntRange{x.low * y.low, x.high * y.high}
                   : IntRange();
      })
      .Case([&](arith::DivUIOp) {
        IntRange x = operand(0), y = operand(1);
        return x.low >= 0 && y.low > 0 ? IntRange{0, x.high} : IntRange();
      })
      // What fits and is kept: all types have as many bits as a count.
      .Case<arith::IndexCastOp, arith::ExtSIOp>([&](auto) {
        IntRange x = operand(0);
        return x.isCount() ? x : IntRange();
      })
      .Default([](Operation *) { return IntRange(); });
}

std::optional<Count> Count::of(Value value) {
  if (!getElementTypeOrSelf(value.getType()).isF32())
    return std::nullopt;
  if (std::optional<double> constant = getConstant(value)) {
    if (!(*constant >= 1 && *constant <= kMaxCount) ||
        *constant != std::trunc(*constant))
      return std::nullopt;
    auto most = static_cast<int64_t>(*constant);
    return Count{most, llvm::isPowerOf2_64(most)};
  }
  auto conversion = value.getDefiningOp<arith::SIToFPOp>();
  if (!conversion)
    return std::nullopt;
  IntRange range = findIntRange(conversion.getIn(), 0);
  if (!range.isCount())
    return std::nullopt;
  // None, one or two.
  return Count{range.high, range.high <= 2};
}
