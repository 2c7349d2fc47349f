//===- BoundedTensor.h - Tensors of bounded numbers -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines dense tensors of bounded numbers or of integers, as the
// formulas of operations take and give them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_BOUNDEDTENSOR_H
#define FUSION_REFERENCE_BOUNDEDTENSOR_H

#include "fusion/Reference/Bounded.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

namespace mlir::fusion {

using Shape = SmallVector<int64_t, 4>;

/// Elements in a shape.
int64_t countElements(ArrayRef<int64_t> shape);
/// Row-major strides of a shape.
Shape getStrides(ArrayRef<int64_t> shape);
/// The strides with which a tensor of shape `from` is read where it is
/// broadcast to `shape`: aligned to the right, 0 along sizes of 1.
Shape getBroadcastStrides(ArrayRef<int64_t> from, ArrayRef<int64_t> shape);
/// The position of an element of a row-major tensor.
int64_t locate(ArrayRef<int64_t> shape, ArrayRef<int64_t> index);

/// Calls `visit` with each index into `shape`, in row-major order.
template <typename Visit>
void forEachIndex(ArrayRef<int64_t> shape, Visit visit) {
  Shape index(shape.size(), 0);
  for (int64_t n = 0, count = countElements(shape); n < count; ++n) {
    visit(n, ArrayRef<int64_t>(index));
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
  }
}

/// A dense, row-major tensor. Floats are bounded. Integers are integers; only
/// those that derive from floats are bounded, too.
class BoundedTensor {
public:
  BoundedTensor() = default;
  /// A tensor of zeros; of integers as such if the type is one and they are not
  /// `derived` from floats.
  BoundedTensor(Type elementType, ArrayRef<int64_t> shape,
                bool isDerived = false);

  Type getElementType() const { return elementType; }
  ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  int64_t getDim(int64_t dim) const { return shape[dim]; }
  int64_t size() const { return countElements(shape); }
  bool isFloat() const { return isa<FloatType>(elementType); }
  bool isInteger() const { return !isBounded; }

  /// Element `n` of a tensor of bounded numbers.
  Bounded &operator[](int64_t n) { return numbers[n]; }
  const Bounded &operator[](int64_t n) const { return numbers[n]; }
  /// Element `n` of a tensor of integers.
  int64_t &integer(int64_t n) { return integers[n]; }
  int64_t integer(int64_t n) const { return integers[n]; }
  /// Element `n` of either, as a bounded number. Exact up to 2^53.
  Bounded getNumber(int64_t n) const {
    return isBounded ? numbers[n] : Bounded(static_cast<double>(integers[n]));
  }
  /// Element `n` of integers, if it is known.
  std::optional<int64_t> getIndex(int64_t n) const;

  /// The position of an element.
  int64_t locate(ArrayRef<int64_t> index) const {
    return fusion::locate(shape, index);
  }

private:
  Type elementType;
  Shape shape;
  bool isBounded = true;
  std::vector<Bounded> numbers;
  std::vector<int64_t> integers;
};

} // namespace mlir::fusion

#endif // FUSION_REFERENCE_BOUNDEDTENSOR_H
