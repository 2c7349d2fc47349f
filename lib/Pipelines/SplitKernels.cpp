//===- SplitKernels.cpp - One gpu.module for each kernel ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that gives every kernel a gpu.module.
//
//===----------------------------------------------------------------------===//

#include "fusion/Pipelines/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_SPLITKERNELSPASS
#include "fusion/Pipelines/Passes.h.inc"
} // namespace mlir::fusion

#define DEBUG_TYPE "fusion-ptx-split-kernels"

using namespace mlir;
using namespace mlir::fusion;

/// The symbols of `table` that `op` uses, and those that these use, in the
/// order of the module.
static SmallVector<Operation *>
getUsedSymbols(Operation *op, gpu::GPUModuleOp from, SymbolTable &table) {
  llvm::SetVector<Operation *> used;
  SmallVector<Operation *> worklist{op};
  while (!worklist.empty()) {
    Operation *user = worklist.pop_back_val();
    std::optional<SymbolTable::UseRange> uses =
        SymbolTable::getSymbolUses(user);
    if (!uses)
      continue;
    for (SymbolTable::SymbolUse use : *uses) {
      Operation *symbol = table.lookup(use.getSymbolRef().getRootReference());
      if (symbol && symbol != op && used.insert(symbol))
        worklist.push_back(symbol);
    }
  }
  SmallVector<Operation *> ordered;
  for (Operation &candidate : *from.getBody())
    if (used.contains(&candidate))
      ordered.push_back(&candidate);
  return ordered;
}

/// Moves every kernel of `module` into a module of its own, in front of it.
static void split(gpu::GPUModuleOp module, SymbolTable &names) {
  OpBuilder builder(module);
  SymbolTable table(module);
  for (auto func :
       llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>())) {
    if (func.isExternal() || !func->hasAttr("nvvm.kernel"))
      continue;
    builder.setInsertionPoint(module);
    auto own = gpu::GPUModuleOp::create(builder, func.getLoc(), func.getName());
    names.insert(own);
    builder.setInsertionPointToStart(own.getBody());
    for (Operation *symbol : getUsedSymbols(func, module, table))
      builder.clone(*symbol);
    func->moveBefore(own.getBody(), own.getBody()->end());
  }
  names.erase(module);
}

namespace {
class SplitKernelsPass
    : public fusion::impl::SplitKernelsPassBase<SplitKernelsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SymbolTable names(getOperation());
    for (auto module :
         llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
      split(module, names);
  }
};
} // namespace
