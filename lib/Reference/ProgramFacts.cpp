//===- ProgramFacts.cpp - What rounding can do to a program ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for integers that derive from floats, for the
// coarsest rounding and for sums that tensor cores make.
//
//===----------------------------------------------------------------------===//

#include "ProgramFacts.h"

#include "fusion/Analysis/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
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

/// The error of the sums of `op` on tensor cores. They align the products of
/// one step with the largest term and cut off what lies below, always towards
/// zero, so that errors add up with the steps instead of cancelling: of 16-bit
/// factors and tf32 after every 8 terms or more, to f32; of 8-bit floats after
/// 32 terms, to 13 bits (docs/Emulator.md). A sum over an unknown size counts
/// as short.
static double getSumError(linalg::LinalgOp op) {
  auto dimOfLoop = [](unsigned loop) { return loop; };
  auto isOutside = [](Value tensor) { return isa<BlockArgument>(tensor); };
  std::optional<fusion::Contraction> sum =
      fusion::matchContraction(op, dimOfLoop, isOutside);
  if (!sum)
    return 0;
  double terms = 1;
  for (auto [kind, size] :
       llvm::zip(op.getIteratorTypesArray(), op.getStaticLoopRanges()))
    if (kind == utils::IteratorType::reduction && !ShapedType::isDynamic(size))
      terms *= static_cast<double>(size);
  auto type = dyn_cast<FloatType>(sum->operands[0].element);
  // Factors that are extended beforehand may be multiplied as they were.
  bool isExtended =
      llvm::any_of(sum->operands, [](const fusion::ContractionOperand &factor) {
        return factor.source && getElementTypeOrSelf(factor.source.getType())
                                        .getIntOrFloatBitWidth() < 32;
      });
  if (!type || type.getWidth() > 32 ||
      (type.isF32() && !sum->tf32 && !isExtended))
    return 0;
  if (type.getWidth() == 8)
    return terms / 32 * 0x1p-13;
  return std::max(terms, 64.0) / 8 * 0x1p-23;
}

std::vector<double> fusion::findSumErrors(func::FuncOp function) {
  std::vector<double> errors(function.getNumResults(), 0);
  walkReturned(function, [&](unsigned i, Value value) {
    llvm::SmallPtrSet<Operation *, 8> seen;
    double error = 0;
    walkSources(value, [&](Operation *op) {
      if (auto structured = dyn_cast<linalg::LinalgOp>(op);
          structured && seen.insert(op).second)
        error += getSumError(structured);
      return true;
    });
    errors[i] = std::max(errors[i], error);
  });
  return errors;
}
