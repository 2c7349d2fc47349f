//===- HostTensor.cpp - A tensor in host memory ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the host tensor and its element conversions.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/HostTensor.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir::fusion;

std::optional<int64_t>
HostTensor::countElements(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  bool isEmpty = false, overflows = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    isEmpty |= extent == 0;
    overflows |= __builtin_mul_overflow(count, extent, &count);
  }
  if (isEmpty)
    return 0;
  if (overflows)
    return std::nullopt;
  return count;
}

std::optional<int64_t>
HostTensor::countBytes(DType dtype, const std::vector<int64_t> &shape) {
  std::optional<int64_t> count = countElements(shape);
  if (!count)
    return std::nullopt;
  if (dtype == DType::I4)
    return *count / 2 + *count % 2;
  int64_t bytes;
  if (__builtin_mul_overflow(*count, fusionpkg::getStorageBits(dtype) / 8,
                             &bytes))
    return std::nullopt;
  return bytes;
}

HostTensor HostTensor::zeros(DType dtype, std::vector<int64_t> shape) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.data.resize(*countBytes(dtype, shape));
  tensor.shape = std::move(shape);
  return tensor;
}

template <typename T>
static T load(const std::vector<uint8_t> &data, int64_t index) {
  T value;
  std::memcpy(&value, data.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
static void store(std::vector<uint8_t> &data, int64_t index, T value) {
  std::memcpy(data.data() + index * sizeof(T), &value, sizeof(T));
}

double HostTensor::getDouble(int64_t index) const {
  switch (dtype) {
  case DType::F64:
    return load<double>(data, index);
  case DType::F32:
    return load<float>(data, index);
  case DType::F16:
  case DType::BF16:
    return getSmallFloat(dtype)->decode(load<uint16_t>(data, index));
  case DType::F8E4M3:
  case DType::F8E5M2:
    return getSmallFloat(dtype)->decode(data[index]);
  default:
    return static_cast<double>(getInt(index));
  }
}

void HostTensor::setDouble(int64_t index, double value) {
  switch (dtype) {
  case DType::F64:
    return store(data, index, value);
  case DType::F32:
    return store(data, index, static_cast<float>(value));
  case DType::F16:
  case DType::BF16:
    return store(data, index,
                 static_cast<uint16_t>(getSmallFloat(dtype)->encode(value)));
  case DType::F8E4M3:
  case DType::F8E5M2:
    return store(data, index,
                 static_cast<uint8_t>(getSmallFloat(dtype)->encode(value)));
  default:
    return setInt(index, std::llrint(value));
  }
}

int64_t HostTensor::getInt(int64_t index) const {
  switch (dtype) {
  case DType::I64:
    return load<int64_t>(data, index);
  case DType::I32:
    return load<int32_t>(data, index);
  case DType::I16:
    return load<int16_t>(data, index);
  case DType::I8:
    return load<int8_t>(data, index);
  case DType::I4: {
    unsigned half = data[index / 2] >> (index % 2 * 4) & 15;
    return static_cast<int64_t>(half ^ 8) - 8;
  }
  case DType::I1:
    return data[index];
  default:
    return static_cast<int64_t>(getDouble(index));
  }
}

void HostTensor::setInt(int64_t index, int64_t value) {
  switch (dtype) {
  case DType::I64:
    return store(data, index, value);
  case DType::I32:
    return store(data, index, static_cast<int32_t>(value));
  case DType::I16:
    return store(data, index, static_cast<int16_t>(value));
  case DType::I8:
    return store(data, index, static_cast<int8_t>(value));
  case DType::I4: {
    unsigned shift = index % 2 * 4;
    uint8_t &byte = data[index / 2];
    byte = static_cast<uint8_t>((byte & ~(15u << shift)) |
                                (static_cast<unsigned>(value & 15) << shift));
    return;
  }
  case DType::I1:
    return store(data, index, static_cast<uint8_t>(value & 1));
  default:
    return setDouble(index, static_cast<double>(value));
  }
}

std::string HostTensor::getTypeString() const {
  std::string text = fusionpkg::getDTypeName(dtype);
  text += "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

double SmallFloat::decode(uint32_t bits) const {
  uint32_t mantissa = bits & ((1u << mantissaBits) - 1);
  uint32_t exponent = bits >> mantissaBits & ((1u << exponentBits) - 1);
  bool negative = bits >> (mantissaBits + exponentBits) & 1;
  uint32_t topExponent = (1u << exponentBits) - 1;
  int bias = (1 << (exponentBits - 1)) - 1;
  double value;
  if (finiteOnly && exponent == topExponent &&
      mantissa == (1u << mantissaBits) - 1)
    value = std::numeric_limits<double>::quiet_NaN();
  else if (!finiteOnly && exponent == topExponent)
    value = mantissa ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - bias - static_cast<int>(mantissaBits));
  else
    value = std::ldexp(mantissa | 1u << mantissaBits,
                       static_cast<int>(exponent) - bias -
                           static_cast<int>(mantissaBits));
  return negative ? -value : value;
}

uint32_t SmallFloat::encode(double value) const {
  uint32_t topExponent = (1u << exponentBits) - 1;
  uint32_t ones = (1u << mantissaBits) - 1;
  int bias = (1 << (exponentBits - 1)) - 1;
  uint32_t sign = std::signbit(value) ? 1u << (mantissaBits + exponentBits) : 0;
  uint32_t nan = topExponent << mantissaBits |
                 (finiteOnly ? ones : 1u << (mantissaBits - 1));
  uint32_t overflow = sign | (finiteOnly ? nan : topExponent << mantissaBits);
  if (std::isnan(value))
    return nan;
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return overflow;
  if (magnitude == 0)
    return sign;

  // One unit in the last place of the result is 2^(exponent - mantissaBits);
  // below the least normal number it stays that of the least normal number.
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  double units = std::nearbyint(std::ldexp(magnitude, mantissaBits - exponent));
  // Rounding up to the next power of two keeps the value: 2 * 2^e = 2^(e + 1).
  uint64_t code = static_cast<uint64_t>(units);
  uint64_t biased = static_cast<uint64_t>(exponent + bias - 1) << mantissaBits;
  code += biased;
  uint64_t largest = finiteOnly
                         ? (uint64_t(topExponent) << mantissaBits | (ones - 1))
                         : (uint64_t(topExponent) << mantissaBits) - 1;
  return code > largest ? overflow : sign | static_cast<uint32_t>(code);
}

std::optional<SmallFloat> mlir::fusion::getSmallFloat(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return SmallFloat{5, 10, false};
  case DType::BF16:
    return SmallFloat{8, 7, false};
  case DType::F8E4M3:
    return SmallFloat{4, 3, true};
  case DType::F8E5M2:
    return SmallFloat{5, 2, false};
  default:
    return std::nullopt;
  }
}
