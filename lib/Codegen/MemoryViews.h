//===- MemoryViews.h - How tensors lie in memory ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the views of the tensors that a kernel reads and writes,
// and where in them a tile lies.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CODEGEN_MEMORYVIEWS_H
#define FUSION_LIB_CODEGEN_MEMORYVIEWS_H

#include "TileBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fusion {

/// The memory of a kernel's operands and results.
class MemoryViews {
public:
  /// How a tensor of the kernel is addressed: its view, in which dimensions
  /// that one axis runs through are one, and the coordinates there.
  struct Place {
    TypedValue<tile::ViewType> view;
    Coords coords;
    SmallVector<bool> checked;
  };

  explicit MemoryViews(TileBuilder &builder)
      : builder(builder), kernel(builder.getKernel()), axes(builder.getAxes()) {
  }

  /// Makes the views of the kernel's operands, and of its results, from the
  /// arguments of the program. The body cannot mention the kernel's results, by
  /// which those are found: one value yielded twice is written to both.
  LogicalResult create();
  /// The view of `tensor`, or the scalar that is passed for it; null for what
  /// is computed in the kernel.
  Value lookup(Value tensor) const { return views.lookup(tensor); }

  /// Where view `key` has what `tensor` has at `coords`.
  Place placeOf(Value key, Value tensor, ArrayRef<AffineExpr> coords);
  /// Where `insert`, at `offsets`, puts what its source has at `coords`, in the
  /// memory of view `key`, which has all of its result.
  FailureOr<Place> placeOfSlice(Value key, tensor::InsertSliceOp insert,
                                ArrayRef<AffineExpr> offsets,
                                ArrayRef<AffineExpr> coords);

private:
  LogicalResult create(Value tensor, Value base);
  /// Adds the coordinate of dimensions of `tensor` from `start` on, as many as
  /// count along one axis, to `place`, and their size to `sizes`; returns the
  /// dimension after them.
  unsigned addRun(unsigned start, ArrayRef<AffineExpr> coords,
                  ArrayRef<AffineExpr> shape, Place &place,
                  SmallVectorImpl<AffineExpr> &sizes);
  /// The memory of view `key`, row-major with other sizes.
  TypedValue<tile::ViewType> viewAs(Value key, ArrayRef<AffineExpr> sizes);

  TileBuilder &builder;
  const ScheduledKernel &kernel;
  TileAxes &axes;
  DenseMap<Value, Value> views;
  /// Views of other sizes, by key in `views` and sizes.
  std::map<std::pair<const void *, std::vector<const void *>>, Value>
      otherViews;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CODEGEN_MEMORYVIEWS_H
