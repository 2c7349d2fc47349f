//===- FormKernels.cpp - The pass that forms kernels ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion-plan-form-kernels, a thin shell around the pure
// planner and the kernel builder.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Dialect/Fusion/FusionAttrs.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/FusionPlanning/MoveScales.h"
#include "fusion/FusionPlanning/NestReductions.h"
#include "fusion/FusionPlanning/Passes.h"
#include "fusion/FusionPlanning/RepackOperands.h"
#include "fusion/FusionPlanning/RescaleSums.h"
#include "fusion/FusionPlanning/SplitReductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace mlir::fusion {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "fusion/FusionPlanning/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// The totals of a plan as recorded on its function.
static DictionaryAttr getTotals(MLIRContext *context, const Ledger &ledger) {
  Builder b(context);
  return b.getDictionaryAttr(
      {b.getNamedAttr("bytes_after", b.getI64IntegerAttr(ledger.bytesAfter)),
       b.getNamedAttr("bytes_before", b.getI64IntegerAttr(ledger.bytesBefore)),
       b.getNamedAttr("kernels_after",
                      b.getI64IntegerAttr(ledger.kernelsAfter)),
       b.getNamedAttr("kernels_before",
                      b.getI64IntegerAttr(ledger.kernelsBefore)),
       b.getNamedAttr(
           "time_us",
           b.getF64FloatAttr(std::round(ledger.timeAfterUs * 1000) / 1000))});
}

namespace {
class FormKernelsPass
    : public mlir::fusion::impl::FormKernelsPassBase<FormKernelsPass> {
public:
  using Base::Base;
  FormKernelsPass(FormKernelsPassOptions options, PlanObserver observer)
      : Base(std::move(options)), observer(std::move(observer)) {}

  void runOnOperation() override;

private:
  LogicalResult planFunction(FunctionOpInterface func,
                             const TargetInfo &target);
  /// Moves scales past products where that is allowed and faster. Returns what
  /// was considered, with the product that shows it.
  SmallVector<std::pair<Operation *, LedgerEntry>>
  moveScales(FunctionOpInterface func, const TargetInfo &target,
             const PlanOptions &options);
  /// Lets products begin reductions of their results where that is faster.
  /// Returns what was considered, with the product that shows it.
  SmallVector<std::pair<Operation *, LedgerEntry>>
  splitReductions(FunctionOpInterface func, const TargetInfo &target,
                  const PlanOptions &options);

  PlanObserver observer;
  /// Names taken in this module.
  llvm::StringSet<> names;
};
} // namespace

/// Products whose operand's scale is considered; each costs a plan.
static constexpr unsigned kMaxMovedScales = 16;

/// Operations of `func` with a scale that can be moved past products.
static SmallVector<linalg::GenericOp> findScales(FunctionOpInterface func) {
  SmallVector<linalg::GenericOp> producers;
  for (auto generic :
       func.getFunctionBody().front().getOps<linalg::GenericOp>())
    if (producers.size() < kMaxMovedScales && findMovableScale(generic))
      producers.push_back(generic);
  return producers;
}

SmallVector<std::pair<Operation *, LedgerEntry>>
FormKernelsPass::moveScales(FunctionOpInterface func, const TargetInfo &target,
                            const PlanOptions &options) {
  SmallVector<std::pair<Operation *, LedgerEntry>> entries;
  unsigned next = 0;
  // The number of scales shrinks by one with each that is moved.
  while (true) {
    SmallVector<linalg::GenericOp> producers = findScales(func);
    if (next >= producers.size())
      return entries;
    MovableScale scale = *findMovableScale(producers[next]);
    Operation *product = scale.uses.front()->getOwner();
    LedgerEntry entry;
    entry.producer = getOpLabel(scale.producer, NodeKind::Pointwise);
    entry.consumer = getOpLabel(product, NodeKind::Contraction);
    entry.reason = ReasonCode::ScaleRounding;
    if (fastNumerics) {
      OwningOpRef<Operation *> copy = func->clone();
      auto changed = cast<FunctionOpInterface>(copy.get());
      moveScale(*findMovableScale(findScales(changed)[next]));
      FailureOr<FusionPlan> before = planFusion(func, target, options);
      FailureOr<FusionPlan> after = planFusion(changed, target, options);
      entry.reason = ReasonCode::NotProfitable;
      if (succeeded(before) && succeeded(after))
        compareRewrite(*before, *after, options, entry);
      if (entry.accepted) {
        entry.reason = ReasonCode::ScalePastProduct;
        moveScale(scale);
      }
    }
    entries.emplace_back(product, entry);
    next += !entry.accepted;
  }
}

/// Reductions of products' results that are considered; each costs a plan.
static constexpr unsigned kMaxSplitReductions = 16;

static SmallVector<linalg::LinalgOp>
findSplittableReductions(FunctionOpInterface func) {
  // Sums that take their maximum along first.
  SmallVector<linalg::LinalgOp> reductions, others;
  for (auto op : func.getFunctionBody().front().getOps<linalg::LinalgOp>())
    if (auto reduction = findSplittableReduction(op))
      (reduction->maximum ? reductions : others).push_back(op);
  llvm::append_range(reductions, others);
  if (reductions.size() > kMaxSplitReductions)
    reductions.truncate(kMaxSplitReductions);
  return reductions;
}

/// True when `plan` puts `op` into a kernel with a product.
static bool isBesideProduct(Operation *op, const ComputeGraph &graph,
                            const FusionPlan &plan) {
  return llvm::any_of(plan.kernels, [&](const PlannedKernel &kernel) {
    bool has = false, contracts = false;
    for (unsigned node : kernel.nodes) {
      has |= graph.getNode(node).op == op;
      contracts |= graph.getNode(node).kind == NodeKind::Contraction;
    }
    return has && contracts;
  });
}

SmallVector<std::pair<Operation *, LedgerEntry>>
FormKernelsPass::splitReductions(FunctionOpInterface func,
                                 const TargetInfo &target,
                                 const PlanOptions &options) {
  SmallVector<std::pair<Operation *, LedgerEntry>> entries;
  unsigned next = 0;
  // The number of reductions shrinks by one with each that is split.
  while (true) {
    SmallVector<linalg::LinalgOp> reductions = findSplittableReductions(func);
    if (next >= reductions.size())
      return entries;
    SplittableReduction reduction = *findSplittableReduction(reductions[next]);
    LedgerEntry entry;
    entry.producer = getOpLabel(reduction.product, NodeKind::Contraction);
    entry.consumer = getOpLabel(reduction.op, NodeKind::Reduction);
    entry.reason = ReasonCode::NotProfitable;
    bool fits = false;
    OwningOpRef<Operation *> copy = func->clone();
    auto changed = cast<FunctionOpInterface>(copy.get());
    Operation *parts = splitReduction(
        *findSplittableReduction(findSplittableReductions(changed)[next]));
    FailureOr<FusionPlan> before = planFusion(func, target, options);
    FailureOr<ComputeGraph> graph =
        ComputeGraph::build(changed.getFunctionBody().front(), options.graph);
    if (succeeded(before) && succeeded(graph)) {
      FusionPlan after = planFusion(*graph, target, options);
      compareRewrite(*before, after, options, entry);
      // Otherwise the plan says why the reduction stays out of the product.
      fits = isBesideProduct(parts, *graph, after);
      entry.accepted &= fits;
    }
    if (entry.accepted) {
      entry.reason = ReasonCode::BegunByTiles;
      splitReduction(reduction);
    }
    if (fits)
      entries.emplace_back(reduction.product, entry);
    next += !entry.accepted;
  }
}

/// The line of the program that `op` comes from, 0 if that is not known.
static unsigned getLine(Operation *op) {
  auto place = op->getLoc()->findInstanceOf<FileLineColRange>();
  return place ? place.getStartLine() : 0;
}

/// Notes where the ledger's kernels and candidates come from.
static void fillLines(const ComputeGraph &graph, FusionPlan &plan) {
  for (auto [kernel, facts] :
       llvm::zip_equal(plan.kernels, plan.ledger.kernels))
    if (!kernel.nodes.empty())
      facts.line = getLine(graph.getNode(kernel.nodes.front()).op);
  for (LedgerEntry &entry : plan.ledger.entries) {
    entry.producerLine = getLine(graph.getNode(entry.producerNode).op);
    entry.consumerLine = getLine(graph.getNode(entry.consumerNode).op);
  }
}

/// Whether figures of the function depend on sizes that nobody knows yet.
static bool hasDynamicSizes(FunctionOpInterface func) {
  auto isDynamic = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && !shaped.hasStaticShape();
  };
  return llvm::any_of(func.getArgumentTypes(), isDynamic) ||
         func->walk([&](Operation *op) {
               return llvm::any_of(op->getResultTypes(), isDynamic)
                          ? WalkResult::interrupt()
                          : WalkResult::advance();
             })
             .wasInterrupted();
}

LogicalResult FormKernelsPass::planFunction(FunctionOpInterface func,
                                            const TargetInfo &targetInfo) {
  // A function that has kernels is planned already: by its author, or by a
  // tuning run that adds schedules to them.
  if (func->walk([](KernelOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    return success();
  if (failed(prepareForPlanning(func)))
    return failure();
  PlanOptions options;
  options.graph.representativeSize = representativeSize;
  options.fuse = fuse;
  if (auto limit =
          func->getAttrOfType<IntegerAttr>(FusionDialect::kMaxKernelsAttrName))
    options.maxKernels = limit.getInt();
  SmallVector<std::pair<Operation *, LedgerEntry>> moved;
  if (fuse) {
    moved = moveScales(func, targetInfo, options);
    repackOperands(func, targetInfo, options, moved);
    llvm::append_range(moved, splitReductions(func, targetInfo, options));
    rescaleSums(func, targetInfo, options, moved);
    nestReductions(func, targetInfo, options, moved);
  }
  FailureOr<ComputeGraph> graph =
      ComputeGraph::build(func.getFunctionBody().front(), options.graph);
  if (failed(graph))
    return failure();
  FusionPlan plan = planFusion(*graph, targetInfo, options);
  plan.ledger.function = func.getName().str();
  for (auto &[product, entry] : llvm::reverse(moved)) {
    for (auto [id, node] : llvm::enumerate(graph->getNodes()))
      if (node.op == product)
        entry.producerNode = entry.consumerNode = id;
    plan.ledger.entries.insert(plan.ledger.entries.begin(), entry);
  }

  // One name for one kernel throughout the module.
  for (auto [kernel, facts] :
       llvm::zip_equal(plan.kernels, plan.ledger.kernels)) {
    std::string base = kernel.name;
    for (unsigned i = 1; !names.insert(kernel.name).second; ++i)
      kernel.name = base + "_" + std::to_string(i);
    facts.name = kernel.name;
  }
  fillLines(*graph, plan);
  if (hasDynamicSizes(func))
    plan.ledger.representativeSize = representativeSize;
  emitPlanRemarks(func, *graph, plan);
  if (printLedger)
    llvm::errs() << llvm::formatv("{0:2}\n", plan.ledger.toJson());
  if (observer)
    observer(func, plan);

  for (const ContractViolation &violation : plan.violations) {
    Operation *place = violation.node ? graph->getNode(*violation.node).op
                                      : func.getOperation();
    place->emitOpError("FUS-2006: contract broken: ") << violation.message;
  }
  if (!plan.violations.empty() || failed(formKernels(func, *graph, plan)))
    return failure();
  func->setAttr(FusionDialect::kPlanAttrName,
                getTotals(&getContext(), plan.ledger));
  return success();
}

void FormKernelsPass::runOnOperation() {
  const TargetInfo *targetInfo = resolveTarget(getOperation(), target);
  if (!targetInfo)
    return signalPassFailure();
  names.clear();
  for (auto func : getOperation().getOps<FunctionOpInterface>())
    if (!func.isExternal() && failed(planFunction(func, *targetInfo)))
      return signalPassFailure();
}

std::unique_ptr<Pass>
mlir::fusion::createFormKernelsPass(FormKernelsPassOptions options,
                                    PlanObserver observer) {
  return std::make_unique<FormKernelsPass>(std::move(options),
                                           std::move(observer));
}
