//===- MultiplyPowers.cpp - Powers that are a few products ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that makes products of powers whose exponent is
// a small integer constant: importers write squares so, and later phases know
// sums of squares by their products. Each product rounds once. Types narrower
// than f32 have those powers alone that round once in all, as the power does.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_MULTIPLYPOWERSPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// The exponent of a power, if it is a constant and an integer.
static std::optional<int64_t> getExponent(Value exponent) {
  APInt integer;
  if (matchPattern(exponent, m_ConstantInt(&integer)))
    return integer.getSExtValue();
  APFloat number(0.0f);
  if (!matchPattern(exponent, m_ConstantFloat(&number)) || !number.isInteger())
    return std::nullopt;
  APSInt whole(64, /*isUnsigned=*/false);
  bool isExact = false;
  if (number.convertToInteger(whole, APFloat::rmTowardZero, &isExact) !=
      APFloat::opOK)
    return std::nullopt;
  return whole.getSExtValue();
}

/// `base` to the power of `exponent`; null where that takes more than a few
/// products.
static Value multiply(OpBuilder &builder, Location loc, Value base,
                      int64_t exponent, arith::FastMathFlags flags) {
  constexpr int64_t kMost = 4, kLeast = -2, kMostOfNarrow = 2,
                    kLeastOfNarrow = -1;
  Type type = base.getType();
  bool isNarrow = type.getIntOrFloatBitWidth() < 32;
  if (exponent > (isNarrow ? kMostOfNarrow : kMost) ||
      exponent < (isNarrow ? kLeastOfNarrow : kLeast))
    return nullptr;
  Value one = exponent > 0 ? Value()
                           : arith::ConstantOp::create(
                                 builder, loc, builder.getFloatAttr(type, 1.0));
  if (exponent == 0)
    return one;
  int64_t count = std::abs(exponent);
  auto times = [&](Value lhs, Value rhs) -> Value {
    return arith::MulFOp::create(builder, loc, lhs, rhs, flags);
  };
  Value power = count > 1 ? times(base, base) : base;
  if (count == 3)
    power = times(power, base);
  if (count == 4)
    power = times(power, power);
  if (exponent > 0)
    return power;
  return arith::DivFOp::create(builder, loc, one, power, flags);
}

template <typename Power>
static void replace(Power op) {
  std::optional<int64_t> exponent = getExponent(op.getRhs());
  if (!exponent || !isa<FloatType>(op.getType()))
    return;
  OpBuilder builder(op);
  if (Value value = multiply(builder, op.getLoc(), op.getLhs(), *exponent,
                             op.getFastmath())) {
    op.replaceAllUsesWith(value);
    op.erase();
  }
}

namespace {
class MultiplyPowersPass
    : public fusion::impl::MultiplyPowersPassBase<MultiplyPowersPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<math::PowFOp> powers;
    SmallVector<math::FPowIOp> integerPowers;
    getOperation()->walk([&](linalg::LinalgOp op) {
      llvm::append_range(powers, op.getBlock()->getOps<math::PowFOp>());
      llvm::append_range(integerPowers, op.getBlock()->getOps<math::FPowIOp>());
    });
    llvm::for_each(powers, replace<math::PowFOp>);
    llvm::for_each(integerPowers, replace<math::FPowIOp>);
  }
};
} // namespace
