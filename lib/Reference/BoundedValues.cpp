//===- BoundedValues.cpp - Which values are bounded numbers ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for integers that derive from floats.
//
//===----------------------------------------------------------------------===//

#include "BoundedValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

bool fusion::hasFloats(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

bool fusion::hasIntegers(Type type) {
  return getElementTypeOrSelf(type).isIntOrIndex();
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

static SmallVector<MovedValues> getMovedByGeneric(linalg::GenericOp op) {
  SmallVector<MovedValues> moves;
  for (OpOperand *input : op.getDpsInputOperands())
    moves.push_back({{input}, {op.getMatchingBlockArgument(input)}});
  Operation *yield = op.getBody()->getTerminator();
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    OpOperand *init = op.getDpsInitOperand(i);
    moves.push_back({{init, &yield->getOpOperand(i)},
                     {op.getMatchingBlockArgument(init), result}});
  }
  return moves;
}

static SmallVector<MovedValues> getMovedByFor(scf::ForOp op) {
  SmallVector<MovedValues> moves;
  Operation *yield = op.getBody()->getTerminator();
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    moves.push_back({{&op.getInitArgsMutable()[i], &yield->getOpOperand(i)},
                     {op.getRegionIterArg(i), result}});
  return moves;
}

static SmallVector<MovedValues> getMovedByWhile(scf::WhileOp op) {
  SmallVector<MovedValues> moves;
  Operation *yield = op.getYieldOp();
  for (auto [i, arg] : llvm::enumerate(op.getBeforeArguments()))
    moves.push_back(
        {{&op.getInitsMutable()[i], &yield->getOpOperand(i)}, {arg}});
  scf::ConditionOp condition = op.getConditionOp();
  for (auto [i, arg] : llvm::enumerate(op.getAfterArguments()))
    moves.push_back({{&condition.getArgsMutable()[i]}, {arg, op.getResult(i)}});
  return moves;
}

static SmallVector<MovedValues> getMovedByIf(scf::IfOp op) {
  SmallVector<MovedValues> moves;
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    moves.push_back(
        {{&op.thenYield()->getOpOperand(i), &op.elseYield()->getOpOperand(i)},
         {result}});
  return moves;
}

/// The operands whose elements a tensor op without a region of loops takes.
static bool takesElements(Operation *op, OpOperand &operand) {
  unsigned index = operand.getOperandNumber();
  if (isa<tensor::InsertOp, tensor::InsertSliceOp, tensor::ScatterOp>(op))
    return index < 2;
  if (isa<tensor::FromElementsOp, tensor::ConcatOp>(op))
    return true;
  return index == 0 && !isa<tensor::EmptyOp, tensor::GenerateOp>(op);
}

static SmallVector<MovedValues> getMovedByTensorOp(Operation *op) {
  if (op->getNumResults() != 1 ||
      isa<tensor::DimOp, tensor::RankOp, tensor::BitcastOp>(op))
    return {};
  MovedValues moved;
  for (OpOperand &operand : op->getOpOperands())
    if (takesElements(op, operand))
      moved.from.push_back(&operand);
  // A pad yields a scalar, as a generation does.
  for (Region &region : op->getRegions())
    moved.from.push_back(&region.front().getTerminator()->getOpOperand(0));
  moved.to.push_back(op->getResult(0));
  return {moved};
}

SmallVector<MovedValues> fusion::getMovedValues(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return getMovedByGeneric(generic);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return getMovedByFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return getMovedByWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return getMovedByIf(branch);
  if (op->getName().getDialectNamespace() == "tensor")
    return getMovedByTensorOp(op);
  return {};
}

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

bool BoundedValues::mark(Value value) {
  return hasIntegers(value.getType()) && integers.insert(value).second;
}

/// Calls and returns: arguments and results of functions of the module.
bool BoundedValues::updateCalls(Operation *op) {
  bool changed = false;
  if (isa<func::ReturnOp>(op)) {
    for (OpOperand &operand : op->getOpOperands())
      if (integers.contains(operand.get()))
        changed |= functionResults
                       .insert({op->getParentOp(), operand.getOperandNumber()})
                       .second;
    return changed;
  }
  auto call = cast<func::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee)
    return false;
  // A function that is evaluated elsewhere computes.
  if (callee.isExternal()) {
    if (llvm::any_of(call.getOperands(),
                     [&](Value operand) { return isBounded(operand); }))
      for (Value result : call.getResults())
        changed |= mark(result);
    return changed;
  }
  for (auto [argument, operand] :
       llvm::zip(callee.getArguments(), call.getOperands()))
    if (isBounded(operand))
      changed |= mark(argument);
  for (auto [i, result] : llvm::enumerate(call.getResults()))
    if (isBounded(callee, i))
      changed |= mark(result);
  return changed;
}

bool BoundedValues::update(Operation *op) {
  if (isa<func::ReturnOp, func::CallOp>(op))
    return updateCalls(op);
  bool changed = false;
  for (const MovedValues &moved : getMovedValues(op)) {
    bool any = llvm::any_of(moved.from,
                            [&](OpOperand *x) { return isBounded(x->get()); });
    any |= llvm::any_of(moved.to, [&](Value x) { return isBounded(x); });
    for (Value value : moved.to)
      if (any)
        changed |= mark(value);
  }
  // An extraction at an open place, and whatever computes.
  bool computes = op->getNumRegions() == 0 &&
                  (isa<tensor::ExtractOp>(op) ||
                   op->getName().getDialectNamespace() != "tensor");
  auto isBoundedValue = [&](Value value) { return isBounded(value); };
  bool isOpen =
      isa<tensor::ExtractOp>(op)
          ? llvm::any_of(op->getOperands().drop_front(), isBoundedValue)
          : llvm::any_of(op->getOperands(), isBoundedValue);
  if (computes && isOpen)
    for (Value result : op->getResults())
      changed |= mark(result);
  return changed;
}

BoundedValues::BoundedValues(ModuleOp module) {
  bool changed = true;
  while (changed) {
    changed = false;
    module.walk([&](Operation *op) { changed |= update(op); });
  }
}
