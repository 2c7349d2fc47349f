//===- Num.h - Numbers under construction -----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the value class in which the kernels of the math expansion
// are written: arithmetic on it builds operations.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_MATHEXPANSION_NUM_H
#define FUSION_LIB_CONVERSION_MATHEXPANSION_NUM_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::fusion {

/// A scalar or one-dimensional vector of one float, integer or predicate type.
/// Operators build arith operations without fast-math flags, so that a kernel's
/// roundings are the ones it states. Constants take the shape of the value that
/// they are asked of.
class Num {
public:
  Num() = default;
  Num(ImplicitLocOpBuilder &builder, Value value)
      : builder(&builder), value(value) {}

  operator Value() const { return value; }
  ImplicitLocOpBuilder &b() const { return *builder; }
  Type type() const { return value.getType(); }
  Type element() const { return getElementTypeOrSelf(value.getType()); }
  bool isF64() const { return element().isF64(); }

  /// The type of this shape with `element` for its elements.
  Type shaped(Type element) const;

  /// `constant` in this value's shape and float type.
  Num c(double constant) const;
  /// `constant` in this value's shape and integer type.
  Num i(int64_t constant) const;
  /// The float of this value's shape and type with these bits.
  Num bits(uint64_t pattern) const;
  Num nan() const;
  Num inf() const;

  Num operator-() const;
  /// The negated predicate.
  Num operator!() const;
  friend Num operator+(Num a, Num b);
  friend Num operator-(Num a, Num b);
  friend Num operator*(Num a, Num b);
  /// Correctly rounded division (floats).
  friend Num operator/(Num a, Num b);
  /// Bits and predicates.
  friend Num operator&(Num a, Num b);
  friend Num operator|(Num a, Num b);
  friend Num operator^(Num a, Num b);
  Num shl(int64_t amount) const;
  Num shr(int64_t amount) const;
  Num sar(int64_t amount) const;
  Num shl(Num amount) const;
  Num shr(Num amount) const;

  /// Ordered comparisons of floats; all but `ne` are false of NaN.
  friend Num operator<(Num a, Num b);
  friend Num operator<=(Num a, Num b);
  friend Num operator>(Num a, Num b);
  friend Num operator>=(Num a, Num b);
  Num eq(Num other) const;
  Num isNaN() const;
  /// Comparisons of integers.
  Num icmp(arith::CmpIPredicate predicate, Num other) const;

  /// This value reinterpreted as the integers or floats of its width.
  Num asInt() const;
  Num asFloat() const;
  /// Signed integers of `width` bits, rounded toward zero, and back.
  Num toInt(unsigned width) const;
  Num toFloat(Type element) const;
  Num extendTo(Type element) const;
  Num truncateTo(Type element) const;
  /// Integers widened or narrowed to `width` bits, by zeros.
  Num resize(unsigned width) const;

private:
  ImplicitLocOpBuilder *builder = nullptr;
  Value value;
};

/// The intrinsic `name` of LLVM IR, of its first operand's type. By name and
/// not by its operation, because upstream's conversion for GPUs takes the
/// operations of most float intrinsics for calls of libdevice yet to be made.
Num callIntrinsic(StringRef name, ArrayRef<Num> operands);

Num select(Num condition, Num yes, Num no);
Num fma(Num a, Num b, Num c);
Num fabs(Num x);
/// `magnitude` with the sign of `sign`.
Num copysign(Num magnitude, Num sign);
/// Correctly rounded square root.
Num sqrt(Num x);
Num trunc(Num x);
/// The lesser and greater number; a NaN operand loses.
Num minNum(Num a, Num b);
Num maxNum(Num a, Num b);
/// The lesser and greater number; a NaN operand wins.
Num minNaN(Num a, Num b);
Num maxNaN(Num a, Num b);

/// The value of a polynomial with `coefficients`, lowest power first, by
/// Horner's rule.
Num poly(Num x, llvm::ArrayRef<float> coefficients);
Num poly(Num x, llvm::ArrayRef<double> coefficients);

/// The hardware's approximations (f32), element by element.
/// Relative error 2^-22; results below 2^-126 become 0.
Num ex2ApproxFtz(Num x);
/// Relative error 2^-22, subnormal results kept.
Num ex2Approx(Num x);
/// Absolute error 2^-22 between 0.5 and 2, relative error 2^-22 elsewhere.
Num lg2Approx(Num x);
/// Relative error 2^-23; subnormal operands and results become 0.
Num rcpApproxFtz(Num x);
/// Relative error 2^-22.9, subnormal operands kept.
Num rsqrtApprox(Num x);
/// Relative error 2^-23.
Num sqrtApprox(Num x);
/// Absolute error 2^-20 in [-pi, pi].
Num sinApprox(Num x);
Num cosApprox(Num x);
/// Relative error 2^-11.
Num tanhApprox(Num x);
/// At most 2 ULP over the whole range.
Num divFull(Num a, Num b);

/// Applies `kernel` to every element of `x`.
Num mapElements(ArrayRef<Num> operands,
                llvm::function_ref<Num(ArrayRef<Num>)> kernel);

} // namespace mlir::fusion

#endif // FUSION_LIB_CONVERSION_MATHEXPANSION_NUM_H
