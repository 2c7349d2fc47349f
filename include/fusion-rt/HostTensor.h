//===- HostTensor.h - Tensors in host memory ----------------- -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines a tensor in host memory in the runtime's own storage
// format, with access to its elements as numbers.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RT_HOSTTENSOR_H
#define FUSION_RT_HOSTTENSOR_H

#include "fusion/Executable/Error.h"
#include "fusion/Executable/PackageModel.h"

#include <cstdint>
#include <vector>

namespace fusionrt {

using fusionpkg::DType;

/// Contiguous, row-major; elements as the device has them (I4 two to a byte,
/// I1 one byte each).
class HostTensor {
public:
  HostTensor() = default;

  /// A tensor of zeros; an error when a dimension is negative or the size is
  /// beyond `maxBytes`.
  static fusionpkg::Result<HostTensor>
  create(DType dtype, std::vector<int64_t> dims,
         uint64_t maxBytes = uint64_t(1) << 40);

  DType getDType() const { return dtype; }
  const std::vector<int64_t> &getDims() const { return dims; }
  int64_t getNumElements() const { return numElements; }

  uint8_t *data() { return bytes.data(); }
  const uint8_t *data() const { return bytes.data(); }
  uint64_t getNumBytes() const { return bytes.size(); }

  /// The element at a linear index, exactly, except for I64 beyond 2^53.
  double getDouble(int64_t index) const;
  /// Stores a number: floats round to the nearest, ties to even, with what is
  /// too large becoming infinite (NaN for F8E4M3); integers truncate towards
  /// zero and saturate, NaN becomes 0; I1 stores whether it is not 0.
  void setDouble(int64_t index, double value);
  /// The same for integers; exact for all integer types. setInteger keeps the
  /// low bits.
  int64_t getInteger(int64_t index) const;
  void setInteger(int64_t index, int64_t value);

private:
  /// The element's bits in the low end.
  uint64_t getBits(int64_t index) const;
  void setBits(int64_t index, uint64_t bits);

  DType dtype = DType::F32;
  std::vector<int64_t> dims;
  int64_t numElements = 0;
  std::vector<uint8_t> bytes;
};

/// Bits of a float type to a number and back, as getDouble and setDouble do.
double decodeFloat(DType dtype, uint64_t bits);
uint64_t encodeFloat(DType dtype, double value);

} // namespace fusionrt

#endif // FUSION_RT_HOSTTENSOR_H
