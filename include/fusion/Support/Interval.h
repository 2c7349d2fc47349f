//===- Interval.h - Ranges and divisors of index arithmetic -----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines closed integer intervals and what they say of affine
// expressions: the range of values, whether 32-bit arithmetic suffices, and
// known divisors.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_INTERVAL_H
#define FUSION_SUPPORT_INTERVAL_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>
#include <cstdint>
#include <limits>

namespace mlir::fusion {

/// A set of integers without gaps, for values computed without overflow. A
/// lower bound of INT64_MIN or an upper bound of INT64_MAX is no bound. All
/// arithmetic saturates outwards: the result contains every exact result,
/// beyond 64 bits too.
class Interval {
public:
  static constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

  /// All integers.
  Interval() = default;
  /// The integers from `lower` to `upper`, both included.
  Interval(int64_t lower, int64_t upper) : lower(lower), upper(upper) {
    assert(lower <= upper && "an interval has members");
  }
  /// One integer.
  static Interval point(int64_t value) { return {value, value}; }
  /// The integers from `lower` on.
  static Interval atLeast(int64_t lower) { return {lower, kMax}; }
  /// The indices into `size` elements, of which there is at least one: from 0
  /// to the greatest size less one.
  static Interval indicesOf(const Interval &size) {
    return {0, size.upper <= 1      ? 0
               : size.upper == kMax ? kMax
                                    : size.upper - 1};
  }

  int64_t getLower() const { return lower; }
  int64_t getUpper() const { return upper; }
  bool hasLower() const { return lower != kMin; }
  bool hasUpper() const { return upper != kMax; }
  bool isBounded() const { return hasLower() && hasUpper(); }
  bool isPoint() const { return lower == upper && isBounded(); }
  bool contains(int64_t value) const {
    return lower <= value && value <= upper;
  }
  bool contains(const Interval &other) const {
    return lower <= other.lower && other.upper <= upper;
  }

  /// Every member is a signed (two's complement) number of `bits` bits, 64 at
  /// most.
  bool fitsInSigned(unsigned bits) const;
  bool fitsInSigned32() const { return fitsInSigned(32); }

  Interval operator+(const Interval &other) const;
  Interval operator-(const Interval &other) const;
  Interval operator-() const { return point(0) - *this; }
  Interval operator*(const Interval &other) const;

  /// Division rounding down, rounding up, and the remainder in [0, divisor),
  /// over the positive divisors in `divisor`: others are undefined in affine
  /// expressions. All integers if there is no positive divisor.
  Interval floorDiv(const Interval &divisor) const;
  Interval ceilDiv(const Interval &divisor) const;
  Interval mod(const Interval &divisor) const;

  static Interval min(const Interval &a, const Interval &b);
  static Interval max(const Interval &a, const Interval &b);
  /// The smallest interval that contains both.
  Interval join(const Interval &other) const;

  bool operator==(const Interval &other) const {
    return lower == other.lower && upper == other.upper;
  }
  bool operator!=(const Interval &other) const { return !(*this == other); }

  /// Prints `[0, 15]`, with `-inf` and `+inf` where there is no bound.
  void print(llvm::raw_ostream &os) const;

private:
  int64_t lower = kMin;
  int64_t upper = kMax;
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                                     const Interval &interval) {
  interval.print(os);
  return os;
}

/// The range of an affine or semi-affine expression whose dims and symbols lie
/// in the intervals given. Precondition: one interval per dim and symbol used.
Interval getRange(AffineExpr expr, llvm::ArrayRef<Interval> dims,
                  llvm::ArrayRef<Interval> symbols = {});

/// Whether the expression and all its subexpressions are signed numbers of
/// `bits` bits, so that a program may compute it, as it is written, in
/// registers of that width.
bool fitsInSigned(AffineExpr expr, unsigned bits, llvm::ArrayRef<Interval> dims,
                  llvm::ArrayRef<Interval> symbols = {});
inline bool fitsInSigned32(AffineExpr expr, llvm::ArrayRef<Interval> dims,
                           llvm::ArrayRef<Interval> symbols = {}) {
  return fitsInSigned(expr, 32, dims, symbols);
}

/// The greatest divisor known of an expression, given positive divisors of its
/// dims and symbols (1 when nothing is known; 0 for a value known to be 0,
/// which every number divides). Precondition: one per dim and symbol used.
int64_t getKnownDivisor(AffineExpr expr, llvm::ArrayRef<int64_t> dimDivisors,
                        llvm::ArrayRef<int64_t> symbolDivisors = {});

/// Whether the expression is known to be a multiple of `factor` (not zero).
bool isMultipleOf(AffineExpr expr, int64_t factor,
                  llvm::ArrayRef<int64_t> dimDivisors,
                  llvm::ArrayRef<int64_t> symbolDivisors = {});

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_INTERVAL_H
