//===- Elements.h - Element types and fills ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the element types of conformance buffers and how buffers
// are filled: the same bytes on every machine for the same seed.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_CONFORMANCE_ELEMENTS_H
#define FUSION_TOOLS_FUSION_CONFORMANCE_ELEMENTS_H

#include "fusion-rt/HostTensor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace conformance {

/// A number format: an integer, or a float of at most 64 bits.
struct Element {
  const char *name;
  uint8_t bytes;
  bool isSigned;
  uint8_t exponent, mantissa; ///< Bits of a float's fields; 0 for integers.
  bool hasInfinity;
  fusionrt::DType dtype;

  bool isFloat() const { return exponent != 0; }
};

/// The element of that name ("f32", "e4m3", "u8"), or null.
const Element *findElement(std::string_view name);

/// `x` in format `e`, rounded to nearest even.
uint64_t encodeElement(const Element &e, double x);
/// The value of a float; NaN for NaN.
double decodeElement(const Element &e, uint64_t bits);
bool isNaN(const Element &e, uint64_t bits);
/// Representable values between two floats that are no NaN.
uint64_t distance(const Element &e, uint64_t a, uint64_t b);

/// What a buffer holds before the launch.
struct Fill {
  enum class Kind : uint8_t {
    Poison,  ///< Nothing: uninitialised on the emulator.
    Bits,    ///< Edge cases, small values and random bits, mixed.
    Random,  ///< Random bits.
    Uniform, ///< Uniform in [low, high].
    Iota,    ///< low, low + high, low + 2 high, ...
    Constant ///< low everywhere.
  };
  Kind kind = Kind::Poison;
  double low = 0, high = 0;
};

/// The bytes of `count` elements. Poison gives a fixed pattern.
std::vector<uint8_t> makeFill(const Element &e, uint64_t count,
                              const Fill &fill, uint64_t seed);

/// A 64-bit hash (FNV-1a) that continues from `hash`.
constexpr uint64_t hashStart = 0xcbf29ce484222325;
uint64_t hashBytes(const void *bytes, size_t count, uint64_t hash = hashStart);

} // namespace conformance

#endif // FUSION_TOOLS_FUSION_CONFORMANCE_ELEMENTS_H
