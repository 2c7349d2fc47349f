//===- Array.h - Tensors in formulas ----------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what formulas compute on: dense tensors with the vocabulary
// of NumPy, that lets a formula read as its documentation does.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_FORMULAS_ARRAY_H
#define FUSION_LIB_REFERENCE_FORMULAS_ARRAY_H

#include "Real.h"

#include "fusion/Reference/BoundedTensor.h"

namespace mlir::fusion::formulas {

/// A tensor in the arithmetic of a formula.
class Array {
public:
  Array(ArrayRef<int64_t> shape, const Arithmetic &arithmetic)
      : shape(shape), arithmetic(&arithmetic), numbers(countElements(shape)) {}
  /// The numbers of `tensor`.
  Array(const BoundedTensor &tensor, const Arithmetic &arithmetic);

  ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  int64_t getDim(int64_t dim) const { return shape[dim]; }
  int64_t size() const { return numbers.size(); }
  const Arithmetic &getArithmetic() const { return *arithmetic; }

  Real operator[](int64_t n) const { return {numbers[n], *arithmetic}; }
  void set(int64_t n, const Real &value) { numbers[n] = value.get(); }
  void set(int64_t n, const Bounded &value) { numbers[n] = value; }

  /// The same elements in another shape of as many.
  Array reshape(ArrayRef<int64_t> newShape) const;
  /// A vector as a tensor of `rank` dimensions, all but `dim` of size 1.
  Array along(int64_t dim, int64_t rank) const;
  /// Rounded to the declared type; integers wrap.
  BoundedTensor round(Type elementType) const;

private:
  BoundedTensor roundToIntegers(Type elementType) const;

  Shape shape;
  const Arithmetic *arithmetic;
  std::vector<Bounded> numbers;
};

/// The shape of an elementwise operation, aligned to the right; sizes of 1 are
/// broadcast.
Shape broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b);
/// For each element of `shape`, the position in a tensor of shape `from` that
/// is broadcast to it.
std::vector<int64_t> broadcastPositions(ArrayRef<int64_t> from,
                                        ArrayRef<int64_t> shape);

/// `f` of each element.
template <typename Function>
Array map(const Array &x, Function f) {
  Array result(x.getShape(), x.getArithmetic());
  for (int64_t n = 0; n < x.size(); ++n)
    result.set(n, f(x[n]));
  return result;
}

/// `f` of each pair of elements, broadcast.
template <typename Function>
Array map(const Array &a, const Array &b, Function f) {
  Array result(broadcastShapes(a.getShape(), b.getShape()), a.getArithmetic());
  auto fromA = broadcastPositions(a.getShape(), result.getShape());
  auto fromB = broadcastPositions(b.getShape(), result.getShape());
  for (int64_t n = 0; n < result.size(); ++n)
    result.set(n, f(a[fromA[n]], b[fromB[n]]));
  return result;
}

inline Array operator+(const Array &a, const Array &b) {
  return map(a, b, [](const Real &x, const Real &y) { return x + y; });
}
inline Array operator-(const Array &a, const Array &b) {
  return map(a, b, [](const Real &x, const Real &y) { return x - y; });
}
inline Array operator*(const Array &a, const Array &b) {
  return map(a, b, [](const Real &x, const Real &y) { return x * y; });
}
inline Array operator/(const Array &a, const Array &b) {
  return map(a, b, [](const Real &x, const Real &y) { return x / y; });
}
inline Array operator+(const Array &a, double b) {
  return map(a, [b](const Real &x) { return x + b; });
}
inline Array operator/(const Array &a, double b) {
  return map(a, [b](const Real &x) { return x / b; });
}
inline Array expRelativeTo(const Array &a, const Array &b) {
  return map(a, b,
             [](const Real &x, const Real &m) { return expRelativeTo(x, m); });
}
inline Array log(const Array &a) {
  return map(a, [](const Real &x) { return log(x); });
}
inline Array rsqrt(const Array &a) {
  return map(a, [](const Real &x) { return rsqrt(x); });
}

/// The sum over `dims`, which keep size 1.
Array sum(const Array &x, ArrayRef<int64_t> dims);
/// The largest along `dims`, which keep size 1: NaN where there is one, -inf of
/// nothing. Meant to be subtracted and added again, so that only its value
/// counts and it has no error.
Array shiftOf(const Array &x, ArrayRef<int64_t> dims);

} // namespace mlir::fusion::formulas

#endif // FUSION_LIB_REFERENCE_FORMULAS_ARRAY_H
