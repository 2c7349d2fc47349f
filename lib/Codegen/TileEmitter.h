//===- TileEmitter.h - Emits the program of a kernel ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the emitter that turns the body of a scheduled kernel into
// a tile program. It works on demand: to store a tile of a result it computes
// that tile, and for that the tiles of its operands, at coordinates composed
// from the indexing maps on the way.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_TILEEMITTER_H
#define FUSION_LIB_CODEGEN_TILEEMITTER_H

#include "GridBuilder.h"
#include "KernelEvaluator.h"

namespace mlir::fusion {

/// Emits one tile program.
class TileEmitter {
public:
  TileEmitter(KernelOp op, ScheduleAttr schedule, const IterationSpace &space,
              SymbolicShapes &shapes, OpBuilder &moduleBuilder);

  /// Emits the program; diagnoses and fails when the body holds something that
  /// has no tile form.
  FailureOr<tile::ProgramOp> emit(StringRef name, int64_t indexBits);

  /// Blocks in the grid, over the function's symbols.
  AffineExpr getGridSize() const { return grid.size; }
  /// The shape symbols that are arguments of the program, in order.
  ArrayRef<unsigned> getSymbolArguments() const { return symbolArguments; }

private:
  /// Adds the program, which has no operations yet.
  tile::ProgramOp createProgram(StringRef name, int64_t indexBits);

  ScheduledKernel kernel;
  TileBuilder builder;
  Grid grid;
  MemoryViews views;
  GroupedTiles groups;
  RowStarts rowStarts;
  PanelEmitter panels;
  StreamEmitter stream;
  WalkBuilder walks;
  StepStores steps;
  KernelEvaluator evaluator;
  SmallVector<unsigned> symbolArguments;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_TILEEMITTER_H
