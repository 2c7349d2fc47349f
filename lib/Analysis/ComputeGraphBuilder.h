//===- ComputeGraphBuilder.h - Construction of compute graphs ---*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the construction of a graph from the tensor ops of a block.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_ANALYSIS_COMPUTEGRAPHBUILDER_H
#define FUSION_LIB_ANALYSIS_COMPUTEGRAPHBUILDER_H

#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/SymbolicShapes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <optional>
#include <set>

namespace mlir::fusion {

class ComputeGraphBuilder {
public:
  ComputeGraphBuilder(Block &block, const GraphOptions &options)
      : block(block), options(options) {
    graph.context = block.getParentOp()->getContext();
  }

  FailureOr<ComputeGraph> build();

private:
  static FunctionOpInterface findFunction(Operation *op) {
    auto func = dyn_cast<FunctionOpInterface>(op);
    return func ? func : op->getParentOfType<FunctionOpInterface>();
  }
  LogicalResult checkOps();
  void visitFrom(Value root);
  /// Sets which nodes have to run before which, beyond who reads what.
  void addOrder();
  /// Adds to `earlier` the nodes that make the memory that `node` reads or
  /// writes slices of.
  void addMemoryOrder(unsigned node, std::set<unsigned> &earlier);
  void addNode(Operation *op);

  void addLinalgOp(GraphNode &node, linalg::LinalgOp op);
  void addFill(GraphNode &node, Value result);
  void addPad(GraphNode &node, tensor::PadOp op);
  void addConcat(GraphNode &node, tensor::ConcatOp op);
  void addExtractSlice(GraphNode &node, tensor::ExtractSliceOp op);
  void addInsertSlice(GraphNode &node, tensor::InsertSliceOp op);
  void addInsertInPlace(GraphNode &node, tensor::InsertSliceOp op);
  void addScan(GraphNode &node, Operation *op);
  void addCaptures(GraphNode &node, Operation *op);
  void addScalarReads(GraphNode &node, Value scalar);
  /// `parts` as in TensorRead.
  void addRead(GraphNode &node, Value tensor, ArrayRef<AffineExpr> coords,
               ArrayRef<unsigned> parts = {});
  void addWrite(GraphNode &node, Value tensor, ArrayRef<int> loops);
  /// Loops of `sizes`, which may be dynamic.
  void setLoops(GraphNode &node, ArrayRef<int64_t> sizes);
  void setResultLoops(GraphNode &node, Value result);

  /// The coordinate that an index inside the body of `op` has.
  AffineExpr getIndexCoord(linalg::LinalgOp op, Value index);
  /// A coordinate that only the run knows and that depends on `loops`.
  AffineExpr getUnknownCoord(ArrayRef<unsigned> loops);
  AffineExpr getOffset(OpFoldResult offset);

  /// Those of the function, which take a walk through all of it to find: each
  /// of its kernels has a graph.
  SymbolicShapes &getShapes() {
    if (!shapes)
      shapes.emplace(findFunction(block.getParentOp()));
    return *shapes;
  }

  unsigned getOrAddValue(Value value);
  void addViewCoords(GraphValue &view, Operation *op);
  void addPackedCoords(GraphValue &view, bool isOfBytes);
  SmallVector<int64_t> getSizes(RankedTensorType type) const;
  int64_t getSize(int64_t size) const {
    if (!ShapedType::isDynamic(size))
      return size;
    return std::max<int64_t>(options.representativeSize, 2);
  }
  AffineExpr dim(unsigned position) const {
    return getAffineDimExpr(position, graph.context);
  }
  AffineExpr constant(int64_t value) const {
    return getAffineConstantExpr(value, graph.context);
  }

  Block &block;
  GraphOptions options;
  std::optional<SymbolicShapes> shapes;
  ComputeGraph graph;
  DenseMap<Value, unsigned> valueIds;
  llvm::DenseSet<Operation *> visited;
  unsigned nextSymbol = 0;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_ANALYSIS_COMPUTEGRAPHBUILDER_H
