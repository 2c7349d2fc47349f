//===- ExchangedReads.h - Reads at exchanged places -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the tiles of products at coordinates with bits flipped.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_EXCHANGEDREADS_H
#define FUSION_LIB_CODEGEN_EXCHANGEDREADS_H

#include "TileEvaluator.h"

namespace mlir::fusion {

/// Reads of what a kernel makes as a product, at exchanged places.
class ExchangedReads {
public:
  explicit ExchangedReads(TileEvaluator &evaluator);

  /// `tensor` at coordinates that are those of axes, some with bits flipped:
  /// its tile, with elements exchanged. None for other coordinates.
  FailureOr<std::optional<Tile>> evaluate(Value tensor,
                                          ArrayRef<AffineExpr> coords) const;

private:
  /// Tiles along `axis` begin and end with whole spans.
  bool holdsSpan(unsigned axis, int64_t span) const;

  TileEvaluator &evaluator;
  TileBuilder &builder;
  const ScheduledKernel &kernel;
  const TileAxes &axes;
  /// Operations that make products, and those that use what they give.
  llvm::SmallPtrSet<Operation *, 8> fromProducts;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_EXCHANGEDREADS_H
