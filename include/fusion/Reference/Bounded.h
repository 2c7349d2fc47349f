//===- Bounded.h - A number and how far off it may be -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the numbers that the reference computes with: each carries
// a bound on how far a correct implementation of the program may be from it.
//
// Arithmetic on them is exact but for float64's own rounding; what a program
// rounds is said by roundTo, evaluate and BoundedSum. A formula reads
//
//   Bounded y = roundTo(x * scale + shift, DType::F32);
//   Bounded z = evaluate(Function::Exp, y, DType::F32);
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_BOUNDED_H
#define FUSION_REFERENCE_BOUNDED_H

#include "fusion/Reference/HostTensor.h"
#include <cmath>
#include <cstdint>
#include <limits>

namespace mlir::fusion {

/// A float, or an integer that derives from floats. The layout is that of a
/// complex<f64>.
///  - A finite `value`: a correct result lies within `error` of it. An error of
///    infinity says that nothing is known about the result.
///  - NaN or infinity: with an error of 0 the result is that, otherwise nothing
///    is known.
/// A truth value is 0 or 1, and has an error of 1 where it is open.
struct Bounded {
  double value = 0, error = 0;

  Bounded() = default;
  /// An exact number.
  Bounded(double value) : value(value) {}
  /// Errors of NaN, and finite ones of values that are not, become infinite.
  Bounded(double value, double error)
      : value(value), error(error == 0 || (error > 0 && std::isfinite(value))
                                ? error
                                : std::numeric_limits<double>::infinity()) {}

  bool isExact() const { return error == 0; }
  bool isKnown() const { return error <= std::numeric_limits<double>::max(); }
  /// NaN for certain.
  bool isNaN() const { return error == 0 && std::isnan(value); }
  double low() const { return value - error; }
  double high() const { return value + error; }
  bool contains(double x) const {
    return !isKnown() || (x >= low() && x <= high()) ||
           (std::isnan(value) && std::isnan(x));
  }

  /// Nothing is known about the result; `value` is the reference's guess.
  static Bounded unknown(double value = 0) {
    return Bounded(value, std::numeric_limits<double>::infinity());
  }
  /// Everything from `low` to `high`, with `value` between them.
  static Bounded hull(double value, double low, double high) {
    return Bounded(value, std::fmax(high - value, value - low));
  }
};
static_assert(sizeof(Bounded) == 16, "the layout of a complex<f64>");

//===----------------------------------------------------------------------===//
// Real arithmetic, without roundings
//===----------------------------------------------------------------------===//

Bounded operator+(Bounded a, Bounded b);
Bounded operator-(Bounded a, Bounded b);
Bounded operator-(Bounded a);
Bounded operator*(Bounded a, Bounded b);
/// Unknown where the divisor may be 0 but is not for certain.
Bounded operator/(Bounded a, Bounded b);
/// a b + c in one.
Bounded fma(Bounded a, Bounded b, Bounded c);
/// The remainder with the sign of `a`.
Bounded remainder(Bounded a, Bounded b);

Bounded abs(Bounded a);
/// `magnitude` with the sign of `sign`.
Bounded copySign(Bounded magnitude, Bounded sign);
/// NaN where an operand is NaN.
Bounded minimum(Bounded a, Bounded b);
Bounded maximum(Bounded a, Bounded b);
/// The other operand where one is NaN.
Bounded minimumNumber(Bounded a, Bounded b);
Bounded maximumNumber(Bounded a, Bounded b);

Bounded floor(Bounded a);
Bounded ceil(Bounded a);
Bounded truncate(Bounded a);
/// Halves away from zero.
Bounded round(Bounded a);
/// Halves to even.
Bounded roundEven(Bounded a);

/// The functions that docs/Numerics.md promises an accuracy for.
enum class Function {
  Exp,
  Exp2,
  Expm1,
  Log,
  Log2,
  Log10,
  Log1p,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Erf,
  Erfc,
  Sqrt,
  Rsqrt,
  Cbrt,
  Pow,  // evaluate with two operands
  Atan2 // evaluate with two operands
};

/// The true function over the interval. Unknown where its domain is left.
Bounded apply(Function function, Bounded x);
Bounded pow(Bounded base, Bounded exponent);
Bounded atan2(Bounded y, Bounded x);

//===----------------------------------------------------------------------===//
// Roundings
//===----------------------------------------------------------------------===//

/// How freely the program may be compiled, for this thread, until the end of
/// the scope: with `fast`, declared roundings may be dropped and functions
/// approximated (docs/Numerics.md, "Fast mode").
class NumericsScope {
public:
  explicit NumericsScope(bool fast);
  ~NumericsScope();
  NumericsScope(const NumericsScope &) = delete;
  NumericsScope &operator=(const NumericsScope &) = delete;

private:
  bool outer;
};

/// True in a NumericsScope that is fast.
bool isFastNumerics();

/// The distance of neighbours of `format` at the magnitude of `x`.
double getUlp(double x, DType format);

/// The rounding that a program declares, to nearest, ties to even. Exact where
/// everything in the interval rounds to one number. With `mayDrop`, and in fast
/// mode, the number may also stay as it is. What overflows is infinite (NaN in
/// f8E4M3FN).
Bounded roundTo(Bounded x, DType format, bool mayDrop = false);
/// x rounded to `format` relative to another number: c x is rounded, of an
/// unknown c of at least 1, and divided by c.
Bounded roundScaled(Bounded x, DType format);

/// `x` with errors up to `ulps` units in the last place of `format`, of which
/// the rounding to `format` is half a unit.
Bounded withUlps(Bounded x, DType format, double ulps);

/// `x` with a relative error on top.
Bounded withRelativeError(Bounded x, double relative);

/// What docs/Numerics.md promises for results in `format`, at worst, in units
/// in the last place.
double getUlps(Function function, DType format);

/// The function as compiled code evaluates it, rounded to `format`. `afn`: the
/// operation has the flag that permits approximations, as all have in fast
/// mode.
Bounded evaluate(Function function, Bounded x, DType format, bool afn = false);
Bounded evaluate(Function function, Bounded x, Bounded y, DType format,
                 bool afn = false);

/// A quotient as compiled code evaluates it, rounded to `format`.
Bounded divide(Bounded a, Bounded b, DType format, bool afn = false);

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// What a sum may lose, relative to its running magnitude.
struct SumRule {
  /// For each addition, half a unit in the last place of the type that the sum
  /// is made in: f32, or f64, where the reference's own is as large again.
  double unit = 0x1p-24;
  /// For each product.
  double product = 0;
  /// For each term, where tensor cores cut off what lies below the largest.
  double cutOff = 0;
  /// The same for the first terms.
  double firstCutOff = 0;
  /// How often the root of the squared errors of terms a sum may be off by, as
  /// far as those are independent.
  double independent = getUsualIndependent();

  /// A sum with results in `format`.
  static SumRule forSum(DType format);
  /// A sum of products of two factors in `factors`, made in `format`. With
  /// `tf32`, factors may be rounded to tf32: f32, or float8 with a scale that
  /// is multiplied in f32 where it is not moved past the products.
  static SumRule forProducts(DType factors, DType format, bool tf32 = false);

  /// The relative error of a sum of `count` terms.
  double getRelativeError(double count) const;

  /// For errors that are bounds, mostly far from reached, but for roundings
  /// that fast mode drops.
  static double getUsualIndependent();
  /// For errors that are everywhere between nothing and the bound: the rounding
  /// of factors to another grid.
  static constexpr double kIndependentRoundings = 3.5;
  /// For roundings of factors that are made of other numbers, or not at all,
  /// each of which counts twice.
  static constexpr double kMovedRoundings = 5;
};

/// A sum in any order. Errors of terms add up; those of products of factors
/// with mixed signs as independent ones do, apart from what they may have in
/// common.
struct BoundedSum {
  /// Of the values, of their errors, and of the values' magnitudes.
  double sum = 0, error = 0, magnitude = 0;
  /// Of the squared errors; of the errors, signed like the other factor.
  double squares = 0, shift = 0;

  void add(Bounded term) {
    sum += term.value;
    error += term.error;
    magnitude += std::fabs(term.value);
    squares = std::numeric_limits<double>::infinity();
  }
  void addProduct(Bounded a, Bounded b) {
    double product = a.value * b.value;
    double left = a.error * b.value, right = b.error * a.value;
    double both = std::fabs(left) + std::fabs(right) + a.error * b.error;
    sum += product;
    error += both;
    magnitude += std::fabs(product);
    squares += both * both;
    shift += left + right;
  }

  /// The sum of `count` terms, not yet rounded to the declared type.
  Bounded finish(double count, const SumRule &rule) const;
};

//===----------------------------------------------------------------------===//
// Truth values and integers
//===----------------------------------------------------------------------===//

/// A truth value that is not known.
inline Bounded openTruth(bool guess) { return Bounded(guess, 1); }

/// Comparisons are false where an operand is NaN; isNotEqual is true there.
Bounded isLess(Bounded a, Bounded b);
Bounded isLessOrEqual(Bounded a, Bounded b);
Bounded isEqual(Bounded a, Bounded b);
Bounded isNotEqual(Bounded a, Bounded b);
/// An operand is NaN.
Bounded isUnordered(Bounded a, Bounded b);

Bounded logicalAnd(Bounded a, Bounded b);
Bounded logicalOr(Bounded a, Bounded b);
Bounded logicalNot(Bounded a);

/// `a` or `b`; the hull of both where the condition is open.
Bounded select(Bounded condition, Bounded a, Bounded b);
/// The hull of both, with the value of `a`.
Bounded either(Bounded a, Bounded b);

/// The conversion of a float to an integer, towards zero. Unknown where the
/// type cannot hold everything in the interval.
Bounded toInteger(Bounded x, unsigned bits, bool isSigned);

} // namespace mlir::fusion

#endif // FUSION_REFERENCE_BOUNDED_H
