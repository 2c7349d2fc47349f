//===- CountingWalk.h - Walks of what counts --------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares walks of those elements that a mask of data leaves in a
// block's tile of results.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_COUNTINGWALK_H
#define FUSION_LIB_CODEGEN_COUNTINGWALK_H

#include "Reduction.h"
#include "TileEvaluator.h"
#include "WalkBuilder.h"

namespace mlir::fusion {

/// The elements of a chunk of a walk that may count, listed in shared memory:
///
///   for chunk in walk:                      axis `chunk`
///     list = those of the chunk that may count, in order
///     for number in list: ...               axes of one element each
class CountingWalk {
public:
  /// In the body of the loop along axis `chunk`.
  CountingWalk(unsigned chunk, TileEvaluator &evaluator)
      : chunk(chunk), evaluator(evaluator), builder(evaluator.getBuilder()),
        axes(builder.getAxes()), loc(builder.getLoc()) {}

  /// Lists what may count in the reductions of `group`.
  LogicalResult list(ArrayRef<Reduction> group);

  /// Opens a loop from `begin` on over numbers of the list, at most `most` of
  /// them (all: 0), so many in a step; it carries `inits`.
  scf::ForOp openLoop(Value begin, int64_t most, int64_t step,
                      ValueRange inits);
  scf::ForOp openLoop(int64_t step, ValueRange inits) {
    return openLoop(builder.createIndex(0), /*most=*/0, step, inits);
  }
  void closeLoop(ValueRange yielded);

  /// An element of the list as an axis, to which the dimension of the walk is
  /// bound, and whether the list has it: null where it is known to. Of a number
  /// behind the last the axis is at the last.
  struct Element {
    unsigned axis;
    Value isListed;
  };
  /// `ahead` behind the number that `loop` is at.
  Element bind(scf::ForOp loop, int64_t ahead);

private:
  unsigned chunk;
  TileEvaluator &evaluator;
  TileBuilder &builder;
  TileAxes &axes;
  Location loc;
  /// The numbers, from the beginning of the chunk on, and how many there are.
  Value numbers, count;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_COUNTINGWALK_H
