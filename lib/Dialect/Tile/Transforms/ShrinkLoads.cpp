//===- ShrinkLoads.cpp - Loads each element once --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that shrinks loads whose tile repeats what is
// in memory: two numbers of 4 bits in a byte, one factor for a group of them.
//
//===----------------------------------------------------------------------===//

#include "SimplifyMaps.h"
#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"
#include "fusion/Dialect/Tile/Transforms/TensorCopy.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_SHRINKLOADSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-shrink-loads"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// A number that divides `expr` for all values of dimensions; 0 for zero.
static uint64_t divisorOf(AffineExpr expr, ValueRange symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::abs(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return getDivisor(symbols[symbol.getPosition()]);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 1;
  uint64_t lhs = divisorOf(binary.getLHS(), symbols);
  uint64_t rhs = divisorOf(binary.getRHS(), symbols);
  if (expr.getKind() == AffineExprKind::Add)
    return std::gcd(lhs, rhs);
  return expr.getKind() == AffineExprKind::Mul ? lhs * rhs : 1;
}

/// What is left of the sum `expr` without its one term `dim`; null when it is
/// no such sum.
static AffineExpr withoutTerm(AffineExpr expr, AffineExpr dim) {
  if (expr == dim)
    return getAffineConstantExpr(0, expr.getContext());
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || expr.getKind() != AffineExprKind::Add)
    return {};
  unsigned position = cast<AffineDimExpr>(dim).getPosition();
  for (auto [part, other] : {std::pair(sum.getLHS(), sum.getRHS()),
                             std::pair(sum.getRHS(), sum.getLHS())})
    if (!other.isFunctionOfDim(position))
      if (AffineExpr rest = withoutTerm(part, dim))
        return rest + other;
  return {};
}

namespace {
/// Rewrites expressions in which dimension `dim`, of `size` elements from a
/// multiple of itself on, occurs only in quotients by `factor`.
struct DimShrinker {
  AffineExpr dim;
  int64_t size;
  ValueRange symbols;
  /// The divisor of all quotients; 0 before the first.
  int64_t factor = 0;

  /// Null when the dimension occurs in any other way.
  AffineExpr rewrite(AffineExpr expr) {
    unsigned position = cast<AffineDimExpr>(dim).getPosition();
    if (!expr.isFunctionOfDim(position))
      return expr;
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return {};
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (expr.getKind() == AffineExprKind::FloorDiv && divisor)
      if (AffineExpr rest = withoutTerm(binary.getLHS(), dim))
        return quotient(rest, divisor.getValue());
    AffineExpr lhs = rewrite(binary.getLHS());
    AffineExpr rhs = rewrite(binary.getRHS());
    return lhs && rhs ? getAffineBinaryOpExpr(expr.getKind(), lhs, rhs)
                      : AffineExpr();
  }

private:
  /// (dim + rest) floordiv by.
  AffineExpr quotient(AffineExpr rest, int64_t by) {
    int64_t shared = std::min(by, size);
    if (by < 2 || !llvm::isPowerOf2_64(by) || (factor && factor != shared) ||
        divisorOf(rest, symbols) % shared != 0)
      return {};
    factor = shared;
    return by < size ? dim + rest.floorDiv(by) : rest.floorDiv(by);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Shrinks `load` along dimension `dim`; false when its elements do not repeat
/// along it.
static bool shrink(LoadOp load, unsigned dim, IRRewriter &rewriter) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || !load.getIndices().empty() || type.getDimSize(dim) == 1)
    return false;
  AffineMap map = load.getMap();
  DimShrinker shrinker{rewriter.getAffineDimExpr(dim), type.getDimSize(dim),
                       load.getSymbols()};
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults()) {
    AffineExpr rewritten = shrinker.rewrite(expr);
    if (!rewritten)
      return false;
    results.push_back(rewritten);
  }
  // A dimension that no coordinate has repeats one element.
  if (shrinker.factor == 0)
    shrinker.factor = type.getDimSize(dim);
  rewriter.setInsertionPoint(load);
  auto make = [&](ArrayRef<int64_t> shape, AffineMap newMap) -> Value {
    return LoadOp::create(rewriter, load.getLoc(),
                          getTileType(shape, type.getElementType()),
                          load.getView(), load.getSymbols(), ValueRange(),
                          newMap, load.getChecked());
  };
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= shrinker.factor;
  if (shape[dim] > 1) {
    Value once =
        make(shape, AffineMap::get(map.getNumDims(), map.getNumSymbols(),
                                   results, rewriter.getContext()));
    rewriter.replaceOpWithNewOp<RepeatOp>(load, type, once, dim);
    return true;
  }
  // One element for all: the dimension is gone.
  shape.erase(shape.begin() + dim);
  SmallVector<AffineExpr> dims;
  SmallVector<int64_t> kept;
  for (unsigned i = 0, next = 0; i < map.getNumDims(); ++i) {
    dims.push_back(i == dim ? rewriter.getAffineConstantExpr(0)
                            : rewriter.getAffineDimExpr(next++));
    if (i != dim)
      kept.push_back(i);
  }
  AffineMap all = AffineMap::get(map.getNumDims(), map.getNumSymbols(), results,
                                 rewriter.getContext());
  Value once = make(shape, all.replaceDimsAndSymbols(dims, {}, dims.size() - 1,
                                                     map.getNumSymbols()));
  if (shape.empty())
    rewriter.replaceOpWithNewOp<SplatOp>(load, type, once);
  else
    rewriter.replaceOpWithNewOp<BroadcastOp>(load, type, once, kept);
  return true;
}

namespace {
class ShrinkLoadsPass
    : public tile::impl::ShrinkLoadsPassBase<ShrinkLoadsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    std::optional<PipelineAttr> pipeline = program.getPipeline();
    if (!pipeline || pipeline->getKind() == MmaKind::Fma)
      return;
    foldBoundsMasks(program);
    simplifyEpilogueMaps(program);
    SmallVector<LoadOp> loads;
    program.getBody().walk([&](LoadOp load) { loads.push_back(load); });
    IRRewriter rewriter(program.getContext());
    for (LoadOp load : loads)
      for (unsigned dim = getTileShape(load.getType()).size(); dim-- > 0;)
        if (shrink(load, dim, rewriter))
          break;
  }
};
} // namespace
