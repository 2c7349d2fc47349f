//===- TileEmitter.cpp - Emits the tile program of a kernel ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the frame of a tile program: its arguments, the grid,
// and the stores of the kernel's results.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "RootEmitter.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::fusion;

TileEmitter::TileEmitter(KernelOp op, ScheduleAttr schedule,
                         const IterationSpace &space, SymbolicShapes &shapes,
                         OpBuilder &moduleBuilder)
    : kernel(op, schedule, space, shapes), builder(moduleBuilder, kernel),
      views(builder), groups(builder, views, grid), rowStarts(builder),
      panels(builder, rowStarts, grid), stream(builder, grid),
      walks(builder, rowStarts, panels),
      evaluator(builder, views, walks, groups, panels, stream, grid, steps) {}

/// Symbols of the function that the sizes of the kernel's tensors depend on.
static SmallVector<unsigned> usedSymbols(KernelOp kernel,
                                         SymbolicShapes &shapes,
                                         const IterationSpace &space) {
  llvm::SmallBitVector used(shapes.getSymbols().size());
  auto note = [&](AffineExpr expr) {
    expr.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        used.set(symbol.getPosition());
    });
  };
  auto noteShape = [&](Value value) {
    if (!isa<RankedTensorType>(value.getType()))
      return;
    FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(value);
    if (succeeded(shape))
      llvm::for_each(*shape, note);
  };
  auto noteIndex = [&](Value value) {
    if (!value.getType().isSignlessIntOrIndex() ||
        value.getDefiningOp<linalg::IndexOp>())
      return;
    FailureOr<AffineExpr> expr = shapes.getIndex(value);
    if (succeeded(expr))
      note(*expr);
  };
  for (const IterationDim &dim : space.getDims())
    note(dim.extent);
  // An index that the kernel is passed may be a size of a tensor that it is
  // not: slices take such.
  for (Value argument : kernel.getBlock().getArguments()) {
    noteShape(argument);
    noteIndex(argument);
  }
  kernel.getBlock().walk([&](Operation *op) {
    llvm::for_each(op->getResults(), noteShape);
    llvm::for_each(op->getResults(), noteIndex);
  });
  return SmallVector<unsigned>(used.set_bits());
}

/// Whether threads that wait for a barrier in shared memory are suspended.
static bool hasWaitingBarriers(KernelOp kernel) {
  FailureOr<TargetInfo> target = resolveTarget(kernel);
  return succeeded(target) && target->hasWaitingBarriers;
}

tile::ProgramOp TileEmitter::createProgram(StringRef name, int64_t indexBits) {
  KernelOp op = kernel.getOp();
  MLIRContext *context = builder.getContext();
  SmallVector<Type> argumentTypes;
  auto pointer = LLVM::LLVMPointerType::get(context, /*addressSpace=*/1);
  for (Type type : op.getInputs().getTypes())
    argumentTypes.push_back(isa<RankedTensorType>(type) ? Type(pointer) : type);
  argumentTypes.append(op.getNumResults(), pointer);
  argumentTypes.append(symbolArguments.size(), builder.getIndexType());

  auto program =
      tile::ProgramOp::create(builder, builder.getLoc(), name,
                              builder.getFunctionType(argumentTypes, {}),
                              kernel.getSchedule().getWarps(), indexBits);
  if (MmaAttr mma = kernel.getMma())
    program.setPipelineAttr(tile::PipelineAttr::get(
        context, mma.getKind(), mma.getStages(), mma.getColumns(),
        mma.getGroups(),
        mma.getKind() == MmaKind::MmaSync && hasWaitingBarriers(op),
        mma.getSkew()));
  return program;
}

FailureOr<tile::ProgramOp> TileEmitter::emit(StringRef name,
                                             int64_t indexBits) {
  KernelOp op = kernel.getOp();
  symbolArguments = usedSymbols(op, kernel.getShapes(), kernel.getSpace());
  tile::ProgramOp program = createProgram(name, indexBits);
  builder.enterProgram(program, symbolArguments,
                       op.getInputs().size() + op.getNumResults());
  if (failed(views.create()))
    return failure();
  GridBuilder gridBuilder(builder, grid, groups, rowStarts, panels, stream);
  RootEmitter roots(evaluator, views, walks, groups, panels, steps);
  if (failed(gridBuilder.build()) || failed(roots.emit()))
    return failure();
  if (stream.isUsed() && failed(stream.guardFinish()))
    return failure();
  for (unsigned depth = 0; depth < grid.depth; ++depth)
    walks.closeLoop({});
  builder.setInsertionPointToEnd(&program.getBody().front());
  if (failed(panels.close()))
    return failure();
  tile::ReturnOp::create(builder, builder.getLoc());
  return program;
}
