//===- ApproximateRounded.cpp - Approximations that roundings hide --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that lets exponentials and quotients be
// approximated where what follows from them is rounded to fewer bits: those of
// a softmax, a sigmoid or an attention of f16 or bf16 that are computed in f32.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/Passes.h"
#include "fusion/Support/FloatRange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_APPROXIMATEROUNDEDPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// Operations from a result to what it is rounded by, or from a term to what
/// shows that it is not negative.
static constexpr unsigned kMaxSteps = 16;
/// Bits of numbers that have at most 11 of precision.
static constexpr unsigned kMaxBits = 16;

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

/// Whether what `op` yields for `argument`, if that is what it has so far, is
/// its sum with something.
static bool isSumSoFar(linalg::LinalgOp op, BlockArgument argument) {
  OpOperand *operand = op.getMatchingOpOperand(argument);
  if (!op.isDpsInit(operand))
    return true;
  Value next = op.getBlock()->getTerminator()->getOperand(
      op.getTiedOpResult(operand).getResultNumber());
  auto sum = next.getDefiningOp<arith::AddFOp>();
  return sum && llvm::is_contained(sum->getOperands(), argument);
}

namespace {
/// What is known not to be negative. Each value is asked about once: a value
/// that is used twice is behind twice as many paths at every step.
class Signs {
public:
  bool isNotNegative(Value value) { return isNotNegative(value, 0); }

private:
  bool isNotNegative(Value value, unsigned steps) {
    if (steps == kMaxSteps)
      return false;
    auto [it, isNew] = known.try_emplace(value, false);
    if (!isNew)
      return it->second;
    bool result = find(value, steps);
    return known[value] = result;
  }
  bool find(Value value, unsigned steps);

  DenseMap<Value, bool> known;
};
} // namespace

/// Whether `value`, a scalar or a tensor's elements, may not be negative; what
/// a sum begins with speaks for what it has so far, since what it adds is asked
/// as well.
bool Signs::find(Value value, unsigned steps) {
  if (FloatRange::of(value).low >= 0)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto op = dyn_cast_if_present<linalg::LinalgOp>(
        argument.getOwner()->getParentOp());
    return op && isSumSoFar(op, argument) &&
           isNotNegative(op.getMatchingOpOperand(argument)->get(), steps + 1);
  }
  Operation *op = value.getDefiningOp();
  auto isOperand = [&](Value operand) {
    return isNotNegative(operand, steps + 1);
  };
  if (auto producer = dyn_cast<linalg::LinalgOp>(op))
    return isOperand(producer.getBlock()->getTerminator()->getOperand(
        cast<OpResult>(value).getResultNumber()));
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return isOperand(op->getOperand(0));
  return isa<arith::AddFOp, arith::MulFOp, arith::DivFOp, arith::MinimumFOp,
             arith::ExtFOp, arith::TruncFOp>(op) &&
         llvm::all_of(op->getOperands(), isOperand);
}

/// Whether the relative error of `op` is no larger than those of its float
/// operands together.
static bool keepsErrors(Operation *op, Signs &signs) {
  if (isa<arith::AddFOp>(op))
    return llvm::all_of(op->getOperands(),
                        [&](Value term) { return signs.isNotNegative(term); });
  return isa<arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
             arith::SelectOp, math::AbsFOp>(op);
}

//===----------------------------------------------------------------------===//
// Roundings
//===----------------------------------------------------------------------===//

namespace {
/// What reaches nothing but numbers of few bits.
class RoundedResults {
public:
  bool isRounded(Value value) { return isRounded(value, 0); }

private:
  /// Of a scalar in a body, or of a tensor's elements.
  bool isRounded(Value value, unsigned steps);
  bool isRoundedBy(OpOperand &use, unsigned steps);

  Signs signs;
  DenseMap<Value, bool> known;
};
} // namespace

bool RoundedResults::isRounded(Value value, unsigned steps) {
  if (steps == kMaxSteps || !getElementTypeOrSelf(value.getType()).isF32())
    return false;
  auto [it, isNew] = known.try_emplace(value, false);
  if (!isNew)
    return it->second;
  // Operations on tensors compute nothing but what their bodies do.
  unsigned next = isa<TensorType>(value.getType()) ? steps : steps + 1;
  bool result =
      !value.use_empty() && llvm::all_of(value.getUses(), [&](OpOperand &use) {
        return isRoundedBy(use, next);
      });
  return known[value] = result;
}

bool RoundedResults::isRoundedBy(OpOperand &use, unsigned steps) {
  Operation *user = use.getOwner();
  if (auto truncation = dyn_cast<arith::TruncFOp>(user))
    return truncation.getType().getIntOrFloatBitWidth() <= kMaxBits;
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
    return isRounded(user->getResult(0), steps);
  if (isa<linalg::YieldOp>(user) && isa<linalg::LinalgOp>(user->getParentOp()))
    return isRounded(user->getParentOp()->getResult(use.getOperandNumber()),
                     steps);
  if (auto op = dyn_cast<linalg::LinalgOp>(user)) {
    if (!op.isDpsInput(&use))
      return false;
    BlockArgument argument = op.getMatchingBlockArgument(&use);
    return argument.use_empty() || isRounded(argument, steps);
  }
  return keepsErrors(user, signs) && isRounded(user->getResult(0), steps);
}

namespace {
struct ApproximateRounded final
    : fusion::impl::ApproximateRoundedPassBase<ApproximateRounded> {
  using Base::Base;

  void runOnOperation() override {
    RoundedResults results;
    auto approximate = [&](auto op) {
      if (isa<linalg::LinalgOp>(op->getParentOp()) && results.isRounded(op))
        op.setFastmath(op.getFastmath() | arith::FastMathFlags::afn);
    };
    getOperation().walk([&](Operation *op) {
      if (auto exponential = dyn_cast<math::ExpOp>(op))
        approximate(exponential);
      auto quotient = dyn_cast<arith::DivFOp>(op);
      // Those by counts are exact in no more instructions.
      if (quotient && !Count::of(quotient.getRhs()))
        approximate(quotient);
    });
  }
};
} // namespace
