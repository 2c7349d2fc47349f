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
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"
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
/// Ranges of integers by what defines them, as their operations infer it.
class IntRanges {
public:
  /// The range of a scalar, or of the elements of a vector.
  ConstantIntRanges of(Value value, unsigned depth = 0);

private:
  DenseMap<Value, ConstantIntRanges> known;
};
} // namespace

ConstantIntRanges IntRanges::of(Value value, unsigned depth) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  ConstantIntRanges range = ConstantIntRanges::maxRange(
      ConstantIntRanges::getStorageBitwidth(value.getType()));
  auto op = value.getDefiningOp<InferIntRangeInterface>();
  // Each dimension of a window has a few operations more.
  if (op && depth < 2 * kMaxDepth) {
    SmallVector<ConstantIntRanges> operands;
    for (Value operand : op->getOperands())
      operands.push_back(of(operand, depth + 1));
    op.inferResultRanges(operands, [&](Value result, const auto &inferred) {
      if (result == value)
        range = inferred;
    });
  }
  known.try_emplace(value, range);
  return range;
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
  ConstantIntRanges range = IntRanges().of(conversion.getIn());
  if (range.smin().isNegative() || range.smax().sgt(kMaxCount))
    return std::nullopt;
  int64_t most = range.smax().getSExtValue();
  // None, one or two.
  return Count{most, most <= 2};
}
