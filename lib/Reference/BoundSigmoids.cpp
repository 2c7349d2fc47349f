//===- BoundSigmoids.cpp - What may be computed as a sigmoid --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file recognises the quotients and sums that compiled code computes in
// another way than they are written.
//
//===----------------------------------------------------------------------===//

#include "Bounder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;

/// The value that a scalar is an element of, or equal to, as far back as it is
/// known: fusion puts the bodies of producers in the place of their results.
static Value findSource(Value value) {
  while (true) {
    if (auto splat = value.getDefiningOp<tensor::SplatOp>()) {
      value = splat.getInput();
      continue;
    }
    if (auto generic = value.getDefiningOp<linalg::GenericOp>()) {
      auto result = cast<OpResult>(value).getResultNumber();
      value = generic.getBody()->getTerminator()->getOperand(result);
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(value);
    auto generic =
        argument
            ? dyn_cast<linalg::GenericOp>(argument.getOwner()->getParentOp())
            : linalg::GenericOp();
    if (!generic || argument.getArgNumber() >= generic.getNumDpsInputs())
      return value;
    value = generic.getDpsInputs()[argument.getArgNumber()];
  }
}

/// True for 1 + f(x), f being `Function`.
template <typename Function>
static bool isOnePlus(Value value) {
  auto sum = findSource(value).getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  auto isOne = [](Value x) {
    return matchPattern(findSource(x), m_OneFloat());
  };
  auto isFunction = [](Value x) {
    return isa_and_present<Function>(findSource(x).getDefiningOp());
  };
  return (isOne(sum.getLhs()) && isFunction(sum.getRhs())) ||
         (isOne(sum.getRhs()) && isFunction(sum.getLhs()));
}

/// Expressions deeper than this are no divisors that have a form of their own.
static constexpr unsigned kMaxDepth = 10;

/// True for sums and products of exponentials, at least one, and positive
/// constants.
static bool isMadeOfExponentials(Value value, bool &hasOne, unsigned depth) {
  value = findSource(value);
  if (matchPattern(value, m_PosZeroFloat()) || depth == kMaxDepth)
    return false;
  APFloat constant(0.0f);
  if (matchPattern(value, m_ConstantFloat(&constant)))
    return !constant.isNegative();
  Operation *op = value.getDefiningOp();
  if (isa_and_present<math::ExpOp>(op))
    return hasOne = true;
  return isa_and_present<arith::AddFOp, arith::MulFOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isMadeOfExponentials(operand, hasOne, depth + 1);
         });
}

bool fusion::isSigmoid(Operation *op) {
  bool hasExponential = false;
  if (isa<arith::DivFOp>(op))
    return isMadeOfExponentials(op->getOperand(1), hasExponential, 0) &&
           hasExponential;
  return isa<arith::AddFOp>(op) && isOnePlus<math::TanhOp>(op->getResult(0));
}
