//===- ProductProblem.h - Products as a problem of sizes --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how the products of a kernel become the problem that the
// model of tensor cores is asked about. Planning asks before there is a kernel,
// scheduling asks about the kernel: both say what they know in one form.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_PRODUCTPROBLEM_H
#define FUSION_ANALYSIS_PRODUCTPROBLEM_H

#include "fusion/Analysis/TensorCores.h"

namespace mlir::fusion {

/// A tensor that products or what is computed around them read or write.
struct ProductTensor {
  Value value;
  /// Its dimensions that have more than one element, in order.
  SmallVector<unsigned> dims;
  /// An element stands for several of the iteration space.
  bool byGranules = false;
};

/// What is known of products over the same loops and their surroundings.
struct ProductView {
  ArrayRef<Contraction> sums;
  ProductDims dims;
  /// Elements of each dimension, how many of them are reduced to one value, and
  /// how many are exchanged among each other.
  SmallVector<int64_t> extents, granules, spans;
  /// The dimensions in memory of the factors of the first sum.
  std::array<SmallVector<unsigned>, 2> factorDims;
  /// What is read, factors and repetitions included, and written.
  SmallVector<ProductTensor> reads, writes;
  /// Structured operations other than the products, as often as they are
  /// computed.
  SmallVector<linalg::LinalgOp> others;
  /// Reductions run along the columns, of which a tile has all.
  bool wholeRows = false;
};

MmaProblem describeProducts(const ProductView &view);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_PRODUCTPROBLEM_H
