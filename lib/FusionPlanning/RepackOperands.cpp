//===- RepackOperands.cpp - Which operands are written anew ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decision which operands of products are repacked.
// Each product is taken out into a function of its own and planned as it is and
// repacked: the rules on products and all prices are those of planning.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/RepackOperands.h"

#include "Neighbourhood.h"
#include "fusion/Analysis/CascadeBody.h"
#include "fusion/Analysis/Cascades.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// What became of one product.
struct Decision {
  /// What keeps the product from warpgroups; empty when nothing does, or what
  /// no repack changes.
  StringRef obstacle;
  bool pays = false;
  double timeBeforeUs = 0, timeAfterUs = 0;
  int64_t savedBytes = 0;
};
} // namespace

/// A function of `product` and what belongs into every kernel around it. Other
/// values that it needs are arguments.
static OwningOpRef<func::FuncOp> extractProduct(linalg::GenericOp product) {
  SetVector<Operation *> ops;
  ops.insert(product);
  for (size_t i = 0; i < ops.size(); ++i)
    ops[i]->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        Operation *source = operand.getDefiningOp();
        if (source && source->getBlock() == product->getBlock() &&
            (isFreeOp(source) || isa<tensor::PadOp>(source)))
          ops.insert(source);
      }
    });
  IRMapping map;
  OwningOpRef<func::FuncOp> func = copyOps(ops, product->getResults(), map);
  for (Operation *op : ops)
    for (StringRef contract :
         {FusionDialect::kMustAttrName, FusionDialect::kNeverAttrName})
      map.lookup(op)->removeDiscardableAttr(contract);
  if (allowsTF32(product))
    map.lookup(product.getOperation())
        ->setDiscardableAttr(kTF32AttrName,
                             UnitAttr::get(product.getContext()));
  return func;
}

/// The kernel of `plan` around a contraction.
static const LedgerKernel *findProductKernel(const FusionPlan &plan) {
  for (const LedgerKernel &kernel : plan.ledger.kernels)
    if (!kernel.products.empty())
      return &kernel;
  return nullptr;
}

/// The obstacle called `code` that another layout of operands takes away.
static StringRef getLayoutObstacle(StringRef code) {
  for (TensorCoreObstacle obstacle :
       {TensorCoreObstacle::MisalignedRows, TensorCoreObstacle::OperandMajor,
        TensorCoreObstacle::Addressing})
    if (stringifyObstacle(obstacle) == code)
      return stringifyObstacle(obstacle);
  return {};
}

/// Plans `product` by itself as it is and repacked.
static Decision decide(linalg::GenericOp product, const TargetInfo &target,
                       PlanOptions options) {
  Decision decision;
  options.maxKernels = std::nullopt;
  OwningOpRef<func::FuncOp> func = extractProduct(product);
  FailureOr<FusionPlan> before = planFusion(*func, target, options);
  const LedgerKernel *kernel =
      succeeded(before) ? findProductKernel(*before) : nullptr;
  if (!kernel)
    return decision;
  StringRef obstacle = getLayoutObstacle(kernel->obstacle);
  if (obstacle.empty())
    return decision;
  linalg::GenericOp copy;
  for (auto generic : func->getBody().getOps<linalg::GenericOp>())
    copy = generic;
  OperandRepacker(obstacle).repack(copy);
  FailureOr<FusionPlan> after = planFusion(*func, target, options);
  const LedgerKernel *repacked =
      succeeded(after) ? findProductKernel(*after) : nullptr;
  if (!repacked || repacked->products != "wgmma")
    return decision;
  decision.obstacle = obstacle;
  decision.timeBeforeUs = before->ledger.timeAfterUs;
  decision.timeAfterUs = after->ledger.timeAfterUs;
  decision.savedBytes = before->ledger.bytesAfter - after->ledger.bytesAfter;
  decision.pays = decision.timeBeforeUs - decision.timeAfterUs >
                  options.minGainSeconds * 1e6;
  return decision;
}

/// Products that share a walk with another one as they are: what lies between
/// them is never in memory.
static llvm::SmallDenseSet<Operation *>
findWalked(FunctionOpInterface func, ArrayRef<linalg::GenericOp> products,
           const TargetInfo &target, const PlanOptions &options) {
  llvm::SmallDenseSet<Operation *> walked;
  SmallVector<Operation *> all;
  for (auto op : func.getFunctionBody().front().getOps<linalg::LinalgOp>())
    if (isContraction(op))
      all.push_back(op);
  if (llvm::none_of(products, [&](linalg::GenericOp product) {
        return needsAny(product, all);
      }))
    return walked;
  FailureOr<ComputeGraph> graph =
      ComputeGraph::build(func.getFunctionBody().front(), options.graph);
  if (failed(graph))
    return walked;
  for (const PlannedKernel &kernel :
       planFusion(*graph, target, options).kernels)
    if (hasCascade(KernelBody::get(*graph, kernel.nodes, kernel.stored)))
      for (unsigned node : kernel.nodes)
        walked.insert(graph->getNode(node).op);
  return walked;
}

void mlir::fusion::repackOperands(
    FunctionOpInterface func, const TargetInfo &target,
    const PlanOptions &options,
    SmallVectorImpl<std::pair<Operation *, LedgerEntry>> &entries) {
  // More kernels are no way to keep a limit on them.
  if (!target.hasWarpgroups || options.maxKernels)
    return;
  SmallVector<linalg::GenericOp> products;
  for (auto generic :
       func.getFunctionBody().front().getOps<linalg::GenericOp>())
    if (OperandRepacker::applies(generic) &&
        !generic->hasAttr(FusionDialect::kNeverAttrName))
      products.push_back(generic);
  OperandRepacker repacker("");
  llvm::SmallDenseSet<Operation *> walked =
      findWalked(func, products, target, options);
  for (linalg::GenericOp product : products) {
    if (walked.contains(product))
      continue;
    Decision decision = decide(product, target, options);
    if (decision.obstacle.empty())
      continue;
    LedgerEntry entry;
    entry.producer = "repack";
    entry.consumer = getOpLabel(product, NodeKind::Contraction);
    entry.accepted = decision.pays;
    entry.reason =
        decision.pays ? ReasonCode::RepackOperand : ReasonCode::RepackTooDear;
    entry.detail = decision.obstacle.str();
    entry.timeBeforeUs = decision.timeBeforeUs;
    entry.timeAfterUs = decision.timeAfterUs;
    entry.savedBytes = decision.savedBytes;
    if (decision.pays) {
      repacker.setReason(decision.obstacle);
      Operation *old = product;
      product = repacker.repack(product);
      for (auto &[shown, other] : entries)
        if (shown == old)
          shown = product;
    }
    entries.emplace_back(product, entry);
  }
}
