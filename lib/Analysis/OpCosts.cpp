//===- OpCosts.cpp - Arithmetic of scalar code ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the arithmetic cost of scalar ops: the instructions that
// they become.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/OpCosts.h"
#include "fusion/Analysis/CostInterface.h"
#include "fusion/Support/FloatRange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// Instructions of an op: in all, and of the special function units.
struct Instructions {
  double all, special = 0;
  /// Those that are of f64 even where the op is not.
  double ofF64 = 0;
};
} // namespace

/// Turns of a product of 32-bit numbers in 64 bits.
static constexpr double kWideProduct = 2;

/// 1 + tanh(x), which is made of one exponential and a reciprocal.
static bool isLogistic(math::TanhOp tanh) {
  if (!tanh->hasOneUse())
    return false;
  auto sum = dyn_cast<arith::AddFOp>(*tanh->user_begin());
  return sum && llvm::any_of(sum->getOperands(), [](Value term) {
           return matchPattern(term, m_OneFloat());
         });
}

/// Whether `op` takes the hardware's approximations.
static bool isFast(Operation *op) {
  auto withFlags = dyn_cast<arith::ArithFastMathInterface>(op);
  arith::FastMathFlagsAttr flags =
      withFlags ? withFlags.getFastMathFlagsAttr() : arith::FastMathFlagsAttr();
  return flags &&
         bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::afn);
}

/// The logarithm of 1 and an exponential of what is never positive: a
/// polynomial, whose last product is part of a sum with it.
static std::optional<Instructions> getLogOfFraction(math::Log1pOp log) {
  FloatRange range = FloatRange::of(log.getOperand());
  if (range.low < 0 || range.high > 1)
    return std::nullopt;
  bool isInSum = log->hasOneUse() &&
                 isa<arith::AddFOp, arith::SubFOp>(*log->user_begin()) &&
                 getElementTypeOrSelf(log.getType()).isF32();
  return Instructions{(isFast(log) ? 8.0 : 10.0) - (isInSum ? 1 : 0)};
}

/// The same as getFunction(), of those that the hardware approximates and `op`
/// lets it.
static std::optional<Instructions> getFastFunction(Operation *op) {
  using Result = std::optional<Instructions>;
  if (!isFast(op))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<math::ExpOp, math::LogOp, math::Log10Op>(
          [](auto) { return Instructions{2, 1}; })
      .Case<math::Log2Op, math::SinOp, math::CosOp, math::SqrtOp>(
          [](auto) { return Instructions{1, 1}; })
      .Case([](math::TanOp) { return Instructions{3, 3}; })
      .Case([](math::TanhOp tanh) -> Result {
        return isLogistic(tanh) ? Result() : Instructions{1, 1};
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// The instructions of an elementary function of f32, or narrower floats. Those
/// of the table in docs/Numerics.md; MathPricesTest compares them with the
/// expansions.
static std::optional<Instructions> getFunction(Operation *op) {
  using Result = std::optional<Instructions>;
  auto type =
      dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  bool isNarrow = type && type.getWidth() < 32;
  if (type && !type.isF64())
    if (Result fast = getFastFunction(op))
      return fast;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](math::ExpOp) {
        return isNarrow ? Instructions{2, 1} : Instructions{6, 1};
      })
      .Case<math::Exp2Op, math::RsqrtOp>(
          [](auto) { return Instructions{1, 1}; })
      .Case([](math::ExpM1Op) { return Instructions{19}; })
      .Case<math::LogOp, math::Log2Op>([](auto) { return Instructions{26, 1}; })
      .Case([](math::Log10Op) { return Instructions{28, 1}; })
      .Case([](math::Log1pOp log) {
        return getLogOfFraction(log).value_or(Instructions{26, 1});
      })
      .Case([&](math::TanhOp tanh) {
        return isLogistic(tanh) ? Instructions{4, 2}
                                : Instructions{isNarrow ? 14.0 : 16.0, 2};
      })
      .Case([&](math::SinOp) { return Instructions{isNarrow ? 13.0 : 23.0}; })
      .Case([&](math::CosOp) { return Instructions{isNarrow ? 15.0 : 23.0}; })
      .Case([](math::TanOp) { return Instructions{31, 1}; })
      .Case(
          [&](math::AtanOp) { return Instructions{isNarrow ? 16.0 : 18.0, 1}; })
      .Case(
          [&](math::ErfOp) { return Instructions{isNarrow ? 17.0 : 20.0, 1}; })
      // The exact root and quotient: an approximation, a step of correction and
      // a branch for extreme operands.
      .Case([](math::SqrtOp) { return Instructions{9, 1}; })
      .Case([](math::SinhOp) { return Instructions{2, 0, 77}; })
      .Case([](math::CoshOp) { return Instructions{2, 0, 41}; })
      .Case([](math::AsinhOp) { return Instructions{2, 0, 99}; })
      .Case([](math::AcoshOp) { return Instructions{2, 0, 108}; })
      .Case([](math::AtanhOp) { return Instructions{2, 0, 60}; })
      .Case([](math::AsinOp) { return Instructions{2, 0, 32}; })
      .Case([](math::AcosOp) { return Instructions{2, 0, 44}; })
      .Case([](math::Atan2Op) { return Instructions{2, 0, 57}; })
      .Case([](math::ErfcOp) { return Instructions{2, 0, 97}; })
      .Case([](math::CbrtOp) { return Instructions{2, 0, 44}; })
      .Default([](Operation *) { return std::nullopt; });
}

static Instructions getPower(math::PowFOp op) {
  APFloat exponent(0.0f);
  if (!matchPattern(op.getRhs(), m_ConstantFloat(&exponent)))
    return {2, 0, 104};
  double value = std::abs(exponent.convertToDouble());
  if (value == 0.5 || value == 1 || value == 2 || value == 3)
    return {3, value < 1 ? 1.0 : 0.0};
  return {2, 0, 104};
}

static Instructions getQuotient(arith::DivFOp op) {
  // A product by the reciprocal, which the elements of a window's place share,
  // the rest that it leaves, whether there is one, and what corrects it.
  if (std::optional<Count> count = Count::of(op.getRhs()))
    return {count->isExact ? 1.0 : 5.0};
  // A reciprocal, and whether operands are extreme: both are of those units.
  if (!isMadeOfExponentials(op.getRhs()))
    return isFast(op) ? Instructions{6, 1} : Instructions{10, 2};
  // The reciprocal, and a product where it is not all.
  return {matchPattern(op.getLhs(), m_OneFloat()) ? 1.0 : 2.0, 1};
}

/// The quotient or the remainder of integers.
static Instructions getIntegerQuotient(Operation *op) {
  APInt divisor;
  // A sequence that begins with an approximation in f32.
  if (!matchPattern(op->getOperand(1), m_ConstantInt(&divisor)))
    return {20};
  // A shift or a mask; else the upper half of a product, and a shift, and for a
  // remainder a product and a difference. What is negative is corrected.
  bool isRemainder = isa<arith::RemSIOp, arith::RemUIOp>(op);
  bool isUnsigned = isa<arith::DivUIOp, arith::RemUIOp>(op);
  double instructions = divisor.isPowerOf2() ? 1 : isRemainder ? 4 : 2;
  return {instructions + (isUnsigned ? 0 : 2)};
}

/// A product or a shift of 64 bits.
static Instructions getOf64Bits(Operation *op) {
  APInt number;
  // The upper half is a register of its own.
  if (isa<arith::ShRUIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&number)) && number == 32)
    return {0};
  return {isa<arith::MulIOp>(op) ? kWideProduct : 1};
}

static Instructions getInstructions(Operation *op) {
  if (std::optional<Instructions> function = getFunction(op))
    return *function;
  return llvm::TypeSwitch<Operation *, Instructions>(op)
      .Case([](math::PowFOp power) { return getPower(power); })
      .Case([](arith::DivFOp quotient) { return getQuotient(quotient); })
      .Case<arith::RemFOp>([](auto) { return Instructions{40, 1}; })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
            arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [](Operation *quotient) { return getIntegerQuotient(quotient); })
      .Case<arith::MulIOp, arith::ShRUIOp>([](auto op) {
        return op.getType().isInteger(64) ? getOf64Bits(op) : Instructions{1};
      })
      // One instruction narrows two elements.
      .Case([](arith::TruncFOp) { return Instructions{0.5}; })
      // Other names for registers, and what other instructions do on the way.
      .Case<arith::BitcastOp, arith::IndexCastOp, arith::IndexCastUIOp,
            arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp, arith::NegFOp,
            math::AbsFOp>([](auto) { return Instructions{0}; })
      .Default([](Operation *) { return Instructions{1}; });
}

OpCost mlir::fusion::getOpCost(Operation *op) {
  OpCost cost;
  if (op->getNumResults() == 0 || op->hasTrait<OpTrait::ConstantLike>() ||
      op->hasTrait<OpTrait::IsTerminator>())
    return cost;
  if (!isa_and_present<arith::ArithDialect, math::MathDialect>(
          op->getDialect())) {
    auto *costs = dyn_cast_if_present<CostInterface>(op->getDialect());
    return costs ? costs->getScalarCost(op) : cost;
  }
  Instructions instructions = getInstructions(op);
  bool isDouble = llvm::any_of(op->getOperandTypes(),
                               [](Type type) { return type.isF64(); }) ||
                  op->getResult(0).getType().isF64();
  // The special function units have no f64: those are sequences of about ten
  // multiply-adds each.
  if (isDouble)
    cost.doubles =
        instructions.all + instructions.ofF64 + 10 * instructions.special;
  else
    cost = {instructions.all, instructions.ofF64, instructions.special};
  return cost;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

namespace {
/// How many elements have a value in common: those of a group, or all.
class Sharing {
public:
  /// Threads have so many elements of a group side by side.
  explicit Sharing(Region &region, double neighbours = kMostNeighbours)
      : region(region), neighbours(neighbours) {}

  /// Elements for which `op` is computed once; infinity for what is computed
  /// once for all, or by the compiler.
  double add(Operation *op);

private:
  static constexpr double kAll = std::numeric_limits<double>::infinity();

  struct Use {
    double elements;
    /// It follows from loop indices alone.
    bool isIndex;
    /// It follows from an element's place among its neighbours alone, which is
    /// known where a thread has them all.
    bool isPlace;
  };
  Use get(Value value) const {
    auto known = uses.find(value);
    if (known != uses.end())
      return known->second;
    bool isInside = region.isAncestor(value.getParentRegion());
    return isInside ? Use{1, false, false}
                    : Use{kAll, true, matchPattern(value, m_Constant())};
  }
  Use getUse(Operation *op) const;
  Use getQuotient(Operation *op, Use dividend) const;

  Region &region;
  double neighbours;
  DenseMap<Value, Use> uses;
};
} // namespace

/// Neighbours have indices whose quotient is the same, and whose low bits are
/// their place.
Sharing::Use Sharing::getQuotient(Operation *op, Use dividend) const {
  APInt number;
  if (!dividend.isIndex || dividend.elements != 1 ||
      op->getNumOperands() != 2 ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&number)) ||
      number.getActiveBits() >= 32)
    return dividend;
  auto divisor = static_cast<double>(number.getZExtValue());
  if (isa<arith::ShRUIOp, arith::ShRSIOp>(op) && divisor < 16)
    divisor = std::ldexp(1.0, static_cast<int>(divisor));
  else if (isa<arith::AndIOp>(op))
    return {1, true, divisor < neighbours};
  else if (isa<arith::RemUIOp>(op) && number.isPowerOf2())
    return {1, true, divisor <= neighbours};
  else if (!isa<arith::DivUIOp, arith::FloorDivSIOp>(op) || divisor <= 1)
    return dividend;
  return {std::min(divisor, neighbours), true, false};
}

Sharing::Use Sharing::getUse(Operation *op) const {
  if (isa<linalg::IndexOp>(op))
    return {1, true, false};
  if (op->hasTrait<OpTrait::ConstantLike>())
    return {kAll, true, true};
  if (op->getNumRegions() > 0 || !isMemoryEffectFree(op))
    return {1, false, false};
  Use use{kAll, true, true};
  for (Value operand : op->getOperands()) {
    use.elements = std::min(use.elements, get(operand).elements);
    use.isIndex &= get(operand).isIndex;
    use.isPlace &= get(operand).isPlace;
  }
  return getQuotient(op, use);
}

double Sharing::add(Operation *op) {
  Use use = getUse(op);
  for (Value result : op->getResults())
    uses[result] = use;
  // A choice by the place is one between registers.
  if (use.isPlace ||
      (isa<arith::SelectOp>(op) && get(op->getOperand(0)).isPlace))
    return kAll;
  // Indices of neighbours differ by a constant.
  if (use.isIndex && isa<arith::AddIOp, arith::MulIOp>(op))
    return std::max(use.elements, neighbours);
  return use.elements;
}

OpCost
mlir::fusion::getRegionCost(Region &region,
                            function_ref<double(Operation *)> countSharers,
                            double neighbours) {
  OpCost cost;
  Sharing sharing(region, neighbours);
  region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    double elements = sharing.add(op);
    double sharers = countSharers ? countSharers(op) : 1;
    OpCost own = getOpCost(op) / std::max(elements, sharers);
    if (sharers > 1) {
      own.shared = own.instructions;
      own.unshared = getOpCost(op).instructions / elements;
    }
    cost += own;
  });
  return cost;
}

double mlir::fusion::countOperations(Region &region) {
  double count = 0;
  Sharing sharing(region);
  region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    double elements = sharing.add(op);
    count += op->hasTrait<OpTrait::ConstantLike>() ? 1 : 1 / elements;
  });
  return count;
}
