//===- BeginByBlocks.h - Reductions past rows beside those of rows *- C++ -*-=//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the splitting of reductions past rows that begin in the
// kernel of a reduction along the rows.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_BEGINBYBLOCKS_H
#define FUSION_FUSIONPLANNING_BEGINBYBLOCKS_H

#include "fusion/FusionPlanning/PricedRewrites.h"
#include "fusion/FusionPlanning/SplitReductions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fusion {

/// Reductions past rows, which have the same loops and are computed from one
/// tensor, element by element, as a reduction along the rows is.
struct BlockReductions {
  /// Each is split along the same loop, in granules of the same size.
  SmallVector<SplittableReduction> parts;
  /// The reduction along the rows.
  linalg::LinalgOp along;
  /// Why they must not be split.
  std::optional<ReasonCode> forbidden;
};

/// All of the function, on `target`.
std::vector<BlockReductions> findBlockReductions(FunctionOpInterface func,
                                                 const TargetInfo &target);

/// The split of all such reductions, whose first parts then share the kernel of
/// the reduction along the rows.
PricedRewrite getBlockRewrite(const TargetInfo &target);

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_BEGINBYBLOCKS_H
