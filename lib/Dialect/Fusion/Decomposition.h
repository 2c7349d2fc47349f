//===- Decomposition.h - Building blocks of decompositions ------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what the decompositions of fusion ops to linalg are
// written with: scalars with operators, and builders of elementwise and
// reducing linalg.generic ops that compute in f32 or wider.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_FUSION_DECOMPOSITION_H
#define FUSION_LIB_DIALECT_FUSION_DECOMPOSITION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::fusion {

/// A scalar SSA value (float, integer or index) with the builder that goes on
/// from it, so that a formula reads as a formula.
class Scalar {
public:
  Scalar(ImplicitLocOpBuilder &builder, Value value)
      : builder(&builder), value(value) {}

  operator Value() const { return value; }
  Type getType() const { return value.getType(); }
  ImplicitLocOpBuilder &getBuilder() const { return *builder; }
  bool isFloat() const { return isa<FloatType>(getType()); }

  /// A constant of this scalar's type.
  Scalar constant(double number) const;

private:
  ImplicitLocOpBuilder *builder;
  Value value;
};

/// A constant of a float, integer or index type; integers take the whole part.
Scalar makeConstant(ImplicitLocOpBuilder &b, Type type, double number);
/// A constant of an integer or index type, exact.
Scalar makeInteger(ImplicitLocOpBuilder &b, Type type, int64_t number);
/// Negative infinity of a float type, or the smallest signed integer.
TypedAttr getLowest(Type type);

Scalar operator+(Scalar a, Scalar b);
Scalar operator-(Scalar a, Scalar b);
Scalar operator*(Scalar a, Scalar b);
/// Division; of integers, unsigned and truncating.
Scalar operator/(Scalar a, Scalar b);
/// Remainder of unsigned integers.
Scalar operator%(Scalar a, Scalar b);
Scalar operator-(Scalar a);
inline Scalar operator+(Scalar a, double b) { return a + a.constant(b); }
inline Scalar operator-(Scalar a, double b) { return a - a.constant(b); }
inline Scalar operator*(Scalar a, double b) { return a * a.constant(b); }
inline Scalar operator/(Scalar a, double b) { return a / a.constant(b); }
inline Scalar operator%(Scalar a, double b) { return a % a.constant(b); }

/// Larger and smaller of two; NaN wins among floats, integers are signed.
Scalar max(Scalar a, Scalar b);
Scalar min(Scalar a, Scalar b);
Scalar exp(Scalar x);
Scalar expm1(Scalar x);
Scalar log(Scalar x);
Scalar log1p(Scalar x);
Scalar tanh(Scalar x);
Scalar erf(Scalar x);
Scalar rsqrt(Scalar x);
Scalar abs(Scalar x);

/// Comparisons: ordered for floats, signed for integers. The result is an i1.
Scalar lt(Scalar a, Scalar b);
Scalar gt(Scalar a, Scalar b);
Scalar ge(Scalar a, Scalar b);
Scalar eq(Scalar a, Scalar b);
Scalar logicalAnd(Scalar a, Scalar b);
Scalar select(Scalar condition, Scalar a, Scalar b);

/// Converts between float types, or from an index to a float; no op when the
/// type is already right.
Scalar convertFloat(Scalar x, Type type);
/// Converts between index and signless integers, sign-extending.
Scalar convertInteger(Scalar x, Type type);

/// f32 for every float narrower than f32, else the type itself.
Type getComputeType(Type elementType);
/// The widest compute type among the element types of `values`; absent values
/// and tensors of non-floats do not count.
Type getComputeType(ValueRange values);

/// A tensor read in a loop nest, and by which loops.
struct LoopOperand {
  Value tensor;
  AffineMap map;
};

/// Computes one element from the elements read. Floats narrower than the
/// compute type arrive extended to it.
using BodyFn =
    function_ref<Scalar(ImplicitLocOpBuilder &, ArrayRef<Scalar> args)>;

/// How a reduction combines elements.
enum class Accumulation { Add, Max };

/// Builds linalg.generic ops at one place, with one compute type.
class Decomposer {
public:
  Decomposer(OpBuilder &builder, Location loc, Type computeType)
      : b(loc, builder), computeType(computeType) {}

  /// `tensor`, whose dimension i runs with loop `loops[i]` of `numLoops`.
  LoopOperand along(Value tensor, ArrayRef<int64_t> loops, int64_t numLoops);
  /// `tensor`, whose dimensions run with the loops in order.
  LoopOperand along(Value tensor);

  /// A tensor of `shape`, one loop per dimension, each element by `body` and
  /// rounded to `elementType`.
  Value elementwise(ArrayRef<LoopOperand> operands,
                    ArrayRef<OpFoldResult> shape, Type elementType,
                    BodyFn body);

  /// Combines the values of `body` over all loops not among `kept`. The result
  /// has `shape`, one size per kept loop, and the compute type, or
  /// `accumulatorType` when one is given. All loops must be bounded by the
  /// operands.
  Value reduce(ArrayRef<LoopOperand> operands, int64_t numLoops,
               ArrayRef<int64_t> kept, ArrayRef<OpFoldResult> shape,
               Accumulation accumulation, BodyFn body,
               Type accumulatorType = {});

  /// Sizes of a tensor, static ones as attributes.
  SmallVector<OpFoldResult> getSizes(Value tensor);
  OpFoldResult getSize(Value tensor, int64_t dim);
  /// The product of sizes, an attribute when all are static.
  OpFoldResult multiply(ArrayRef<OpFoldResult> sizes);
  /// An index value outside of any body.
  Value getIndex(OpFoldResult size);
  /// A size as a number of the compute type, made inside of a body: only index
  /// values cross into bodies, which is all a launch has to pass to a kernel.
  Scalar getCount(ImplicitLocOpBuilder &body, OpFoldResult size);
  /// A size as an index, made inside of a body.
  Scalar getIndex(ImplicitLocOpBuilder &body, OpFoldResult size);
  Value createEmpty(ArrayRef<OpFoldResult> shape, Type elementType);
  Value createFilled(ArrayRef<OpFoldResult> shape, TypedAttr value);
  /// tensor.cast to `type`, or the value itself.
  Value castTo(Value tensor, Type type);

  ImplicitLocOpBuilder b;
  Type computeType;

private:
  Value
  build(ArrayRef<LoopOperand> operands, Value init, AffineMap outMap,
        function_ref<Scalar(ImplicitLocOpBuilder &, ArrayRef<Scalar>, Scalar)>
            body);
};

/// linalg.index of a loop.
Scalar getLoopIndex(ImplicitLocOpBuilder &body, int64_t loop);
/// The element of `tensor` at `indices`, as it is stored.
Scalar extract(ImplicitLocOpBuilder &body, Value tensor,
               ArrayRef<Value> indices);

} // namespace mlir::fusion

#endif // FUSION_LIB_DIALECT_FUSION_DECOMPOSITION_H
