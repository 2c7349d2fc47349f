//===- LoopPipeliner.cpp - Loads of a loop ahead --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what the ways to make loads ahead share: what is known
// ahead, the copies of an iteration and the reads of a stage.
//
//===----------------------------------------------------------------------===//

#include "LoopPipeliner.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// Whether `op` divides by a number that is never zero, as flattened nests do.
static bool isSafeDivision(Operation *op) {
  if (!isa<arith::DivUIOp, arith::RemUIOp>(op))
    return false;
  auto most = op->getOperand(1).getDefiningOp<arith::MaxUIOp>();
  return most && getConstantIntValue(most.getRhs()).value_or(0) > 0;
}

bool tile::isKnownAhead(Value value, scf::ForOp loop) {
  if (value.getParentRegion()->isProperAncestor(&loop.getRegion()) ||
      value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() && op->getNumRegions() == 0 &&
         (isPure(op) || isSafeDivision(op)) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isKnownAhead(operand, loop);
         });
}

Value tile::computeAhead(OpBuilder &builder, Value value, scf::ForOp loop,
                         IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return value;
  for (Value operand : op->getOperands())
    computeAhead(builder, operand, loop, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

SmallVector<LoadOp> tile::loadsKnownAhead(scf::ForOp loop) {
  SmallVector<LoadOp> loads;
  for (auto load : loop.getBody()->getOps<LoadOp>())
    if (load.getIndices().empty() && isa<RankedTensorType>(load.getType()) &&
        load.getView().getParentRegion()->isProperAncestor(&loop.getRegion()) &&
        llvm::all_of(load.getSymbols(),
                     [&](Value symbol) { return isKnownAhead(symbol, loop); }))
      loads.push_back(load);
  return loads;
}

SmallVector<LoadOp> tile::loadsOfProducts(scf::ForOp loop) {
  llvm::SetVector<Operation *> needed;
  for (auto dot : loop.getBody()->getOps<DotOp>())
    for (Value operand : {dot.getA(), dot.getB()})
      if (Operation *op = operand.getDefiningOp())
        needed.insert(op);
  for (unsigned i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands())
      if (Operation *op = operand.getDefiningOp())
        if (op->getBlock() == loop.getBody())
          needed.insert(op);
  SmallVector<LoadOp> loads = loadsKnownAhead(loop);
  llvm::erase_if(loads, [&](LoadOp load) { return !needed.contains(load); });
  return loads;
}

Value LoopPipeliner::positionAhead(int64_t iterations, Value from) {
  if (iterations == 0)
    return from;
  Value distance = arith::MulIOp::create(rewriter, loc, loop.getStep(),
                                         constant(iterations));
  return arith::AddIOp::create(rewriter, loc, from, distance);
}

Value LoopPipeliner::isInLoop(Value position) {
  return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                               position, loop.getUpperBound());
}

void LoopPipeliner::startCopies(Value position, Value stage, Value predicate) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), position);
  for (Copied &copy : copies) {
    SmallVector<Value> symbols;
    for (Value symbol : copy.load.getSymbols())
      symbols.push_back(computeAhead(rewriter, symbol, loop, mapping));
    Value buffer = StageOp::create(rewriter, loc, copy.buffer.getType(),
                                   copy.buffer, stage);
    CopyStartOp::create(
        rewriter, copy.load.getLoc(), copy.load.getView(), symbols, buffer,
        predicate, copy.load.getMap(), copy.load.getChecked(),
        LayoutAttr::get(rewriter.getContext(), copy.plan.threads));
  }
  if (!ring)
    CopyCommitOp::create(rewriter, loc);
}

void LoopPipeliner::fillFirstStages(int64_t count, Readers readers) {
  // In an outer loop other threads may still read the last stages.
  if (readers != Readers::Threads && loop->getParentOfType<scf::ForOp>())
    BarrierOp::create(rewriter, loc);
  std::optional<APInt> trips = loop.getStaticTripCount();
  for (int64_t stage = 0; stage < count; ++stage) {
    Value position = positionAhead(stage, loop.getLowerBound());
    bool exists = trips && trips->sgt(stage);
    startCopies(position, constant(stage),
                exists ? Value() : isInLoop(position));
    if (!ring)
      continue;
    // The barriers are ready for all once the first copies are under way.
    if (stage == 0)
      BarrierOp::create(rewriter, loc);
    CopyArriveOp::create(rewriter, loc, ring, constant(stage));
  }
}

void LoopPipeliner::readBuffer(LoadOp load, function_ref<Value()> getBuffer) {
  rewriter.setInsertionPoint(load);
  Value buffer = getBuffer();
  for (Operation *user :
       llvm::make_early_inc_range(load.getResult().getUsers()))
    if (auto convert = dyn_cast<ConvertLayoutOp>(user)) {
      rewriter.setInsertionPoint(convert);
      rewriter.replaceOpWithNewOp<LocalLoadOp>(convert, convert.getType(),
                                               buffer);
    }
  rewriter.setInsertionPoint(load);
  if (!load.getResult().use_empty())
    rewriter.replaceAllUsesWith(
        load.getResult(),
        LocalLoadOp::create(rewriter, load.getLoc(), load.getType(), buffer));
}

void LoopPipeliner::readStages(Value stage) {
  for (Copied &copy : copies)
    readBuffer(copy.load, [&] {
      return StageOp::create(rewriter, loc, copy.buffer.getType(), copy.buffer,
                             stage);
    });
}

void LoopPipeliner::allocateBuffers() {
  rewriter.setInsertionPoint(loop);
  for (Copied &copy : copies) {
    Type element = getTileElementType(copy.load.getType());
    auto type = BufferType::get(
        rewriter.getContext(), getTileShape(copy.load.getType()), element,
        SharedAttr::get(rewriter.getContext(), copy.plan.buffer));
    auto buffer = AllocOp::create(rewriter, loc, type, IntegerAttr());
    buffer.setStages(stages);
    copy.buffer = buffer;
  }
}

void LoopPipeliner::eraseLoads() {
  for (Copied &copy : copies)
    rewriter.eraseOp(copy.load);
}

Value LoopPipeliner::carry(Value first,
                           function_ref<Value(OpBuilder &, Value)> next) {
  auto yieldNext = [&](OpBuilder &builder, Location,
                       ArrayRef<BlockArgument> arguments) {
    return SmallVector<Value>{next(builder, arguments.front())};
  };
  FailureOr<LoopLikeOpInterface> carried =
      loop.replaceWithAdditionalYields(rewriter, first, false, yieldNext);
  assert(succeeded(carried) && "scf.for takes more values");
  loop = cast<scf::ForOp>(carried->getOperation());
  return loop.getRegionIterArgs().back();
}

Value LoopPipeliner::carryStage() {
  Value zero = constant(0), one = constant(1), count = constant(stages);
  return carry(zero, [&](OpBuilder &builder, Value stage) -> Value {
    Value next = arith::AddIOp::create(builder, loc, stage, one);
    Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        next, count);
    return arith::SelectOp::create(builder, loc, wraps, zero, next);
  });
}

void LoopPipeliner::run() {
  SmallVector<LoadOp> others;
  SmallVector<LoadOp> loads = loadsOfProducts(loop);
  if (mbarriers && wantsProducer(loads) && planProduced(loads, others)) {
    if (fitStages()) {
      loadAsUsed(others);
      loadAhead(others);
      return takeTurnsWithProducer();
    }
    copies.clear();
    others.clear();
  }
  bool byReaders = planReaders(loads, others);
  if (!byReaders)
    for (LoadOp load : loads) {
      if (std::optional<CopyPlan> plan = planCopy(load, numWarps))
        copies.push_back({load, *plan, nullptr});
      else
        others.push_back(load);
    }
  if (!copies.empty() && !fitStages())
    return;
  loadAhead(others);
  if (copies.empty())
    return;

  allocateBuffers();
  // A loop in a loop would meet barriers in the middle of a turn.
  if (mbarriers && !byReaders && unpacksOnce() &&
      !loop->getParentOfType<scf::ForOp>())
    takeTurnsWithBarriers();
  else
    takeTurns(byReaders ? Readers::Warps : Readers::Block);
}

void LoopPipeliner::runByThreads() {
  for (LoadOp load : loadsKnownAhead(loop))
    if (std::optional<CopyPlan> plan = planOwnCopy(load))
      copies.push_back({load, *plan, nullptr});
  if (copies.empty() || !fitStages())
    return;
  allocateBuffers();
  takeTurns(Readers::Threads);
}
