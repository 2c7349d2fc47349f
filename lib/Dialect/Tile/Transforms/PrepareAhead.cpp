//===- PrepareAhead.cpp - Computes operands beside products ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that computes operands which go through buffers
// while products of other operands run. Of a loop with two products, one after
// the other,
//
//   for j: store f(k[j]);  s = q f(k[j]);  wait
//          store g(v[j]);  o = p(s) g(v[j]) + o;  wait
//
// it makes
//
//   store f(k[first])
//   for j: s = q f(k[j]);  store g(v[j]);  wait
//          o = p(s) g(v[j]) + o;  store f(k[j + 1]);  wait
//
// What is stored comes from stages of rings, which are in order: one is waited
// for early, the one before it is freed later.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_PREPAREAHEADPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-prepare-ahead"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

namespace {
/// An operand that each turn of a loop puts into a buffer.
struct Prepared {
  LocalStoreOp store;
  /// What it is computed by in the turn, the store last, in order.
  SmallVector<Operation *> ops;
};

/// The operands that one loop prepares.
class LoopPreparer {
public:
  explicit LoopPreparer(scf::ForOp loop) : loop(loop) {
    llvm::append_range(products, loop.getOps<MmaAsyncOp>());
  }

  void run();

private:
  /// How `store` is computed, if of stages of rings, and of nothing that a turn
  /// leaves to the next but positions in these.
  std::optional<Prepared> find(LocalStoreOp store);
  /// What a turn adds to `carried`, a position.
  std::optional<int64_t> getStride(BlockArgument carried);
  /// True when the products that read `buffer` have ended before `op`.
  bool haveEnded(Value buffer, Operation *op);
  /// Ends the group of products in flight that `product` is the last of, so
  /// that others need not be waited for.
  static Operation *endGroup(MmaAsyncOp product);
  /// Computes `operands` once the first product has begun.
  void hoist(ArrayRef<Prepared> operands);
  /// Computes what the next turn's first product reads beside the last one.
  void prepareNext(ArrayRef<Prepared> operands);
  /// Frees the stages that `operands` come from behind `last`.
  void freeBehind(ArrayRef<Prepared> operands, Operation *last);
  /// Copies the operations of `operands` to where `builder` is, in a turn that
  /// begins at `index`; `positionOf` gives the positions in rings.
  void copy(OpBuilder &builder, ArrayRef<Prepared> operands, Value index,
            function_ref<Value(BlockArgument)> positionOf);

  scf::ForOp loop;
  SmallVector<MmaAsyncOp> products;
};
} // namespace

std::optional<int64_t> LoopPreparer::getStride(BlockArgument carried) {
  if (!carried.getType().isIndex())
    return std::nullopt;
  auto sum = loop.getYieldedValues()[carried.getArgNumber() - 1]
                 .getDefiningOp<arith::AddIOp>();
  APInt stride;
  if (!sum || sum.getLhs() != carried ||
      !matchPattern(sum.getRhs(), m_ConstantInt(&stride)))
    return std::nullopt;
  return stride.getSExtValue();
}

std::optional<Prepared> LoopPreparer::find(LocalStoreOp store) {
  llvm::SmallSetVector<Operation *, 16> ops;
  ops.insert(store);
  for (unsigned i = 0; i < ops.size(); ++i)
    for (Value operand : ops[i]->getOperands()) {
      if (auto argument = dyn_cast<BlockArgument>(operand))
        if (argument.getOwner() == loop.getBody() &&
            argument != loop.getInductionVar() && !getStride(argument))
          return std::nullopt;
      Operation *op = operand.getDefiningOp();
      if (!op || op->getBlock() != loop.getBody())
        continue;
      if (op->getNumRegions() != 0 || isa<MmaAsyncOp, MmaWaitOp>(op) ||
          !(isMemoryEffectFree(op) || isa<WaitOp, LocalLoadOp, LoadOp>(op)))
        return std::nullopt;
      ops.insert(op);
    }
  // What is loaded meanwhile would wait for memory in registers.
  auto isLoaded = [](Operation *op) {
    return isa<LoadOp>(op) && isa<RankedTensorType>(op->getResult(0).getType());
  };
  if (llvm::none_of(ops, llvm::IsaPred<WaitOp>) || llvm::any_of(ops, isLoaded))
    return std::nullopt;
  Prepared result{store, SmallVector<Operation *>(ops.getArrayRef())};
  llvm::sort(result.ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return result;
}

bool LoopPreparer::haveEnded(Value buffer, Operation *op) {
  return llvm::all_of(products, [&](MmaAsyncOp product) {
    if (product.getA() != buffer && product.getB() != buffer)
      return true;
    return llvm::any_of(product->getUsers(), [&](Operation *user) {
      return isa<MmaWaitOp>(user) && user->getBlock() == op->getBlock() &&
             user->isBeforeInBlock(op);
    });
  });
}

Operation *LoopPreparer::endGroup(MmaAsyncOp product) {
  OpBuilder builder(product->getContext());
  builder.setInsertionPointAfter(product);
  return MmaWaitOp::create(builder, product.getLoc(), TypeRange(), ValueRange(),
                           ValueRange(), /*pending=*/1);
}

void LoopPreparer::hoist(ArrayRef<Prepared> operands) {
  Operation *last = endGroup(products.front());
  for (const Prepared &operand : operands)
    for (Operation *op : operand.ops)
      if (last->isBeforeInBlock(op)) {
        op->moveAfter(last);
        last = op;
      }
}

void LoopPreparer::copy(OpBuilder &builder, ArrayRef<Prepared> operands,
                        Value index,
                        function_ref<Value(BlockArgument)> positionOf) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), index);
  for (BlockArgument carried : loop.getRegionIterArgs())
    if (getStride(carried))
      mapping.map(carried, positionOf(carried));
  llvm::SmallPtrSet<Operation *, 16> done;
  for (const Prepared &operand : operands)
    for (Operation *op : operand.ops)
      if (done.insert(op).second)
        builder.clone(*op, mapping);
}

void LoopPreparer::freeBehind(ArrayRef<Prepared> operands, Operation *last) {
  llvm::SmallPtrSet<Value, 2> rings;
  for (const Prepared &operand : operands)
    for (Operation *op : operand.ops)
      if (auto wait = dyn_cast<WaitOp>(op))
        rings.insert(wait.getRing());
  for (auto release : llvm::make_early_inc_range(loop.getOps<ReleaseOp>()))
    if (rings.contains(release.getRing()) && release->isBeforeInBlock(last)) {
      release->moveAfter(last);
      last = release;
    }
}

void LoopPreparer::prepareNext(ArrayRef<Prepared> operands) {
  Location loc = loop.getLoc();
  OpBuilder builder(loop);
  auto isTurn = [&](Value index) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, index,
                                 loop.getUpperBound());
  };
  auto guarded = scf::IfOp::create(builder, loc, isTurn(loop.getLowerBound()),
                                   /*withElseRegion=*/false);
  builder.setInsertionPointToStart(guarded.thenBlock());
  copy(builder, operands, loop.getLowerBound(), [&](BlockArgument carried) {
    return loop.getTiedLoopInit(carried)->get();
  });

  // The last turn prepares its own once more, which costs less than a branch
  // that products are in flight over.
  Operation *end = endGroup(products.back());
  builder.setInsertionPointAfter(end);
  Operation *behind = end->getNextNode();
  Value index = loop.getInductionVar();
  Value next = arith::AddIOp::create(builder, loc, index, loop.getStep());
  Value hasNext = isTurn(next);
  auto choose = [&](Value later, Value now) -> Value {
    return arith::SelectOp::create(builder, loc, hasNext, later, now);
  };
  copy(builder, operands, choose(next, index),
       [&](BlockArgument carried) -> Value {
         Value stride =
             arith::ConstantIndexOp::create(builder, loc, *getStride(carried));
         return choose(arith::AddIOp::create(builder, loc, carried, stride),
                       carried);
       });
  freeBehind(operands, behind->getPrevNode());
  for (const Prepared &operand : operands)
    for (Operation *op : llvm::reverse(operand.ops))
      if (op == operand.store || isOpTriviallyDead(op) ||
          (isa<LocalLoadOp>(op) && op->use_empty()))
        op->erase();
}

void LoopPreparer::run() {
  if (products.size() < 2)
    return;
  SmallVector<Prepared> first, later;
  for (auto store : loop.getOps<LocalStoreOp>()) {
    std::optional<Prepared> operand = find(store);
    if (!operand)
      continue;
    bool isFirst = store->isBeforeInBlock(products.front());
    if (isFirst && haveEnded(store.getBuffer(), products.back()))
      first.push_back(std::move(*operand));
    else if (!isFirst && products.front().getA() != store.getBuffer() &&
             products.front().getB() != store.getBuffer())
      later.push_back(std::move(*operand));
  }
  if (!later.empty())
    hoist(later);
  if (!first.empty())
    prepareNext(first);
}

namespace {
class PrepareAheadPass
    : public tile::impl::PrepareAheadPassBase<PrepareAheadPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      LoopPreparer(loop).run();
  }
};
} // namespace
