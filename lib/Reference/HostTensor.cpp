//===- HostTensor.cpp - Host tensors for the reference --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what the reference needs of host tensors.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/HostTensor.h"

#include "fusion/Executable/Package.h"

using namespace mlir::fusion;

/// The limit of HostTensor::create.
static constexpr int64_t kMaxBytes = int64_t(1) << 40;

HostTensor mlir::fusion::createTensor(DType dtype, std::vector<int64_t> dims) {
  auto tensor = HostTensor::create(dtype, std::move(dims), kMaxBytes);
  assert(tensor && "the size must have been checked");
  return std::move(*tensor);
}

std::optional<int64_t>
mlir::fusion::countBytes(DType dtype, const std::vector<int64_t> &dims) {
  int64_t count = 1;
  bool isEmpty = false, overflows = false;
  for (int64_t extent : dims) {
    if (extent < 0)
      return std::nullopt;
    isEmpty |= extent == 0;
    overflows |= __builtin_mul_overflow(count, extent, &count);
  }
  if (isEmpty)
    return 0;
  if (overflows)
    return std::nullopt;
  std::optional<int64_t> bytes = fusionpkg::getStorageBytes(dtype, count);
  if (!bytes || *bytes > kMaxBytes)
    return std::nullopt;
  return bytes;
}

std::string mlir::fusion::getTypeString(const HostTensor &tensor) {
  std::string text = fusionpkg::getDTypeName(tensor.getDType());
  text += "[";
  for (size_t i = 0; i < tensor.getDims().size(); ++i)
    text += (i ? "," : "") + std::to_string(tensor.getDims()[i]);
  return text + "]";
}
