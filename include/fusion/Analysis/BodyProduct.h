//===- BodyProduct.h - The products of a kernel body ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what pricing needs to know of a body's products: could
// warpgroups make them, and as which problem.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_BODYPRODUCT_H
#define FUSION_ANALYSIS_BODYPRODUCT_H

#include "fusion/Analysis/KernelBody.h"
#include "fusion/Analysis/MmaCost.h"
#include "fusion/Analysis/TensorCores.h"

namespace mlir::fusion {

/// The products of one body.
struct BodyProduct {
  /// What keeps warpgroups from making them.
  std::optional<TensorCoreObstacle> obstacle;
  /// Single warps can make them on tensor cores.
  bool byWarps = false;
  /// The share of the tensor cores' rate that they then reach.
  double warpShare = 1;
  /// The sums, all over the same loops or each along one of its own, and what
  /// they are tiled along; none where some have no such form.
  SmallVector<Contraction, 2> sums;
  ProductDims dims;
  /// Reductions run along the columns, of which a tile has all, or the blocks
  /// of a panel.
  bool wholeRows = false;
  /// Unset where neither warpgroups nor warps make them.
  MmaProblem problem;
  /// Dimensions that tiles have rows and columns of.
  DimMask rows = 0, columns = 0;
};

/// The products of `body`, which has a contraction and no problem, as planning
/// prices them.
BodyProduct getBodyProduct(const KernelBody &body, const TargetInfo &target);

/// The same of the products `ops` of a body that is a kernel.
BodyProduct getBodyProduct(const KernelBody &body,
                           ArrayRef<linalg::LinalgOp> ops, bool wholeRows,
                           const TargetInfo &target);

/// The products of a body without contractions, when all that it reduces are
/// products of a single row or column with a matrix.
std::optional<BodyProduct> getRowProduct(const KernelBody &body,
                                         const TargetInfo &target);

/// How tensor cores can make products.
struct ProductConfigs {
  /// By warpgroups, and by single warps that share the depth of few rows; the
  /// ones that are predicted to be fastest first.
  SmallVector<MmaConfig> groups, few;
  /// The first of `few` is faster than those of `groups`.
  bool fewFirst = false;
};

ProductConfigs getProductConfigs(const BodyProduct &product,
                                 const TargetInfo &target);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_BODYPRODUCT_H
