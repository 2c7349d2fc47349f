//===- HostTensor.h - A tensor in host memory -------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines a dense row-major tensor that owns its bytes, and the
// conversion of single elements to and from double.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_HOSTTENSOR_H
#define FUSION_REFERENCE_HOSTTENSOR_H

#include "fusion/Executable/PackageModel.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::fusion {

using fusionpkg::DType;

/// A dense, row-major tensor. An I4 tensor packs two elements a byte, the low
/// half first; an I1 element is a byte of value 0 or 1.
struct HostTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> data;

  /// The number of elements of `shape`, nullopt if it overflows 64 bits or an
  /// extent is negative.
  static std::optional<int64_t>
  countElements(const std::vector<int64_t> &shape);

  /// The number of bytes, nullopt on overflow.
  static std::optional<int64_t> countBytes(DType dtype,
                                           const std::vector<int64_t> &shape);

  /// A tensor of zeros. The size must not overflow.
  static HostTensor zeros(DType dtype, std::vector<int64_t> shape);

  /// Requires that `shape` does not overflow.
  int64_t getNumElements() const { return *countElements(shape); }

  bool isFloat() const { return fusionpkg::isFloat(dtype); }

  /// Element `index` of a tensor of floats or integers, as a double (integers
  /// beyond 2^53 are rounded).
  double getDouble(int64_t index) const;
  /// Rounds `value` to the type of the tensor, once, to nearest even; a finite
  /// value that is too large becomes infinity, or NaN where the type has none.
  void setDouble(int64_t index, double value);

  /// Element `index` of a tensor of integers, sign-extended; an I1 is 0 or 1,
  /// and another value of its byte is returned as it is.
  int64_t getInt(int64_t index) const;
  /// Keeps the low bits of `value`.
  void setInt(int64_t index, int64_t value);

  /// "f32[3,5]".
  std::string getTypeString() const;
};

/// Bits of a small float type: sign, exponent, mantissa.
struct SmallFloat {
  unsigned exponentBits, mantissaBits;
  /// E4M3 "fn": no infinity, and the all-ones code alone is NaN.
  bool finiteOnly;

  /// The value of the low bits of `bits`.
  double decode(uint32_t bits) const;
  /// Rounds once, to nearest even.
  uint32_t encode(double value) const;
};

/// The layout of F16, BF16, F8E4M3 or F8E5M2; nullopt for other types.
std::optional<SmallFloat> getSmallFloat(DType dtype);

} // namespace mlir::fusion

#endif // FUSION_REFERENCE_HOSTTENSOR_H
