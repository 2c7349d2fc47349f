//===- Logistic.h - Reciprocals of one plus a power -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what sigmoids, their products and the tanh form of GELU
// have in common: the reciprocal of one plus a power of e.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_MATHEXPANSION_LOGISTIC_H
#define FUSION_LIB_CONVERSION_MATHEXPANSION_LOGISTIC_H

#include "Num.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fusion {

/// An operation whose result is a reciprocal 1 / (1 + e^y), times something:
///
///   tanh(y) + 1          is  2 / (1 + e^-2y)
///   1 / (1 + exp(y))
///   x / (1 + exp(-x))
///
/// the first as one expression without cancellation, where the sum would lose
/// near -1 what tanh rounds away.
class Logistic {
public:
  static std::optional<Logistic> match(Operation *op);

  /// The exponential in a sum 1 + exp(y); null for another value.
  static math::ExpOp getExponential(Value value);

  /// The divisor, 1 and a power of e. That of a quotient is the sum as the
  /// program rounds it.
  Num emitDivisor(ImplicitLocOpBuilder &b);

  /// Puts `reciprocal` and the rest of the expression in the operation's place.
  void replace(PatternRewriter &rewriter, Num reciprocal);

private:
  explicit Logistic(Operation *op) : op(op) {}
  bool matchTanh(arith::AddFOp sum);
  bool matchQuotient(arith::DivFOp quotient);

  Operation *op;
  /// One of the two is there.
  math::TanhOp tanh;
  math::ExpOp exp;
  /// What the quotient divides, when that is not one.
  Value numerator;
  /// Of tanh: what its argument is an odd polynomial of, without cancellation,
  /// and the coefficients from that of the first power on.
  Value variable;
  SmallVector<double, 4> coefficients;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_MATHEXPANSION_LOGISTIC_H
