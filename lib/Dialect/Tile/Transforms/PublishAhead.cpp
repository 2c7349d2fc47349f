//===- PublishAhead.cpp - Exchanges of the next round ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the software pipelining of walks in rounds. A round is
// two parts: what leads to the words that a block publishes, and what begins
// with those of the others.
//
//   for round r:            early(0)
//     early(r)        =>    for round r but the last:
//     late(r)                 early(r + 1)
//                             late(r)
//                           late(last)
//
// While a round's words travel, blocks have the next round to work on, and when
// they want words these were written a round ago. docs/Rationale/Scans.md says
// why that is no race.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_PUBLISHAHEADPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-publish-ahead"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// Copies of an exchange's words with which a round may be published before the
/// one before it is collected (docs/Rationale/Scans.md).
static constexpr uint64_t kCopiesAhead = 4;

/// The first operation of `ops` that collects what others published before it.
static PanelScanOp findCollection(Block::iterator begin, Block::iterator end) {
  bool isPublished = false;
  for (Operation &op : llvm::make_range(begin, end)) {
    isPublished |= isa<PanelPublishOp>(op);
    if (auto scan = dyn_cast<PanelScanOp>(op))
      return isPublished ? scan : nullptr;
  }
  return nullptr;
}

/// Calls `visit` with each operand of `op` and of what it contains.
static void forEachOperand(Operation &op,
                           llvm::function_ref<void(Value)> visit) {
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      visit(operand);
  });
}

namespace {
/// Pipelines one loop.
class RoundPipeliner {
public:
  explicit RoundPipeliner(scf::ForOp loop)
      : loop(loop), builder(loop), loc(loop.getLoc()) {}

  /// Rewrites the loop where it is one of rounds that allows it.
  void run();

private:
  /// Divides the body; false where a part of it cannot be early.
  bool divide();
  bool isOfEarlyPart(Value value) {
    Operation *op = value.getDefiningOp();
    return op && isOfEarlyPart(op);
  }
  bool isOfEarlyPart(Operation *op) {
    return op->getBlock() == loop.getBody() &&
           op->isBeforeInBlock(collection) && !belated.contains(op);
  }
  /// Whether `value` is what the loop carries from one late part to the next,
  /// or made of that.
  bool isLate(Value value);
  /// Whether the late part computes `value` again rather than that threads keep
  /// it: an index, or a tile that another one is converted to.
  bool isComputedAgain(Value value) const;
  /// Adds what the late part needs of the early one, by way of `value`.
  void addCrossing(Value value);
  /// Clones the early part for iteration `at`.
  void cloneEarly(Value at, IRMapping &mapping);
  /// Clones the late part, given the crossing values and arguments; what is
  /// computed again comes first.
  void cloneLate(Value at, IRMapping &mapping);
  /// Adds to `slice` what lies between `begin` and the loop and computes
  /// `value`; false when it cannot be moved.
  bool addSlice(Value value, Operation *begin,
                llvm::SetVector<Operation *> &slice);
  /// Where the first early part goes: before what an earlier piece of the walk
  /// collects, if it can.
  Operation *findPrologue();
  /// Where the last late part goes: before what a later piece collects.
  Operation *findEpilogue(scf::ForOp rounds);
  scf::ForOp emitLoop(IRMapping &first);
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  scf::ForOp loop;
  OpBuilder builder;
  Location loc;
  /// The first operation of the late part.
  PanelScanOp collection;
  SmallVector<Operation *> early, late;
  /// Operations before the collection that need what late parts carry.
  llvm::SmallPtrSet<Operation *, 4> belated;
  /// Arguments of the loop that the early part begins with, by number.
  llvm::SmallBitVector isEarly;
  /// What the late part needs of the early one.
  llvm::SetVector<Value> crossing;
  /// Operations of the early part that the late one repeats.
  llvm::SetVector<Operation *> repeated;
  int64_t lower = 0, step = 0, trips = 0;
};
} // namespace

bool RoundPipeliner::isComputedAgain(Value value) const {
  Operation *op = value.getDefiningOp();
  if (op->getNumRegions() != 0 || !isPure(op))
    return false;
  if (!isa<RankedTensorType>(value.getType()))
    return value.getType().isIndex();
  return isa<CastOpInterface, SplatOp>(op);
}

void RoundPipeliner::addCrossing(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    bool isOfLoop = argument.getOwner() == loop.getBody() &&
                    argument != loop.getInductionVar();
    if (isOfLoop && isEarly[argument.getArgNumber() - 1])
      crossing.insert(value);
    return;
  }
  if (!isOfEarlyPart(value))
    return;
  if (!isComputedAgain(value)) {
    crossing.insert(value);
    return;
  }
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    addCrossing(operand);
  repeated.insert(op);
}

bool RoundPipeliner::isLate(Value value) {
  if (Operation *op = value.getDefiningOp())
    return belated.contains(op);
  auto argument = cast<BlockArgument>(value);
  return argument.getOwner() == loop.getBody() &&
         argument != loop.getInductionVar() &&
         !isOfEarlyPart(loop.getYieldedValues()[argument.getArgNumber() - 1]);
}

bool RoundPipeliner::divide() {
  Block &body = *loop.getBody();
  collection = findCollection(body.begin(), body.end());
  if (!collection)
    return false;
  for (Operation &op : body.without_terminator()) {
    bool isOfLate = false;
    forEachOperand(op, [&](Value operand) { isOfLate |= isLate(operand); });
    if (op.isBeforeInBlock(collection) && isOfLate) {
      if (!isPure(&op))
        return false;
      belated.insert(&op);
    }
    (isOfEarlyPart(&op) ? early : late).push_back(&op);
  }
  isEarly.resize(loop.getNumRegionIterArgs());
  for (Operation *op : early) {
    if (isa<StoreOp>(op))
      return false;
    if (auto publish = dyn_cast<PanelPublishOp>(op))
      if (publish.getCopies() < kCopiesAhead)
        return false;
    forEachOperand(*op, [&](Value operand) {
      if (auto argument = dyn_cast<BlockArgument>(operand))
        if (argument.getOwner() == &body && argument != loop.getInductionVar())
          isEarly.set(argument.getArgNumber() - 1);
    });
  }
  for (Operation *op : late)
    forEachOperand(*op, [&](Value operand) { addCrossing(operand); });
  for (auto [i, yielded] : llvm::enumerate(loop.getYieldedValues()))
    if (!isEarly[i])
      addCrossing(yielded);
  return llvm::none_of(
      crossing, [](Value value) { return isa<BufferType>(value.getType()); });
}

void RoundPipeliner::cloneEarly(Value at, IRMapping &mapping) {
  mapping.map(loop.getInductionVar(), at);
  for (Operation *op : early)
    builder.clone(*op, mapping);
}

void RoundPipeliner::cloneLate(Value at, IRMapping &mapping) {
  mapping.map(loop.getInductionVar(), at);
  for (Operation *op : repeated)
    builder.clone(*op, mapping);
  for (Operation *op : late)
    builder.clone(*op, mapping);
}

bool RoundPipeliner::addSlice(Value value, Operation *begin,
                              llvm::SetVector<Operation *> &slice) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop->getBlock() || op->isBeforeInBlock(begin))
    return true;
  if (op == begin || op->getNumRegions() != 0 ||
      !(isPure(op) || isa<LoadOp>(op)))
    return false;
  for (Value operand : op->getOperands())
    if (!addSlice(operand, begin, slice))
      return false;
  slice.insert(op);
  return true;
}

Operation *RoundPipeliner::findPrologue() {
  PanelScanOp before =
      findCollection(loop->getBlock()->begin(), Block::iterator(loop));
  if (!before)
    return loop;
  llvm::SetVector<Operation *> slice;
  bool canMove = true;
  auto add = [&](Value operand) {
    if (operand.getParentRegion() != &loop.getRegion())
      canMove &= addSlice(operand, before, slice);
  };
  for (Operation *op : early)
    forEachOperand(*op, add);
  for (unsigned i : isEarly.set_bits())
    add(loop.getInitArgs()[i]);
  if (!canMove)
    return loop;
  for (Operation *op : slice)
    op->moveBefore(before);
  return before;
}

Operation *RoundPipeliner::findEpilogue(scf::ForOp rounds) {
  Operation *next = rounds->getNextNode();
  PanelScanOp after =
      findCollection(Block::iterator(next), rounds->getBlock()->end());
  if (!after)
    return next;
  // What begins with the last round's results comes after it.
  llvm::SetVector<Operation *> dependent;
  for (Operation *op = next; op != after; op = op->getNextNode())
    forEachOperand(*op, [&](Value operand) {
      auto result = dyn_cast<OpResult>(operand);
      if (result &&
          (dependent.contains(result.getOwner()) ||
           (result.getOwner() == loop && !isEarly[result.getResultNumber()])))
        dependent.insert(op);
    });
  if (!llvm::all_of(dependent, [](Operation *op) { return isPure(op); }))
    return next;
  for (Operation *op : dependent)
    op->moveBefore(after);
  return dependent.empty() ? after.getOperation() : dependent.front();
}

scf::ForOp RoundPipeliner::emitLoop(IRMapping &first) {
  SmallVector<Value> inits;
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs()))
    inits.push_back(isEarly[i] ? first.lookup(loop.getYieldedValues()[i])
                               : init);
  for (Value value : crossing)
    inits.push_back(first.lookupOrDefault(value));
  unsigned numArgs = loop.getNumRegionIterArgs();
  auto emitBody = [&](OpBuilder &inside, Location, Value at, ValueRange args) {
    builder.setInsertionPoint(inside.getInsertionBlock(),
                              inside.getInsertionPoint());
    IRMapping next, present;
    for (auto [argument, now] :
         llvm::zip(loop.getRegionIterArgs(), args.take_front(numArgs))) {
      next.map(argument, now);
      present.map(argument, now);
    }
    for (auto [value, now] : llvm::zip(crossing, args.drop_front(numArgs)))
      present.map(value, now);
    cloneEarly(arith::AddIOp::create(builder, loc, at, index(step)), next);
    cloneLate(at, present);
    SmallVector<Value> yielded;
    for (auto [i, value] : llvm::enumerate(loop.getYieldedValues()))
      yielded.push_back((isEarly[i] ? next : present).lookupOrDefault(value));
    for (Value value : crossing)
      yielded.push_back(next.lookupOrDefault(value));
    scf::YieldOp::create(builder, loc, yielded);
  };
  builder.setInsertionPoint(loop);
  return scf::ForOp::create(builder, loc, index(lower),
                            index(lower + (trips - 1) * step), index(step),
                            inits, emitBody);
}

void RoundPipeliner::run() {
  std::optional<APInt> count = loop.getStaticTripCount();
  std::optional<int64_t> begin = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> by = getConstantIntValue(loop.getStep());
  if (!count || count->ult(2) || !begin || !by || !divide())
    return;
  lower = *begin;
  step = *by;
  trips = static_cast<int64_t>(count->getZExtValue());
  unsigned numArgs = loop.getNumRegionIterArgs();

  builder.setInsertionPoint(findPrologue());
  IRMapping first;
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    if (isEarly[i])
      first.map(argument, loop.getInitArgs()[i]);
  cloneEarly(index(lower), first);
  scf::ForOp rounds = emitLoop(first);

  builder.setInsertionPoint(loop);
  Operation *end = findEpilogue(loop);
  builder.setInsertionPoint(end);
  IRMapping last;
  for (auto [argument, result] :
       llvm::zip(loop.getRegionIterArgs(), rounds.getResults()))
    last.map(argument, result);
  for (auto [value, result] :
       llvm::zip(crossing, rounds.getResults().drop_front(numArgs)))
    last.map(value, result);
  cloneLate(index(lower + (trips - 1) * step), last);
  for (auto [i, result] : llvm::enumerate(loop.getResults())) {
    Value yielded = loop.getYieldedValues()[i];
    result.replaceAllUsesWith(isEarly[i] ? Value(rounds.getResult(i))
                                         : last.lookupOrDefault(yielded));
  }
  loop.erase();
}

namespace {
class PublishAheadPass
    : public tile::impl::PublishAheadPassBase<PublishAheadPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    llvm::SetVector<scf::ForOp> loops;
    getOperation().getBody().walk([&](PanelPublishOp publish) {
      if (auto loop = dyn_cast<scf::ForOp>(publish->getParentOp()))
        loops.insert(loop);
    });
    for (scf::ForOp loop : loops)
      RoundPipeliner(loop).run();
  }
};
} // namespace
