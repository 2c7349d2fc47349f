//===- Payload.cpp - Literals of payload mode -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the integers that stand for floating-point literals.
//
//===----------------------------------------------------------------------===//

#include "Decode/Payload.h"

#include <cmath>
#include <cstring>

using namespace fusionemu;

uint64_t fusionemu::getPayload(double value, unsigned bytes) {
  unsigned bits = bytes * 8;
  uint64_t mask = bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  uint64_t highest = mask >> 1;
  if (!std::isnan(value) && value == std::trunc(value)) {
    double limit = std::ldexp(1.0, int(bits) - 1);
    if (value >= limit)
      return highest;
    if (value < -limit)
      return highest + 1;
    return uint64_t(int64_t(value)) & mask;
  }
  // All NaNs are one literal, whatever their bits. Compilers move signs from
  // operands to literals, so that -x is the negative of x here as well, and
  // conversions from literals to their users: 15 bits fit every width.
  uint64_t hash = 0x7ff8000000000000;
  double magnitude = std::fabs(value);
  if (!std::isnan(value))
    std::memcpy(&hash, &magnitude, sizeof(hash));
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
  hash >>= 49;
  return (value < 0 ? 0 - hash : hash) & mask;
}

Type fusionemu::getPayloadType(Type type) {
  switch (type) {
  case Type::F16:
  case Type::BF16:
    return Type::S16;
  case Type::F32:
    return Type::S32;
  case Type::F64:
    return Type::S64;
  default:
    return type;
  }
}
