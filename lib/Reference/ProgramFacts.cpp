//===- ProgramFacts.cpp - What rounding can do to a program ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for integers that derive from floats and for
// the coarsest rounding.
//
//===----------------------------------------------------------------------===//

#include "ProgramFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;

static bool isFloat(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

/// True for comparisons of floats, conversions to integers, and ops of unknown
/// dialects with such types. An op with regions is judged by its regions: the
/// extraction of a shape from a tensor of floats is no such op.
static bool makesIntegerFromFloat(Operation *op) {
  if (op->getNumRegions() || isa<func::CallOp>(op))
    return false;
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "tensor" || dialect == "scf" || dialect == "linalg")
    return false;
  return llvm::any_of(op->getOperandTypes(), isFloat) &&
         llvm::any_of(op->getResultTypes(), [](Type type) {
           return getElementTypeOrSelf(type).isIntOrIndex();
         });
}

/// Ops that give a float without computing a new one.
static bool isExact(Operation *op) {
  return isa<arith::ConstantOp, arith::ExtFOp, arith::SelectOp,
             arith::BitcastOp, func::CallOp>(op) ||
         op->getName().getDialectNamespace() == "tensor" ||
         op->getNumRegions() != 0;
}

/// Calls `visit` on every op that `result` is computed from, with the ops in
/// regions and in called functions, until it returns false.
static void walkSources(Value result, function_ref<bool(Operation *)> visit) {
  llvm::SetVector<Operation *> sources;
  auto add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      op = cast<BlockArgument>(value).getOwner()->getParentOp();
    if (op && !isa<func::FuncOp>(op))
      sources.insert(op);
  };
  add(result);
  for (size_t i = 0; i < sources.size(); ++i) {
    WalkResult walk = sources[i]->walk([&](Operation *op) {
      if (!visit(op))
        return WalkResult::interrupt();
      for (Value operand : op->getOperands())
        add(operand);
      // A called function counts as a whole.
      if (auto call = dyn_cast<func::CallOp>(op))
        if (Operation *callee = SymbolTable::lookupNearestSymbolFrom(
                call, call.getCalleeAttr()))
          sources.insert(callee);
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return;
  }
}

/// Calls `visit` with the position of each returned value and the value.
static void walkReturned(func::FuncOp function,
                         function_ref<void(unsigned, Value)> visit) {
  function.walk([&](func::ReturnOp op) {
    for (OpOperand &operand : op->getOpOperands())
      visit(operand.getOperandNumber(), operand.get());
  });
}

std::vector<bool> fusion::findFloatDerivedResults(func::FuncOp function) {
  std::vector<bool> derived(function.getNumResults(), false);
  walkReturned(function, [&](unsigned i, Value value) {
    walkSources(value, [&](Operation *op) {
      derived[i] = derived[i] || makesIntegerFromFloat(op);
      return !derived[i];
    });
  });
  return derived;
}

std::vector<double> fusion::findCoarsestEpsilons(func::FuncOp function) {
  std::vector<double> epsilons(function.getNumResults(), 0x1p-52);
  walkReturned(function, [&](unsigned i, Value value) {
    walkSources(value, [&](Operation *op) {
      for (Type type :
           isExact(op) ? TypeRange() : TypeRange(op->getResultTypes()))
        if (auto floatType = dyn_cast<FloatType>(getElementTypeOrSelf(type)))
          epsilons[i] = std::max(
              epsilons[i],
              std::ldexp(1.0, 1 - int(floatType.getFPMantissaWidth())));
      return true;
    });
  });
  return epsilons;
}
