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
// Products that feed one another are tried together first, in the whole
// function.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/RepackOperands.h"

#include "Neighbourhood.h"
#include "fusion/Analysis/CascadeBody.h"
#include "fusion/Analysis/Cascades.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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

/// A function of `ops` and of what belongs into every kernel around them. Other
/// values that they need are arguments; results are what others read.
static OwningOpRef<func::FuncOp> extract(SetVector<Operation *> ops,
                                         IRMapping &map) {
  Block *block = ops.front()->getBlock();
  SmallVector<Value> results;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::any_of(op->getUsers(), [&](Operation *user) {
            return !ops.contains(block->findAncestorOpInBlock(*user));
          }))
        results.push_back(result);
  for (size_t i = 0; i < ops.size(); ++i)
    ops[i]->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        Operation *source = operand.getDefiningOp();
        if (source && source->getBlock() == block &&
            (isFreeOp(source) || isa<tensor::PadOp>(source)))
          ops.insert(source);
      }
    });
  OwningOpRef<func::FuncOp> func = copyOps(ops, results, map);
  for (Operation *op : ops) {
    for (StringRef contract :
         {FusionDialect::kMustAttrName, FusionDialect::kNeverAttrName})
      map.lookup(op)->removeDiscardableAttr(contract);
    if (isa<linalg::GenericOp>(op) && allowsTF32(op))
      map.lookup(op)->setDiscardableAttr(kTF32AttrName,
                                         UnitAttr::get(op->getContext()));
  }
  return func;
}

/// The same of `product` alone.
static OwningOpRef<func::FuncOp> extractProduct(linalg::GenericOp product) {
  IRMapping map;
  SetVector<Operation *> ops;
  ops.insert(product);
  return extract(std::move(ops), map);
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

/// What the plan `after` has over the one `before`, from which repacking takes
/// `obstacle` away.
static Decision compare(StringRef obstacle, const FusionPlan &before,
                        const FusionPlan &after, const PlanOptions &options) {
  Decision decision;
  decision.obstacle = obstacle;
  decision.timeBeforeUs = before.ledger.timeAfterUs;
  decision.timeAfterUs = after.ledger.timeAfterUs;
  decision.savedBytes = before.ledger.bytesAfter - after.ledger.bytesAfter;
  decision.pays = decision.timeBeforeUs - decision.timeAfterUs >
                  options.minGainSeconds * 1e6;
  return decision;
}

/// Plans `product` by itself as it is and repacked.
static Decision decide(linalg::GenericOp product, const TargetInfo &target,
                       const PlanOptions &options) {
  OwningOpRef<func::FuncOp> func = extractProduct(product);
  FailureOr<FusionPlan> before = planFusion(*func, target, options);
  const LedgerKernel *kernel =
      succeeded(before) ? findProductKernel(*before) : nullptr;
  if (!kernel)
    return {};
  StringRef obstacle = getLayoutObstacle(kernel->obstacle);
  if (obstacle.empty())
    return {};
  linalg::GenericOp copy;
  for (auto generic : func->getBody().getOps<linalg::GenericOp>())
    copy = generic;
  OperandRepacker(obstacle).repack(copy);
  FailureOr<FusionPlan> after = planFusion(*func, target, options);
  const LedgerKernel *repacked =
      succeeded(after) ? findProductKernel(*after) : nullptr;
  if (!repacked || repacked->products != "wgmma")
    return {};
  return compare(obstacle, *before, *after, options);
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

namespace {
/// A product, those that feed it, all that lies between, and what is computed
/// of that beside and behind it.
struct ProductChain {
  /// In order; the last one is fed by the others.
  SmallVector<linalg::GenericOp> products;
  SetVector<Operation *> ops;
};
} // namespace

/// Operations of a chain, at most.
static constexpr unsigned kMaxSteps = 64;

/// The chain that ends with `last`, if other products feed it.
static std::optional<ProductChain> findChain(linalg::GenericOp last) {
  // What it is computed of, up to other products and what these are not part
  // of.
  SetVector<Operation *> behind;
  SmallVector<Operation *> before;
  behind.insert(last);
  for (size_t i = 0; i < behind.size(); ++i)
    for (Value operand : behind[i]->getOperands()) {
      Operation *op = operand.getDefiningOp();
      if (!op || op->getBlock() != last->getBlock() || isFreeOp(op))
        continue;
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (generic && isContraction(generic)) {
        if (!llvm::is_contained(before, op))
          before.push_back(op);
      } else if (behind.insert(op) && behind.size() > kMaxSteps) {
        return std::nullopt;
      }
    }
  if (before.empty())
    return std::nullopt;
  ProductChain chain;
  for (Operation *op : before) {
    chain.products.push_back(cast<linalg::GenericOp>(op));
    chain.ops.insert(op);
  }
  for (Operation *op : behind)
    if (op == last || needsAny(op, before))
      chain.ops.insert(op);
  chain.products.push_back(last);
  // Sums of the steps, and what the result is divided by them in.
  for (size_t i = 0; i < chain.ops.size(); ++i)
    for (Operation *user : chain.ops[i]->getUsers()) {
      auto generic = dyn_cast<linalg::GenericOp>(user);
      if (generic && !isContraction(generic) &&
          generic->getBlock() == last->getBlock() &&
          chain.ops.size() < kMaxSteps)
        chain.ops.insert(generic);
    }
  return chain;
}

/// Lets `repacker` leave alone what products of `chain` take of others.
static void keepSteps(ArrayRef<linalg::GenericOp> chain,
                      OperandRepacker &repacker) {
  SmallVector<Operation *> products(chain.begin(), chain.end());
  for (linalg::GenericOp product : chain)
    for (Value operand : product.getDpsInputs())
      if (Operation *op = operand.getDefiningOp();
          op && (llvm::is_contained(products, op) || needsAny(op, products)))
        repacker.keep(operand);
}

/// Plans `chain` by itself as it is and with all its products repacked:
/// together they may share a walk, which none of them pays for alone.
static Decision decide(const ProductChain &chain, const TargetInfo &target,
                       const PlanOptions &options) {
  auto planAs = [&](bool isRepacked) -> FailureOr<FusionPlan> {
    IRMapping map;
    OwningOpRef<func::FuncOp> func = extract(chain.ops, map);
    if (!isRepacked)
      return planFusion(*func, target, options);
    SmallVector<linalg::GenericOp> products;
    for (linalg::GenericOp product : chain.products)
      products.push_back(
          cast<linalg::GenericOp>(map.lookup(product.getOperation())));
    OperandRepacker repacker("");
    keepSteps(products, repacker);
    for (linalg::GenericOp &product : products)
      if (repacker.canRepack(product))
        product = repacker.repack(product);
    llvm::SmallDenseSet<Operation *> walked =
        findWalked(*func, products, target, options);
    if (!llvm::all_of(products, [&](linalg::GenericOp product) {
          return walked.contains(product);
        }))
      return failure();
    return planFusion(*func, target, options);
  };
  FailureOr<FusionPlan> after = planAs(/*isRepacked=*/true);
  if (failed(after))
    return {};
  FailureOr<FusionPlan> before = planAs(/*isRepacked=*/false);
  if (failed(before))
    return {};
  return compare(stringifyReason(ReasonCode::SharedWalk), *before, *after,
                 options);
}

void mlir::fusion::repackOperands(
    FunctionOpInterface func, const TargetInfo &target,
    const PlanOptions &options,
    SmallVectorImpl<std::pair<Operation *, LedgerEntry>> &entries,
    llvm::function_ref<bool(linalg::GenericOp)> isMeant) {
  // More kernels are no way to keep a limit on them.
  if (!target.hasWarpgroups || options.maxKernels)
    return;
  SmallVector<linalg::GenericOp> products;
  for (auto generic :
       func.getFunctionBody().front().getOps<linalg::GenericOp>())
    if (OperandRepacker::applies(generic) && isMeant(generic) &&
        !generic->hasAttr(FusionDialect::kNeverAttrName))
      products.push_back(generic);
  OperandRepacker repacker("");
  llvm::SmallDenseSet<Operation *> walked =
      findWalked(func, products, target, options);
  // What a whole chain gains each of its products is repacked for.
  llvm::SmallDenseMap<Operation *, Decision> ofChains;
  auto isOpen = [&](linalg::GenericOp product) {
    return !walked.contains(product) && !ofChains.contains(product) &&
           !product->hasAttr(FusionDialect::kNeverAttrName);
  };
  auto isMisplaced = [&](linalg::GenericOp product) {
    return llvm::is_contained(products, product);
  };
  SmallVector<linalg::GenericOp> contractions;
  if (!products.empty())
    for (auto op : func.getFunctionBody().front().getOps<linalg::GenericOp>())
      if (isContraction(op))
        contractions.push_back(op);
  for (linalg::GenericOp last : contractions) {
    std::optional<ProductChain> chain = findChain(last);
    if (!chain || !llvm::all_of(chain->products, isOpen) ||
        llvm::none_of(chain->products, isMisplaced))
      continue;
    Decision decision = decide(*chain, target, options);
    if (!decision.pays)
      continue;
    keepSteps(chain->products, repacker);
    for (linalg::GenericOp product : chain->products)
      ofChains[product] = decision;
  }
  for (linalg::GenericOp product : products) {
    if (walked.contains(product))
      continue;
    auto ofChain = ofChains.find(product);
    bool isOfChain = ofChain != ofChains.end();
    if (isOfChain && !repacker.canRepack(product))
      continue;
    Decision decision =
        isOfChain ? ofChain->second : decide(product, target, options);
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
