//===- Window.h - Sliding windows -------------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what convolution and pooling share: attributes with their
// defaults filled in, sizes and padding.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_FUSION_WINDOW_H
#define FUSION_LIB_DIALECT_FUSION_WINDOW_H

#include "Decomposition.h"
#include "fusion/Dialect/Fusion/FusionOps.h"

namespace mlir::fusion {

/// A window that slides over the spatial dimensions of a tensor; one entry per
/// spatial dimension, two in the padding (lo, hi).
struct Window {
  SmallVector<int64_t> sizes;
  SmallVector<int64_t> strides;
  SmallVector<int64_t> padding;
  SmallVector<int64_t> dilations;

  int64_t getRank() const { return sizes.size(); }
  /// Elements from the first to the last that the window covers; dynamic when
  /// its size is.
  int64_t getSpan(int64_t dim) const;
  /// Output size for an input size; either may be dynamic. Negative when the
  /// window does not fit.
  int64_t getOutputSize(int64_t dim, int64_t input) const;
  /// Same, of a transposed convolution with this window.
  int64_t getTransposedSize(int64_t dim, int64_t input,
                            int64_t outputPadding) const;
};

/// Where the dimensions of [N, C, space...] and [N, space..., C] are.
struct SpatialDims {
  SpatialLayout layout;
  int64_t rank;

  int64_t getChannel() const {
    return layout == SpatialLayout::ChannelsFirst ? 1 : rank - 1;
  }
  int64_t getSpace(int64_t dim) const {
    return layout == SpatialLayout::ChannelsFirst ? dim + 2 : dim + 1;
  }
};

/// Fills in the defaults and checks lengths and signs. The messages name the
/// op; without a location nothing is printed.
FailureOr<Window> resolveWindow(std::optional<Location> location,
                                StringRef opName, ArrayRef<int64_t> sizes,
                                std::optional<ArrayRef<int64_t>> strides,
                                std::optional<ArrayRef<int64_t>> padding,
                                std::optional<ArrayRef<int64_t>> dilations);

/// The window of an op that is verified.
Window getWindowOf(ConvOp op);
Window getWindowOf(PoolOp op);

/// `input` with `low` and `high` elements of `value` around each spatial
/// dimension; the input itself when there are none.
Value padSpace(Decomposer &d, Value input, SpatialDims dims,
               ArrayRef<OpFoldResult> low, ArrayRef<OpFoldResult> high,
               TypedAttr value);

/// (input + lo + hi - span) / stride + 1 as an index value.
OpFoldResult computeOutputSize(Decomposer &d, const Window &window, int64_t dim,
                               OpFoldResult input, OpFoldResult windowSize);

} // namespace mlir::fusion

#endif // FUSION_LIB_DIALECT_FUSION_WINDOW_H
