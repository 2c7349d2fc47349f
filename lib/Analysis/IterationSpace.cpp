//===- IterationSpace.cpp - The iteration dimensions of a kernel ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the iteration dimensions of a kernel's region: sizes and
// kinds of what the nodes of its graph walk together.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/IterationSpace.h"

#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

/// Sizes of the loops of `op`, from the operands that they index; fails where
/// no map names a loop directly, which has no size of its own then.
static FailureOr<SmallVector<AffineExpr>>
getLoopExtents(linalg::LinalgOp op, SymbolicShapes &shapes) {
  SmallVector<AffineExpr> extents(op.getNumLoops());
  for (auto [map, operand] :
       llvm::zip(op.getIndexingMapsArray(), op->getOperands())) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(operand);
    if (failed(shape))
      return failure();
    for (auto [size, expr] : llvm::zip(*shape, map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
        // Prefer a static size where operands spell it differently.
        AffineExpr &extent = extents[loop.getPosition()];
        if (!extent || isa<AffineConstantExpr>(size))
          extent = size;
      }
  }
  if (llvm::is_contained(extents, AffineExpr()))
    return failure();
  return extents;
}

/// Sizes of the loops of `node`.
static FailureOr<SmallVector<AffineExpr>>
getLoopExtents(const GraphNode &node, SymbolicShapes &shapes) {
  if (auto op = dyn_cast<linalg::LinalgOp>(node.op))
    return getLoopExtents(op, shapes);
  if (node.inPlace)
    return shapes.getShape(cast<tensor::InsertSliceOp>(node.op).getSource());
  return shapes.getShape(node.op->getResult(0));
}

IterationSpace::IterationSpace(ComputeGraph all) : graph(std::move(all)) {
  unsigned numNodes = graph.getNodes().size();
  numbers =
      IterationDims::get(graph, llvm::to_vector(llvm::seq<unsigned>(numNodes)),
                         graph.getResults());
  dims.resize(numbers.getExtents().size());
  for (auto [id, node] : llvm::enumerate(graph.getNodes())) {
    nodes[node.op] = id;
    if (node.inPlace)
      slices[cast<tensor::InsertSliceOp>(node.op).getSource()] = id;
  }
  for (auto [id, value] : llvm::enumerate(graph.getValues()))
    values[value.ssa] = id;
}

void IterationSpace::setKinds() {
  for (auto [id, node] : llvm::enumerate(graph.getNodes()))
    for (auto [loop, number] : llvm::enumerate(numbers.getLoops(id))) {
      IterationDim &dim = dims[number];
      dim.reduction |= node.reduced[loop];
      dim.scan |= static_cast<int>(loop) == node.scanned;
      if (static_cast<int>(loop) == node.granuleLoop)
        dim.granule = std::max(dim.granule, node.granule);
    }
  for (unsigned result : graph.getResults()) {
    Value stored = KernelOp::getStored(graph.getValue(result).ssa);
    int64_t rank = cast<RankedTensorType>(stored.getType()).getRank();
    for (int64_t i = 0; i < rank; ++i)
      dims[getDimOfTensor(stored, i)].root = true;
  }
}

LogicalResult IterationSpace::setExtents(SymbolicShapes &shapes) {
  auto note = [&](unsigned dim, AffineExpr size) {
    // Prefer a static size where tensors spell it differently.
    AffineExpr &extent = dims[dim].extent;
    if (!extent || isa<AffineConstantExpr>(size))
      extent = size;
  };
  auto noteValue = [&](const GraphValue &value) -> LogicalResult {
    FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(value.ssa);
    if (failed(shape))
      return failure();
    for (auto [i, size] : llvm::enumerate(*shape))
      if (std::optional<unsigned> dim = findDimOfTensor(value.ssa, i);
          dim && getGranule(value.ssa, i) == 1)
        note(*dim, size);
    return success();
  };
  for (unsigned result : graph.getResults())
    if (failed(noteValue(graph.getValue(result))))
      return failure();
  for (auto [id, node] : llvm::enumerate(graph.getNodes())) {
    FailureOr<SmallVector<AffineExpr>> extents = getLoopExtents(node, shapes);
    if (failed(extents))
      return failure();
    for (auto [dim, size] : llvm::zip_equal(numbers.getLoops(id), *extents))
      note(dim, size);
  }
  for (const GraphValue &value : graph.getValues())
    if (failed(noteValue(value)))
      return failure();
  return success();
}

std::optional<unsigned> IterationSpace::findDimOfTensor(Value tensor,
                                                        unsigned dim) const {
  if (auto slice = slices.find(tensor); slice != slices.end())
    return numbers.getLoops(slice->second)[dim];
  auto known = values.find(tensor);
  if (known == values.end())
    return std::nullopt;
  return numbers.findDimOfTensor(known->second, dim);
}

int64_t IterationSpace::getGranule(Value tensor, unsigned dim) const {
  auto known = values.find(tensor);
  if (known == values.end())
    return 1;
  int producer = graph.getValue(known->second).producer;
  if (producer < 0)
    return 1;
  const GraphNode &node = graph.getNode(producer);
  for (const TensorWrite &write : node.writes)
    if (write.value == known->second && node.granuleLoop >= 0 &&
        write.loops[dim] == node.granuleLoop)
      return node.granule;
  return 1;
}

FailureOr<IterationSpace> IterationSpace::get(Region &body,
                                              SymbolicShapes &shapes,
                                              const GraphOptions &options) {
  FailureOr<ComputeGraph> graph = ComputeGraph::build(body.front(), options);
  if (failed(graph))
    return failure();
  IterationSpace space(std::move(*graph));
  space.setKinds();
  if (failed(space.setExtents(shapes)))
    return failure();
  return space;
}
