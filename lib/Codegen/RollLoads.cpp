//===- RollLoads.cpp - Loads from iteration to iteration ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the carrying of tiles that a loop loads. Iteration i of
// a walk along the rows of an image reads, say, rows 4i - 1 to 4i + 4: the next
// reads the last two of them again, and four that are new.
//
//===----------------------------------------------------------------------===//

#include "RollLoads.h"

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Support/LinearExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// A load that depends on the iteration.
struct IterationLoad {
  tile::LoadOp op;
  /// Where its map has the induction variable.
  unsigned symbol;
  /// What it reads in an iteration and in the next, in one form for all.
  AffineMap now, next;
  /// The load that reads this iteration what this one reads in the next.
  std::optional<unsigned> source;
  /// The dimension that leaves the view, and from which iteration on.
  std::optional<std::pair<unsigned, int64_t>> end;

  bool isCarried() const { return source || end; }
};
} // namespace

/// Sizes of views, and places from iteration to iteration, up to which a number
/// of an iteration that reads nothing leaves indices of 32 bits valid.
static constexpr int64_t kMaxSize = int64_t(1) << 20, kMaxStep = 1 << 9;

/// The first dimension of what `load` reads that only grows and is past its end
/// in some iteration, with the number of that iteration.
static std::optional<std::pair<unsigned, int64_t>>
findEnd(IterationLoad &load) {
  ArrayRef<int64_t> sizes = load.op.getView().getType().getShape();
  AffineMap map = load.now;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (ShapedType::isDynamic(sizes[dim]) || sizes[dim] > kMaxSize)
      continue;
    std::optional<LinearExpr> linear =
        getLinear(expr, map.getNumDims(), map.getNumSymbols());
    if (!linear)
      continue;
    int64_t step = linear->symbols[load.symbol];
    auto grows = [](int64_t factor) { return factor >= 0; };
    // Places in a tile and the starts of tiles are not negative.
    if (step > 0 && step <= kMaxStep && linear->number >= -kMaxSize &&
        llvm::all_of(linear->factors, grows) &&
        llvm::all_of(linear->symbols, grows))
      return std::make_pair(
          unsigned(dim),
          std::max<int64_t>(
              llvm::divideCeilSigned(sizes[dim] - linear->number, step), 0));
  }
  return std::nullopt;
}

/// The loads of `loop` that depend on nothing but the iteration and what is
/// known before.
static SmallVector<IterationLoad> findLoads(scf::ForOp loop) {
  SmallVector<IterationLoad> loads;
  for (auto op : loop.getBody()->getOps<tile::LoadOp>()) {
    OperandRange symbols = op.getSymbols();
    auto variable = llvm::find(symbols, loop.getInductionVar());
    if (variable == symbols.end() || !op.getIndices().empty() ||
        !llvm::all_of(op->getOperands(), [&](Value operand) {
          return operand == loop.getInductionVar() ||
                 loop.isDefinedOutsideOfLoop(operand);
        }))
      continue;
    unsigned symbol = variable - symbols.begin();
    AffineMap map = op.getMap();
    SmallVector<AffineExpr> ahead;
    for (unsigned i = 0; i < map.getNumSymbols(); ++i)
      ahead.push_back(getAffineSymbolExpr(i, map.getContext()) + (i == symbol));
    AffineMap next = map.replaceDimsAndSymbols({}, ahead, map.getNumDims(),
                                               map.getNumSymbols());
    loads.push_back({op, symbol, simplifyAffineMap(map),
                     simplifyAffineMap(next), std::nullopt, std::nullopt});
  }
  for (IterationLoad &load : loads) {
    auto source = llvm::find_if(loads, [&](IterationLoad &other) {
      return other.now == load.next &&
             other.op.getView() == load.op.getView() &&
             other.op.getSymbols() == load.op.getSymbols() &&
             other.op.getType() == load.op.getType();
    });
    if (source != loads.end())
      load.source = source - loads.begin();
    else
      load.end = findEnd(load);
  }
  return loads;
}

void mlir::fusion::rollLoads(scf::ForOp loop) {
  SmallVector<IterationLoad> loads = findLoads(loop);
  int64_t far = 0;
  for (const IterationLoad &load : loads)
    if (load.end)
      far = std::max(far, load.end->second);

  IRRewriter rewriter(loop);
  Location loc = loop.getLoc();
  SmallVector<Value> inits;
  for (const IterationLoad &load : loads) {
    if (!load.isCarried())
      continue;
    IRMapping first;
    first.map(loop.getInductionVar(), loop.getLowerBound());
    inits.push_back(rewriter.clone(*load.op, first)->getResult(0));
  }
  if (inits.empty())
    return;

  auto carry = [&](OpBuilder &builder, Location,
                   ArrayRef<BlockArgument> carried) {
    Block *body = loop.getBody();
    // The number of the next iteration; after the last, one that reads nothing.
    builder.setInsertionPointToStart(body);
    Value next = arith::AddIOp::create(builder, loc, loop.getInductionVar(),
                                       loop.getStep());
    Value isLast = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::uge, next, loop.getUpperBound());
    Value none = arith::ConstantIndexOp::create(builder, loc, far);
    Value ahead = arith::SelectOp::create(builder, loc, isLast, none, next);

    SmallVector<Value> now, yielded;
    for (IterationLoad &load : loads) {
      now.push_back(load.op.getResult());
      if (!load.isCarried())
        continue;
      rewriter.replaceAllUsesWith(now.back(), carried.front());
      now.back() = carried.front();
      carried = carried.drop_front();
    }
    for (auto [number, load] : llvm::enumerate(loads)) {
      if (load.source) {
        yielded.push_back(now[*load.source]);
      } else if (load.end) {
        IRMapping mapping;
        mapping.map(loop.getInductionVar(), ahead);
        auto own = cast<tile::LoadOp>(builder.clone(*load.op, mapping));
        SmallVector<bool> checked(own.getChecked());
        checked[load.end->first] = true;
        own.setChecked(checked);
        yielded.push_back(own.getResult());
      }
    }
    for (IterationLoad &load : loads)
      if (load.isCarried())
        rewriter.eraseOp(load.op);
    return yielded;
  };
  if (failed(loop.replaceWithAdditionalYields(
          rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, carry)))
    llvm_unreachable("any loop can carry more");
}
