//===- SplitMaskedWalks.cpp - Loops of their own for whole turns ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that gives the turns of a loop in which a mask
// of positions removes nothing a loop of their own. Such turns follow one
// another, since what guards the mask compares the turn's position with numbers
// that the loop does not change:
//
//   for j = b to e: if j + 127 <= i: s, else: mask s
//
//   m = the first j with j + 127 > i
//   for j = b to m: s
//   for j = m to e: mask s
//
// A branch in each turn costs more than it looks: products are in flight, and
// what is on both of its sides has to be in the same registers.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_SPLITMASKEDWALKSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-split-masked-walks"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

namespace {
/// A comparison of a loop's position j: j + shift, or j, with a limit.
struct Comparison {
  arith::CmpIPredicate predicate;
  Value shift, limit;
};

/// A loop whose turns a mask removes nothing of as long as comparisons hold.
struct MaskedLoop {
  scf::ForOp loop;
  scf::IfOp guard;
  SmallVector<Comparison, 2> comparisons;
};
} // namespace

/// True when `value` is a scalar that the turns of `loop` have in common.
static bool isInvariant(Value value, scf::ForOp loop) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() && op->getNumRegions() == 0 &&
         isMemoryEffectFree(op) && value.getType().isIndex() &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isInvariant(operand, loop);
         });
}

/// Finds the position of `loop` in `value`, and what is added to it.
static bool matchPosition(Value value, scf::ForOp loop, Value &shift) {
  if (value == loop.getInductionVar())
    return true;
  auto sum = value.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return false;
  for (auto [position, other] : {std::pair(sum.getLhs(), sum.getRhs()),
                                 std::pair(sum.getRhs(), sum.getLhs())})
    if (position == loop.getInductionVar() && isInvariant(other, loop)) {
      shift = other;
      return true;
    }
  return false;
}

/// The predicate with its operands exchanged.
static std::optional<arith::CmpIPredicate>
exchange(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return arith::CmpIPredicate::sgt;
  case arith::CmpIPredicate::sle:
    return arith::CmpIPredicate::sge;
  case arith::CmpIPredicate::sgt:
    return arith::CmpIPredicate::slt;
  case arith::CmpIPredicate::sge:
    return arith::CmpIPredicate::sle;
  default:
    return std::nullopt;
  }
}

/// Finds the comparisons that `condition` is the conjunction of.
static bool matchCondition(Value condition, scf::ForOp loop,
                           SmallVectorImpl<Comparison> &comparisons) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return matchCondition(both.getLhs(), loop, comparisons) &&
           matchCondition(both.getRhs(), loop, comparisons);
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || !compare.getLhs().getType().isIndex())
    return false;
  auto exchanged = exchange(compare.getPredicate());
  if (!exchanged)
    return false;
  Value shift;
  if (matchPosition(compare.getLhs(), loop, shift) &&
      isInvariant(compare.getRhs(), loop)) {
    comparisons.push_back({compare.getPredicate(), shift, compare.getRhs()});
    return true;
  }
  if (matchPosition(compare.getRhs(), loop, shift) &&
      isInvariant(compare.getLhs(), loop)) {
    comparisons.push_back({*exchanged, shift, compare.getLhs()});
    return true;
  }
  return false;
}

static std::optional<MaskedLoop> match(scf::ForOp loop) {
  MaskedLoop masked;
  masked.loop = loop;
  for (auto condition : loop.getBody()->getOps<scf::IfOp>()) {
    // A guard gives what is there.
    if (condition.getNumResults() != 1 ||
        !isa<RankedTensorType>(condition.getResult(0).getType()) ||
        !llvm::hasSingleElement(*condition.thenBlock()))
      continue;
    if (masked.guard)
      return std::nullopt;
    masked.guard = condition;
  }
  if (!masked.guard || loop.getBody()->getOps<MmaAsyncOp>().empty() ||
      !matchCondition(masked.guard.getCondition(), loop, masked.comparisons))
    return std::nullopt;
  return masked;
}

namespace {
/// Rewrites one loop.
class WalkSplitter {
public:
  explicit WalkSplitter(const MaskedLoop &masked)
      : masked(masked), loop(this->masked.loop), builder(loop),
        loc(loop.getLoc()) {}

  void run();

private:
  /// `value` before the loop.
  Value hoist(Value value);
  Value constant(int64_t number) {
    return arith::ConstantIndexOp::create(builder, loc, number);
  }
  template <typename Op>
  Value create(Value a, Value b) {
    return Op::create(builder, loc, a, b);
  }
  /// The first position of a turn that is at least `least`, which may be before
  /// the first turn's.
  Value findTurn(Value least);
  /// Adds the turns from `begin` to `end`, whole or masked.
  void addLoop(Value begin, Value end, bool isWhole);

  MaskedLoop masked;
  scf::ForOp loop;
  OpBuilder builder;
  Location loc;
  IRMapping hoisted;
  SmallVector<Value> carried;
};
} // namespace

Value WalkSplitter::hoist(Value value) {
  if (loop.isDefinedOutsideOfLoop(value))
    return value;
  if (Value known = hoisted.lookupOrNull(value))
    return known;
  for (Value operand : value.getDefiningOp()->getOperands())
    hoisted.map(operand, hoist(operand));
  builder.clone(*value.getDefiningOp(), hoisted);
  return hoisted.lookup(value);
}

Value WalkSplitter::findTurn(Value least) {
  Value distance = create<arith::SubIOp>(least, loop.getLowerBound());
  distance = create<arith::MaxSIOp>(distance, constant(0));
  Value past = create<arith::SubIOp>(loop.getStep(), constant(1));
  Value turns = create<arith::DivUIOp>(create<arith::AddIOp>(distance, past),
                                       loop.getStep());
  return create<arith::AddIOp>(loop.getLowerBound(),
                               create<arith::MulIOp>(turns, loop.getStep()));
}

void WalkSplitter::addLoop(Value begin, Value end, bool isWhole) {
  auto part =
      scf::ForOp::create(builder, loc, begin, end, loop.getStep(), carried);
  part->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(part.getBody());
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), part.getInductionVar());
  for (auto [from, to] :
       llvm::zip(loop.getRegionIterArgs(), part.getRegionIterArgs()))
    mapping.map(from, to);
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (&op != masked.guard) {
      builder.clone(op, mapping);
      continue;
    }
    Block *side = isWhole ? masked.guard.thenBlock() : masked.guard.elseBlock();
    for (Operation &inner : side->without_terminator())
      builder.clone(inner, mapping);
    Value chosen = side->getTerminator()->getOperand(0);
    mapping.map(masked.guard.getResult(0), mapping.lookupOrDefault(chosen));
  }
  SmallVector<Value> yielded;
  for (Value value : loop.getYieldedValues())
    yielded.push_back(mapping.lookupOrDefault(value));
  scf::YieldOp::create(builder, loc, yielded);
  carried = llvm::to_vector_of<Value>(part.getResults());
}

void WalkSplitter::run() {
  // Whole turns begin at the greatest of some positions and end at the least of
  // others.
  Value begin, end;
  for (const Comparison &comparison : masked.comparisons) {
    Value limit = hoist(comparison.limit);
    if (comparison.shift)
      limit = create<arith::SubIOp>(limit, hoist(comparison.shift));
    // The first position at which it holds, or no longer does.
    bool isStrict = comparison.predicate == arith::CmpIPredicate::sgt ||
                    comparison.predicate == arith::CmpIPredicate::sle;
    if (isStrict)
      limit = create<arith::AddIOp>(limit, constant(1));
    Value turn = findTurn(limit);
    bool isEnd = comparison.predicate == arith::CmpIPredicate::sle ||
                 comparison.predicate == arith::CmpIPredicate::slt;
    if (isEnd)
      end = end ? create<arith::MinSIOp>(end, turn) : turn;
    else
      begin = begin ? create<arith::MaxSIOp>(begin, turn) : turn;
  }
  carried = llvm::to_vector_of<Value>(loop.getInitArgs());
  Value first = loop.getLowerBound(), last = loop.getUpperBound();
  if (begin) {
    begin = create<arith::MinSIOp>(begin, last);
    addLoop(first, begin, /*isWhole=*/false);
    first = begin;
  }
  if (end) {
    end = create<arith::MinSIOp>(create<arith::MaxSIOp>(end, first), last);
    addLoop(first, end, /*isWhole=*/true);
    addLoop(end, last, /*isWhole=*/false);
  } else {
    addLoop(first, last, /*isWhole=*/true);
  }
  loop.replaceAllUsesWith(carried);
  loop.erase();
}

namespace {
class SplitMaskedWalksPass
    : public tile::impl::SplitMaskedWalksPassBase<SplitMaskedWalksPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<MaskedLoop> loops;
    getOperation().getBody().walk([&](scf::ForOp loop) {
      if (std::optional<MaskedLoop> masked = match(loop))
        loops.push_back(*masked);
    });
    for (const MaskedLoop &masked : loops)
      WalkSplitter(masked).run();
  }
};
} // namespace
