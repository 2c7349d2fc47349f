//===- HostTensor.cpp - Tensors in host memory ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the number formats of tensors in host memory.
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/HostTensor.h"

#include "fusion/Executable/Package.h"

#include "Emulator/SmallFloat.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace fusionrt {

using namespace fusionpkg;

/// Rounds once, from the double itself: a detour over f32 would round twice.
template <typename Format>
static uint64_t encodeSmall(double value) {
  if (!std::isnan(value))
    return fusionemu::encode<Format>(value, fusionemu::Round::Nearest,
                                     /*satfinite=*/false);
  // Quiet and with its sign, where instructions have one NaN.
  uint32_t sign = std::signbit(value) ? 1 : 0;
  uint32_t quiet = Format::infinity | 1u << (Format::mantissa - 1);
  return sign << (Format::exponent + Format::mantissa) | quiet;
}

double decodeFloat(DType dtype, uint64_t bits) {
  if (dtype == DType::F64) {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  if (dtype == DType::F32) {
    auto low = static_cast<uint32_t>(bits);
    float value;
    std::memcpy(&value, &low, sizeof(value));
    return value;
  }
  switch (dtype) {
  case DType::F16:
    return fusionemu::halfToFloat(static_cast<uint16_t>(bits));
  case DType::BF16:
    return fusionemu::bfloatToFloat(static_cast<uint16_t>(bits));
  case DType::F8E4M3:
    return fusionemu::decodeSmall<fusionemu::E4M3Format>(
        static_cast<uint8_t>(bits));
  default:
    assert(dtype == DType::F8E5M2 && "not a float");
    return fusionemu::decodeSmall<fusionemu::E5M2Format>(
        static_cast<uint8_t>(bits));
  }
}

uint64_t encodeFloat(DType dtype, double value) {
  if (dtype == DType::F64) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }
  if (dtype == DType::F32) {
    // A conversion that overflows is undefined in C++ unless the format has
    // infinities, which IEEE 754 floats have.
    static_assert(std::numeric_limits<float>::is_iec559);
    auto narrow = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof(bits));
    return bits;
  }
  switch (dtype) {
  case DType::F16:
    return encodeSmall<fusionemu::Half>(value);
  case DType::BF16:
    return encodeSmall<fusionemu::BFloat>(value);
  case DType::F8E4M3:
    return encodeSmall<fusionemu::E4M3Format>(value);
  default:
    assert(dtype == DType::F8E5M2 && "not a float");
    return encodeSmall<fusionemu::E5M2Format>(value);
  }
}

Result<HostTensor> HostTensor::create(DType dtype, std::vector<int64_t> dims,
                                      uint64_t maxBytes) {
  std::optional<int64_t> elements = 1;
  bool isEmpty = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      return Error(ErrorCode::ShapeMismatch,
                   "a tensor has a dimension of " + std::to_string(dim));
    isEmpty |= dim == 0;
    if (elements)
      elements = applyExprOp(ExprOp::Mul, *elements, dim);
  }
  if (isEmpty)
    elements = 0;
  std::optional<int64_t> size;
  if (elements)
    size = getStorageBytes(dtype, *elements);
  if (!size || static_cast<uint64_t>(*size) > maxBytes)
    return Error(ErrorCode::SizeOverflow, "a tensor takes more than " +
                                              std::to_string(maxBytes) +
                                              " bytes of host memory");
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  tensor.numElements = *elements;
  tensor.bytes.assign(static_cast<size_t>(*size), 0);
  return tensor;
}

uint64_t HostTensor::getBits(int64_t index) const {
  assert(index >= 0 && index < numElements && "index out of range");
  if (dtype == DType::I4)
    return bytes[index / 2] >> (index % 2 * 4) & 0xf;
  unsigned width = getStorageBits(dtype) / 8;
  uint64_t bits = 0; // little-endian
  std::memcpy(&bits, bytes.data() + index * width, width);
  return bits;
}

void HostTensor::setBits(int64_t index, uint64_t bits) {
  assert(index >= 0 && index < numElements && "index out of range");
  if (dtype == DType::I4) {
    unsigned shift = index % 2 * 4;
    uint8_t &byte = bytes[index / 2];
    byte =
        static_cast<uint8_t>((byte & ~(0xfu << shift)) | (bits & 0xf) << shift);
    return;
  }
  unsigned width = getStorageBits(dtype) / 8;
  std::memcpy(bytes.data() + index * width, &bits, width);
}

int64_t HostTensor::getInteger(int64_t index) const {
  if (isFloat(dtype))
    return static_cast<int64_t>(getDouble(index));
  uint64_t bits = getBits(index);
  if (dtype == DType::I1)
    return bits != 0;
  unsigned unused = 64 - (dtype == DType::I4 ? 4 : getStorageBits(dtype));
  return static_cast<int64_t>(bits << unused) >> unused;
}

void HostTensor::setInteger(int64_t index, int64_t value) {
  if (isFloat(dtype))
    setDouble(index, static_cast<double>(value));
  else if (dtype == DType::I1)
    setBits(index, value != 0);
  else
    setBits(index, static_cast<uint64_t>(value));
}

double HostTensor::getDouble(int64_t index) const {
  if (isFloat(dtype))
    return decodeFloat(dtype, getBits(index));
  return static_cast<double>(getInteger(index));
}

void HostTensor::setDouble(int64_t index, double value) {
  if (isFloat(dtype)) {
    setBits(index, encodeFloat(dtype, value));
    return;
  }
  if (dtype == DType::I1) {
    setBits(index, value != 0);
    return;
  }
  unsigned width = dtype == DType::I4 ? 4 : getStorageBits(dtype);
  double limit = std::ldexp(1.0, static_cast<int>(width) - 1);
  int64_t integer;
  if (std::isnan(value))
    integer = 0;
  else if (value >= limit)
    integer = static_cast<int64_t>((uint64_t(1) << (width - 1)) - 1);
  else if (value <= -limit)
    integer = -static_cast<int64_t>((uint64_t(1) << (width - 1)) - 1) - 1;
  else
    integer = static_cast<int64_t>(value);
  setInteger(index, integer);
}

} // namespace fusionrt
