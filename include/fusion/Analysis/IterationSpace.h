//===- IterationSpace.h - The iteration dimensions of a kernel -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how the operations of a kernel see the iteration
// dimensions that they share.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_ITERATIONSPACE_H
#define FUSION_ANALYSIS_ITERATIONSPACE_H

#include "fusion/Analysis/IterationDims.h"
#include "fusion/Analysis/SymbolicShapes.h"
#include "mlir/IR/Region.h"
#include <optional>

namespace mlir::fusion {

/// One iteration dimension of a kernel.
struct IterationDim {
  /// Size, over the function's symbols.
  AffineExpr extent;
  /// Some operation of the kernel reduces along it.
  bool reduction = false;
  /// Some operation of the kernel scans along it.
  bool scan = false;
  /// It is a dimension of a result of the kernel.
  bool root = false;
  /// Elements that some operation reduces to one element of its result; tiles
  /// along the dimension hold whole granules.
  int64_t granule = 1;

  /// The static size, or nothing.
  std::optional<int64_t> getStaticExtent() const {
    if (auto constant = dyn_cast<AffineConstantExpr>(extent))
      return constant.getValue();
    return std::nullopt;
  }
};

/// The iteration dimensions of one kernel body, by its operations and tensors.
class IterationSpace {
public:
  /// Analyses `body`, the region of a kernel. Fails, without a diagnostic, when
  /// a size depends on data.
  static FailureOr<IterationSpace> get(Region &body, SymbolicShapes &shapes,
                                       const GraphOptions &options = {});

  /// The kernel's operations as a graph, whose nodes all have these dimensions.
  const ComputeGraph &getGraph() const { return graph; }

  ArrayRef<IterationDim> getDims() const { return dims; }
  unsigned getNumDims() const { return dims.size(); }

  /// The iteration dimension of loop `loop` of a structured operation.
  unsigned getDimOfLoop(Operation *op, unsigned loop) const {
    return numbers.getLoops(nodes.at(op))[loop];
  }

  /// The iteration dimension of dimension `dim` of `tensor`, which an operation
  /// computes or the kernel stores.
  unsigned getDimOfTensor(Value tensor, unsigned dim) const {
    return findDimOfTensor(tensor, dim).value();
  }
  /// The same of any tensor; nullopt where no loop walks it as it is.
  std::optional<unsigned> findDimOfTensor(Value tensor, unsigned dim) const;

  /// How many elements of the iteration dimension one element along dimension
  /// `dim` of `tensor` stands for: more than 1 in results of reductions in
  /// granules.
  int64_t getGranule(Value tensor, unsigned dim) const;

private:
  explicit IterationSpace(ComputeGraph graph);
  void setKinds();
  LogicalResult setExtents(SymbolicShapes &shapes);

  ComputeGraph graph;
  IterationDims numbers;
  SmallVector<IterationDim> dims;
  DenseMap<Operation *, unsigned> nodes;
  /// The nodes that write each value in place.
  DenseMap<Value, unsigned> slices;
  DenseMap<Value, unsigned> values;
};

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_ITERATIONSPACE_H
