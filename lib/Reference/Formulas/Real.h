//===- Real.h - Numbers of a formula ----------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the numbers that formulas compute with: bounded ones that
// know the type the formula is documented to compute in, so that each operation
// adds what its rounding there may do.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_FORMULAS_REAL_H
#define FUSION_LIB_REFERENCE_FORMULAS_REAL_H

#include "fusion/Reference/Bounded.h"

namespace mlir::fusion::formulas {

/// In what a formula computes.
struct Arithmetic {
  DType type = DType::F32;
  /// Factors of products may be rounded to tf32.
  bool tf32 = false;
};

/// A bounded number of a formula. The error covers every order of evaluation in
/// which each operation is rounded to the arithmetic's type, or not at all.
class Real {
public:
  Real(const Bounded &number, const Arithmetic &arithmetic)
      : number(number), arithmetic(&arithmetic) {}

  const Bounded &get() const { return number; }
  DType getType() const { return arithmetic->type; }
  const Arithmetic &getArithmetic() const { return *arithmetic; }

  /// Another number in the same arithmetic.
  Real with(const Bounded &other) const { return {other, *arithmetic}; }
  /// `constant` as the arithmetic's type holds it.
  Real constant(double constant) const;
  /// This, off by up to `ulps` units in the last place on top. A number that
  /// the type cannot hold becomes infinite.
  Real loosen(double ulps) const;
  /// The result of one correctly rounded operation whose exact result this is.
  Real rounded() const { return loosen(0.5); }

private:
  Bounded number;
  const Arithmetic *arithmetic;
};

inline Real operator+(const Real &a, const Real &b) {
  return a.with(a.get() + b.get()).rounded();
}
inline Real operator-(const Real &a, const Real &b) {
  return a.with(a.get() - b.get()).rounded();
}
inline Real operator*(const Real &a, const Real &b) {
  return a.with(a.get() * b.get()).rounded();
}
inline Real operator/(const Real &a, const Real &b) {
  return a.with(divide(a.get(), b.get(), a.getType())).rounded();
}
inline Real operator-(const Real &a) { return a.with(-a.get()); }

inline Real operator+(const Real &a, double b) { return a + a.constant(b); }
inline Real operator-(const Real &a, double b) { return a - a.constant(b); }
inline Real operator*(const Real &a, double b) { return a * a.constant(b); }
inline Real operator/(const Real &a, double b) { return a / a.constant(b); }
inline Real operator+(double a, const Real &b) { return b.constant(a) + b; }
inline Real operator-(double a, const Real &b) { return b.constant(a) - b; }
inline Real operator*(double a, const Real &b) { return b.constant(a) * b; }
inline Real operator/(double a, const Real &b) { return b.constant(a) / b; }

inline Real apply(Function function, const Real &x) {
  return x.with(evaluate(function, x.get(), x.getType()));
}
inline Real exp(const Real &x) { return apply(Function::Exp, x); }
inline Real expm1(const Real &x) { return apply(Function::Expm1, x); }
inline Real log(const Real &x) { return apply(Function::Log, x); }
inline Real log1p(const Real &x) { return apply(Function::Log1p, x); }
inline Real tanh(const Real &x) { return apply(Function::Tanh, x); }
inline Real erf(const Real &x) { return apply(Function::Erf, x); }
inline Real rsqrt(const Real &x) { return apply(Function::Rsqrt, x); }
inline Real abs(const Real &x) { return x.with(abs(x.get())); }

/// NaN when an operand is NaN.
inline Real max(const Real &a, double b) {
  return a.with(maximum(a.get(), a.constant(b).get()));
}
inline Real min(const Real &a, double b) {
  return a.with(minimum(a.get(), a.constant(b).get()));
}

/// `exp(x - m)` where m is the largest x. It may be computed relative to the
/// largest of a part and then scaled (docs/Numerics.md, "Reductions").
Real expRelativeTo(const Real &x, const Real &m);
/// `1 / (1 + exp(-x))`, in the form that does not overflow.
Real sigmoid(const Real &x);

/// `a` where `condition` holds, `b` elsewhere.
inline Real where(const Bounded &condition, const Real &a, const Real &b) {
  return a.with(select(condition, a.get(), b.get()));
}
inline Bounded operator>(const Real &a, double b) {
  return isLess(a.constant(b).get(), a.get());
}

/// A sum in any order, of terms or of products.
class Sum {
public:
  explicit Sum(const Arithmetic &arithmetic)
      : arithmetic(&arithmetic), rule(SumRule::forSum(arithmetic.type)) {}
  /// A sum of products of factors of type `factors`.
  Sum(const Arithmetic &arithmetic, DType factors)
      : arithmetic(&arithmetic),
        rule(SumRule::forProducts(factors, arithmetic.type,
                                  arithmetic.tf32 && factors == DType::F32)) {}

  /// Factors are on a grid of their own: see SumRule.
  Sum &withRoundedFactors() {
    rule.independent =
        std::fmax(rule.independent, SumRule::kIndependentRoundings);
    return *this;
  }

  void add(const Bounded &term) {
    sum.add(term);
    ++count;
  }
  void addProduct(const Bounded &a, const Bounded &b) {
    sum.addProduct(a, b);
    ++count;
  }
  Real get() const {
    return {sum.finish(static_cast<double>(count), rule), *arithmetic};
  }

private:
  const Arithmetic *arithmetic;
  SumRule rule;
  BoundedSum sum;
  int64_t count = 0;
};

} // namespace mlir::fusion::formulas

#endif // FUSION_LIB_REFERENCE_FORMULAS_REAL_H
