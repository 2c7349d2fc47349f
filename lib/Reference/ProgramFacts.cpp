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

/// Looks at `op` and everything inside it, through calls.
static bool containsIntegerFromFloat(Operation *op,
                                     SmallPtrSetImpl<Operation *> &visited) {
  WalkResult walk = op->walk([&](Operation *inner) {
    if (makesIntegerFromFloat(inner))
      return WalkResult::interrupt();
    if (auto call = dyn_cast<func::CallOp>(inner)) {
      Operation *callee =
          SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr());
      if (callee && visited.insert(callee).second &&
          containsIntegerFromFloat(callee, visited))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return walk.wasInterrupted();
}

static bool derivesFromFloat(Value result) {
  SmallPtrSet<Operation *, 8> visitedCallees;
  llvm::SetVector<Operation *> slice;
  auto add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      op = cast<BlockArgument>(value).getOwner()->getParentOp();
    if (op && !isa<func::FuncOp>(op))
      slice.insert(op);
  };
  add(result);
  for (size_t i = 0; i < slice.size(); ++i) {
    Operation *op = slice[i];
    if (containsIntegerFromFloat(op, visitedCallees))
      return true;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        add(operand);
    });
  }
  return false;
}

std::vector<bool> fusion::findFloatDerivedResults(func::FuncOp function) {
  std::vector<bool> derived(function.getNumResults(), false);
  function.walk([&](func::ReturnOp op) {
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      derived[i] = derived[i] || derivesFromFloat(operand);
  });
  return derived;
}

/// Ops that give a float without computing a new one.
static bool isExact(Operation *op) {
  return isa<arith::ConstantOp, arith::ExtFOp, arith::SelectOp,
             arith::BitcastOp>(op) ||
         op->getName().getDialectNamespace() == "tensor" ||
         op->getNumRegions() != 0;
}

double fusion::findCoarsestEpsilon(ModuleOp module) {
  double epsilon = 0x1p-52;
  module.walk([&](Operation *op) {
    if (isExact(op))
      return;
    for (Type type : op->getResultTypes())
      if (auto floatType = dyn_cast<FloatType>(getElementTypeOrSelf(type)))
        epsilon = std::max(
            epsilon, std::ldexp(1.0, 1 - int(floatType.getFPMantissaWidth())));
  });
  return epsilon;
}
