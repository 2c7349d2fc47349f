//===- BoundedTensor.cpp - Tensors of bounded numbers -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements dense tensors of bounded numbers.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/BoundedTensor.h"

using namespace mlir;
using namespace mlir::fusion;

int64_t fusion::countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Shape fusion::getStrides(ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

Shape fusion::getBroadcastStrides(ArrayRef<int64_t> from,
                                  ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 0), own = getStrides(from);
  size_t outer = shape.size() - from.size();
  for (size_t dim = 0; dim < from.size(); ++dim)
    if (from[dim] != 1)
      strides[outer + dim] = own[dim];
  return strides;
}

int64_t fusion::locate(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  int64_t position = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    position = position * shape[dim] + index[dim];
  return position;
}

//===----------------------------------------------------------------------===//
// BoundedTensor
//===----------------------------------------------------------------------===//

BoundedTensor::BoundedTensor(Type elementType, ArrayRef<int64_t> shape,
                             bool isDerived)
    : elementType(elementType), shape(shape),
      isBounded(isa<FloatType>(elementType) || isDerived) {
  if (isBounded)
    numbers.resize(countElements(shape));
  else
    integers.resize(countElements(shape));
}

std::optional<int64_t> BoundedTensor::getIndex(int64_t n) const {
  if (!isBounded)
    return integers[n];
  if (!numbers[n].isExact())
    return std::nullopt;
  return static_cast<int64_t>(numbers[n].value);
}
