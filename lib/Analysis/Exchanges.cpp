//===- Exchanges.cpp - Coordinates that differ in a bit -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the recognition of exchanges. An affine expression of
// one dimension is periodic up to a constant slope, whatever divisions and
// remainders it is made of: comparing one period is a proof.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Exchanges.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;

/// Periods beyond this are not looked through.
static constexpr int64_t kMaxPeriod = 1 << 16;

AffineExpr mlir::fusion::flipBits(AffineExpr expr, int64_t mask) {
  assert(mask > 0 && "nothing to flip");
  // Bit 2^k is (x floordiv 2^k) mod 2: one that is set goes down by 2^k, one
  // that is not goes up.
  AffineExpr result = expr;
  for (uint64_t left = mask; left; left &= left - 1) {
    int64_t bit = left & -left;
    result = result + bit - (expr.floorDiv(bit) % 2) * (2 * bit);
  }
  return result;
}

namespace {
/// f(x + period) = f(x) + rise.
struct Period {
  int64_t period = 1;
  int64_t rise = 0;
};
} // namespace

static std::optional<Period> getPeriod(AffineExpr expr) {
  if (isa<AffineConstantExpr>(expr))
    return Period{1, 0};
  if (isa<AffineDimExpr>(expr))
    return Period{1, 1};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<Period> lhs = getPeriod(binary.getLHS());
  if (!lhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    std::optional<Period> rhs = getPeriod(binary.getRHS());
    if (!rhs)
      return std::nullopt;
    int64_t period = std::lcm(lhs->period, rhs->period);
    if (period > kMaxPeriod)
      return std::nullopt;
    return Period{period, lhs->rise * (period / lhs->period) +
                              rhs->rise * (period / rhs->period)};
  }
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!factor || std::abs(factor.getValue()) > kMaxPeriod * kMaxPeriod)
    return std::nullopt;
  int64_t by = factor.getValue();
  if (expr.getKind() == AffineExprKind::Mul) {
    int64_t rise;
    if (llvm::MulOverflow(lhs->rise, by, rise))
      return std::nullopt;
    return Period{lhs->period, rise};
  }
  if (by <= 0 || expr.getKind() == AffineExprKind::CeilDiv)
    return std::nullopt;
  // After this many periods the dividend has risen by a multiple of `by`.
  int64_t times = by / std::gcd(lhs->rise, by);
  if (times > kMaxPeriod / lhs->period)
    return std::nullopt;
  int64_t rise =
      expr.getKind() == AffineExprKind::Mod ? 0 : lhs->rise * times / by;
  return Period{lhs->period * times, rise};
}

/// The value of `expr` at `at`. Precondition: it has a period.
static int64_t evaluate(AffineExpr expr, int64_t at) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return at;
  int64_t lhs = evaluate(binary.getLHS(), at);
  int64_t rhs = evaluate(binary.getRHS(), at);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(lhs, rhs);
  default:
    return llvm::mod(lhs, rhs);
  }
}

std::optional<Exchange> mlir::fusion::matchExchange(
    AffineExpr expr,
    llvm::function_ref<std::optional<int64_t>(unsigned)> getExtent) {
  std::optional<unsigned> dim;
  bool isSingle = true;
  expr.walk([&](AffineExpr part) {
    if (isa<AffineSymbolExpr>(part))
      isSingle = false;
    auto own = dyn_cast<AffineDimExpr>(part);
    if (!own)
      return;
    isSingle &= !dim || *dim == own.getPosition();
    dim = own.getPosition();
  });
  if (!dim || !isSingle)
    return std::nullopt;
  if (isa<AffineDimExpr>(expr))
    return Exchange{*dim, 0};
  std::optional<int64_t> extent = getExtent(*dim);
  std::optional<Period> period = getPeriod(expr);
  if (!period || (extent && *extent <= 0))
    return std::nullopt;
  // Whatever holds on one period holds on all, if it rises as the dimension
  // does.
  bool isWhole = extent && *extent <= period->period;
  if (!isWhole && period->rise != period->period)
    return std::nullopt;
  Exchange exchange{*dim, evaluate(expr, 0)};
  int64_t span = exchange.mask >= 0 ? exchange.getSpan() : 1;
  if (exchange.mask < 0 || span > kMaxPeriod ||
      (exchange.mask > 0 && (!extent || *extent % span != 0)) ||
      (!isWhole && period->period % span != 0))
    return std::nullopt;
  int64_t end = isWhole ? *extent : period->period;
  for (int64_t at = 0; at < end; ++at)
    if (evaluate(expr, at) != (at ^ exchange.mask))
      return std::nullopt;
  return exchange;
}

/// True when `expr` of loops, which are not negative, is not negative either,
/// as far as its form tells.
static bool isNatural(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return true;
  if (expr.getKind() == AffineExprKind::Mod)
    return isNatural(binary.getRHS());
  return isNatural(binary.getLHS()) && isNatural(binary.getRHS());
}

/// Operations that a coordinate is looked for behind, each as often as it is
/// used; where there are more, only the run knows it.
static constexpr unsigned kMaxIndexOps = 128;

std::optional<AffineExpr>
mlir::fusion::combineLinearly(Operation *def, AffineExpr lhs, AffineExpr rhs) {
  if (isa<arith::AddIOp>(def))
    return lhs + rhs;
  if (isa<arith::SubIOp>(def))
    return lhs - rhs;
  if (isa<arith::MulIOp>(def) && isa<AffineConstantExpr>(rhs))
    return lhs * rhs;
  return std::nullopt;
}

/// As below, looking at no more than `budget` operations.
static std::optional<AffineExpr> getIndexExpr(linalg::LinalgOp op, Value index,
                                              unsigned &budget) {
  if (budget == 0)
    return std::nullopt;
  --budget;
  MLIRContext *context = op->getContext();
  APInt number;
  if (matchPattern(index, m_ConstantInt(&number)) &&
      number.getSignificantBits() <= 64)
    return getAffineConstantExpr(number.getSExtValue(), context);
  Operation *def = index.getDefiningOp();
  if (!def || !index.getType().isIndex())
    return std::nullopt;
  if (auto loop = dyn_cast<linalg::IndexOp>(def)) {
    if (loop->getBlock() != op.getBlock())
      return std::nullopt;
    return getAffineDimExpr(loop.getDim(), context);
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(def)) {
    AffineMap map = apply.getAffineMap();
    SmallVector<AffineExpr> parts;
    for (Value operand : apply.getMapOperands()) {
      std::optional<AffineExpr> part = getIndexExpr(op, operand, budget);
      if (!part)
        return std::nullopt;
      parts.push_back(*part);
    }
    ArrayRef<AffineExpr> all = parts;
    return map.getResult(0).replaceDimsAndSymbols(
        all.take_front(map.getNumDims()), all.drop_front(map.getNumDims()));
  }
  if (def->getNumOperands() != 2 || def->getNumResults() != 1)
    return std::nullopt;
  std::optional<AffineExpr> lhs = getIndexExpr(op, def->getOperand(0), budget);
  std::optional<AffineExpr> rhs =
      lhs ? getIndexExpr(op, def->getOperand(1), budget) : std::nullopt;
  if (!rhs)
    return std::nullopt;
  if (std::optional<AffineExpr> linear = combineLinearly(def, *lhs, *rhs))
    return linear;
  auto constant = dyn_cast<AffineConstantExpr>(*rhs);
  if (!constant)
    return std::nullopt;
  int64_t by = constant.getValue();
  // On numbers that are not negative both kinds of division are floors.
  if (by <= 0 || !isNatural(*lhs))
    return std::nullopt;
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(def))
    return lhs->floorDiv(by);
  if (isa<arith::RemUIOp, arith::RemSIOp>(def))
    return *lhs % by;
  if (isa<arith::XOrIOp>(def))
    return flipBits(*lhs, by);
  return std::nullopt;
}

std::optional<AffineExpr> mlir::fusion::getIndexExpr(linalg::LinalgOp op,
                                                     Value index) {
  unsigned budget = kMaxIndexOps;
  return ::getIndexExpr(op, index, budget);
}
