//===- GroupShapes.h - Kernels that are alike -------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how planning tells kernels that are alike, as those of the
// layers of a network are, so that it prices one of them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_FUSIONPLANNING_GROUPSHAPES_H
#define FUSION_LIB_FUSIONPLANNING_GROUPSHAPES_H

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/OpKeys.h"
#include "llvm/ADT/DenseMap.h"
#include <atomic>
#include <memory>
#include <mutex>

namespace mlir::fusion::planning {

/// What sets of nodes compute, but for where the tensors come from: equal for
/// two sets exactly if the operations are the same, one by one, on the same
/// tensors of their own, of which the same are stored. Several threads may ask
/// at once.
class GroupShapes {
public:
  using Shape = OpKey;
  /// Numbers of keys of operations.
  struct Classes {
    OpKeyMemory<unsigned> numbers;
    std::atomic<unsigned> next = 0;
  };

  /// Shapes of graphs with the same `classes` can be compared.
  GroupShapes(const ComputeGraph &graph, Classes &classes)
      : graph(graph), classes(classes) {}

  /// The shape of `nodes`, ascending, that store `stored`; nothing where a size
  /// is dynamic: those of two tensors may be one, or not.
  std::optional<Shape> get(ArrayRef<unsigned> nodes, ArrayRef<unsigned> stored);

private:
  class Builder;

  struct OpFacts {
    /// The number of the operation's key; nothing with dynamic sizes.
    std::optional<unsigned> number;
    /// Its operands, then what its regions take from outside.
    SmallVector<Value> reads;
  };
  const OpFacts &getFacts(Operation *op);

  const ComputeGraph &graph;
  Classes &classes;
  std::mutex mutex;
  llvm::DenseMap<Operation *, std::unique_ptr<OpFacts>> known;
};

} // namespace mlir::fusion::planning

#endif // FUSION_LIB_FUSIONPLANNING_GROUPSHAPES_H
