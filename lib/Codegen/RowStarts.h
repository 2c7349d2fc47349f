//===- RowStarts.h - Where rows begin in memory -----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how far before a row its first tile begins.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_ROWSTARTS_H
#define FUSION_LIB_CODEGEN_ROWSTARTS_H

#include "TileBuilder.h"

namespace mlir::fusion {

/// Tiles along rows that begin at addresses which no access is aligned to.
class RowStarts {
public:
  explicit RowStarts(TileBuilder &builder)
      : builder(builder), kernel(builder.getKernel()), axes(builder.getAxes()),
        loc(builder.getLoc()) {}

  /// The most elements that tiles along `dim` begin before position 0.
  int64_t getMostLead(unsigned dim);
  /// How many elements that is for the present row; null where tiles along the
  /// axis begin at position 0 in all rows.
  Value getLead(const Axis &axis);
  /// Lets the tiles of the grid, and those that blocks hold, begin early.
  void leadTiles(unsigned gridDepth);

private:
  /// Where rows along a dimension begin in memory, modulo the elements that one
  /// instruction moves: the sum of positions times strides.
  struct RowStart {
    int64_t elements = 1;
    SmallVector<std::pair<unsigned, int64_t>> rows;
  };
  /// Where the rows of `tensor` along `dim` begin, unless all do at multiples
  /// of what one instruction moves.
  std::optional<RowStart> matchRowStart(Value tensor, unsigned dim) const;
  /// What decides where tiles along `dim` begin; null: position 0.
  const RowStart *getRowStart(unsigned dim);

  TileBuilder &builder;
  const ScheduledKernel &kernel;
  TileAxes &axes;
  Location loc;
  DenseMap<unsigned, std::optional<RowStart>> rowStarts;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_ROWSTARTS_H
