//===- GuardMasks.cpp - Computes masks where they matter ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that computes masks of positions only in those
// turns of a loop in which they choose: a causal mask removes something of the
// last few tiles of a row of scores, and nothing of all others. What positions
// a tile has is known from where it begins, and so is what comparisons of them
// give where they give one for all of it:
//
//   m = j + (0..127) > i + (0..63)         if j + 127 <= i: s
//   p = select m, -inf, s                  else: the mask, and the choice
//
// Positions that data give, the end of each row's sequence, are looked at once
// where the loop does not change them. Elements outside of the data are of rows
// that are nowhere, and are not looked at.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"
#include "fusion/Support/LinearExpr.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_GUARDMASKSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-guard-masks"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

/// Operations between a choice and the positions that decide it, at most.
static constexpr unsigned kMaxDepth = 8;

namespace {
/// The least and the greatest of the integers of a tile, as indices; null where
/// that is not known. Those of `ofData` may be closer to zero than the
/// integers, but further away than any position.
struct Bounds {
  Value least, most;
  bool ofData = false;
};

/// Scalars that are true only where a tile of bits is all true, or all false;
/// null where nothing is known.
struct Decided {
  Value allTrue, allFalse;
};

/// Finds what masks are decided by, before a choice.
class MaskAnalysis {
public:
  /// Of what `choice` chooses by, before it.
  MaskAnalysis(OpBuilder &builder, Operation *choice)
      : builder(builder), choice(choice), loc(choice->getLoc()) {}

  Decided decide(Value mask, unsigned depth = 0);

private:
  Bounds getBounds(Value positions, unsigned depth);
  Bounds getBounds(IndexOp index);
  Bounds getBounds(LoadOp load);
  /// An integer as an index.
  Value toIndex(Value value);
  Decided decideComparison(arith::CmpIOp compare, unsigned depth);
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  /// Both, or the one that there is.
  template <typename Op>
  Value combine(Value a, Value b, bool needsBoth) {
    if (a && b)
      return Op::create(builder, loc, a, b);
    if (needsBoth)
      return {};
    return a ? a : b;
  }

  OpBuilder &builder;
  Operation *choice;
  Location loc;
};
} // namespace

//===----------------------------------------------------------------------===//
// What is known of a tile as a whole
//===----------------------------------------------------------------------===//

Bounds MaskAnalysis::getBounds(IndexOp index) {
  AffineMap map = index.getMap();
  std::optional<fusion::LinearExpr> linear = fusion::getLinear(
      map.getResult(0), map.getNumDims(), map.getNumSymbols());
  if (!linear)
    return {};
  ArrayRef<int64_t> shape = getTileShape(index.getType());
  auto evaluate = [&](bool isMost) -> Value {
    SmallVector<AffineExpr> corner;
    for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
      corner.push_back(builder.getAffineConstantExpr(
          (linear->factors[dim] > 0) == isMost ? shape[dim] - 1 : 0));
    return affine::expandAffineExpr(builder, loc,
                                    map.getResult(0).replaceDims(corner), {},
                                    index.getSymbols());
  };
  return {evaluate(false), evaluate(true)};
}

/// The bits of indices of the program around `op`.
static int64_t getIndexBits(Operation *op) {
  return op->getParentOfType<ProgramOp>().getIndexBits();
}

Value MaskAnalysis::toIndex(Value value) {
  int64_t bits = getIndexBits(choice);
  if (cast<IntegerType>(value.getType()).getWidth() > bits) {
    auto clamp = [&](int64_t number) {
      return arith::ConstantIntOp::create(builder, loc, value.getType(),
                                          number);
    };
    value =
        arith::MinSIOp::create(builder, loc, value, clamp(llvm::maxIntN(bits)));
    value =
        arith::MaxSIOp::create(builder, loc, value, clamp(llvm::minIntN(bits)));
  }
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    value);
}

Bounds MaskAnalysis::getBounds(LoadOp load) {
  Type type = load.getView().getType().getElementType();
  AffineMap map = load.getMap();
  if (load->getBlock() == choice->getBlock() || !load.getIndices().empty() ||
      (!type.isInteger(32) && !type.isInteger(64)))
    return {};
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(load);
  ArrayRef<int64_t> shape = getTileShape(load.getResult().getType());
  SmallVector<AffineExpr> first(map.getNumDims(),
                                builder.getAffineConstantExpr(0));
  SmallVector<Value> begins;
  SmallVector<int64_t> sizes;
  for (AffineExpr coord : map.getResults()) {
    std::optional<fusion::LinearExpr> linear =
        fusion::getLinear(coord, map.getNumDims(), map.getNumSymbols());
    if (!linear)
      return {};
    int64_t size = 1;
    for (auto [factor, extent] : llvm::zip_equal(linear->factors, shape)) {
      if (factor < 0)
        return {};
      size += factor * (extent - 1);
    }
    begins.push_back(affine::expandAffineExpr(
        builder, loc, coord.replaceDims(first), {}, load.getSymbols()));
    sizes.push_back(size);
  }
  auto find = [&](bool least) {
    return toIndex(FindBoundOp::create(builder, loc, type, load.getView(),
                                       begins, sizes, least));
  };
  return {find(/*least=*/true), find(/*least=*/false), /*ofData=*/true};
}

/// True for positions as they are, that is for no negative numbers.
static bool isPosition(Value tile) {
  Operation *op = tile.getDefiningOp();
  while (isa_and_nonnull<BroadcastOp, arith::IndexCastOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<IndexOp>(op);
}

/// True when integers of `type` hold what indices of the program around `op`
/// are.
static bool holdsIndices(Type type, Operation *op) {
  auto integer = dyn_cast<IntegerType>(type);
  return !integer || integer.getWidth() >= getIndexBits(op);
}

Bounds MaskAnalysis::getBounds(Value positions, unsigned depth) {
  Operation *op = positions.getDefiningOp();
  if (!op || depth == kMaxDepth)
    return {};
  Type type = getTileElementType(positions.getType());
  if (auto index = dyn_cast<IndexOp>(op))
    return getBounds(index);
  if (auto load = dyn_cast<LoadOp>(op))
    return getBounds(load);
  if (auto spread = dyn_cast<BroadcastOp>(op))
    return getBounds(spread.getValue(), depth + 1);
  if (auto cast = dyn_cast<arith::IndexCastOp>(op))
    return holdsIndices(type, op) ? getBounds(cast.getIn(), depth + 1)
                                  : Bounds();
  if (auto splat = dyn_cast<SplatOp>(op)) {
    Value value = splat.getValue();
    bool isInteger = isa<IntegerType>(type);
    if (isInteger)
      value = toIndex(value);
    return {value, value, isInteger};
  }
  // Positions and their distances are within the range of indices.
  auto difference = dyn_cast<arith::SubIOp>(op);
  if (!difference || !holdsIndices(type, op) ||
      !isPosition(difference.getLhs()) || !isPosition(difference.getRhs()))
    return {};
  Bounds a = getBounds(difference.getLhs(), depth + 1);
  Bounds b = a.least ? getBounds(difference.getRhs(), depth + 1) : Bounds();
  if (!b.least)
    return {};
  return {arith::SubIOp::create(builder, loc, a.least, b.most),
          arith::SubIOp::create(builder, loc, a.most, b.least)};
}

Decided MaskAnalysis::decideComparison(arith::CmpIOp op, unsigned depth) {
  arith::CmpIPredicate predicate = op.getPredicate();
  Bounds a = getBounds(op.getLhs(), depth + 1);
  Bounds b = a.least ? getBounds(op.getRhs(), depth + 1) : Bounds();
  if (!b.least || (a.ofData && b.ofData))
    return {};
  switch (predicate) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sle:
    return {compare(predicate, a.most, b.least),
            compare(arith::invertPredicate(predicate), a.least, b.most)};
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::sge:
    return {compare(predicate, a.least, b.most),
            compare(arith::invertPredicate(predicate), a.most, b.least)};
  case arith::CmpIPredicate::ult: {
    // Positions before the first one are large.
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value isNatural = compare(arith::CmpIPredicate::sge, a.least, zero);
    Value isLess = compare(arith::CmpIPredicate::slt, a.most, b.least);
    return {arith::AndIOp::create(builder, loc, isNatural, isLess), {}};
  }
  default:
    return {};
  }
}

Decided MaskAnalysis::decide(Value mask, unsigned depth) {
  Operation *op = mask.getDefiningOp();
  if (!op || depth == kMaxDepth)
    return {};
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return decideComparison(compare, depth);
  if (auto spread = dyn_cast<BroadcastOp>(op))
    return decide(spread.getValue(), depth + 1);
  if (!isa<arith::AndIOp, arith::OrIOp>(op))
    return {};
  Decided a = decide(op->getOperand(0), depth + 1);
  Decided b = decide(op->getOperand(1), depth + 1);
  bool isAnd = isa<arith::AndIOp>(op);
  return {isAnd ? combine<arith::AndIOp>(a.allTrue, b.allTrue, true)
                : combine<arith::OrIOp>(a.allTrue, b.allTrue, false),
          isAnd ? combine<arith::OrIOp>(a.allFalse, b.allFalse, false)
                : combine<arith::AndIOp>(a.allFalse, b.allFalse, true)};
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

static bool isSplat(Value tile) { return tile.getDefiningOp<SplatOp>(); }

/// What computes `mask` in the block of `choice` of tiles that are there, in
/// order.
static SetVector<Operation *> findMask(Value mask, Operation *choice) {
  SetVector<Operation *> ops;
  SmallVector<Value> worklist{mask};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != choice->getBlock() ||
        op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
        !isa<RankedTensorType>(op->getResult(0).getType()) || !ops.insert(op))
      continue;
    llvm::append_range(worklist, op->getOperands());
  }
  SmallVector<Operation *> sorted(ops.getArrayRef());
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return SetVector<Operation *>(sorted.begin(), sorted.end());
}

/// True when `tile` is computed from a product of the same turn.
static bool isOfProduct(Value tile, Block *turn) {
  SmallVector<Value> worklist{tile};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != turn || !seen.insert(op).second)
      continue;
    if (isa<MmaWaitOp>(op))
      return true;
    llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

/// Chooses by `choice`, of a number and a tile, only where the tile is not all
/// there is.
static void guard(arith::SelectOp choice) {
  bool isFirst = !isSplat(choice.getTrueValue());
  if (isFirst == !isSplat(choice.getFalseValue()))
    return;
  Value tile = isFirst ? choice.getTrueValue() : choice.getFalseValue();
  // Operands are masked while products are in flight, for nothing.
  if (!isOfProduct(tile, choice->getBlock()))
    return;
  OpBuilder builder(choice);
  Location loc = choice.getLoc();
  Decided decided = MaskAnalysis(builder, choice).decide(choice.getCondition());
  Value isWhole = isFirst ? decided.allTrue : decided.allFalse;
  if (!isWhole)
    return;
  auto branch = scf::IfOp::create(builder, loc, choice.getType(), isWhole,
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, tile);
  builder.setInsertionPointToStart(branch.elseBlock());
  IRMapping mapping;
  SetVector<Operation *> mask = findMask(choice.getCondition(), choice);
  for (Operation *op : mask)
    builder.clone(*op, mapping);
  Operation *chosen = builder.clone(*choice, mapping);
  scf::YieldOp::create(builder, loc, chosen->getResult(0));
  choice.replaceAllUsesWith(branch.getResult(0));
  choice.erase();
  for (Operation *op : llvm::reverse(mask))
    if (isOpTriviallyDead(op))
      op->erase();
}

namespace {
class GuardMasksPass : public tile::impl::GuardMasksPassBase<GuardMasksPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    std::optional<PipelineAttr> pipeline = getOperation().getPipeline();
    if (!pipeline || pipeline->getKind() != MmaKind::Wgmma)
      return;
    SmallVector<arith::SelectOp> choices;
    getOperation().getBody().walk([&](arith::SelectOp choice) {
      if (isa<RankedTensorType>(choice.getCondition().getType()) &&
          isa<scf::ForOp>(choice->getParentOp()))
        choices.push_back(choice);
    });
    for (arith::SelectOp choice : choices)
      guard(choice);
  }
};
} // namespace
