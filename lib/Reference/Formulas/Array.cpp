//===- Array.cpp - Tensors in formulas ----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the vocabulary of formulas.
//
//===----------------------------------------------------------------------===//

#include "Array.h"

#include "fusion/Support/ElementType.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::formulas;

//===----------------------------------------------------------------------===//
// Array
//===----------------------------------------------------------------------===//

Array::Array(const BoundedTensor &tensor, const Arithmetic &arithmetic)
    : Array(tensor.getShape(), arithmetic) {
  for (int64_t n = 0; n < size(); ++n)
    numbers[n] = tensor.getNumber(n);
}

Array Array::reshape(ArrayRef<int64_t> newShape) const {
  Array result = *this;
  result.shape = Shape(newShape);
  return result;
}

Array Array::along(int64_t dim, int64_t rank) const {
  Shape placed(rank, 1);
  placed[dim] = size();
  return reshape(placed);
}

/// Sums of integers are whole: what is less than one is no error.
BoundedTensor Array::roundToIntegers(Type elementType) const {
  unsigned width = elementType.getIntOrFloatBitWidth();
  bool isDerived = llvm::any_of(
      numbers, [](const Bounded &number) { return !(number.error < 1); });
  BoundedTensor result(elementType, shape, isDerived);
  for (int64_t n = 0; n < size(); ++n) {
    auto whole = static_cast<int64_t>(numbers[n].value);
    if (!isDerived)
      result.integer(n) = llvm::SignExtend64(whole, width);
    else if (!llvm::isIntN(width, whole))
      result[n] = Bounded::unknown();
    else
      result[n] = Bounded(whole, std::floor(numbers[n].error));
  }
  return result;
}

BoundedTensor Array::round(Type elementType) const {
  if (!isa<FloatType>(elementType))
    return roundToIntegers(elementType);
  BoundedTensor result(elementType, shape);
  DType dtype = *getDType(elementType);
  for (int64_t n = 0; n < size(); ++n)
    result[n] =
        dtype == arithmetic->type ? numbers[n] : roundTo(numbers[n], dtype);
  return result;
}

//===----------------------------------------------------------------------===//
// Broadcasting and reductions
//===----------------------------------------------------------------------===//

Shape formulas::broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Shape shape(a);
  size_t outer = a.size() - b.size();
  for (size_t dim = 0; dim < b.size(); ++dim)
    if (shape[outer + dim] == 1)
      shape[outer + dim] = b[dim];
  return shape;
}

std::vector<int64_t> formulas::broadcastPositions(ArrayRef<int64_t> from,
                                                  ArrayRef<int64_t> shape) {
  Shape strides = getBroadcastStrides(from, shape);
  std::vector<int64_t> positions(countElements(shape));
  forEachIndex(shape, [&](int64_t n, ArrayRef<int64_t> index) {
    int64_t position = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      position += index[dim] * strides[dim];
    positions[n] = position;
  });
  return positions;
}

static Shape reduceShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  Shape reduced(shape);
  for (int64_t dim : dims)
    reduced[dim] = 1;
  return reduced;
}

Array formulas::sum(const Array &x, ArrayRef<int64_t> dims) {
  Array result(reduceShape(x.getShape(), dims), x.getArithmetic());
  auto positions = broadcastPositions(result.getShape(), x.getShape());
  std::vector<Sum> sums(result.size(), Sum(x.getArithmetic()));
  for (int64_t n = 0; n < x.size(); ++n)
    sums[positions[n]].add(x[n].get());
  for (int64_t n = 0; n < result.size(); ++n)
    result.set(n, sums[n].get());
  return result;
}

Array formulas::shiftOf(const Array &x, ArrayRef<int64_t> dims) {
  Array result(reduceShape(x.getShape(), dims), x.getArithmetic());
  auto positions = broadcastPositions(result.getShape(), x.getShape());
  for (int64_t n = 0; n < result.size(); ++n)
    result.set(n, -std::numeric_limits<double>::infinity());
  for (int64_t n = 0; n < x.size(); ++n) {
    double largest = result[positions[n]].get().value;
    double value = x[n].get().value;
    // A comparison with NaN is false, so that the first one stays.
    if (!(value <= largest) && !std::isnan(largest))
      result.set(positions[n], value);
  }
  return result;
}
