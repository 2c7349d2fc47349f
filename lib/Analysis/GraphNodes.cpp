//===- GraphNodes.cpp - The ops of a compute graph ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the nodes of a graph, one function for each kind of op:
// loops, arithmetic, reads and writes.
//
//===----------------------------------------------------------------------===//

#include "ComputeGraphBuilder.h"
#include "fusion/Analysis/Exchanges.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Analysis/WholeDims.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fusion;

void ComputeGraphBuilder::setLoops(GraphNode &node, ArrayRef<int64_t> sizes) {
  node.extents =
      llvm::map_to_vector(sizes, [&](int64_t size) { return getSize(size); });
  node.dynamic = llvm::map_to_vector(sizes, ShapedType::isDynamic);
}

/// One loop for each dimension of `result`.
void ComputeGraphBuilder::setResultLoops(GraphNode &node, Value result) {
  setLoops(node, cast<RankedTensorType>(result.getType()).getShape());
  node.reduced.assign(node.extents.size(), false);
  SmallVector<int> loops =
      llvm::to_vector(llvm::seq<int>(0, node.extents.size()));
  addWrite(node, result, loops);
}

void ComputeGraphBuilder::addFill(GraphNode &node, Value result) {
  setResultLoops(node, result);
  if (auto groups = result.getDefiningOp<RowGroupsOp>()) {
    // A comparison with each offset.
    int64_t size = getSizes(groups.getOffsets().getType()).front();
    node.perPoint.instructions = 2.0 * static_cast<double>(size);
    addRead(node, groups.getOffsets(), {getUnknownCoord({})});
    return;
  }
  addScalarReads(node, result.getDefiningOp()->getOperand(0));
}

bool mlir::fusion::isContraction(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  auto iterators = op.getIteratorTypesArray();
  SmallVector<llvm::SmallBitVector> used;
  for (OpOperand *input : op.getDpsInputOperands()) {
    llvm::SmallBitVector loops(extents.size());
    bool reduces = false;
    for (AffineExpr coord : op.getMatchingIndexingMap(input).getResults())
      coord.walk([&](AffineExpr part) {
        auto loop = dyn_cast<AffineDimExpr>(part);
        if (!loop || extents[loop.getPosition()] == 1)
          return;
        if (iterators[loop.getPosition()] == utils::IteratorType::reduction)
          reduces = true;
        else
          loops.set(loop.getPosition());
      });
    if (reduces)
      used.push_back(loops);
  }
  for (unsigned a = 0; a < used.size(); ++a)
    for (unsigned b = a + 1; b < used.size(); ++b)
      if (used[a].test(used[b]) && used[b].test(used[a]))
        return true;
  return false;
}

/// Elements for which a thread computes once what follows from their indices.
static constexpr double kElementsOfThread = 8;

/// The arithmetic of a point of `op`'s loops. What depends on some of them is
/// computed once for all points that differ in the others: the reciprocal of a
/// row's sum.
static OpCost getBodyCost(linalg::LinalgOp op, ArrayRef<int64_t> extents) {
  llvm::SmallBitVector none(extents.size());
  DenseMap<Value, llvm::SmallBitVector> loops;
  for (OpOperand &operand : op->getOpOperands()) {
    llvm::SmallBitVector used = none;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      used[loop] = map.isFunctionOfDim(loop);
    // An accumulator changes with each element.
    bool accumulates = op.isDpsInit(&operand) && op.getNumReductionLoops() > 0;
    loops[op.getMatchingBlockArgument(&operand)] =
        accumulates ? llvm::SmallBitVector(extents.size(), true) : used;
  }
  DenseSet<Value> indices;
  Block *body = op.getBlock();
  bool looksUp = !body->getOps<tensor::ExtractOp>().empty();
  return getRegionCost(*body->getParent(), [&](Operation *inner) {
    if (inner->getBlock() != body)
      return 1.0;
    llvm::SmallBitVector used = none;
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      used.set(index.getDim());
    // Where elements of other tensors are looked up nothing is computed once,
    // nor what leads there.
    if (isa<tensor::ExtractOp>(inner) ||
        (looksUp && isa<linalg::IndexOp>(inner)))
      used.set();
    // What follows from indices each thread computes, for its own elements.
    bool ofThread = isa<linalg::IndexOp>(inner);
    inner->walk([&](Operation *part) {
      for (Value operand : part->getOperands())
        if (auto known = loops.find(operand); known != loops.end()) {
          used |= known->second;
          ofThread |= indices.contains(operand);
        }
    });
    for (Value result : inner->getResults()) {
      loops[result] = used;
      if (ofThread)
        indices.insert(result);
    }
    double elements = 1;
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      if (!used.test(loop))
        elements *= static_cast<double>(std::max<int64_t>(extents[loop], 1));
    return ofThread ? std::min(elements, kElementsOfThread) : elements;
  });
}

/// Lets `each` be what threads do for an element of the reduction `op` to
/// moments. What they divide by are counts, the same for all elements that a
/// thread has, which is done once for all; what is left is a sum, a distance,
/// its square times a weight and another sum.
static void setMomentsCost(linalg::LinalgOp op, OpCost &each) {
  Block *block = op.getBlock();
  ArrayRef<BlockArgument> accumulators = block->getArguments().take_back(3);
  for (Operation &inner : block->without_terminator())
    if (dependsOn(inner.getResult(0), accumulators)) {
      OpCost one = getOpCost(&inner);
      each.instructions -= one.instructions;
      each.sfu -= one.sfu;
    }
  each.instructions += kMomentsInstructions;
}

void ComputeGraphBuilder::addLinalgOp(GraphNode &node, linalg::LinalgOp op) {
  setLoops(node, op.getStaticLoopRanges());
  for (utils::IteratorType type : op.getIteratorTypesArray())
    node.reduced.push_back(type == utils::IteratorType::reduction);
  node.perPoint = getBodyCost(op, node.extents);
  if (matchMoments(op))
    setMomentsCost(op, node.perPoint);

  for (OpOperand *input : op.getDpsInputOperands()) {
    if (isa<RankedTensorType>(input->get().getType()))
      addRead(node, input->get(),
              op.getMatchingIndexingMap(input).getResults());
    else
      addScalarReads(node, input->get());
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (op.payloadUsesValueFromOperand(&init))
      addRead(node, init.get(), map.getResults());
    SmallVector<int> loops;
    for (AffineExpr coord : map.getResults()) {
      auto loop = dyn_cast<AffineDimExpr>(coord);
      loops.push_back(loop ? static_cast<int>(loop.getPosition()) : -1);
    }
    addWrite(node, op.getTiedOpResult(&init), loops);
  }
  if (!llvm::is_contained(node.reduced, true))
    return;
  node.kind = NodeKind::Reduction;
  if (std::optional<Granules> granules = matchGranules(op)) {
    node.granuleLoop = granules->loop;
    node.granule = granules->size;
    node.reduced[granules->loop] = false;
    for (TensorWrite &write : node.writes)
      write.loops[granules->dim] = granules->loop;
    return;
  }
  if (!isContraction(op))
    return;
  node.kind = NodeKind::Contraction;
  std::optional<GroupedSum> grouped = matchGroupedSum(op);
  node.tensorCore =
      llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
        if (grouped && input->get() == grouped->groups)
          return true;
        Type type = getElementTypeOrSelf(input->get().getType());
        return type.isF16() || type.isBF16() || type.isInteger(8);
      });
  // A product and a sum are one instruction. The tensor cores convert operands
  // on the way.
  OpCost &each = node.perPoint;
  if (node.tensorCore)
    each = {/*instructions=*/1, /*doubles=*/0, /*sfu=*/0};
  else
    (each.doubles > 0 ? each.doubles : each.instructions) -= 1;
  // A row meets the matrix of one group.
  if (grouped)
    each = each / static_cast<double>(node.extents[grouped->loop]);
}

void ComputeGraphBuilder::addPad(GraphNode &node, tensor::PadOp op) {
  setResultLoops(node, op.getResult());
  // A comparison and a selection.
  node.perPoint.instructions = 2;
  SmallVector<AffineExpr> coords;
  SmallVector<unsigned> parts;
  for (auto [d, low] : llvm::enumerate(op.getMixedLowPad())) {
    coords.push_back(dim(d) - getOffset(low));
    if (!takesWhole(op, d))
      parts.push_back(d);
  }
  addRead(node, op.getSource(), coords, parts);
}

void ComputeGraphBuilder::addConcat(GraphNode &node, tensor::ConcatOp op) {
  setResultLoops(node, op.getResult());
  unsigned axis = op.getDim();
  AffineExpr offset = constant(0);
  for (Value input : op.getInputs()) {
    node.perPoint.instructions += 2;
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<AffineExpr> coords;
    for (unsigned d = 0; d < node.extents.size(); ++d)
      coords.push_back(d == axis ? dim(d) - offset : dim(d));
    size_t before = node.reads.size();
    addRead(node, input, coords, axis);
    auto begin = dyn_cast<AffineConstantExpr>(offset);
    if (begin && !type.isDynamicDim(axis))
      for (TensorRead &read : MutableArrayRef(node.reads).drop_front(before))
        read.joined = {axis, begin.getValue(),
                       begin.getValue() + type.getDimSize(axis)};
    offset =
        offset + (type.isDynamicDim(axis) ? getUnknownCoord({})
                                          : constant(type.getDimSize(axis)));
  }
}

void ComputeGraphBuilder::addExtractSlice(GraphNode &node,
                                          tensor::ExtractSliceOp op) {
  setResultLoops(node, op.getResult());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<AffineExpr> coords;
  SmallVector<unsigned> parts;
  unsigned loop = 0;
  for (unsigned d = 0; d < dropped.size(); ++d) {
    AffineExpr offset = getOffset(op.getMixedOffsets()[d]);
    if (dropped.test(d)) {
      coords.push_back(offset);
      continue;
    }
    std::optional<int64_t> stride =
        getConstantIntValue(op.getMixedStrides()[d]);
    AffineExpr step = stride ? dim(loop) * *stride : getUnknownCoord({loop});
    coords.push_back(step + offset);
    if (!takesWhole(op, d, getShapes()))
      parts.push_back(d);
    ++loop;
  }
  addRead(node, op.getSource(), coords, parts);
  for (OpFoldResult offset : op.getMixedOffsets())
    addScalarReads(node, dyn_cast<Value>(offset));
}

/// The slice alone: the destination's memory has the rest.
void ComputeGraphBuilder::addInsertInPlace(GraphNode &node,
                                           tensor::InsertSliceOp op) {
  setLoops(node, op.getSourceType().getShape());
  node.reduced.assign(node.extents.size(), false);
  SmallVector<AffineExpr> identity;
  for (unsigned d = 0; d < node.extents.size(); ++d)
    identity.push_back(dim(d));
  SmallVector<int> loops(op.getType().getRank(), -1);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  int next = 0;
  for (auto [d, loop] : llvm::enumerate(loops))
    if (!dropped.test(d))
      loop = next++;
  addWrite(node, op.getResult(), loops);
  addRead(node, op.getSource(), identity);
  for (OpFoldResult offset : op.getMixedOffsets())
    addScalarReads(node, dyn_cast<Value>(offset));
}

void ComputeGraphBuilder::addInsertSlice(GraphNode &node,
                                         tensor::InsertSliceOp op) {
  if (node.inPlace)
    return addInsertInPlace(node, op);
  setResultLoops(node, op.getResult());
  node.perPoint.instructions = 2;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<AffineExpr> coords;
  SmallVector<unsigned> parts;
  for (unsigned d = 0; d < dropped.size(); ++d) {
    if (dropped.test(d))
      continue;
    if (!takesWhole(op, d, getShapes()))
      parts.push_back(coords.size());
    std::optional<int64_t> stride =
        getConstantIntValue(op.getMixedStrides()[d]);
    AffineExpr coord = dim(d) - getOffset(op.getMixedOffsets()[d]);
    coords.push_back(stride ? coord.floorDiv(*stride) : getUnknownCoord({d}));
  }
  addRead(node, op.getSource(), coords, parts);
  SmallVector<AffineExpr> identity;
  for (unsigned d = 0; d < node.extents.size(); ++d)
    identity.push_back(dim(d));
  addRead(node, op.getDest(), identity);
  for (OpFoldResult offset : op.getMixedOffsets())
    addScalarReads(node, dyn_cast<Value>(offset));
}

void ComputeGraphBuilder::addScan(GraphNode &node, Operation *op) {
  node.kind = NodeKind::Scan;
  setResultLoops(node, op->getResult(0));
  SmallVector<int> loops = node.writes.front().loops;
  for (Value result : op->getResults().drop_front())
    addWrite(node, result, loops);
  node.scanned = op->getAttrOfType<IntegerAttr>("axis").getInt();
  for (Region &region : op->getRegions())
    node.perPoint += getRegionCost(region);
  SmallVector<AffineExpr> all, outer;
  for (unsigned d = 0; d < node.extents.size(); ++d) {
    all.push_back(dim(d));
    if (static_cast<int>(d) != node.scanned)
      outer.push_back(dim(d));
  }
  // Initial states have no scanned dimension.
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      addScalarReads(node, operand);
    else if (type.getRank() == static_cast<int64_t>(all.size()))
      addRead(node, operand, all);
    else if (type.getRank() == static_cast<int64_t>(outer.size()))
      addRead(node, operand, outer);
  }
}

/// Reads through values that the body of `op` captures: gathers and scalars.
void ComputeGraphBuilder::addCaptures(GraphNode &node, Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      if (auto extract = dyn_cast<tensor::ExtractOp>(inner);
          extract && linalgOp) {
        // A gather may leave elements out, whatever its coordinates.
        SmallVector<AffineExpr> coords;
        for (Value index : extract.getIndices())
          coords.push_back(getIndexCoord(linalgOp, index));
        addRead(node, extract.getTensor(), coords,
                llvm::to_vector(llvm::seq<unsigned>(0, coords.size())));
      }
      for (Value operand : inner->getOperands())
        if (!region.isAncestor(operand.getParentRegion()) &&
            !isa<RankedTensorType>(operand.getType()))
          addScalarReads(node, operand);
    });
}

AffineExpr ComputeGraphBuilder::getIndexCoord(linalg::LinalgOp op,
                                              Value index) {
  // Several numbers in an element, a factor for a group, the other one of a
  // pair.
  if (std::optional<AffineExpr> known = getIndexExpr(op, index))
    return *known;
  // Every loop that the index is computed from, through loaded values too.
  llvm::SmallSetVector<unsigned, 4> loops;
  SmallVector<Value> worklist = {index};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != op.getBlock())
        continue;
      AffineMap map =
          op.getMatchingIndexingMap(op.getMatchingOpOperand(argument));
      for (AffineExpr coord : map.getResults())
        coord.walk([&](AffineExpr part) {
          if (auto loop = dyn_cast<AffineDimExpr>(part))
            loops.insert(loop.getPosition());
        });
      continue;
    }
    Operation *def = value.getDefiningOp();
    if (def->getBlock() != op.getBlock())
      continue;
    if (auto loop = dyn_cast<linalg::IndexOp>(def))
      loops.insert(loop.getDim());
    llvm::append_range(worklist, def->getOperands());
  }
  SmallVector<unsigned> sorted(loops.begin(), loops.end());
  llvm::sort(sorted);
  return getUnknownCoord(sorted);
}
