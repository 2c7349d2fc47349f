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
#include "fusion/FusionPlanning/BeginByBlocks.h"
#include "fusion/FusionPlanning/CenterSums.h"
#include "fusion/FusionPlanning/ChannelsLast.h"
#include "fusion/FusionPlanning/DivideValues.h"
#include "fusion/FusionPlanning/FoldRows.h"
#include "fusion/FusionPlanning/GatherProducts.h"
#include "fusion/FusionPlanning/JoinRelativeSums.h"
#include "fusion/FusionPlanning/MoveScales.h"
#include "fusion/FusionPlanning/NestReductions.h"
#include "fusion/FusionPlanning/Passes.h"
#include "fusion/FusionPlanning/RepackOperands.h"
#include "fusion/FusionPlanning/RescaleSums.h"
#include "fusion/FusionPlanning/SplitContractions.h"
#include "fusion/FusionPlanning/SplitReductions.h"
#include "fusion/Support/Counts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

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
       b.getNamedAttr("time_us", b.getF64FloatAttr(
                                     roundToNanoseconds(ledger.timeAfterUs)))});
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
  /// Makes what is too large to be stored between kernels in parts.
  void divideValues(FunctionOpInterface func, const TargetInfo &target,
                    const PlanOptions &options, RewriteDriver &rewrites);

  PlanObserver observer;
  /// Names taken in this module, or in the only function.
  llvm::StringSet<> names;
};
} // namespace

/// Kernels of `block` where nothing is fused: operations that its results need.
static int64_t countUnfused(Block &block) {
  llvm::SmallPtrSet<Operation *, 16> needed = {block.getTerminator()};
  int64_t kernels = 0;
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (llvm::none_of(op.getUsers(), [&](Operation *user) {
          return needed.contains(block.findAncestorOpInBlock(*user));
        }))
      continue;
    needed.insert(&op);
    kernels += isComputeOp(&op);
  }
  return kernels;
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

void FormKernelsPass::divideValues(FunctionOpInterface func,
                                   const TargetInfo &targetInfo,
                                   const PlanOptions &options,
                                   RewriteDriver &rewrites) {
  if (largestValue == 0)
    return;
  RewriteEntries &entries = rewrites.getEntries();
  RewriteEntries refused;
  int64_t number = 0;
  auto divide = [&] {
    while (divideValue(func, targetInfo, options, largestValue, number, entries,
                       refused)) {
      ++number;
      // What parts make again may be left to reductions.
      rewrites.run(getSplitRewrite(/*mayRepair=*/!opaqueFloats));
      rewrites.run(getGatherRewrite());
    }
  };
  divide();
  size_t known = entries.size();
  repackOperands(
      func, targetInfo, options, entries, [&](linalg::GenericOp product) {
        return isOfPart(product) || readsLargeValue(product, largestValue);
      });
  // What is laid out anew is stored.
  if (entries.size() != known)
    divide();
  llvm::append_range(entries, refused);
}

LogicalResult FormKernelsPass::planFunction(FunctionOpInterface func,
                                            const TargetInfo &targetInfo) {
  // A function that has kernels is planned already: by its author, or by a
  // tuning run that adds schedules to them.
  if (func->walk([](KernelOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    return success();
  int64_t unfused = countUnfused(func.getFunctionBody().front());
  if (failed(prepareForPlanning(func)))
    return failure();
  if (!opaqueFloats)
    approximateScans(func);
  PlanOptions options;
  options.graph.representativeSize = representativeSize;
  options.fuse = fuse;
  options.repairs = !opaqueFloats;
  options.demandedBy = demandedBy;
  options.memory = createPlanMemory();
  if (auto limit =
          func->getAttrOfType<IntegerAttr>(FusionDialect::kMaxKernelsAttrName))
    options.maxKernels = limit.getInt();
  RewriteDriver rewrites(func, targetInfo, options);
  if (fuse) {
    rewrites.run(getDimensionsRewrite(targetInfo, /*beforeLayouts=*/true));
    rewrites.run(getPartsRewrite(targetInfo));
    rewrites.run(getChannelsLastRewrite());
    rewrites.run(getScaleRewrite(/*mayRound=*/fastNumerics));
    // What is divided is laid out anew in parts.
    bool divides = storesLargeValue(func, targetInfo, options, largestValue);
    repackOperands(func, targetInfo, options, rewrites.getEntries(),
                   [&](linalg::GenericOp product) {
                     return !divides || !readsLargeValue(product, largestValue);
                   });
    rewrites.run(getDimensionsRewrite(targetInfo, /*beforeLayouts=*/false));
    rewrites.run(getSplitRewrite(/*mayRepair=*/!opaqueFloats));
    rewrites.run(getGatherRewrite());
    if (!opaqueFloats) {
      rewrites.run(getRescaleRewrite(targetInfo));
      rewrites.run(getCenterRewrite(targetInfo));
    }
    rewrites.run(getNestRewrite());
    rewrites.run(getInterleaveRewrite(targetInfo));
    rewrites.run(getFoldRewrite());
    if (!opaqueFloats)
      rewrites.run(getRelativeRewrite(targetInfo));
    rewrites.run(getBlockRewrite(targetInfo));
    divideValues(func, targetInfo, options, rewrites);
  }
  std::optional<ComputeGraph> graph;
  FailureOr<FusionPlan> planned = planFusion(func, targetInfo, options, graph);
  if (failed(planned))
    return failure();
  FusionPlan &plan = *planned;
  plan.ledger.kernelsBefore = unfused;
  for (auto &[product, entry] : llvm::reverse(rewrites.getEntries())) {
    for (auto [id, node] : llvm::enumerate(graph->getNodes()))
      if (node.op == product)
        entry.producerNode = entry.consumerNode = id;
    plan.ledger.entries.insert(plan.ledger.entries.begin(), entry);
  }

  // One name for one kernel of what the pass runs on.
  for (auto [kernel, facts] :
       llvm::zip_equal(plan.kernels, plan.ledger.kernels)) {
    std::string base = kernel.name;
    for (unsigned i = 1; !names.insert(kernel.name).second; ++i)
      kernel.name = base + "_" + std::to_string(i);
    facts.name = kernel.name;
  }
  describeKernels(*graph, plan);
  if (hasDynamicSizes(func))
    plan.ledger.representativeSize = representativeSize;
  emitPlanRemarks(func, *graph, plan);
  if (printLedger)
    llvm::errs() << llvm::formatv("{0:2}\n", plan.ledger.toJson());
  if (observer)
    observer(func, *graph, plan);

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
  FailureOr<TargetInfo> targetInfo = resolveTarget(getOperation(), target);
  if (failed(targetInfo))
    return signalPassFailure();
  names.clear();
  if (failed(visitFunctions(getOperation(), [&](FunctionOpInterface func) {
        return planFunction(func, *targetInfo);
      })))
    signalPassFailure();
}

std::unique_ptr<Pass>
mlir::fusion::createFormKernelsPass(FormKernelsPassOptions options,
                                    PlanObserver observer) {
  return std::make_unique<FormKernelsPass>(std::move(options),
                                           std::move(observer));
}
