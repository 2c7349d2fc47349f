//===- SimplifyMaps.cpp - Coordinates of aligned tiles --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the simplification of maps. With A a multiple of g, g a
// divisor of c, and B in [0, g),
//   (A + B) mod c = A mod c + B and (A + B) floordiv c = A floordiv c,
// so that the position in a tile leaves the divisions where tiles begin at
// multiples of what they hold.
//
//===----------------------------------------------------------------------===//

#include "SimplifyMaps.h"
#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"

#include <numeric>

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

namespace {
class MapSimplifier {
public:
  MapSimplifier(ArrayRef<int64_t> shape, ValueRange symbols)
      : shape(shape), symbols(symbols) {}

  AffineExpr simplify(AffineExpr expr) const;

private:
  using Bounds = std::pair<int64_t, int64_t>;
  AffineExpr divide(AffineExprKind kind, AffineExpr dividend,
                    int64_t divisor) const;
  /// What `expr` is a multiple of; 0 for zero.
  uint64_t divisorOf(AffineExpr expr) const;
  /// The least and greatest value, of expressions of positions alone.
  std::optional<Bounds> boundsOf(AffineExpr expr) const;

  ArrayRef<int64_t> shape;
  ValueRange symbols;
};
} // namespace

static bool hasPosition(AffineExpr expr) {
  bool found = false;
  expr.walk([&](AffineExpr part) { found |= isa<AffineDimExpr>(part); });
  return found;
}

uint64_t MapSimplifier::divisorOf(AffineExpr expr) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::abs(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbol.getPosition() < symbols.size()
               ? getDivisor(symbols[symbol.getPosition()])
               : 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 1;
  uint64_t lhs = divisorOf(binary.getLHS()), rhs = divisorOf(binary.getRHS());
  uint64_t product;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
  case AffineExprKind::Mod:
    return std::gcd(lhs, rhs);
  case AffineExprKind::Mul:
    return __builtin_mul_overflow(lhs, rhs, &product) ? 1 : product;
  default:
    return 1;
  }
}

std::optional<MapSimplifier::Bounds>
MapSimplifier::boundsOf(AffineExpr expr) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Bounds(constant.getValue(), constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Bounds(0, shape[dim.getPosition()] - 1);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<Bounds> lhs = boundsOf(binary.getLHS());
  std::optional<Bounds> rhs = boundsOf(binary.getRHS());
  if (!lhs || !rhs)
    return std::nullopt;
  // Of small numbers only, so that nothing overflows.
  constexpr int64_t kMost = int64_t(1) << 31;
  for (int64_t bound : {lhs->first, lhs->second, rhs->first, rhs->second})
    if (std::abs(bound) > kMost)
      return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return Bounds(lhs->first + rhs->first, lhs->second + rhs->second);
  if (rhs->first != rhs->second)
    return std::nullopt;
  int64_t factor = rhs->first;
  if (expr.getKind() == AffineExprKind::Mul)
    return Bounds(std::min(lhs->first * factor, lhs->second * factor),
                  std::max(lhs->first * factor, lhs->second * factor));
  if (factor <= 0)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mod)
    return Bounds(0, factor - 1);
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return Bounds(llvm::divideFloorSigned(lhs->first, factor),
                  llvm::divideFloorSigned(lhs->second, factor));
  return std::nullopt;
}

/// Adds the terms of the sum `expr` to `terms`.
static void addTerms(AffineExpr expr, SmallVectorImpl<AffineExpr> &terms) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || expr.getKind() != AffineExprKind::Add) {
    terms.push_back(expr);
    return;
  }
  addTerms(binary.getLHS(), terms);
  addTerms(binary.getRHS(), terms);
}

AffineExpr MapSimplifier::divide(AffineExprKind kind, AffineExpr dividend,
                                 int64_t divisor) const {
  AffineExpr start = getAffineConstantExpr(0, dividend.getContext());
  AffineExpr position = start;
  int64_t constant = 0;
  SmallVector<AffineExpr> terms;
  addTerms(dividend, terms);
  for (AffineExpr term : terms) {
    if (auto number = dyn_cast<AffineConstantExpr>(term))
      constant += number.getValue();
    else if (hasPosition(term))
      position = position + term;
    else
      start = start + term;
  }
  int64_t common = std::gcd<uint64_t>(divisorOf(start), divisor);
  // What of the constant is less than a step of the start goes with positions.
  int64_t rest = llvm::mod(constant, common);
  start = start + (constant - rest);
  position = position + rest;
  bool isQuotient = kind == AffineExprKind::FloorDiv;
  auto applied = [&](AffineExpr expr) {
    return isQuotient ? expr.floorDiv(divisor) : expr % divisor;
  };
  AffineExpr high = applied(start);
  if (!isQuotient && divisorOf(start) % divisor == 0)
    high = getAffineConstantExpr(0, dividend.getContext());
  std::optional<Bounds> bounds = boundsOf(position);
  if (bounds && bounds->first >= 0 && bounds->second < common)
    return isQuotient ? high : high + position;
  if (common == divisor)
    return high + applied(position);
  return applied(dividend);
}

AffineExpr MapSimplifier::simplify(AffineExpr expr) const {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExpr lhs = simplify(binary.getLHS()), rhs = simplify(binary.getRHS());
  auto known = dyn_cast<AffineConstantExpr>(rhs);
  int64_t divisor = known ? known.getValue() : 0;
  if (divisor <= 0 || (expr.getKind() != AffineExprKind::Mod &&
                       expr.getKind() != AffineExprKind::FloorDiv))
    return getAffineBinaryOpExpr(expr.getKind(), lhs, rhs);
  // (x mod c) floordiv k = (x floordiv k) mod (c / k): quotients inside say
  // what is stored once, and (x mod c) mod k = x mod k.
  auto inner = dyn_cast<AffineBinaryOpExpr>(lhs);
  auto modulus = inner && inner.getKind() == AffineExprKind::Mod
                     ? dyn_cast<AffineConstantExpr>(inner.getRHS())
                     : AffineConstantExpr();
  if (modulus && modulus.getValue() % divisor == 0) {
    if (expr.getKind() == AffineExprKind::Mod)
      return divide(AffineExprKind::Mod, inner.getLHS(), divisor);
    if (modulus.getValue() > divisor)
      return divide(AffineExprKind::Mod,
                    divide(AffineExprKind::FloorDiv, inner.getLHS(), divisor),
                    modulus.getValue() / divisor);
  }
  return divide(expr.getKind(), lhs, divisor);
}

AffineMap tile::simplifyMap(AffineMap map, ArrayRef<int64_t> shape,
                            ValueRange symbols) {
  MapSimplifier simplifier(shape, symbols);
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(simplifier.simplify(result));
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results,
                        map.getContext());
}

void tile::simplifyEpilogueMaps(ProgramOp program) {
  // The operands of products are recognised by their maps as they are.
  llvm::SmallPtrSet<Operation *, 16> operands;
  SmallVector<Value> worklist;
  program.getBody().walk(
      [&](DotOp dot) { worklist.append({dot.getA(), dot.getB()}); });
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (op && operands.insert(op).second)
      llvm::append_range(worklist, op->getOperands());
  }
  program.getBody().walk([&](Operation *op) {
    if (operands.contains(op) || op->getNumResults() != 1)
      return;
    ArrayRef<int64_t> shape = getTileShape(op->getResult(0).getType());
    if (auto load = dyn_cast<LoadOp>(op))
      load.setMap(simplifyMap(load.getMap(), shape, load.getSymbols()));
    else if (auto index = dyn_cast<IndexOp>(op))
      index.setMap(simplifyMap(index.getMap(), shape, index.getSymbols()));
  });
}
