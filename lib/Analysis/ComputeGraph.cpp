//===- ComputeGraph.cpp - The ops of a function as a graph ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the construction of the graph from tensor ops.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ComputeGraph.h"
#include "ComputeGraphBuilder.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Dialect/Fusion/PairContracts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using namespace mlir::fusion;

StringRef mlir::fusion::stringifyNodeKind(NodeKind kind) {
  switch (kind) {
  case NodeKind::Pointwise:
    return "pointwise";
  case NodeKind::Reduction:
    return "reduction";
  case NodeKind::Contraction:
    return "contraction";
  case NodeKind::Scan:
    return "scan";
  }
  llvm_unreachable("not a kind");
}

double GraphNode::points() const {
  double product = 1;
  for (int64_t extent : extents)
    product *= static_cast<double>(extent);
  return product;
}

double GraphValue::elements() const {
  double product = 1;
  for (int64_t extent : shape)
    product *= static_cast<double>(extent);
  return product;
}

//===----------------------------------------------------------------------===//
// Classes of ops
//===----------------------------------------------------------------------===//

bool mlir::fusion::isViewOp(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
             Int4BytesOp, Int4ElementsOp>(op);
}

bool mlir::fusion::isSliceInPlace(Operation *op) {
  return isa<tensor::ExtractSliceOp>(op) &&
         op->hasAttr(FusionDialect::kInPlaceAttrName);
}

bool mlir::fusion::isComputeOp(Operation *op) {
  if (isa<linalg::FillOp>(op) || isSliceInPlace(op))
    return false;
  return isa<linalg::LinalgOp, tensor::PadOp, tensor::ConcatOp,
             tensor::ExtractSliceOp, tensor::InsertSliceOp>(op) ||
         op->getName().getStringRef() == "fusion.scan";
}

bool mlir::fusion::isFreeOp(Operation *op) {
  if (isa<linalg::FillOp, tensor::EmptyOp, tensor::DimOp, tensor::ExtractOp,
          tensor::SplatOp, RowGroupsOp, cf::AssertOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    return !isa<ShapedType>(constant.getType()) || (dense && dense.isSplat());
  }
  if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return false;
  // Arithmetic on scalars.
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  return op->getNumResults() > 0 &&
         llvm::all_of(op->getResultTypes(), isScalar) &&
         llvm::all_of(op->getOperandTypes(), isScalar);
}

bool mlir::fusion::hasContract(Operation *op) {
  return op->hasAttr(FusionDialect::kMustAttrName) ||
         op->hasAttr(FusionDialect::kNeverAttrName) ||
         op->hasAttr(kTogetherAttrName) || op->hasAttr(kApartAttrName);
}

SmallVector<AffineExpr> mlir::fusion::composeCoords(ArrayRef<AffineExpr> coords,
                                                    ArrayRef<AffineExpr> dims) {
  SmallVector<AffineExpr> result;
  result.reserve(coords.size());
  for (AffineExpr coord : coords) {
    if (auto dim = dyn_cast<AffineDimExpr>(coord))
      result.push_back(dims[dim.getPosition()]);
    else if (isa<AffineConstantExpr>(coord))
      result.push_back(coord);
    else
      result.push_back(coord.replaceDims(dims));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

/// Values that `op` and its regions read, in order, each once.
static SmallVector<Value> getAllOperands(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!region.isAncestor(operand.getParentRegion()))
          values.insert(operand);
    });
  return values.takeVector();
}

SmallVector<int64_t>
ComputeGraphBuilder::getSizes(RankedTensorType type) const {
  return llvm::map_to_vector(type.getShape(),
                             [&](int64_t size) { return getSize(size); });
}

LogicalResult ComputeGraphBuilder::checkOps() {
  for (Operation &op : block.without_terminator()) {
    if (isComputeOp(&op) || isFreeOp(&op) || isViewOp(&op) ||
        isSliceInPlace(&op) || op.hasTrait<OpTrait::ConstantLike>())
      continue;
    return op.emitOpError(
        "FUS-2002: is not an operation that planning knows; run the input "
        "phase first, which leaves linalg, tensor, arith, math, "
        "fusion.row_groups and fusion.scan operations only");
  }
  return success();
}

FailureOr<ComputeGraph> ComputeGraphBuilder::build() {
  if (failed(checkOps()))
    return failure();
  // Planning has put the operations of a kernel in its order.
  if (isa<KernelOp>(block.getParentOp()))
    for (Operation &op : block)
      if (isComputeOp(&op) && visited.insert(&op).second)
        addNode(&op);
  for (Value result : block.getTerminator()->getOperands())
    visitFrom(result);

  for (Value result : block.getTerminator()->getOperands()) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    graph.results.push_back(getOrAddValue(result));
    graph.values[graph.getBase(graph.results.back())].escapes = true;
  }
  unsigned numNodes = graph.nodes.size();
  graph.producers.resize(numNodes);
  graph.consumers.resize(numNodes);
  for (unsigned id = 0; id < numNodes; ++id) {
    llvm::SmallSetVector<unsigned, 4> sources;
    for (const TensorRead &read : graph.nodes[id].reads) {
      GraphValue &base = graph.values[graph.getBase(read.value)];
      if (base.readers.empty() || base.readers.back() != id)
        base.readers.push_back(id);
      if (base.producer >= 0)
        sources.insert(base.producer);
    }
    graph.producers[id].assign(sources.begin(), sources.end());
    llvm::sort(graph.producers[id]);
    for (unsigned source : graph.producers[id])
      graph.consumers[source].push_back(id);
  }
  addOrder();
  return std::move(graph);
}

/// The tensor whose memory `tensor`, a slice of it or a view of one, lies in.
static Value stripSlices(Value tensor) {
  Value base = stripViews(tensor);
  while (base.getDefiningOp() && isSliceInPlace(base.getDefiningOp()))
    base = stripViews(base.getDefiningOp()->getOperand(0));
  return base;
}

void ComputeGraphBuilder::addMemoryOrder(unsigned id,
                                         std::set<unsigned> &earlier) {
  auto need = [&](Value tensor) {
    auto known = valueIds.find(tensor);
    if (known == valueIds.end() || graph.values[known->second].producer < 0)
      return;
    GraphValue &memory = graph.values[known->second];
    memory.readers.insert(llvm::lower_bound(memory.readers, id), id);
    earlier.insert(memory.producer);
  };
  const GraphNode &node = graph.nodes[id];
  if (node.inPlace)
    need(stripViews(cast<tensor::InsertSliceOp>(node.op).getDest()));
  llvm::SmallSetVector<Value, 4> sliced;
  for (const TensorRead &read : node.reads) {
    Value base = stripViews(graph.values[read.value].ssa);
    if (Value memory = stripSlices(base); memory != base)
      sliced.insert(memory);
  }
  llvm::for_each(sliced, need);
}

void ComputeGraphBuilder::addOrder() {
  unsigned numNodes = graph.nodes.size();
  SmallVector<std::set<unsigned>> earlier(numNodes);
  std::map<std::pair<int64_t, int64_t>, SmallVector<unsigned>> parts;
  for (unsigned id = 0; id < numNodes; ++id) {
    addMemoryOrder(id, earlier[id]);
    const GraphNode &node = graph.nodes[id];
    if (node.divided >= 0)
      parts[{node.divided, node.part}].push_back(id);
  }
  for (const auto &[place, nodes] : parts)
    if (auto before = parts.find({place.first, place.second - 1});
        before != parts.end())
      for (unsigned id : nodes)
        earlier[id].insert(before->second.begin(), before->second.end());
  graph.earlier.resize(numNodes);
  graph.later.resize(numNodes);
  for (unsigned id = 0; id < numNodes; ++id) {
    graph.earlier[id].assign(earlier[id].begin(), earlier[id].end());
    for (unsigned other : earlier[id])
      graph.later[other].push_back(id);
  }
}

/// Visits, without recursion, everything that `root` is computed from, and
/// numbers nodes in the order in which they are left.
void ComputeGraphBuilder::visitFrom(Value root) {
  SmallVector<std::pair<Operation *, SmallVector<Value>>> stack;
  auto push = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &block || !visited.insert(op).second)
      return;
    SmallVector<Value> operands = getAllOperands(op);
    std::reverse(operands.begin(), operands.end());
    stack.emplace_back(op, std::move(operands));
  };
  push(root);
  while (!stack.empty()) {
    auto &[op, pending] = stack.back();
    if (!pending.empty()) {
      push(pending.pop_back_val());
      continue;
    }
    Operation *left = op;
    stack.pop_back();
    if (isComputeOp(left))
      addNode(left);
  }
  // A constant tensor is worth a kernel only where it leaves the function.
  Operation *base = stripViews(root).getDefiningOp();
  if (base && isa<linalg::FillOp, tensor::SplatOp, RowGroupsOp>(base) &&
      graph.values[getOrAddValue(base->getResult(0))].producer < 0)
    addNode(base);
}

void ComputeGraphBuilder::addNode(Operation *op) {
  GraphNode node;
  node.op = op;
  node.must = op->hasAttr(FusionDialect::kMustAttrName);
  node.never = op->hasAttr(FusionDialect::kNeverAttrName);
  node.repack = op->hasAttr(FusionDialect::kRepackAttrName);
  node.inPlace = op->hasAttr(FusionDialect::kInPlaceAttrName);
  if (auto part =
          op->getAttrOfType<DenseI64ArrayAttr>(FusionDialect::kPartAttrName)) {
    node.divided = part[0];
    node.part = part[1];
  }
  if (isa<linalg::FillOp, tensor::SplatOp, RowGroupsOp>(op))
    addFill(node, op->getResult(0));
  else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    addLinalgOp(node, linalgOp);
  else if (auto pad = dyn_cast<tensor::PadOp>(op))
    addPad(node, pad);
  else if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    addConcat(node, concat);
  else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    addExtractSlice(node, slice);
  else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    addInsertSlice(node, insert);
  else
    addScan(node, op);
  addCaptures(node, op);
  node.label = getOpLabel(op, node.kind);
  for (const TensorWrite &write : node.writes)
    graph.values[write.value].producer = graph.nodes.size();
  graph.nodes.push_back(std::move(node));
}

unsigned ComputeGraph::getBase(unsigned value) const {
  while (values[value].viewOf >= 0)
    value = values[value].viewOf;
  return value;
}

SmallVector<AffineExpr>
ComputeGraph::toBase(unsigned value, ArrayRef<AffineExpr> coords) const {
  SmallVector<AffineExpr> result(coords);
  for (; values[value].viewOf >= 0; value = values[value].viewOf)
    result = composeCoords(values[value].viewCoords, result);
  return result;
}

FailureOr<ComputeGraph> ComputeGraph::build(Block &block,
                                            const GraphOptions &options) {
  return ComputeGraphBuilder(block, options).build();
}
