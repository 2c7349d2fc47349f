//===- Interval.cpp - Ranges and divisors of index arithmetic -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements integer intervals and the analysis of affine
// expressions.
//
//===----------------------------------------------------------------------===//

#include "fusion/Support/Interval.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Arithmetic on bounds
//===----------------------------------------------------------------------===//

static constexpr int64_t kMin = Interval::kMin;
static constexpr int64_t kMax = Interval::kMax;

/// The exact sum, or the end of the 64-bit range on its side. A bound that is
/// saturated outwards stays sound: it only admits more.
static int64_t addBounds(int64_t a, int64_t b) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum))
    return sum;
  return a < 0 ? kMin : kMax;
}

/// The product of two bounds, either of which may be missing.
static int64_t mulBounds(int64_t a, bool aMissing, int64_t b, bool bMissing) {
  // A missing bound times zero is zero: the other factor is some integer.
  if (a == 0 || b == 0)
    return 0;
  int64_t product;
  if (!aMissing && !bMissing && !__builtin_mul_overflow(a, b, &product))
    return product;
  return (a < 0) == (b < 0) ? kMax : kMin;
}

/// The remainder in [0, divisor) by a positive divisor.
static int64_t remainder(int64_t value, int64_t divisor) {
  int64_t rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

bool Interval::fitsInSigned(unsigned bits) const {
  // The ends of the 64-bit range stand for what lies beyond it, too.
  if (!isBounded())
    return false;
  return bits >= 64 ||
         (lower >= llvm::minIntN(bits) && upper <= llvm::maxIntN(bits));
}

Interval Interval::operator+(const Interval &other) const {
  Interval result;
  if (hasLower() && other.hasLower())
    result.lower = addBounds(lower, other.lower);
  if (hasUpper() && other.hasUpper())
    result.upper = addBounds(upper, other.upper);
  return result;
}

Interval Interval::operator-(const Interval &other) const {
  // An upper bound of kMin negates to a lower bound of 2^63, beyond kMax.
  auto negate = [](int64_t bound) { return bound == kMin ? kMax : -bound; };
  Interval negated;
  if (other.hasUpper())
    negated.lower = negate(other.upper);
  if (other.hasLower())
    negated.upper = negate(other.lower);
  return *this + negated;
}

Interval Interval::operator*(const Interval &other) const {
  int64_t corners[] = {
      mulBounds(lower, !hasLower(), other.lower, !other.hasLower()),
      mulBounds(lower, !hasLower(), other.upper, !other.hasUpper()),
      mulBounds(upper, !hasUpper(), other.lower, !other.hasLower()),
      mulBounds(upper, !hasUpper(), other.upper, !other.hasUpper())};
  return {*std::min_element(std::begin(corners), std::end(corners)),
          *std::max_element(std::begin(corners), std::end(corners))};
}

Interval Interval::floorDiv(const Interval &divisor) const {
  if (divisor.upper <= 0)
    return {};
  // Small divisors lead away from zero, large ones towards it; without a bound
  // on the divisor, all the way.
  int64_t small = std::max<int64_t>(divisor.lower, 1), large = divisor.upper;
  Interval result;
  if (lower >= 0)
    result.lower =
        divisor.hasUpper() ? llvm::divideFloorSigned(lower, large) : 0;
  else if (hasLower())
    result.lower = llvm::divideFloorSigned(lower, small);
  if (upper < 0)
    result.upper =
        divisor.hasUpper() ? llvm::divideFloorSigned(upper, large) : -1;
  else if (hasUpper())
    result.upper = llvm::divideFloorSigned(upper, small);
  return result;
}

Interval Interval::ceilDiv(const Interval &divisor) const {
  if (divisor.upper <= 0)
    return {};
  int64_t small = std::max<int64_t>(divisor.lower, 1), large = divisor.upper;
  Interval result;
  if (lower > 0)
    result.lower =
        divisor.hasUpper() ? llvm::divideCeilSigned(lower, large) : 1;
  else if (hasLower())
    result.lower = llvm::divideCeilSigned(lower, small);
  if (upper <= 0)
    result.upper =
        divisor.hasUpper() ? llvm::divideCeilSigned(upper, large) : 0;
  else if (hasUpper())
    result.upper = llvm::divideCeilSigned(upper, small);
  return result;
}

Interval Interval::mod(const Interval &divisor) const {
  if (divisor.upper <= 0)
    return {};
  int64_t small = std::max<int64_t>(divisor.lower, 1);
  if (lower >= 0 && upper < small)
    return *this;
  // Within one period the remainder rises with the value.
  if (divisor.isPoint() && isBounded() &&
      llvm::divideFloorSigned(lower, small) ==
          llvm::divideFloorSigned(upper, small))
    return {remainder(lower, small), remainder(upper, small)};
  int64_t greatest = divisor.hasUpper() ? divisor.upper - 1 : kMax;
  // A remainder of a value that is not negative is at most the value.
  if (lower >= 0)
    greatest = std::min(greatest, upper);
  return {0, greatest};
}

Interval Interval::min(const Interval &a, const Interval &b) {
  return {std::min(a.lower, b.lower), std::min(a.upper, b.upper)};
}

Interval Interval::max(const Interval &a, const Interval &b) {
  return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
}

Interval Interval::join(const Interval &other) const {
  return {std::min(lower, other.lower), std::max(upper, other.upper)};
}

void Interval::print(llvm::raw_ostream &os) const {
  os << '[';
  if (hasLower())
    os << lower;
  else
    os << "-inf";
  os << ", ";
  if (hasUpper())
    os << upper;
  else
    os << "+inf";
  os << ']';
}

//===----------------------------------------------------------------------===//
// Affine expressions
//===----------------------------------------------------------------------===//

static Interval applyBinary(AffineExprKind kind, const Interval &lhs,
                            const Interval &rhs) {
  switch (kind) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::Mod:
    return lhs.mod(rhs);
  case AffineExprKind::FloorDiv:
    return lhs.floorDiv(rhs);
  case AffineExprKind::CeilDiv:
    return lhs.ceilDiv(rhs);
  case AffineExprKind::Constant:
  case AffineExprKind::DimId:
  case AffineExprKind::SymbolId:
    break;
  }
  llvm_unreachable("not a binary affine expression");
}

/// The range; clears `allFit` if some subexpression is wider than `bits`.
static Interval visitRange(AffineExpr expr, ArrayRef<Interval> dims,
                           ArrayRef<Interval> symbols, unsigned bits,
                           bool &allFit) {
  Interval range;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    range = Interval::point(constant.getValue());
  } else if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    assert(dim.getPosition() < dims.size() && "a dim without an interval");
    range = dims[dim.getPosition()];
  } else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    assert(symbol.getPosition() < symbols.size() &&
           "a symbol without an interval");
    range = symbols[symbol.getPosition()];
  } else {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Interval lhs = visitRange(binary.getLHS(), dims, symbols, bits, allFit);
    Interval rhs = visitRange(binary.getRHS(), dims, symbols, bits, allFit);
    range = applyBinary(binary.getKind(), lhs, rhs);
  }
  allFit &= range.fitsInSigned(bits);
  return range;
}

Interval mlir::fusion::getRange(AffineExpr expr, ArrayRef<Interval> dims,
                                ArrayRef<Interval> symbols) {
  bool allFit = true;
  return visitRange(expr, dims, symbols, 64, allFit);
}

bool mlir::fusion::fitsInSigned(AffineExpr expr, unsigned bits,
                                ArrayRef<Interval> dims,
                                ArrayRef<Interval> symbols) {
  bool allFit = true;
  visitRange(expr, dims, symbols, bits, allFit);
  return allFit;
}

int64_t mlir::fusion::getKnownDivisor(AffineExpr expr,
                                      ArrayRef<int64_t> dimDivisors,
                                      ArrayRef<int64_t> symbolDivisors) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    int64_t value = constant.getValue();
    // 2^63 is no int64_t; its half divides it.
    return value == kMin ? int64_t(1) << 62 : std::abs(value);
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    assert(dim.getPosition() < dimDivisors.size() && "a dim without a divisor");
    return dimDivisors[dim.getPosition()];
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    assert(symbol.getPosition() < symbolDivisors.size() &&
           "a symbol without a divisor");
    return symbolDivisors[symbol.getPosition()];
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = getKnownDivisor(binary.getLHS(), dimDivisors, symbolDivisors);
  int64_t rhs = getKnownDivisor(binary.getRHS(), dimDivisors, symbolDivisors);
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  bool divides =
      divisor && divisor.getValue() > 0 && lhs % divisor.getValue() == 0;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return std::gcd(lhs, rhs);
  case AffineExprKind::Mul: {
    int64_t product;
    if (!__builtin_mul_overflow(lhs, rhs, &product))
      return product;
    return std::max(lhs, rhs);
  }
  case AffineExprKind::Mod:
    // a mod b is a less a multiple of b.
    return divides ? 0 : std::gcd(lhs, rhs);
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    return divides ? lhs / divisor.getValue() : 1;
  default:
    llvm_unreachable("not a binary affine expression");
  }
}

bool mlir::fusion::isMultipleOf(AffineExpr expr, int64_t factor,
                                ArrayRef<int64_t> dimDivisors,
                                ArrayRef<int64_t> symbolDivisors) {
  assert(factor != 0 && "zero has no multiples but itself");
  return getKnownDivisor(expr, dimDivisors, symbolDivisors) % factor == 0;
}
