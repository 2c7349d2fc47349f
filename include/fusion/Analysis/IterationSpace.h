//===- IterationSpace.h - The iteration dimensions of a kernel -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the analysis that finds the iteration dimensions that the
// operations of a kernel share.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_ITERATIONSPACE_H
#define FUSION_ANALYSIS_ITERATIONSPACE_H

#include "fusion/Analysis/SymbolicShapes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
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
  /// Elements of a contraction's result that are exchanged among each other:
  /// tiles along the dimension hold whole spans.
  int64_t span = 1;

  /// The static size, or nothing.
  std::optional<int64_t> getStaticExtent() const {
    if (auto constant = dyn_cast<AffineConstantExpr>(extent))
      return constant.getValue();
    return std::nullopt;
  }
};

/// The iteration dimensions of one kernel body.
///
/// The loops of the body's operations and the dimensions of its tensors are
/// unified wherever an indexing map names a loop directly, so that, for
/// example, the columns of a softmax are one dimension in its four operations.
/// Two loops of one operation, or two dimensions of one tensor, never share an
/// iteration dimension: x + transpose(x) keeps two, related only by maps.
///
/// Numbering is deterministic: the dimensions of the primary result (the one of
/// largest rank, then of largest static size, then the first) in order, those
/// of the other results, then the rest in order of appearance.
class IterationSpace {
public:
  /// Analyses `body`, the region of a kernel. Fails, without a diagnostic, when
  /// a size depends on data.
  static FailureOr<IterationSpace> get(Region &body, SymbolicShapes &shapes);

  ArrayRef<IterationDim> getDims() const { return dims; }
  unsigned getNumDims() const { return dims.size(); }

  /// The iteration dimension of loop `loop` of a structured operation.
  unsigned getDimOfLoop(Operation *op, unsigned loop) const {
    return loops.lookup({op, loop});
  }

  /// The iteration dimension of dimension `dim` of `tensor`, which is no empty
  /// or filled tensor.
  unsigned getDimOfTensor(Value tensor, unsigned dim) const {
    return findDimOfTensor(tensor, dim).value();
  }
  /// The same; nullopt where `tensor` is empty or filled: such a tensor may
  /// serve operations that have nothing else in common.
  std::optional<unsigned> findDimOfTensor(Value tensor, unsigned dim) const {
    auto known = tensors.find({tensor, dim});
    if (known == tensors.end())
      return std::nullopt;
    return known->second;
  }

  /// How many elements of the iteration dimension one element along dimension
  /// `dim` of `tensor` stands for: more than 1 in results of reductions in
  /// granules.
  int64_t getGranule(Value tensor, unsigned dim) const {
    auto known = granules.find({tensor, dim});
    return known == granules.end() ? 1 : known->second;
  }

  /// Number of the primary result.
  unsigned getPrimaryResult() const { return primary; }

private:
  class Builder;

  /// Sets the spans of what `op` reads of values that the kernel computes.
  void addExchanges(linalg::LinalgOp op);

  SmallVector<IterationDim> dims;
  DenseMap<std::pair<Operation *, unsigned>, unsigned> loops;
  DenseMap<std::pair<Value, unsigned>, unsigned> tensors;
  DenseMap<std::pair<Value, unsigned>, int64_t> granules;
  unsigned primary = 0;
};

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_ITERATIONSPACE_H
