//===- KernelBody.h - What a set of nodes computes as a kernel --*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the analysis of a set of graph nodes as one kernel: its
// iteration dimensions, where each value is evaluated, what is read and stored.
// Legality and price are both read off it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_KERNELBODY_H
#define FUSION_ANALYSIS_KERNELBODY_H

#include "fusion/Analysis/ComputeGraph.h"
#include <optional>
#include <tuple>

namespace mlir::fusion {

/// A set of iteration dimensions, one bit each; those of size 1 are in no set,
/// empty ones are: who does not have them is not empty.
using DimMask = uint64_t;

/// The set of `dims`.
inline DimMask getDimMask(ArrayRef<unsigned> dims) {
  DimMask mask = 0;
  for (unsigned dim : dims)
    mask |= DimMask(1) << dim;
  return mask;
}

/// The part of an iteration dimension that something is wanted in alone: it is
/// joined to others along the dimension.
struct BodyPart {
  /// From `begin` to `end`; without a dimension, what was one lies apart in the
  /// only one.
  std::optional<unsigned> dim;
  int64_t begin, end;
  /// Its elements over those of the dimension.
  double share;

  bool operator==(const BodyPart &other) const {
    return std::tie(dim, begin, end, share) ==
           std::tie(other.dim, other.begin, other.end, other.share);
  }
};

/// Of the points of dimensions `mask`, the share in `parts`.
double getShare(ArrayRef<BodyPart> parts, DimMask mask);

/// One evaluation of a node: values of its loops as expressions of the kernel's
/// iteration dimensions. A node with several is recomputed.
struct BodyInstance {
  unsigned node = 0;
  SmallVector<AffineExpr> loops;
  /// The loops are iteration dimensions of their own, with nothing shifted,
  /// split or exchanged.
  bool natural = true;
  /// Iteration dimensions that all loops depend on, and that those of the
  /// result (not reduced) depend on.
  DimMask mask = 0;
  DimMask outerMask = 0;
  /// Instances that compute what this one reads, in order.
  SmallVector<unsigned> producers;
  /// The parts that it is wanted in, and those that it joins itself.
  SmallVector<BodyPart, 0> parts = {};
  SmallVector<BodyPart, 0> joined = {};
  /// Reductions on the longest path to this instance.
  unsigned level = 0;
  /// Bit s is set when the instance is needed in the s-th sweep over the
  /// reduced dimensions.
  uint64_t sweeps = 0;
};

/// A read of a tensor from outside the kernel.
struct BodyAccess {
  unsigned value = 0;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> coords;
  DimMask mask = 0;
  unsigned instance = 0;
  /// The parts that it is wanted in.
  SmallVector<BodyPart, 0> parts = {};
};

/// A tensor that the kernel stores.
struct BodyOutput {
  unsigned value = 0;
  /// Sizes of what the kernel writes: of an output that is written in place the
  /// slice's.
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> coords;
  DimMask mask = 0;
  unsigned instance = 0;
};

/// Why a set of nodes has no body that blocks can compute.
enum class BodyProblem {
  None,
  /// More than 64 iteration dimensions.
  TooManyDims,
  /// A node would be evaluated at too many different places.
  TooManyInstances,
  /// A reduction, contraction or scan is needed at coordinates that are not its
  /// own dimensions.
  ReductionCoordinates,
  /// What is written in place is read: the kernel has a slice of it only.
  ReadInPlace,
};

/// A set of nodes seen as one kernel.
class KernelBody {
public:
  /// Evaluations of one node beyond which the body is refused.
  static constexpr unsigned kMaxInstancesPerNode = 16;

  /// Analyses `nodes` (ascending) as a kernel that stores `stored`.
  static KernelBody get(const ComputeGraph &graph, ArrayRef<unsigned> nodes,
                        ArrayRef<unsigned> stored);

  /// All of `graph` as one kernel that stores what leaves it.
  static KernelBody getWhole(const ComputeGraph &graph);

  BodyProblem getProblem() const { return problem; }
  /// The node that has the problem.
  unsigned getProblemNode() const { return problemNode; }

  const ComputeGraph &getGraph() const { return *graph; }
  ArrayRef<unsigned> getNodes() const { return nodes; }
  /// Sizes to price with: of dynamic dimensions a representative, of empty ones
  /// 1.
  ArrayRef<double> getExtents() const { return extents; }
  /// The size of a dimension is known.
  bool isStatic(unsigned dim) const { return !dynamic[dim]; }
  ArrayRef<BodyInstance> getInstances() const { return instances; }
  ArrayRef<BodyAccess> getInputs() const { return inputs; }
  ArrayRef<BodyOutput> getOutputs() const { return outputs; }
  /// Distinct tensors read from outside.
  unsigned getNumInputTensors() const { return numInputTensors; }

  const GraphNode &getNode(const BodyInstance &instance) const {
    return graph->getNode(instance.node);
  }
  double getStoredElements(const BodyOutput &output) const;
  /// Dimensions that reductions or contractions of the body reduce, or that
  /// scans walk.
  DimMask getReducedMask() const { return reducedMask; }
  DimMask getReducedMask(const BodyInstance &instance) const {
    return instance.mask & ~instance.outerMask;
  }
  /// Number of points of the dimensions in `mask`.
  double getPoints(DimMask mask) const;
  /// Dimensions that `expr` depends on.
  DimMask getMask(AffineExpr expr) const;
  bool has(NodeKind kind) const;
  /// Elements of dimension `dim` of a contraction's result that are exchanged
  /// among each other: tiles along it hold whole spans. 1 for none.
  int64_t getSpan(unsigned dim) const { return spans[dim]; }
  bool exchangesProduct() const {
    return llvm::any_of(spans, [](int64_t span) { return span > 1; });
  }
  /// A reduction runs along a dimension that a contraction's result has.
  bool reducesProduct() const;
  /// Arithmetic is done at more points than the nodes have, or for each tile of
  /// a contraction's result. Zeros around the operands of one are no arithmetic
  /// where tensor copies bring them along (`copiesPad`).
  bool recomputes(bool copiesPad) const;

  /// The same computation with one dimension for those that lie side by side in
  /// memory, as kernels without products get it (CollapseDims.cpp): the last of
  /// them has all elements, the others one.
  KernelBody mergeDims() const;

  /// The same computation by one dimension for all of the result, whose
  /// elements it takes as they lie in memory, as FlattenResults.cpp writes it:
  /// what is read lies at quotients and remainders of it. None where something
  /// is reduced or moved along some of them, or there are several results.
  std::optional<KernelBody> flattenDims() const;
  /// It was made so: the loops of what is reduced are those of before.
  bool isFlat() const { return flat; }

private:
  friend class KernelBodyBuilder;
  friend class DimMerger;
  friend class DimFlattener;
  const ComputeGraph *graph = nullptr;
  BodyProblem problem = BodyProblem::None;
  unsigned problemNode = 0;
  SmallVector<unsigned> nodes;
  SmallVector<double> extents;
  SmallVector<bool> dynamic;
  /// Dimensions of size 1.
  DimMask units = 0;
  SmallVector<int64_t> spans;
  std::vector<BodyInstance> instances;
  std::vector<BodyAccess> inputs;
  std::vector<BodyOutput> outputs;
  unsigned numInputTensors = 0;
  DimMask reducedMask = 0;
  bool flat = false;
};

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_KERNELBODY_H
