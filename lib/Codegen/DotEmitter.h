//===- DotEmitter.h - Sums of products as dots ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the emission of sums of products of two factors as dots on
// tiles.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_DOTEMITTER_H
#define FUSION_LIB_CODEGEN_DOTEMITTER_H

#include "BodyEvaluator.h"
#include "Reduction.h"

namespace mlir::fusion {

/// A sum of products of two factors, each with an axis of its own.
struct DotForm {
  /// The factors, values of the body: rows and columns of the sum.
  std::array<Value, 2> factors;
  /// The element types to bring them to. No value changes on the way.
  std::array<Type, 2> elements;
  /// Axes of the rows and columns.
  SmallVector<unsigned> axes;
  /// The rows for which the products count; null for all.
  Value condition;
};

/// Emits sums of products as dots.
class DotEmitter {
public:
  explicit DotEmitter(TileEvaluator &evaluator)
      : evaluator(evaluator), builder(evaluator.getBuilder()),
        kernel(builder.getKernel()), axes(builder.getAxes()),
        loc(builder.getLoc()) {}

  /// The dot along axis `contracted` that `reduction` is, if any.
  std::optional<DotForm> match(const Reduction &reduction, unsigned contracted);
  FailureOr<Value> emit(BodyEvaluator &body, const DotForm &dot,
                        unsigned contracted, Value accumulator);
  /// What a sum along `contracted` starts from, instead of `init`: one sum for
  /// each of the warps that share the contracted dimension.
  Value splitAmongWarps(Value init, unsigned contracted);
  /// The sum, over `sumAxes`, of what these warps have.
  Value sumWarps(Value sum, ArrayRef<unsigned> sumAxes);

private:
  /// True when `tile` is zero wherever its coordinate along `axis` is past the
  /// end.
  bool isZeroPast(Tile tile, unsigned axis);
  /// The axes of what `factor` reads, in increasing order.
  SmallVector<unsigned> getFactorAxes(const BodyEvaluator &body, Value factor);

  TileEvaluator &evaluator;
  TileBuilder &builder;
  const ScheduledKernel &kernel;
  TileAxes &axes;
  Location loc;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_DOTEMITTER_H
