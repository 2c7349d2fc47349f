//===- SkewProducts.cpp - Runs products beside what they wait for ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that lets a product whose operand is computed
// from another product of the same turn of a consumer's loop run one turn
// behind. Where
//
//   for j: s = q k[j];  p, f = map(s);  o = p v[j] + f o
//
// has the tensor cores wait for `map` and that for them,
//
//   s = q k[first];  p, f = map(s);  o = f o
//   for j behind the first:
//     s = q k[j];  o = p v[j - 1] + o;  p, f = map(s);  o = f o
//   o = p v[last] + o
//
// has them multiply p v[j - 1] meanwhile. Producers know nothing of it: k and v
// are in rings of their own, each of which has its stages in the same order.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_SKEWPRODUCTSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-skew-products"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

//===----------------------------------------------------------------------===//
// What runs behind
//===----------------------------------------------------------------------===//

namespace {
/// A loop of two products of which one needs the other's result.
struct Skewed {
  scf::ForOp loop;
  /// The product that runs behind, and the one it needs.
  MmaAsyncOp behind, first;
  /// Where their results are waited for.
  MmaWaitOp behindEnd, firstEnd;
  /// What is done before `behind`, in order: on its sum and on its operand, and
  /// the wait for the other one.
  SmallVector<Operation *, 4> before;
  /// What is done once it has ended.
  SmallVector<Operation *, 2> after;
  /// The computed operand, and what it is rounded from, where it is.
  Value operand, exact;
  /// What the sum is scaled by, where it is.
  Value factor;
  /// The sum and the position in the ring as the loop carries them.
  BlockArgument sum, position;

  bool runsBehind(Operation *op) const {
    return op == behind || op == behindEnd || llvm::is_contained(before, op) ||
           llvm::is_contained(after, op);
  }
};
} // namespace

/// True when `value` is computed in `block` from the result of `source`.
static bool needs(Value value, Operation *source, Block *block) {
  SmallVector<Value> worklist{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != block || !seen.insert(op).second)
      continue;
    if (op == source)
      return true;
    llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

static bool isConstant(Value value) {
  return matchPattern(value, m_Constant());
}

/// What the loop carries that `value` is, if it is that.
static BlockArgument getCarried(Value value, scf::ForOp loop) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != loop.getBody() ||
      argument == loop.getInductionVar())
    return nullptr;
  return argument;
}

/// Finds the sum that `behind` adds to, if the loop carries that and nothing
/// but `behind` uses it, scaled or not.
static bool matchSum(Skewed &skewed) {
  Value sum = skewed.behind.getAcc();
  if (auto repair = sum.getDefiningOp<arith::MulFOp>()) {
    bool isFirst = isa<BlockArgument>(repair.getLhs());
    sum = isFirst ? repair.getLhs() : repair.getRhs();
    Value factor = isFirst ? repair.getRhs() : repair.getLhs();
    auto spread = factor.getDefiningOp<BroadcastOp>();
    if (!repair->hasOneUse())
      return false;
    if (spread && spread->hasOneUse()) {
      skewed.before.push_back(spread);
      factor = spread.getValue();
    }
    skewed.before.push_back(repair);
    skewed.factor = factor;
  }
  scf::ForOp loop = skewed.loop;
  skewed.sum = getCarried(sum, loop);
  if (!skewed.sum || !skewed.sum.hasOneUse() || !skewed.behind->hasOneUse())
    return false;
  skewed.behindEnd = dyn_cast<MmaWaitOp>(*skewed.behind->user_begin());
  return skewed.behindEnd && skewed.behindEnd->getBlock() == loop.getBody() &&
         skewed.behindEnd.getValues().size() == 1 &&
         skewed.behindEnd.getPending() == 0 && skewed.behindEnd->hasOneUse() &&
         loop.getTiedLoopYieldedValue(skewed.sum)->get() ==
             skewed.behindEnd.getResult(0);
}

/// Finds the stage that `behind` reads alone, and where it is freed.
static bool matchStage(Skewed &skewed, Value buffer) {
  auto wait = buffer.getDefiningOp<WaitOp>();
  scf::ForOp loop = skewed.loop;
  if (!wait || wait->getBlock() != loop.getBody() || !wait->hasOneUse())
    return false;
  skewed.position = getCarried(wait.getPosition(), loop);
  if (!skewed.position)
    return false;
  auto next = loop.getTiedLoopYieldedValue(skewed.position)
                  ->get()
                  .getDefiningOp<arith::AddIOp>();
  if (!next || !next->hasOneUse())
    return false;
  for (Operation *user : skewed.position.getUsers()) {
    if (user == wait)
      continue;
    if (user != next && !isa<ReleaseOp>(user))
      return false;
    skewed.after.push_back(user);
  }
  if (skewed.after.size() != 2)
    return false;
  llvm::sort(skewed.after,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  skewed.before.push_back(wait);
  return true;
}

static std::optional<Skewed> match(scf::ForOp loop) {
  SmallVector<MmaAsyncOp> products(loop.getBody()->getOps<MmaAsyncOp>());
  if (products.size() != 2)
    return std::nullopt;
  Skewed skewed;
  skewed.loop = loop;
  skewed.first = products[0];
  skewed.behind = products[1];
  Block *block = loop.getBody();
  bool hasA = isa<RankedTensorType>(skewed.behind.getA().getType());
  skewed.operand = hasA ? skewed.behind.getA() : skewed.behind.getB();
  Value buffer = hasA ? skewed.behind.getB() : skewed.behind.getA();
  if (!skewed.first->hasOneUse() || !needs(skewed.operand, skewed.first, block))
    return std::nullopt;
  skewed.firstEnd = dyn_cast<MmaWaitOp>(*skewed.first->user_begin());
  if (!skewed.firstEnd || skewed.firstEnd.getValues().size() != 1 ||
      skewed.firstEnd.getPending() != 0 || !matchSum(skewed) ||
      !matchStage(skewed, buffer))
    return std::nullopt;
  skewed.exact = skewed.operand;
  auto rounded = skewed.operand.getDefiningOp<arith::TruncFOp>();
  if (rounded && llvm::all_of(rounded->getUsers(), [&](Operation *user) {
        return user == skewed.behind || user == skewed.behindEnd;
      })) {
    skewed.before.insert(skewed.before.begin(), rounded);
    skewed.exact = rounded.getIn();
  }
  // What runs behind takes nothing else from its turn.
  SmallVector<Operation *> behind =
      llvm::to_vector_of<Operation *>(skewed.before);
  behind.append({skewed.behind, skewed.behindEnd});
  llvm::append_range(behind, skewed.after);
  for (Operation *op : behind)
    for (Value value : op->getOperands())
      if (value.getParentBlock() == block && value != skewed.sum &&
          value != skewed.position && value != skewed.exact &&
          value != skewed.factor && !isConstant(value) &&
          !llvm::is_contained(behind, value.getDefiningOp()))
        return std::nullopt;
  return skewed;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
/// Rewrites one loop.
class Skewer {
public:
  explicit Skewer(const Skewed &skewed)
      : skewed(skewed), old(this->skewed.loop), builder(old),
        loc(old.getLoc()) {}

  void run();

private:
  /// Writes what does not run behind, with `behind` after the first product.
  void writeTurn(IRMapping &mapping, function_ref<void()> behind);
  /// Writes what is done before the product that runs behind, but for its wait:
  /// no register that it takes is written while another one is in flight.
  void writeOperands(IRMapping &mapping);
  void writeProduct(IRMapping &mapping);
  /// What the loop carries after a turn, with `sum` and `position` in their
  /// places, then the computed operand.
  SmallVector<Value> collect(IRMapping &turn, Value sum, Value position);
  void writeLoop(scf::ForOp loop);
  /// Writes all turns, of which there are some; returns the results.
  SmallVector<Value> writeTurns();

  Skewed skewed;
  scf::ForOp old;
  OpBuilder builder;
  Location loc;
};
} // namespace

void Skewer::writeTurn(IRMapping &mapping, function_ref<void()> behind) {
  for (Operation &op : old.getBody()->without_terminator()) {
    if (skewed.runsBehind(&op))
      continue;
    Operation *copy = builder.clone(op, mapping);
    if (!behind)
      continue;
    if (&op == skewed.first)
      behind();
    else if (&op == skewed.firstEnd)
      cast<MmaWaitOp>(copy).setPending(1);
  }
}

void Skewer::writeOperands(IRMapping &mapping) {
  for (Operation *op : skewed.before)
    if (!isa<WaitOp>(op))
      builder.clone(*op, mapping);
}

void Skewer::writeProduct(IRMapping &mapping) {
  for (Operation *op : skewed.before)
    if (isa<WaitOp>(op))
      builder.clone(*op, mapping);
  builder.clone(*skewed.behind, mapping);
}

SmallVector<Value> Skewer::collect(IRMapping &turn, Value sum, Value position) {
  SmallVector<Value> values;
  for (auto [argument, value] :
       llvm::zip(old.getRegionIterArgs(), old.getYieldedValues()))
    values.push_back(argument == skewed.sum ? sum
                     : argument == skewed.position
                         ? position
                         : turn.lookupOrDefault(value));
  values.push_back(turn.lookup(skewed.operand));
  return values;
}

void Skewer::writeLoop(scf::ForOp loop) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  IRMapping turn, behind;
  turn.map(old.getInductionVar(), loop.getInductionVar());
  for (auto [from, to] :
       llvm::zip(old.getRegionIterArgs(), loop.getRegionIterArgs()))
    turn.map(from, to);
  behind.map(skewed.operand, loop.getRegionIterArgs().back());
  behind.map(skewed.behind.getAcc(), turn.lookup(skewed.sum));
  behind.map(skewed.position, turn.lookup(skewed.position));
  writeTurn(turn, [&] {
    // Each product ends by itself.
    MmaWaitOp::create(builder, loc, TypeRange(), ValueRange(), ValueRange(),
                      /*pending=*/1);
    writeProduct(behind);
  });
  // The operand is rounded after the product that reads the one before, into
  // the same registers.
  Value sum = behind.lookup(skewed.behind.getResult());
  Value exact = turn.lookup(skewed.exact);
  SmallVector<Value> kept;
  for (Value value : skewed.behindEnd.getKept())
    kept.push_back(behind.lookupOrDefault(value));
  auto end =
      MmaWaitOp::create(builder, loc, TypeRange{sum.getType(), exact.getType()},
                        ValueRange{sum, exact}, kept, /*pending=*/0);
  for (Operation *op : skewed.after)
    builder.clone(*op, behind);
  turn.map(skewed.sum, end.getResult(0));
  turn.map(skewed.exact, end.getResult(1));
  writeOperands(turn);
  Value position = old.getTiedLoopYieldedValue(skewed.position)->get();
  scf::YieldOp::create(builder, loc,
                       collect(turn, turn.lookup(skewed.behind.getAcc()),
                               behind.lookup(position)));
}

SmallVector<Value> Skewer::writeTurns() {
  IRMapping first, last;
  first.map(old.getInductionVar(), old.getLowerBound());
  first.map(old.getRegionIterArgs(), old.getInitArgs());
  writeTurn(first, nullptr);
  writeOperands(first);
  Value second =
      arith::AddIOp::create(builder, loc, old.getLowerBound(), old.getStep());
  auto loop = scf::ForOp::create(
      builder, loc, second, old.getUpperBound(), old.getStep(),
      collect(first, first.lookup(skewed.behind.getAcc()),
              first.lookup(skewed.position)));
  loop->setDiscardableAttrs(old->getDiscardableAttrDictionary());
  writeLoop(loop);

  SmallVector<Value> results(loop.getResults().drop_back());
  Value &sum = results[skewed.sum.getArgNumber() - 1],
        &position = results[skewed.position.getArgNumber() - 1];
  last.map(skewed.operand, loop.getResults().back());
  last.map(skewed.behind.getAcc(), sum);
  last.map(skewed.position, position);
  writeProduct(last);
  builder.clone(*skewed.behindEnd, last);
  for (Operation *op : skewed.after)
    builder.clone(*op, last);
  sum = last.lookup(skewed.behindEnd.getResult(0));
  position = last.lookup(old.getTiedLoopYieldedValue(skewed.position)->get());
  return results;
}

void Skewer::run() {
  for (Operation &op : llvm::make_early_inc_range(*old.getBody()))
    if (op.hasTrait<OpTrait::ConstantLike>())
      op.moveBefore(old);
  std::optional<int64_t> begin = getConstantIntValue(old.getLowerBound()),
                         end = getConstantIntValue(old.getUpperBound());
  if (begin && end && *begin < *end) {
    old.replaceAllUsesWith(writeTurns());
    return old.erase();
  }
  Value isSome =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                            old.getLowerBound(), old.getUpperBound());
  auto some = scf::IfOp::create(builder, loc, old.getResultTypes(), isSome,
                                /*withElseRegion=*/true);
  builder.setInsertionPointToStart(some.elseBlock());
  scf::YieldOp::create(builder, loc, old.getInitArgs());
  builder.setInsertionPointToStart(some.thenBlock());
  scf::YieldOp::create(builder, loc, writeTurns());
  old.replaceAllUsesWith(some.getResults());
  old.erase();
}

namespace {
class SkewProductsPass
    : public tile::impl::SkewProductsPassBase<SkewProductsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    std::optional<PipelineAttr> pipeline = getOperation().getPipeline();
    if (!pipeline || !pipeline->getSkew())
      return;
    SmallVector<Skewed> loops;
    getOperation().getBody().walk([&](scf::ForOp loop) {
      if (std::optional<Skewed> skewed = match(loop))
        loops.push_back(*skewed);
    });
    for (const Skewed &skewed : loops)
      Skewer(skewed).run();
  }
};
} // namespace
