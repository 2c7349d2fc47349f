//===- FunctionPasses.h - Passes of one function at a time ------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what passes share that work on one function at a time. Run
// on a function-like op, by a pass manager that is nested on the functions of
// somebody's choice, such a pass works on that function and changes nothing
// else. Run on a module it works on each of its functions, in order.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_FUNCTIONPASSES_H
#define FUSION_ANALYSIS_FUNCTIONPASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fusion {

/// Whether ops called `name` are functions, or modules that hold some.
inline bool holdsFunctions(RegisteredOperationName name) {
  return name.hasInterface<FunctionOpInterface>() ||
         name.getStringRef() == ModuleOp::getOperationName();
}

/// Calls `visit` with `root`, or with the functions right inside of it if it is
/// no function itself, in order; those without a body are left out. Ends at the
/// first for which `visit` fails, and fails with it.
inline LogicalResult
visitFunctions(Operation *root,
               function_ref<LogicalResult(FunctionOpInterface)> visit) {
  if (auto func = dyn_cast<FunctionOpInterface>(root))
    return func.isExternal() ? success() : visit(func);
  for (Region &region : root->getRegions())
    for (auto func : region.getOps<FunctionOpInterface>())
      if (!func.isExternal() && failed(visit(func)))
        return failure();
  return success();
}

/// The base of passes that work on one function at a time.
class FunctionWisePass : public OperationPass<> {
public:
  bool canScheduleOn(RegisteredOperationName name) const override {
    return holdsFunctions(name);
  }

protected:
  using OperationPass::OperationPass;
};

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_FUNCTIONPASSES_H
