//===- SkewProducts.cpp - Runs products beside what they wait for ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that lets a product whose operand is computed
// from another product of the same turn of a loop run one turn behind. Where
//
//   for j: s = q k[j];  p, f = map(s);  o = p v[j] + f o
//
// has the tensor cores wait for `map` and that for them,
//
//   for j to the end and one more:
//     s = q k[j];  o = p v[j - 1] + f o;  p, f = map(s)
//
// has them multiply p v[j - 1] meanwhile. In the first turn p is zero and v
// lies outside of its tensor, where it is zero, too; what the last turn makes
// of its s is not used: whatever else the loop carries leaves it as it came in.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::tile {
#define GEN_PASS_DEF_SKEWPRODUCTSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

#define DEBUG_TYPE "tile-skew-products"

using namespace mlir;
using namespace mlir::tile;

/// A coordinate that lies outside of every tensor that tensor copies read.
static constexpr int64_t kOutside = int64_t(1) << 30;

namespace {
/// A loop of two products of which one needs the other's result.
struct Skewed {
  scf::ForOp loop;
  /// The product that runs behind, the one it needs, and the load that it takes
  /// besides.
  DotOp behind, first;
  LoadOp load;
  /// The computed operand of `behind`: what it is rounded from, where it is.
  Value operand, carried;
  /// The sum as the loop carries it, and what repairs it.
  BlockArgument sum;
  arith::MulFOp repair;
  Value factor;
  /// What spreads the factor, if it is a row's.
  BroadcastOp spread;
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

/// The sum that `behind` adds to, if the loop carries that and nothing but
/// `behind` uses it, scaled or not.
static bool matchSum(Skewed &skewed) {
  Value sum = skewed.behind.getAcc();
  if (auto repair = sum.getDefiningOp<arith::MulFOp>()) {
    skewed.repair = repair;
    bool isFirst = isa<BlockArgument>(repair.getLhs());
    sum = isFirst ? repair.getLhs() : repair.getRhs();
    skewed.factor = isFirst ? repair.getRhs() : repair.getLhs();
    skewed.spread = skewed.factor.getDefiningOp<BroadcastOp>();
    if (skewed.spread)
      skewed.factor = skewed.spread.getValue();
    if (!repair->hasOneUse() || !isa<RankedTensorType>(skewed.factor.getType()))
      return false;
  }
  skewed.sum = dyn_cast<BlockArgument>(sum);
  scf::ForOp loop = skewed.loop;
  if (!skewed.sum || skewed.sum.getOwner() != loop.getBody() ||
      skewed.sum == loop.getInductionVar() || !skewed.sum.hasOneUse() ||
      !skewed.behind->hasOneUse())
    return false;
  return loop.getTiedLoopYieldedValue(skewed.sum)->get() ==
         skewed.behind.getResult();
}

static std::optional<Skewed> match(scf::ForOp loop) {
  SmallVector<DotOp> dots(loop.getBody()->getOps<DotOp>());
  if (dots.size() != 2)
    return std::nullopt;
  Skewed skewed;
  skewed.loop = loop;
  skewed.first = dots[0];
  skewed.behind = dots[1];
  Block *block = loop.getBody();
  bool hasA = needs(dots[1].getA(), dots[0], block);
  skewed.operand = hasA ? dots[1].getA() : dots[1].getB();
  skewed.load =
      (hasA ? dots[1].getB() : dots[1].getA()).getDefiningOp<LoadOp>();
  if (!needs(skewed.operand, dots[0], block) || !skewed.load ||
      skewed.load->getBlock() != block || !skewed.load->hasOneUse() ||
      !skewed.load.getIndices().empty() || !matchSum(skewed))
    return std::nullopt;
  // Where the loop is, the load has to be a number of elements behind.
  bool isMoved = false;
  for (Value symbol : skewed.load.getSymbols()) {
    isMoved |= symbol == loop.getInductionVar();
    if (symbol != loop.getInductionVar() && symbol.getParentBlock() == block)
      return std::nullopt;
  }
  if (!isMoved)
    return std::nullopt;
  skewed.carried = skewed.operand;
  if (auto rounded = skewed.operand.getDefiningOp<arith::TruncFOp>();
      rounded && rounded->hasOneUse())
    skewed.carried = rounded.getIn();
  if (!isa<FloatType>(getTileElementType(skewed.carried.getType())))
    return std::nullopt;
  return skewed;
}

namespace {
/// Rewrites one loop.
class Skewer {
public:
  explicit Skewer(const Skewed &skewed)
      : skewed(skewed), old(this->skewed.loop), builder(old),
        loc(old.getLoc()) {}

  void run();

private:
  Value splat(Type tile, double number);
  /// The load of `behind`, of the turn before.
  void writeLoad();
  /// What runs behind: after the product that is issued before it.
  void writeBehind();

  Skewed skewed;
  scf::ForOp old, loop;
  OpBuilder builder;
  Location loc;
  IRMapping mapping;
  /// What the product that runs behind takes.
  Value operand, acc;
};
} // namespace

Value Skewer::splat(Type tile, double number) {
  Value scalar = arith::ConstantOp::create(
      builder, loc,
      cast<TypedAttr>(FloatAttr::get(getTileElementType(tile), number)));
  return SplatOp::create(builder, loc, tile, scalar);
}

/// Lets `op`, if it is a load, read zeros where the first turn or the last one
/// is outside of its tensor.
static void readChecked(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    load.setChecked(SmallVector<bool>(load.getChecked().size(), true));
}

void Skewer::writeLoad() {
  Value position = loop.getInductionVar();
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        position, loop.getLowerBound());
  Value before = arith::SubIOp::create(builder, loc, position, loop.getStep());
  Value outside = arith::ConstantIndexOp::create(builder, loc, kOutside);
  Value behind =
      arith::SelectOp::create(builder, loc, isFirst, outside, before);
  IRMapping moved = mapping;
  moved.map(old.getInductionVar(), behind);
  readChecked(builder.clone(*skewed.load, moved));
  mapping.map(skewed.load.getResult(), moved.lookup(skewed.load.getResult()));
}

void Skewer::writeBehind() {
  writeLoad();
  IRMapping own = mapping;
  own.map(skewed.operand, operand);
  own.map(skewed.behind.getAcc(), acc);
  builder.clone(*skewed.behind, own);
  mapping.map(skewed.behind.getResult(), own.lookup(skewed.behind.getResult()));
}

void Skewer::run() {
  // Carried besides: the operand and the factor of the turn before, and how the
  // rest came in.
  SmallVector<Value> inits(old.getInitArgs());
  unsigned numOwn = inits.size(), sum = skewed.sum.getArgNumber() - 1;
  inits.push_back(splat(skewed.carried.getType(), 0));
  if (skewed.factor)
    inits.push_back(splat(skewed.factor.getType(), 1));
  unsigned numBefore = inits.size();
  for (unsigned i = 0; i < numOwn; ++i)
    if (i != sum)
      inits.push_back(old.getInitArgs()[i]);
  Value end =
      arith::AddIOp::create(builder, loc, old.getUpperBound(), old.getStep());
  loop = scf::ForOp::create(builder, loc, old.getLowerBound(), end,
                            old.getStep(), inits);
  loop->setDiscardableAttrs(old->getDiscardableAttrDictionary());
  mapping.map(old.getInductionVar(), loop.getInductionVar());
  for (unsigned i = 0; i < numOwn; ++i)
    mapping.map(old.getRegionIterArg(i), loop.getRegionIterArg(i));
  builder.setInsertionPointToStart(loop.getBody());
  operand = loop.getRegionIterArg(numOwn);
  if (skewed.carried != skewed.operand)
    operand = arith::TruncFOp::create(builder, loc, skewed.operand.getType(),
                                      operand);
  acc = loop.getRegionIterArg(sum);
  if (skewed.factor) {
    Value factor = loop.getRegionIterArg(numOwn + 1);
    if (skewed.spread)
      factor = BroadcastOp::create(builder, loc, skewed.spread.getType(),
                                   factor, skewed.spread.getDims());
    acc = arith::MulFOp::create(builder, loc, acc, factor);
  }
  for (Operation &op : old.getBody()->without_terminator()) {
    if (&op == skewed.load || &op == skewed.behind || &op == skewed.repair ||
        (skewed.carried != skewed.operand &&
         &op == skewed.operand.getDefiningOp()))
      continue;
    readChecked(builder.clone(op, mapping));
    if (&op == skewed.first)
      writeBehind();
  }
  SmallVector<Value> yielded;
  for (Value value : old.getYieldedValues())
    yielded.push_back(mapping.lookupOrDefault(value));
  yielded.push_back(mapping.lookupOrDefault(skewed.carried));
  if (skewed.factor)
    yielded.push_back(mapping.lookupOrDefault(skewed.factor));
  for (unsigned i = 0; i < numOwn; ++i)
    if (i != sum)
      yielded.push_back(loop.getRegionIterArg(i));
  scf::YieldOp::create(builder, loc, yielded);
  unsigned next = numBefore;
  for (unsigned i = 0; i < numOwn; ++i)
    old.getResult(i).replaceAllUsesWith(
        loop.getResult(i == sum ? sum : next++));
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
