//===- KernelBuilder.cpp - From a plan to kernel operations ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the rewriting of a function into the kernels of a plan.
// All kernels are built in front of the terminator, in the plan's order; then
// the operations that they replace are erased.
//
//===----------------------------------------------------------------------===//

#include "DeferDivisions.h"
#include "fusion/Analysis/CascadeBody.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Dialect/Fusion/PairContracts.h"
#include "fusion/FusionPlanning/Passes.h"
#include "fusion/Support/Counts.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// Values that kernels exchange, as seen outside them.
class OutsideValues {
public:
  OutsideValues(OpBuilder &builder) : builder(builder) {}

  void set(Value original, Value replacement) {
    map.map(original, replacement);
  }
  /// The tensor that stands for `original`; reshapes of results of kernels are
  /// rebuilt.
  Value get(Value original) {
    if (Value known = map.lookupOrNull(original))
      return known;
    Operation *op = original.getDefiningOp();
    if (!op || !(isViewOp(op) || isSliceInPlace(op)))
      return original;
    Value source = get(op->getOperand(0));
    if (source == op->getOperand(0))
      return original;
    Operation *clone = builder.clone(*op);
    clone->setOperand(0, source);
    map.map(original, clone->getResult(0));
    return clone->getResult(0);
  }

private:
  OpBuilder &builder;
  IRMapping map;
};

/// Builds one kernel.
class KernelBuilder {
public:
  KernelBuilder(OpBuilder &builder, const ComputeGraph &graph,
                const PlannedKernel &kernel, OutsideValues &outside)
      : builder(builder), graph(graph), kernel(kernel), outside(outside),
        inner(graph.getContext()) {}

  /// Builds the kernel at the builder's place and tells `outside` its results.
  KernelOp build();

private:
  void addNode(Operation *op);
  /// The value inside the kernel that equals `original`.
  Value get(Value original);
  Value addOperand(Value original);
  bool isOperand(Value original) const {
    return operandOf.count(original) != 0;
  }

  OpBuilder &builder;
  const ComputeGraph &graph;
  const PlannedKernel &kernel;
  OutsideValues &outside;
  /// The body under construction.
  std::unique_ptr<Block> body;
  OpBuilder inner;
  IRMapping inside;
  SmallVector<Value> operands;
  DenseMap<Value, unsigned> operandOf;
};
} // namespace

Value KernelBuilder::addOperand(Value original) {
  Value operand = outside.get(original);
  auto [it, isNew] = operandOf.try_emplace(operand, operands.size());
  if (isNew) {
    operands.push_back(operand);
    body->addArgument(operand.getType(), operand.getLoc());
  }
  Value argument = body->getArgument(it->second);
  inside.map(original, argument);
  return argument;
}

Value KernelBuilder::get(Value original) {
  if (Value known = inside.lookupOrNull(original))
    return known;
  Operation *op = original.getDefiningOp();
  if (!op)
    return addOperand(original);
  if (isa<RankedTensorType>(original.getType())) {
    // Computed inside, or of one value: rebuilt here. Else it comes from
    // memory, reshaped before the kernel.
    Value base = stripViews(original);
    bool isInside = inside.contains(base);
    bool isFree = base.getDefiningOp() && isFreeOp(base.getDefiningOp());
    if (!isInside && !isFree)
      return addOperand(original);
  } else if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    // The size of a tensor that the kernel has anyway, or the size alone.
    Value source = outside.get(dim.getSource());
    if (!isOperand(source))
      return addOperand(original);
  }
  // Operands first, since they may be built in turn.
  for (Value operand : op->getOperands())
    get(operand);
  Operation *clone = inner.clone(*op, inside);
  return clone->getResult(cast<OpResult>(original).getResultNumber());
}

void KernelBuilder::addNode(Operation *op) {
  for (Value operand : op->getOperands())
    get(operand);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (!region.isAncestor(operand.getParentRegion()))
          get(operand);
    });
  if (inside.contains(op->getResult(0)))
    return;
  Operation *clone = inner.clone(*op, inside);
  // Kept by now, and said nowhere else.
  clone->removeDiscardableAttr(FusionDialect::kMustAttrName);
  clone->removeDiscardableAttr(FusionDialect::kNeverAttrName);
  clone->removeDiscardableAttr(kTogetherAttrName);
  clone->removeDiscardableAttr(kApartAttrName);
  clone->removeDiscardableAttr(FusionDialect::kPartAttrName);
}

/// The estimate as recorded on a kernel.
static EstimateAttr getEstimate(MLIRContext *context,
                                const PlannedKernel &kernel) {
  const KernelEstimate &estimate = kernel.estimate;
  return EstimateAttr::get(
      context, roundToNanoseconds(estimate.seconds() * 1e6),
      toCount(estimate.bytes()), toCount(estimate.cost.flops()),
      estimate.shape.registers - estimate.time.spilledRegisters,
      estimate.shape.sharedBytes, toCount(kernel.savedBytes),
      kernel.savedLaunches);
}

KernelOp KernelBuilder::build() {
  body = std::make_unique<Block>();
  inner.setInsertionPointToEnd(body.get());
  // All tensors from outside first: sizes are then taken from them.
  for (unsigned node : kernel.nodes)
    for (const TensorRead &read : graph.getNode(node).reads) {
      int producer = graph.getValue(graph.getBase(read.value)).producer;
      if (producer < 0 || !llvm::is_contained(kernel.nodes, producer))
        get(graph.getValue(read.value).ssa);
    }
  SmallVector<Location> locs;
  for (unsigned node : kernel.nodes) {
    locs.push_back(graph.getNode(node).op->getLoc());
    addNode(graph.getNode(node).op);
  }
  SmallVector<Value> yielded;
  for (unsigned value : kernel.stored)
    yielded.push_back(inside.lookup(graph.getValue(value).ssa));

  Location loc = FusedLoc::get(graph.getContext(), locs);
  auto op = KernelOp::create(builder, loc, kernel.name,
                             ValueRange(yielded).getTypes(), operands);
  Block &block = op.getBlock();
  for (auto [temporary, argument] :
       llvm::zip_equal(body->getArguments(), block.getArguments()))
    temporary.replaceAllUsesWith(argument);
  block.getOperations().splice(block.end(), body->getOperations());
  inner.setInsertionPointToEnd(&block);
  YieldOp::create(inner, loc, yielded);
  op.setEstimateAttr(getEstimate(graph.getContext(), kernel));
  for (auto [value, result] : llvm::zip_equal(kernel.stored, op.getResults()))
    outside.set(graph.getValue(value).ssa, result);
  return op;
}

LogicalResult mlir::fusion::formKernels(FunctionOpInterface func,
                                        const ComputeGraph &graph,
                                        const FusionPlan &plan) {
  Block &block = func.getFunctionBody().front();
  Operation *terminator = block.getTerminator();
  for (Value operand : terminator->getOperands())
    if (!isa<RankedTensorType>(operand.getType()))
      return terminator->emitOpError("FUS-2005: returns a value of type ")
             << operand.getType() << "; functions return tensors";

  SmallVector<Operation *> old;
  for (Operation &op : block.without_terminator())
    old.push_back(&op);
  OpBuilder builder(terminator);
  OutsideValues outside(builder);
  for (const PlannedKernel &kernel : plan.kernels) {
    KernelOp op = KernelBuilder(builder, graph, kernel, outside).build();
    if (hasCascade(KernelBody::get(graph, kernel.nodes, kernel.stored)))
      deferDivisions(op);
  }
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(outside.get(operand.get()));

  // Users come after what they use.
  for (Operation *op : llvm::reverse(old)) {
    // What sizes must fulfil is checked before every launch.
    if (isa<cf::AssertOp>(op))
      continue;
    if (op->use_empty())
      op->erase();
    else if (isComputeOp(op))
      return op->emitOpError("FUS-2007: was left out of the plan; this is a "
                             "fault of planning, please report it");
  }
  return success();
}
