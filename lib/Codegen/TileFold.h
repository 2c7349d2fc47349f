//===- TileFold.h - What each thread has of a tile --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares reductions of a tile's elements within threads: of what is
// walked, each thread keeps one partial result instead of one for each of the
// elements that it has of a tile. docs/Rationale/Reductions.md says where that
// is worth it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_TILEFOLD_H
#define FUSION_LIB_CODEGEN_TILEFOLD_H

#include "TileBuilder.h"

namespace mlir::fusion {

/// Folds tiles along axes that are walked, by the layout that such tiles are
/// expected to get. In another layout the results are the same, but threads
/// exchange what they fold.
class TileFold {
public:
  /// Of tiles over `all`, sorted, of which the last, `walked`, are folded. Adds
  /// axes for what is left of these.
  TileFold(TileBuilder &builder, ArrayRef<unsigned> all,
           ArrayRef<unsigned> walked);

  /// Elements of a tile that become one.
  int64_t getFactor() const { return factor; }
  /// What takes the place of the walked axes.
  ArrayRef<unsigned> getFolded() const { return folded; }
  /// The axes of a tile over `all` when it is folded.
  ArrayRef<unsigned> getAxes() const { return axes; }

  /// Combines the elements of `tile`, over `all`, by the binary operation that
  /// `combine` builds of scalars.
  Value fold(Value tile,
             function_ref<Value(OpBuilder &, Value, Value)> combine) const;
  /// Gives each element of a tile over `all` what `tile`, a folded one, has for
  /// it.
  Value unfold(Value tile) const;

private:
  SmallVector<int64_t> getSizes(ArrayRef<unsigned> axes) const;
  Value reshape(Value tile, ArrayRef<int64_t> shape) const;

  /// A run of bits of a walked axis's coordinate: all in registers, or none.
  struct Segment {
    int64_t size;
    bool inThread;
  };

  TileBuilder &builder;
  SmallVector<unsigned> all, folded, axes;
  /// Of the dimensions of a tile over `all`, one after the other.
  SmallVector<Segment> segments;
  int64_t factor = 1;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_TILEFOLD_H
