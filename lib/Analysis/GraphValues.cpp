//===- GraphValues.cpp - The tensors of a compute graph -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the values of a graph: their sizes, where elements of
// views lie, and what nodes read and write of them.
//
//===----------------------------------------------------------------------===//

#include "ComputeGraphBuilder.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::fusion;

Value fusion::stripViews(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isViewOp(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static double getElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  return std::max(1.0, type.getIntOrFloatBitWidth() / 8.0);
}

unsigned ComputeGraphBuilder::getOrAddValue(Value value) {
  auto [it, inserted] = valueIds.try_emplace(value, graph.values.size());
  if (!inserted)
    return it->second;
  unsigned id = it->second;
  auto type = cast<RankedTensorType>(value.getType());
  graph.values.emplace_back();
  graph.values[id].ssa = value;
  graph.values[id].shape = getSizes(type);
  graph.values[id].elementBytes = getElementBytes(type.getElementType());
  if (Operation *op = value.getDefiningOp(); op && isViewOp(op)) {
    unsigned source = getOrAddValue(op->getOperand(0));
    graph.values[id].viewOf = source;
    addViewCoords(graph.values[id], op);
  }
  return id;
}

/// Sets where an element of the view `op` lies in what it is a view of.
void ComputeGraphBuilder::addViewCoords(GraphValue &view, Operation *op) {
  const GraphValue &source = graph.values[view.viewOf];
  if (isa<tensor::CastOp>(op)) {
    for (unsigned d = 0; d < view.shape.size(); ++d)
      view.viewCoords.push_back(dim(d));
    return;
  }
  if (isa<Int4BytesOp, Int4ElementsOp>(op)) {
    addPackedCoords(view, isa<Int4BytesOp>(op));
    return;
  }
  bool expand = isa<tensor::ExpandShapeOp>(op);
  auto groups =
      expand ? cast<tensor::ExpandShapeOp>(op).getReassociationIndices()
             : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
  ArrayRef<int64_t> wide = expand ? view.shape : source.shape;
  view.viewCoords.assign(source.shape.size(), constant(0));
  for (auto [narrowDim, group] : llvm::enumerate(groups)) {
    // Dimensions of size 1 have coordinate 0 and say nothing.
    SmallVector<int64_t> large;
    for (int64_t wideDim : group)
      if (wide[wideDim] != 1)
        large.push_back(wideDim);
    AffineExpr linear = constant(0);
    int64_t stride = 1;
    for (int64_t wideDim : llvm::reverse(large)) {
      if (expand) {
        linear = dim(wideDim) * stride + linear;
      } else {
        AffineExpr coord = dim(narrowDim);
        if (stride != 1)
          coord = coord.floorDiv(stride);
        if (wideDim != large.front())
          coord = coord % wide[wideDim];
        view.viewCoords[wideDim] = coord;
      }
      stride *= wide[wideDim];
    }
    if (expand)
      view.viewCoords[narrowDim] = linear;
  }
}

/// Sets where `view`, of bytes or of two elements a byte, lies in its source.
void ComputeGraphBuilder::addPackedCoords(GraphValue &view, bool isOfBytes) {
  const GraphValue &source = graph.values[view.viewOf];
  if (!isOfBytes) {
    AffineExpr linear = constant(0);
    for (auto [number, size] : llvm::enumerate(view.shape))
      linear = linear * size + dim(number);
    view.viewCoords.push_back(linear.floorDiv(2));
    return;
  }
  AffineExpr linear = dim(0) * 2;
  view.viewCoords.assign(source.shape.size(), constant(0));
  for (unsigned number = source.shape.size(); number-- > 0;) {
    view.viewCoords[number] =
        number == 0 ? linear : linear % source.shape[number];
    linear = linear.floorDiv(source.shape[number]);
  }
}

void ComputeGraphBuilder::addRead(GraphNode &node, Value tensor,
                                  ArrayRef<AffineExpr> coords,
                                  ArrayRef<unsigned> parts) {
  Value base = stripViews(tensor);
  if (Operation *op = base.getDefiningOp(); op && isFreeOp(op)) {
    // Every reader finds the groups of its rows.
    if (auto groups = dyn_cast<RowGroupsOp>(op)) {
      addRead(node, groups.getOffsets(), {getUnknownCoord({})});
      return;
    }
    // Its elements are one scalar, computed where they are used.
    if (!isa<tensor::EmptyOp>(op))
      addScalarReads(node,
                     op->getOperands().empty() ? Value() : op->getOperand(0));
    return;
  }
  node.reads.push_back({getOrAddValue(tensor), SmallVector<AffineExpr>(coords),
                        SmallVector<unsigned, 0>(parts)});
}

void ComputeGraphBuilder::addWrite(GraphNode &node, Value tensor,
                                   ArrayRef<int> loops) {
  node.writes.push_back({getOrAddValue(tensor), SmallVector<int>(loops)});
}

/// Reads of single elements that `scalar` is computed from.
void ComputeGraphBuilder::addScalarReads(GraphNode &node, Value scalar) {
  SmallVector<Value> worklist;
  llvm::DenseSet<Value> seen;
  if (scalar)
    worklist.push_back(scalar);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    // A dimension of a tensor does not read it.
    if (!op || op->getBlock() != &block || isa<tensor::DimOp>(op) ||
        !seen.insert(value).second)
      continue;
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      SmallVector<AffineExpr> coords;
      for (Value index : extract.getIndices()) {
        coords.push_back(getOffset(getAsOpFoldResult(index)));
        worklist.push_back(index);
      }
      addRead(node, extract.getTensor(), coords);
      continue;
    }
    llvm::append_range(worklist, op->getOperands());
  }
}

AffineExpr ComputeGraphBuilder::getUnknownCoord(ArrayRef<unsigned> loops) {
  AffineExpr coord = getAffineSymbolExpr(nextSymbol++, graph.context);
  for (unsigned loop : loops)
    coord = coord + dim(loop);
  return coord;
}

AffineExpr ComputeGraphBuilder::getOffset(OpFoldResult offset) {
  if (std::optional<int64_t> known = getConstantIntValue(offset))
    return constant(*known);
  return getUnknownCoord({});
}
