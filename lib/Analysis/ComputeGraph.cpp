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
#include "fusion/Analysis/Reductions.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

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
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
      op);
}

bool mlir::fusion::isComputeOp(Operation *op) {
  if (isa<linalg::FillOp>(op))
    return false;
  return isa<linalg::LinalgOp, tensor::PadOp, tensor::ConcatOp,
             tensor::ExtractSliceOp, tensor::InsertSliceOp>(op) ||
         op->getName().getStringRef() == "fusion.scan";
}

bool mlir::fusion::isFreeOp(Operation *op) {
  if (isa<linalg::FillOp, tensor::EmptyOp, tensor::DimOp, tensor::ExtractOp,
          tensor::SplatOp>(op))
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

namespace mlir::fusion {
class ComputeGraphBuilder {
public:
  ComputeGraphBuilder(Block &block, const GraphOptions &options)
      : block(block), options(options) {
    graph.context = block.getParentOp()->getContext();
  }

  FailureOr<ComputeGraph> build();

private:
  LogicalResult checkOps();
  void visitFrom(Value root);
  void addNode(Operation *op);

  void addLinalgOp(GraphNode &node, linalg::LinalgOp op);
  void addFill(GraphNode &node, Value result);
  void addPad(GraphNode &node, tensor::PadOp op);
  void addConcat(GraphNode &node, tensor::ConcatOp op);
  void addExtractSlice(GraphNode &node, tensor::ExtractSliceOp op);
  void addInsertSlice(GraphNode &node, tensor::InsertSliceOp op);
  void addScan(GraphNode &node, Operation *op);
  void addCaptures(GraphNode &node, Operation *op);
  void addScalarReads(GraphNode &node, Value scalar);
  void addRead(GraphNode &node, Value tensor, ArrayRef<AffineExpr> coords);
  void addWrite(GraphNode &node, Value tensor, ArrayRef<int> loops);
  void setResultLoops(GraphNode &node, Value result);

  /// The coordinate that an index inside the body of `op` has.
  AffineExpr getIndexCoord(linalg::LinalgOp op, Value index);
  /// A coordinate that only the run knows and that depends on `loops`.
  AffineExpr getUnknownCoord(ArrayRef<unsigned> loops);
  AffineExpr getOffset(OpFoldResult offset);

  unsigned getOrAddValue(Value value);
  void addViewCoords(GraphValue &view, Operation *op);
  SmallVector<int64_t> getSizes(RankedTensorType type) const;
  int64_t getSize(int64_t size) const {
    return ShapedType::isDynamic(size) ? options.representativeSize : size;
  }
  AffineExpr dim(unsigned position) const {
    return getAffineDimExpr(position, graph.context);
  }
  AffineExpr constant(int64_t value) const {
    return getAffineConstantExpr(value, graph.context);
  }

  Block &block;
  GraphOptions options;
  ComputeGraph graph;
  DenseMap<Value, unsigned> valueIds;
  llvm::DenseSet<Operation *> visited;
  unsigned nextSymbol = 0;
};
} // namespace mlir::fusion

/// The value that `value` is at last a view of.
static Value stripViews(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isViewOp(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

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
        op.hasTrait<OpTrait::ConstantLike>())
      continue;
    return op.emitOpError(
        "FUS-2002: is not an operation that planning knows; run the input "
        "phase first, which leaves linalg, tensor, arith, math and "
        "fusion.scan operations only");
  }
  return success();
}

FailureOr<ComputeGraph> ComputeGraphBuilder::build() {
  if (failed(checkOps()))
    return failure();
  for (Value result : block.getTerminator()->getOperands())
    visitFrom(result);

  for (Value result : block.getTerminator()->getOperands()) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    graph.values[graph.getBase(getOrAddValue(result))].escapes = true;
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
  return std::move(graph);
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
  if (base && isa<linalg::FillOp, tensor::SplatOp>(base) &&
      graph.values[getOrAddValue(base->getResult(0))].producer < 0)
    addNode(base);
}

void ComputeGraphBuilder::addNode(Operation *op) {
  GraphNode node;
  node.op = op;
  node.must = op->hasAttr(FusionDialect::kMustAttrName);
  node.never = op->hasAttr(FusionDialect::kNeverAttrName);
  node.repack = op->hasAttr(FusionDialect::kRepackAttrName);
  if (isa<linalg::FillOp, tensor::SplatOp>(op))
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

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

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

void ComputeGraphBuilder::addRead(GraphNode &node, Value tensor,
                                  ArrayRef<AffineExpr> coords) {
  Value base = stripViews(tensor);
  if (Operation *op = base.getDefiningOp(); op && isFreeOp(op)) {
    // Its elements are one scalar, computed where they are used.
    if (!isa<tensor::EmptyOp>(op))
      addScalarReads(node,
                     op->getOperands().empty() ? Value() : op->getOperand(0));
    return;
  }
  node.reads.push_back(
      {getOrAddValue(tensor), SmallVector<AffineExpr>(coords)});
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

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// One loop for each dimension of `result`.
void ComputeGraphBuilder::setResultLoops(GraphNode &node, Value result) {
  node.extents = getSizes(cast<RankedTensorType>(result.getType()));
  node.reduced.assign(node.extents.size(), false);
  SmallVector<int> loops =
      llvm::to_vector(llvm::seq<int>(0, node.extents.size()));
  addWrite(node, result, loops);
}

void ComputeGraphBuilder::addFill(GraphNode &node, Value result) {
  setResultLoops(node, result);
  addScalarReads(node, result.getDefiningOp()->getOperand(0));
}

/// True when two inputs of a reduction each miss a loop of the result that the
/// other has: blocks of the result then share inputs along two directions.
static bool isContraction(linalg::LinalgOp op, ArrayRef<int64_t> extents,
                          ArrayRef<bool> reduced) {
  SmallVector<llvm::SmallBitVector> used;
  for (OpOperand *input : op.getDpsInputOperands()) {
    llvm::SmallBitVector loops(extents.size());
    bool reduces = false;
    for (AffineExpr coord : op.getMatchingIndexingMap(input).getResults())
      coord.walk([&](AffineExpr part) {
        auto loop = dyn_cast<AffineDimExpr>(part);
        if (!loop || extents[loop.getPosition()] == 1)
          return;
        if (reduced[loop.getPosition()])
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

void ComputeGraphBuilder::addLinalgOp(GraphNode &node, linalg::LinalgOp op) {
  node.extents = llvm::map_to_vector(
      op.getStaticLoopRanges(), [&](int64_t size) { return getSize(size); });
  for (utils::IteratorType type : op.getIteratorTypesArray())
    node.reduced.push_back(type == utils::IteratorType::reduction);
  node.perPoint = getRegionCost(op->getRegion(0));

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
  if (!isContraction(op, node.extents, node.reduced))
    return;
  node.kind = NodeKind::Contraction;
  node.tensorCore =
      llvm::all_of(op.getDpsInputOperands(), [](OpOperand *input) {
        Type type = getElementTypeOrSelf(input->get().getType());
        return type.isF16() || type.isBF16() || type.isInteger(8);
      });
  // The tensor cores convert operands on the way.
  if (node.tensorCore)
    node.perPoint = {/*fp32=*/2, /*fp64=*/0, /*sfu=*/0};
}

void ComputeGraphBuilder::addPad(GraphNode &node, tensor::PadOp op) {
  setResultLoops(node, op.getResult());
  // A comparison and a selection.
  node.perPoint.fp32 = 2;
  SmallVector<AffineExpr> coords;
  for (auto [d, low] : llvm::enumerate(op.getMixedLowPad()))
    coords.push_back(dim(d) - getOffset(low));
  addRead(node, op.getSource(), coords);
}

void ComputeGraphBuilder::addConcat(GraphNode &node, tensor::ConcatOp op) {
  setResultLoops(node, op.getResult());
  unsigned axis = op.getDim();
  AffineExpr offset = constant(0);
  for (Value input : op.getInputs()) {
    node.perPoint.fp32 += 2;
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<AffineExpr> coords;
    for (unsigned d = 0; d < node.extents.size(); ++d)
      coords.push_back(d == axis ? dim(d) - offset : dim(d));
    addRead(node, input, coords);
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
    ++loop;
  }
  addRead(node, op.getSource(), coords);
  for (OpFoldResult offset : op.getMixedOffsets())
    addScalarReads(node, dyn_cast<Value>(offset));
}

void ComputeGraphBuilder::addInsertSlice(GraphNode &node,
                                         tensor::InsertSliceOp op) {
  setResultLoops(node, op.getResult());
  node.perPoint.fp32 = 2;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<AffineExpr> coords;
  for (unsigned d = 0; d < dropped.size(); ++d) {
    if (dropped.test(d))
      continue;
    std::optional<int64_t> stride =
        getConstantIntValue(op.getMixedStrides()[d]);
    AffineExpr coord = dim(d) - getOffset(op.getMixedOffsets()[d]);
    coords.push_back(stride ? coord.floorDiv(*stride) : getUnknownCoord({d}));
  }
  addRead(node, op.getSource(), coords);
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
        SmallVector<AffineExpr> coords;
        for (Value index : extract.getIndices())
          coords.push_back(getIndexCoord(linalgOp, index));
        addRead(node, extract.getTensor(), coords);
      }
      for (Value operand : inner->getOperands())
        if (!region.isAncestor(operand.getParentRegion()) &&
            !isa<RankedTensorType>(operand.getType()))
          addScalarReads(node, operand);
    });
}

AffineExpr ComputeGraphBuilder::getIndexCoord(linalg::LinalgOp op,
                                              Value index) {
  if (std::optional<int64_t> known = getConstantIntValue(index))
    return constant(*known);
  if (auto loop = index.getDefiningOp<linalg::IndexOp>())
    return dim(loop.getDim());
  // Several numbers in an element, a factor for a group.
  Operation *quotient = index.getDefiningOp();
  if (isa_and_nonnull<arith::DivUIOp, arith::RemUIOp>(quotient)) {
    auto loop = quotient->getOperand(0).getDefiningOp<linalg::IndexOp>();
    std::optional<int64_t> by = getConstantIntValue(quotient->getOperand(1));
    if (loop && by && *by > 0)
      return isa<arith::DivUIOp>(quotient) ? dim(loop.getDim()).floorDiv(*by)
                                           : dim(loop.getDim()) % *by;
  }
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

FailureOr<ComputeGraph> ComputeGraph::build(Block &block,
                                            const GraphOptions &options) {
  return ComputeGraphBuilder(block, options).build();
}
