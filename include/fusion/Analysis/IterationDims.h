//===- IterationDims.h - The dimensions that nodes walk together -*- C++ -*-==//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the iteration dimensions of a set of graph nodes: which of
// their loops are walked together, and in what order they are numbered.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_ITERATIONDIMS_H
#define FUSION_ANALYSIS_ITERATIONDIMS_H

#include "fusion/Analysis/ComputeGraph.h"
#include <optional>

namespace mlir::fusion {

/// The iteration dimensions of a set of nodes.
///
/// The loops of the nodes and the dimensions of the tensors between them are
/// unified wherever a coordinate is a loop, so that, for example, the columns
/// of a softmax are one dimension in its four operations. Two loops of one
/// node, or two dimensions of one tensor, never share an iteration dimension:
/// x + transpose(x) keeps two, related only by coordinates.
///
/// Numbering is deterministic: the dimensions of the primary result (the one of
/// largest rank, then of largest size, then the first) in order, those of the
/// other results, places of windows that are contracted, then those of the
/// nodes' loops in order. What no loop walks, such as the rows of a table that
/// elements are gathered from, has no number.
class IterationDims {
public:
  /// Those of `nodes` (ascending), which store `stored`.
  static IterationDims get(const ComputeGraph &graph, ArrayRef<unsigned> nodes,
                           ArrayRef<unsigned> stored);

  /// Sizes, of dynamic dimensions a representative.
  ArrayRef<int64_t> getExtents() const { return extents; }
  /// Whether only the run knows the size of each.
  ArrayRef<bool> getDynamic() const { return dynamic; }

  /// The iteration dimensions of the loops of the `index`-th of the nodes.
  ArrayRef<unsigned> getLoops(unsigned index) const { return loops[index]; }
  /// The iteration dimension along dimension `dim` of tensor `value`, if one
  /// is.
  std::optional<unsigned> findDimOfTensor(unsigned value, unsigned dim) const;

private:
  friend class IterationDimsBuilder;
  SmallVector<int64_t> extents;
  SmallVector<bool> dynamic;
  SmallVector<SmallVector<unsigned>> loops;
  /// By tensor and number of its dimension.
  DenseMap<std::pair<unsigned, unsigned>, unsigned> tensors;
};

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_ITERATIONDIMS_H
