//===- Elements.cpp - Element types and fills -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements number formats and the contents of buffers. Nothing
// here depends on the host's library of random distributions.
//
//===----------------------------------------------------------------------===//

#include "Elements.h"

#include <cmath>
#include <cstring>

using namespace conformance;

using fusionrt::DType;

static const Element elements[] = {
    {"u8", 1, false, 0, 0, false, DType::I8},
    {"s8", 1, true, 0, 0, false, DType::I8},
    {"u16", 2, false, 0, 0, false, DType::I16},
    {"s16", 2, true, 0, 0, false, DType::I16},
    {"u32", 4, false, 0, 0, false, DType::I32},
    {"s32", 4, true, 0, 0, false, DType::I32},
    {"u64", 8, false, 0, 0, false, DType::I64},
    {"s64", 8, true, 0, 0, false, DType::I64},
    {"f16", 2, true, 5, 10, true, DType::F16},
    {"bf16", 2, true, 8, 7, true, DType::BF16},
    {"f32", 4, true, 8, 23, true, DType::F32},
    {"f64", 8, true, 11, 52, true, DType::F64},
    {"e4m3", 1, true, 4, 3, false, DType::F8E4M3},
    {"e5m2", 1, true, 5, 2, true, DType::F8E5M2},
};

const Element *conformance::findElement(std::string_view name) {
  for (const Element &e : elements)
    if (name == e.name)
      return &e;
  return nullptr;
}

static uint64_t mask(unsigned bits) {
  return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
}
static uint64_t signBit(const Element &e) {
  return uint64_t(1) << (e.bytes * 8 - 1);
}
/// The magnitude of infinity; where there is none, of NaN.
static uint64_t infinity(const Element &e) {
  return e.hasInfinity ? mask(e.exponent) << e.mantissa
                       : mask(e.exponent + e.mantissa);
}

uint64_t conformance::encodeElement(const Element &e, double x) {
  if (!e.isFloat()) {
    if (x >= 9223372036854775808.0)
      return uint64_t(x) & mask(e.bytes * 8);
    return uint64_t(int64_t(x)) & mask(e.bytes * 8);
  }
  return fusionrt::encodeFloat(e.dtype, x);
}

bool conformance::isNaN(const Element &e, uint64_t bits) {
  if (!e.isFloat())
    return false;
  uint64_t magnitude = bits & (signBit(e) - 1);
  return e.hasInfinity ? magnitude > infinity(e) : magnitude == infinity(e);
}

double conformance::decodeElement(const Element &e, uint64_t bits) {
  if (!e.isFloat()) {
    if (e.isSigned && (bits & signBit(e)))
      bits |= ~mask(e.bytes * 8);
    return e.isSigned ? double(int64_t(bits)) : double(bits);
  }
  return fusionrt::decodeFloat(e.dtype, bits);
}

uint64_t conformance::distance(const Element &e, uint64_t a, uint64_t b) {
  auto ordered = [&](uint64_t bits) {
    int64_t magnitude = int64_t(bits & (signBit(e) - 1));
    return bits & signBit(e) ? -magnitude : magnitude;
  };
  int64_t x = ordered(a), y = ordered(b);
  return x > y ? uint64_t(x) - uint64_t(y) : uint64_t(y) - uint64_t(x);
}

namespace {
/// SplitMix64: small, fast and the same everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [0, 1), all multiples of 2^-53.
  double unit() { return double(next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};
} // namespace

/// A value that arithmetic tends to get wrong.
static uint64_t pickEdge(const Element &e, Random &random) {
  uint64_t all = mask(e.bytes * 8), sign = signBit(e), r = random.next();
  if (!e.isFloat()) {
    switch (r % 12) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
      return all;
    case 3:
      return sign;
    case 4:
      return sign - 1;
    case 5:
      return sign + 1;
    case 6:
      return (r >> 8) % (e.bytes * 8 + 2);
    case 7:
      return all - (r >> 8) % 40;
    case 8:
      return (uint64_t(1) << ((r >> 8) % (e.bytes * 8))) & all;
    case 9:
      return (uint64_t(1) << ((r >> 8) % (e.bytes * 8))) - 1;
    case 10:
      return 0x5555555555555555 & all;
    default:
      return 0x8080808080808080 & all;
    }
  }
  uint64_t smallestNormal = uint64_t(1) << e.mantissa, magnitude = 0;
  uint64_t one = encodeElement(e, 1), inf = infinity(e);
  uint64_t some = r >> 16;
  switch (r % 16) {
  case 0:
    break;
  case 1:
    magnitude = 1;
    break;
  case 2:
    magnitude = smallestNormal - 1;
    break;
  case 3:
    magnitude = smallestNormal;
    break;
  case 4:
    magnitude = smallestNormal + some % smallestNormal;
    break;
  case 5:
    magnitude = some % smallestNormal; // A subnormal.
    break;
  case 6:
    magnitude = one;
    break;
  case 7:
    magnitude = one + 1;
    break;
  case 8:
    magnitude = one - 1;
    break;
  case 9:
    magnitude = inf - 1; // The largest number.
    break;
  case 10:
    magnitude = inf;
    break;
  case 11: // A quiet NaN.
    magnitude = inf | smallestNormal >> 1;
    break;
  case 12: // A signalling NaN with a payload.
    magnitude = inf | (some % (smallestNormal >> 1) | 1);
    break;
  case 13: // Halves and small integers, where roundings to integers tie.
    magnitude = encodeElement(e, double(some % 17) / 2);
    break;
  case 14: // Near the limits of the integer types.
    magnitude = encodeElement(e, std::ldexp(1.0, 7 + int(some % 58)) *
                                     (some & 64 ? 1 : 0.99));
    break;
  default:
    magnitude = encodeElement(e, std::ldexp(1.0, int(some % 40) - 20));
    break;
  }
  return (magnitude & (sign - 1)) | ((r >> 40) & 1 ? sign : 0);
}

static uint64_t pickMixed(const Element &e, Random &random) {
  uint64_t kind = random.next() % 10;
  if (kind < 4)
    return pickEdge(e, random);
  if (kind < 7)
    return random.next() & mask(e.bytes * 8);
  if (e.isFloat())
    return encodeElement(e, random.unit() * 16 - 8);
  return encodeElement(e, double(random.next() % 100)) & mask(e.bytes * 8);
}

std::vector<uint8_t> conformance::makeFill(const Element &e, uint64_t count,
                                           const Fill &fill, uint64_t seed) {
  std::vector<uint8_t> bytes(count * e.bytes, 0xa5);
  if (fill.kind == Fill::Kind::Poison)
    return bytes;
  Random random(seed);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t value = 0;
    switch (fill.kind) {
    case Fill::Kind::Poison:
      break;
    case Fill::Kind::Bits:
      value = pickMixed(e, random);
      break;
    case Fill::Kind::Random:
      value = random.next();
      break;
    case Fill::Kind::Uniform:
      value = e.isFloat()
                  ? encodeElement(e, fill.low +
                                         (fill.high - fill.low) * random.unit())
                  : encodeElement(e, fill.low +
                                         std::floor((fill.high - fill.low + 1) *
                                                    random.unit()));
      break;
    case Fill::Kind::Iota:
      value = encodeElement(e, fill.low + double(i) * fill.high);
      break;
    case Fill::Kind::Constant:
      value = encodeElement(e, fill.low);
      break;
    }
    std::memcpy(&bytes[i * e.bytes], &value, e.bytes);
  }
  return bytes;
}

uint64_t conformance::hashBytes(const void *bytes, size_t count,
                                uint64_t hash) {
  const auto *p = static_cast<const uint8_t *>(bytes);
  for (size_t i = 0; i < count; ++i)
    hash = (hash ^ p[i]) * 0x100000001b3;
  return hash;
}
