//===- ReductionContext.h - What reductions are emitted with ----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what the emission of reductions builds on.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_REDUCTIONCONTEXT_H
#define FUSION_LIB_CODEGEN_REDUCTIONCONTEXT_H

#include "StepStores.h"
#include "StreamEmitter.h"
#include "TileEvaluator.h"
#include "WalkBuilder.h"

namespace mlir::fusion {

class GroupedTiles;

/// What the emission of a reduction needs: who computes its operands, opens its
/// loops, and knows which blocks have parts of it.
struct ReductionContext {
  TileEvaluator &evaluator;
  WalkBuilder &walks;
  const GroupedTiles &groups;
  PanelEmitter &panels;
  StreamEmitter &stream;
  const Grid &grid;
  /// Known when the first result is asked for.
  const StepStores &steps;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_REDUCTIONCONTEXT_H
