//===- RolePlan.cpp - Who loads, multiplies and stores what ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decisions on rings and staging buffers around the
// products; FitRolePlan.cpp makes them fit shared memory.
//
//===----------------------------------------------------------------------===//

#include "RolePlan.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// Smaller tiles are not worth a copy of their own in the epilogue.
static constexpr int64_t kLeastRows = 64;

/// True for a tile that is worth a copy of its own.
static bool isLarge(const TensorCopy &copy) {
  ArrayRef<int64_t> shape = copy.buffer.getShape();
  int64_t bytes = copy.buffer.getElementType().getIntOrFloatBitWidth() / 8;
  return shape[0] >= kLeastRows &&
         shape[copy.fastDim] * bytes >= fusion::kLeastSideRowBytes;
}

/// True for what is done once for each tile of the result: not in loops of its
/// own, not under a condition.
static bool isBesideProducts(Operation *op, Block *products) {
  return op->getBlock()->findAncestorOpInBlock(products->front());
}

scf::IfOp tile::findFinish(ProgramOp program, const ContractionPlan &plan) {
  scf::IfOp finish;
  WalkResult walk = program.getBody().walk([&](StoreOp store) {
    auto parent = dyn_cast<scf::IfOp>(store->getParentOp());
    if (!parent || (finish && finish != parent))
      return WalkResult::interrupt();
    finish = parent;
    return WalkResult::advance();
  });
  if (walk.wasInterrupted() || !finish ||
      !isa<scf::ForOp>(finish->getParentOp()) || finish.getNumResults() != 0 ||
      finish.elseBlock() || !isBesideProducts(finish, plan.getFirst()) ||
      !isScalarComputable(finish.getCondition()))
    return nullptr;
  return finish;
}

/// True for what a block, or each of the groups that have rows of its tile,
/// does once.
static bool isOnce(Operation *op, const ContractionPlan &plan) {
  Operation *around = op->getParentOp();
  if (plan.rowGroups && around == plan.rowGroups)
    around = plan.rowGroups->getParentOp();
  return isa<ProgramOp>(around);
}

void tile::planHeldOperands(RolePlan &plan) {
  ContractionPlan &contraction = plan.contraction;
  if (!contraction.isLoop())
    return;
  std::vector<std::pair<Operation *, TensorCopy>> held;
  for (auto &[load, copy] : contraction.loads) {
    bool isShared = plan.groups > 1 && isa<ProgramOp>(load->getParentOp());
    // One that is copied for a whole cluster is freed by all its blocks.
    if (!contraction.holds(load->getBlock()) && !isShared && !copy.multicast)
      held.push_back({load, copy});
  }
  if (held.size() == contraction.loads.size())
    return;
  for (auto &[load, copy] : held) {
    contraction.loads.erase(load);
    contraction.ownLoads.erase(load);
    SideRing ring{copy.buffer, {}};
    ring.loads[load] = copy;
    ring.isHeld = true;
    // Where nothing comes after it there is nothing to load ahead.
    if (isOnce(load, contraction))
      ring.stages = 1;
    plan.sideRings.push_back(std::move(ring));
  }
}

void tile::planApartOperand(RolePlan &plan) {
  ContractionPlan &contraction = plan.contraction;
  if (!contraction.isLoop() || contraction.blocks.size() > 1 ||
      contraction.products.size() != 2 || plan.takesTurns() ||
      contraction.hasMulticast() || contraction.loads.size() < 2)
    return;
  DotOp behind = contraction.products.back().dot;
  for (Value operand : {behind.getA(), behind.getB()}) {
    auto load = operand.getDefiningOp<LoadOp>();
    auto *it = load ? contraction.loads.find(load) : contraction.loads.end();
    if (it == contraction.loads.end() || !load->hasOneUse() ||
        !contraction.holds(load->getBlock()) ||
        contraction.ownLoads.contains(load))
      continue;
    SideRing ring{it->second.buffer, {}};
    ring.loads[load] = it->second;
    ring.isApart = true;
    contraction.loads.erase(load);
    plan.sideRings.push_back(std::move(ring));
    return;
  }
}

/// Where `copy`, of `load`, starts: over the `values` of all loads.
static SmallVector<AffineExpr> getStarts(LoadOp load, const TensorCopy &copy,
                                         llvm::SetVector<Value> &values) {
  MLIRContext *context = load.getContext();
  SmallVector<AffineExpr> symbols, starts;
  for (Value symbol : load.getSymbols()) {
    std::optional<int64_t> number = getConstantIntValue(symbol);
    values.insert(symbol);
    unsigned position = llvm::find(values, symbol) - values.begin();
    symbols.push_back(number ? getAffineConstantExpr(*number, context)
                             : getAffineSymbolExpr(position, context));
  }
  for (AffineExpr start : copy.starts)
    starts.push_back(start.replaceSymbols(symbols));
  return starts;
}

/// True when the tiles that `a` and `b` load are the same box of one view, with
/// their dimensions exchanged.
static bool isTransposed(LoadOp a, const TensorCopy &copyOfA, LoadOp b,
                         const TensorCopy &copyOfB) {
  llvm::SetVector<Value> values;
  return a.getView() == b.getView() && copyOfA.map == copyOfB.map &&
         getStarts(a, copyOfA, values) == getStarts(b, copyOfB, values) &&
         !copyOfA.im2col && !copyOfB.im2col && !copyOfA.multicast &&
         !copyOfB.multicast && !copyOfA.pieces && !copyOfB.pieces &&
         copyOfA.buffer.getLayout().getShared().isTransposed(
             copyOfB.buffer.getLayout().getShared());
}

void tile::planTransposedOperands(ContractionPlan &plan) {
  if (!plan.isLoop())
    return;
  auto isShareable = [&](Operation *load) {
    return plan.holds(load->getBlock()) && !plan.ownLoads.contains(load);
  };
  llvm::MapVector<Operation *, TensorCopy> kept;
  for (auto &[op, copy] : plan.loads) {
    auto load = cast<LoadOp>(op);
    auto *same = llvm::find_if(kept, [&, &copy = copy](const auto &other) {
      return isShareable(load) && isShareable(other.first) &&
             load->getBlock() == other.first->getBlock() &&
             isTransposed(cast<LoadOp>(other.first), other.second, load, copy);
    });
    if (same == kept.end())
      kept[op] = copy;
    else
      plan.transposed[op] = {cast<LoadOp>(same->first), copy.buffer};
  }
  plan.loads = std::move(kept);
}

/// True where each warpgroup reads rows of its own of what `load` loads once,
/// and nothing else does.
static bool hasOwnRows(Operation *load, ProgramOp program,
                       const ContractionPlan &plan) {
  if (!load->hasOneUse() || !isOnce(load, plan))
    return false;
  auto *reader = llvm::find_if(plan.products, [&](const Product &product) {
    return product.dot == *load->user_begin();
  });
  if (reader == plan.products.end() || reader->swapped)
    return false;
  DotOp dot = reader->dot;
  if (dot.getA() != load->getResult(0))
    return false;
  int64_t warpgroups = program.getNumWarps() / fusion::kWarpgroupWarps;
  return getTileShape(dot.getType())[0] == warpgroups * kInstructionRows;
}

void tile::planEpilogue(ProgramOp program, RolePlan &plan) {
  Block *products = plan.contraction.getFirst();
  auto isInLoop = [&](Operation *op) {
    return plan.contraction.holds(op->getBlock()) &&
           ContractionPlan::isLoop(op->getBlock());
  };
  if (plan.groups == 1)
    plan.finish = findFinish(program, plan.contraction);
  auto isBeside = [&](Operation *op) {
    return isBesideProducts(op, products) ||
           (plan.finish && op->getBlock() == plan.finish.thenBlock());
  };
  std::string whyNot;
  program.getBody().walk<WalkOrder::PreOrder>([&](LoadOp load) {
    if (plan.contraction.loads.count(load) || !isBeside(load))
      return;
    // What stands before the tiles is every group's.
    if (plan.groups > 1 && isa<ProgramOp>(load->getParentOp()))
      return;
    if (isInLoop(load))
      return;
    FailureOr<TensorCopy> copy = getProducedCopy(load, whyNot);
    if (failed(copy) || !isLarge(*copy))
      return;
    auto isOperand = [](const SideRing &ring) { return ring.isOperand(); };
    if (llvm::any_of(plan.sideRings, [&](const SideRing &ring) {
          return ring.isOperand() && ring.loads.contains(load);
        }))
      return;
    auto ring = llvm::find_if(plan.sideRings, [&](const SideRing &ring) {
      return !ring.isOperand() && ring.buffer == copy->buffer;
    });
    if (ring == plan.sideRings.end()) {
      if (plan.sideRings.size() - llvm::count_if(plan.sideRings, isOperand) ==
          fusion::kMaxSideRings)
        return;
      plan.sideRings.push_back({copy->buffer, {}});
      ring = std::prev(plan.sideRings.end());
    }
    ring->loads[load] = *copy;
  });
  program.getBody().walk<WalkOrder::PreOrder>([&](StoreOp store) {
    if (!isBeside(store) || isInLoop(store))
      return;
    // Boxes of the rows that one warpgroup holds, so that each writes its own.
    FailureOr<TensorCopy> copy =
        getTensorCopy(Access::of(store), whyNot, kInstructionRows);
    if (failed(copy) || !isLarge(*copy))
      return;
    auto staging = llvm::find_if(plan.stagings, [&](const Staging &staging) {
      return staging.buffer == copy->buffer;
    });
    if (staging == plan.stagings.end()) {
      plan.stagings.push_back({copy->buffer, 1, {}});
      staging = std::prev(plan.stagings.end());
    }
    staging->stores[store] = *copy;
    // While one buffer is written to memory, the next is filled.
    staging->numBuffers = std::min<int64_t>(staging->stores.size(), 2);
  });
  // A warpgroup's products have ended before it stores its rows.
  for (Staging &staging : plan.stagings)
    for (auto [number, ring] : llvm::enumerate(plan.sideRings))
      if (ring.isHeld && ring.stages == 1 && ring.buffer == staging.buffer &&
          hasOwnRows(ring.loads.front().first, program, plan.contraction)) {
        staging.held = number;
        break;
      }
}
