//===- FoldNegativeIndices.cpp - Indices that never count from the end ----===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the folding of choices that importers write for each
// index of a lookup, since negative ones count from the end:
//
//   select(i < 0, i + size, i)  ==>  i, where i is never negative
//
// A loop's index never is, nor is what is cut off below zero, whether the
// lookup's operation does that or one whose result it reads.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fusion;

/// Operations that are looked behind for one index.
static constexpr unsigned kMaxOps = 64;

static bool isNatural(Value value, unsigned &budget);

/// True when no element of `tensor` is negative, as far as the operation that
/// makes it tells.
static bool hasNaturals(Value tensor, unsigned &budget) {
  Operation *def = tensor.getDefiningOp();
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(def)) {
    tensor = def->getOperand(0);
    def = tensor.getDefiningOp();
  }
  auto op = dyn_cast_if_present<linalg::GenericOp>(def);
  if (!op || op.getNumReductionLoops() != 0)
    return false;
  unsigned number = cast<OpResult>(tensor).getResultNumber();
  return isNatural(op.getBody()->getTerminator()->getOperand(number), budget);
}

/// True when `value`, in the body of an operation, is not negative. Sums and
/// products may overflow.
static bool isNatural(Value value, unsigned &budget) {
  if (budget == 0)
    return false;
  --budget;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.isNonNegative();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto op = dyn_cast<linalg::GenericOp>(argument.getOwner()->getParentOp());
    OpOperand *operand = op ? op.getMatchingOpOperand(argument) : nullptr;
    return operand && op.isDpsInput(operand) &&
           isa<RankedTensorType>(operand->get().getType()) &&
           hasNaturals(operand->get(), budget);
  }
  Operation *def = value.getDefiningOp();
  auto isNaturalOperand = [&](Value operand) {
    return isNatural(operand, budget);
  };
  if (isa<linalg::IndexOp>(def))
    return true;
  // Narrower integers have no room for some indices.
  bool isWide = value.getType().isIndex() || value.getType().isInteger(64);
  if (isWide && isa<arith::IndexCastOp, arith::ExtSIOp>(def))
    return isNatural(def->getOperand(0), budget);
  if (isa<arith::MaxSIOp>(def))
    return llvm::any_of(def->getOperands(), isNaturalOperand);
  if (isa<arith::MinSIOp, arith::DivSIOp, arith::RemSIOp>(def))
    return llvm::all_of(def->getOperands(), isNaturalOperand);
  return false;
}

/// What `select` gives when its condition, that something is negative, is never
/// true; null when it may be.
static Value getOnlyValue(arith::SelectOp select) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt ||
      !matchPattern(compare.getRhs(), m_Zero()))
    return nullptr;
  unsigned budget = kMaxOps;
  return isNatural(compare.getLhs(), budget) ? select.getFalseValue() : nullptr;
}

static void foldIn(linalg::GenericOp op) {
  SmallVector<arith::SelectOp> selects(op.getBody()->getOps<arith::SelectOp>());
  for (arith::SelectOp select : selects)
    if (Value value = getOnlyValue(select))
      select.getResult().replaceAllUsesWith(value);
  // What was made wider for the choice.
  SmallVector<arith::IndexCastOp> casts(
      op.getBody()->getOps<arith::IndexCastOp>());
  for (arith::IndexCastOp cast : llvm::reverse(casts)) {
    auto inner = cast.getIn().getDefiningOp<arith::IndexCastOp>();
    if (inner && inner.getType().isInteger(64) &&
        inner.getIn().getType() == cast.getType())
      cast.getResult().replaceAllUsesWith(inner.getIn());
  }
  for (Operation &inner :
       llvm::make_early_inc_range(llvm::reverse(*op.getBody())))
    if (isOpTriviallyDead(&inner))
      inner.erase();
}

void mlir::fusion::foldNegativeIndices(FunctionOpInterface func) {
  for (auto op : func.getFunctionBody().front().getOps<linalg::GenericOp>())
    if (!op.getBody()->getOps<tensor::ExtractOp>().empty())
      foldIn(op);
}
