//===- BufferKernels.cpp - Functions of kernels on memory -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the outlining of kernels that bufferization has put on
// memory. Each becomes a program of its own, a function of tensors with one
// kernel, and a call of a function of memrefs that is to launch it.
//
//===----------------------------------------------------------------------===//

#include "HostBody.h"
#include "fusion/Dialect/Fusion/FusionBufferOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::fusion;

/// The function of tensors, called `name`, that does what `op` does.
static func::FuncOp createTensorFunction(BufferKernelOp op, StringRef name) {
  Location loc = op.getLoc();
  Block &body = op.getBlock();
  auto yielded = cast<YieldOp>(body.getTerminator()).getValues();
  OpBuilder builder(op.getContext());
  auto func = func::FuncOp::create(
      loc, name,
      builder.getFunctionType(body.getArgumentTypes(), yielded.getTypes()));
  for (auto [index, value] : llvm::enumerate(yielded))
    if (std::optional<unsigned> argument = getOverwrittenArgument(value))
      func.setArgAttr(*argument, FusionDialect::kOverwrittenByAttrName,
                      builder.getI64IntegerAttr(index));
  builder.setInsertionPointToEnd(func.addEntryBlock());
  auto kernel = KernelOp::create(builder, loc, op.getKernelName(),
                                 yielded.getTypes(), func.getArguments());
  kernel.setScheduleAttr(op.getScheduleAttr());
  kernel.setEstimateAttr(op.getEstimateAttr());
  kernel.getBody().takeBody(op.getBody());
  func::ReturnOp::create(builder, loc, kernel.getResults());
  return func;
}

SmallVector<func::FuncOp> fusion::outlineBufferKernels(ModuleOp module,
                                                       ModuleOp program) {
  SmallVector<BufferKernelOp> kernels;
  module.walk([&](BufferKernelOp op) { kernels.push_back(op); });
  SymbolTable symbols(module);
  SmallVector<func::FuncOp> functions;
  for (BufferKernelOp op : kernels) {
    OpBuilder builder(op);
    auto type = builder.getFunctionType(op.getOperandTypes(), {});
    auto func = func::FuncOp::create(op.getLoc(), op.getKernelName(), type);
    func.setPrivate();
    // The table renames it where its name is taken.
    symbols.insert(func);
    functions.push_back(func);
    func::CallOp::create(builder, op.getLoc(), func, op.getOperands());
    program.push_back(createTensorFunction(op, func.getName()));
    op.erase();
  }
  return functions;
}
