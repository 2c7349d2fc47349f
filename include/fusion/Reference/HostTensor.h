//===- HostTensor.h - Host tensors for the reference ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file brings the runtime's host tensor into the compiler's namespace and
// adds what the reference needs of it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_HOSTTENSOR_H
#define FUSION_REFERENCE_HOSTTENSOR_H

#include "fusion-rt/HostTensor.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::fusion {

using fusionpkg::DType;
using fusionrt::HostTensor;

/// A tensor of zeros. The size must be one that countBytes gives.
HostTensor createTensor(DType dtype, std::vector<int64_t> dims);

/// The number of bytes of a tensor, nullopt if an extent is negative or a host
/// tensor cannot be so large.
std::optional<int64_t> countBytes(DType dtype,
                                  const std::vector<int64_t> &dims);

inline bool isFloat(const HostTensor &tensor) {
  return fusionpkg::isFloat(tensor.getDType());
}

/// "f32[3,5]".
std::string getTypeString(const HostTensor &tensor);

} // namespace mlir::fusion

#endif // FUSION_REFERENCE_HOSTTENSOR_H
