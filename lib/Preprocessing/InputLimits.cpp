//===- InputLimits.cpp - How large programs may be ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the limits on programs. They are checked before calls
// are inlined: thirty functions that each call the one before twice are a
// billion ops.
//
//===----------------------------------------------------------------------===//

#include "fusion/Preprocessing/InputLimits.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Preprocessing/Passes.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_LIMITINPUTPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

#define DEBUG_TYPE "fusion-input-limit"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// Checks the functions of one module.
class LimitChecker {
public:
  explicit LimitChecker(ModuleOp module) : module(module), symbols(module) {}

  LogicalResult check();

private:
  /// True if `count` is at most `limit`; else an error was reported.
  bool isWithin(int64_t count, int64_t limit, Location loc, const Twine &what);
  bool checkType(Type type, Location loc, const Twine &what);
  bool checkOp(Operation *op);
  bool checkFunction(func::FuncOp function);
  /// Ops of `function` with calls inlined, at most kMaxProgramOps + 1. A call
  /// of itself counts once: it is refused later.
  int64_t countOps(func::FuncOp function);

  ModuleOp module;
  SymbolTable symbols;
  llvm::DenseMap<Operation *, int64_t> counts;
};
} // namespace

bool LimitChecker::isWithin(int64_t count, int64_t limit, Location loc,
                            const Twine &what) {
  if (count <= limit)
    return true;
  emitCodedError(loc, ErrorCode::InputTooLarge,
                 what + ", the limit is " + Twine(limit));
  return false;
}

bool LimitChecker::checkType(Type type, Location loc, const Twine &what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor ||
         isWithin(tensor.getRank(), kMaxTensorRank, loc,
                  what + " has " + Twine(tensor.getRank()) + " dimensions");
}

static int64_t countTensors(TypeRange types) {
  return llvm::count_if(types, llvm::IsaPred<ShapedType>);
}

bool LimitChecker::checkOp(Operation *op) {
  std::string name = ("'" + op->getName().getStringRef() + "'").str();
  for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
    if (!checkType(type, op->getLoc(),
                   "result #" + Twine(index) + " of " + name))
      return false;
  // A terminator gives what its parent does.
  if (!op->hasTrait<OpTrait::IsTerminator>()) {
    int64_t tensors = countTensors(op->getOperandTypes());
    if (!isWithin(tensors, kMaxTensorsOfOp, op->getLoc(),
                  name + " takes " + Twine(tensors) + " tensors"))
      return false;
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    if (!isWithin(linalgOp.getNumLoops(), kMaxOpLoops, op->getLoc(),
                  name + " has " + Twine(linalgOp.getNumLoops()) + " loops"))
      return false;
  // The body of a kernel is a program of its own.
  if (op->getNumRegions() == 0 || isa<func::FuncOp, KernelOp>(op))
    return true;
  int64_t body = -1; // without the op itself
  op->walk([&](Operation *) { ++body; });
  return isWithin(body, kMaxBodyOps, op->getLoc(),
                  "the body of " + name + " has " + Twine(body) + " ops");
}

int64_t LimitChecker::countOps(func::FuncOp function) {
  auto [entry, isNew] = counts.try_emplace(function, 1);
  if (!isNew)
    return entry->second;
  int64_t count = 0;
  function.walk([&](Operation *op) {
    ++count;
    auto call = dyn_cast<func::CallOp>(op);
    if (!call || count > kMaxProgramOps)
      return;
    if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
      count += countOps(callee);
  });
  count = std::min(count, kMaxProgramOps + 1);
  counts[function] = count;
  return count;
}

bool LimitChecker::checkFunction(func::FuncOp function) {
  Location loc = function.getLoc();
  std::string name = ("'" + function.getName() + "'").str();
  int64_t arguments = countTensors(function.getArgumentTypes());
  int64_t results = countTensors(function.getResultTypes());
  if (!isWithin(arguments + results, kMaxTensorsOfFunction, loc,
                name + " takes and gives " + Twine(arguments + results) +
                    " tensors"))
    return false;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (!checkType(type, loc, "argument #" + Twine(index) + " of " + name))
      return false;
  WalkResult walk = function.walk([&](Operation *op) {
    return checkOp(op) ? WalkResult::advance() : WalkResult::interrupt();
  });
  // The number of ops that nobody compiles has no limit.
  return !walk.wasInterrupted() &&
         (!function.isPublic() ||
          isWithin(countOps(function), kMaxFunctionOps, loc,
                   name + " has, with its calls inlined, more ops than the "
                          "compiler takes"));
}

LogicalResult LimitChecker::check() {
  bool fits = true;
  int64_t total = 0;
  for (auto function : module.getOps<func::FuncOp>()) {
    fits &= checkFunction(function);
    if (function.isPublic())
      total = std::min(total + countOps(function), kMaxProgramOps + 1);
  }
  if (fits)
    fits = isWithin(total, kMaxProgramOps, module.getLoc(),
                    "the program has, with all calls inlined, more ops than "
                    "the compiler takes");
  return success(fits);
}

LogicalResult fusion::checkInputLimits(ModuleOp module) {
  return LimitChecker(module).check();
}

namespace {
struct LimitInputPass
    : public fusion::impl::LimitInputPassBase<LimitInputPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(checkInputLimits(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
