//===- MatrixTile.h - Products of small matrices ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the arithmetic of mma.sync and wgmma on one warp's tile:
// the fused dot product of Matrix.h for many columns at a time. Like Lanes.h
// it is built once for each host instruction set.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_EXEC_MATRIXTILE_H
#define FUSION_LIB_RUNTIME_EMULATOR_EXEC_MATRIXTILE_H

#include "Exec/Numbers.h"
#include "Matrix/MatrixOps.h"

namespace fusionemu {
namespace FUSIONEMU_ISA {
namespace {

constexpr unsigned tileRows = 16, tileDepth = 32, tileColumns = 256;
/// Columns that one step of the inner loops covers.
constexpr unsigned tileStep = 8;

/// A tile as bits: D = A * B + D. Columns are a multiple of tileStep.
struct Tile {
  unsigned rows = tileRows, columns = 0, depth = 0;
  alignas(64) uint32_t a[tileRows][tileDepth];
  alignas(64) uint32_t b[tileDepth][tileColumns];
  alignas(64) uint32_t d[tileRows][tileColumns];
};

/// The elements of a tile as numbers with their exponents. Infinities and NaN
/// count as zeros here and are marked.
struct FloatTile {
  alignas(64) double a[tileRows][tileDepth];
  alignas(64) double b[tileDepth][tileColumns];
  alignas(64) int16_t exponentA[tileRows][tileDepth];
  alignas(64) int16_t exponentB[tileDepth][tileColumns];
  bool specialRow[tileRows];
  bool specialColumn[tileColumns];
  bool anySpecial;
};

/// Far below every exponent; two of them still fit 16 bits.
constexpr int16_t zeroExponent = -8000;

struct F16Element : Half {
  static uint32_t trim(uint32_t bits) { return bits; }
  static float widen(uint32_t bits) { return halfToFloat(uint16_t(bits)); }
};
struct BF16Element : BFloat {
  static uint32_t trim(uint32_t bits) { return bits; }
  static float widen(uint32_t bits) { return bitCast<float>(bits << 16); }
};
struct TF32Element {
  static constexpr unsigned mantissa = 10, exponent = 8;
  static uint32_t trim(uint32_t bits) { return bits >> 13; }
  static float widen(uint32_t bits) { return bitCast<float>(bits << 13); }
};
struct E5M2Element : E5M2Format {
  static uint32_t trim(uint32_t bits) { return bits; }
  static float widen(uint32_t bits) { return halfToFloat(uint16_t(bits << 8)); }
};
/// Its exponent lies 8 below that of the f16 with the same fields.
struct E4M3Element : E4M3Format {
  static uint32_t trim(uint32_t bits) { return bits; }
  static float widen(uint32_t bits) {
    return halfToFloat(uint16_t((bits & 0x80) << 8 | (bits & 0x7f) << 7)) *
           256.0f;
  }
};

/// Decodes `n` elements; true in `special` for what is infinite or NaN.
template <typename F>
inline void decodeElements(const uint32_t *bits, double *values,
                           int16_t *exponents, uint8_t *special, unsigned n) {
  constexpr int bias = (1 << (F::exponent - 1)) - 1;
  constexpr uint32_t top = (1u << F::exponent) - 1;
  constexpr uint32_t magnitudeMask = (1u << (F::exponent + F::mantissa)) - 1;
  // E4M3 spends only one pattern on NaN.
  constexpr bool isE4M3 = F::exponent == 4;
  constexpr uint32_t firstSpecial = isE4M3 ? magnitudeMask : top << F::mantissa;
  FUSIONEMU_LANES
  for (unsigned i = 0; i < n; ++i) {
    uint32_t x = F::trim(bits[i]);
    uint32_t magnitude = x & magnitudeMask;
    int field = int(magnitude >> F::mantissa);
    bool isSpecial = magnitude >= firstSpecial;
    int exponent = (field == 0 ? 1 : field) - bias;
    bool none = isSpecial | (magnitude == 0);
    exponents[i] = none ? zeroExponent : int16_t(exponent);
    values[i] = double(F::widen(isSpecial ? 0 : x));
    special[i] = isSpecial;
  }
}

template <typename F>
inline void decodeA(const Tile &t, FloatTile &f) {
  uint8_t special[tileDepth];
  for (unsigned i = 0; i < t.rows; ++i) {
    decodeElements<F>(t.a[i], f.a[i], f.exponentA[i], special, t.depth);
    bool any = false;
    for (unsigned k = 0; k < t.depth; ++k)
      any |= special[k] != 0;
    f.specialRow[i] = any;
    f.anySpecial |= any;
  }
}

template <typename F>
inline void decodeB(const Tile &t, FloatTile &f) {
  uint8_t special[tileColumns], any[tileColumns] = {};
  for (unsigned k = 0; k < t.depth; ++k) {
    decodeElements<F>(t.b[k], f.b[k], f.exponentB[k], special, t.columns);
    for (unsigned j = 0; j < t.columns; ++j)
      any[j] |= special[j];
  }
  for (unsigned j = 0; j < t.columns; ++j) {
    f.specialColumn[j] = any[j] != 0;
    f.anySpecial |= f.specialColumn[j];
  }
}

/// `v` as f32, cut off, below bit `dropped` of the fraction. What becomes zero
/// loses its sign.
inline uint32_t truncateToFloat(double v, uint32_t keep) {
  float nearest = float(v);
  double magnitude = __builtin_fabs(v);
  bool tooFar =
      (__builtin_fabs(double(nearest)) > magnitude) & (magnitude < 0x1p128);
  uint32_t bits = (bitCast<uint32_t>(nearest) - uint32_t(tooFar)) & keep;
  return (bits & 0x7fffffff) == 0 ? 0 : bits;
}

inline uint32_t roundToHalf(double v) {
  uint32_t bits = encode<Half>(v, Round::Nearest, false);
  return bits == 0x8000 ? 0 : bits;
}

typedef double Double4 __attribute__((vector_size(32)));
typedef int32_t Int4 __attribute__((vector_size(16)));
typedef int16_t Short8 __attribute__((vector_size(16)));

/// One block of one row for tileStep columns from `j`: adds `count` products
/// to the accumulators in `bits`. `half` when those are f16.
template <bool half>
inline void fuseStep(const FloatTile &f, unsigned i, unsigned j,
                     const uint8_t *depths, unsigned count,
                     const DotModel &model, uint32_t *bits) {
  double c[tileStep], scale[tileStep], back[tileStep], total[tileStep];
  int16_t exponents[tileStep];
  for (unsigned n = 0; n < tileStep; ++n) {
    uint32_t x = bits[n];
    uint32_t magnitude = half ? x & 0x7fff : x & 0x7fffffff;
    int field = int(magnitude >> (half ? 10 : 23));
    bool isSpecial = field == (half ? 31 : 255);
    int exponent = (field == 0 ? 1 : field) - (half ? 15 : 127);
    bool none = isSpecial | (magnitude == 0);
    exponents[n] = none ? int16_t(leastDotExponent) : int16_t(exponent);
    x = isSpecial ? 0 : x;
    c[n] = half ? double(halfToFloat(uint16_t(x))) : double(bitCast<float>(x));
  }
  Short8 greatest;
  __builtin_memcpy(&greatest, exponents, sizeof(greatest));
  for (unsigned q = 0; q < count; ++q) {
    unsigned k = depths[q];
    Short8 e;
    __builtin_memcpy(&e, &f.exponentB[k][j], sizeof(e));
    e += f.exponentA[i][k];
    greatest = e > greatest ? e : greatest;
  }
  __builtin_memcpy(exponents, &greatest, sizeof(greatest));
  for (unsigned n = 0; n < tileStep; ++n) {
    int64_t shift = int64_t(model.fractionBits) - exponents[n];
    scale[n] = bitCast<double>((1023 + shift) << 52);
    back[n] = bitCast<double>((1023 - shift) << 52);
    // A conversion to an integer cuts off.
    total[n] = double(int32_t(c[n] * scale[n]));
  }
  Double4 scale0, scale1, total0, total1;
  __builtin_memcpy(&scale0, scale, sizeof(scale0));
  __builtin_memcpy(&scale1, scale + 4, sizeof(scale1));
  __builtin_memcpy(&total0, total, sizeof(total0));
  __builtin_memcpy(&total1, total + 4, sizeof(total1));
  for (unsigned q = 0; q < count;) {
    // A product is below 4 * 2^25, so that eight of them fit 32 bits.
    unsigned end = q + 8 < count ? q + 8 : count;
    Int4 sum0 = {0, 0, 0, 0}, sum1 = {0, 0, 0, 0};
    for (; q < end; ++q) {
      unsigned k = depths[q];
      Double4 b0, b1;
      __builtin_memcpy(&b0, &f.b[k][j], sizeof(b0));
      __builtin_memcpy(&b1, &f.b[k][j + 4], sizeof(b1));
      double a = f.a[i][k];
      sum0 += __builtin_convertvector(b0 * a * scale0, Int4);
      sum1 += __builtin_convertvector(b1 * a * scale1, Int4);
    }
    total0 += __builtin_convertvector(sum0, Double4);
    total1 += __builtin_convertvector(sum1, Double4);
  }
  __builtin_memcpy(total, &total0, sizeof(total0));
  __builtin_memcpy(total + 4, &total1, sizeof(total1));
  if (half) {
    for (unsigned n = 0; n < tileStep; ++n)
      bits[n] = roundToHalf(total[n] * back[n]);
    return;
  }
  uint32_t keep =
      model.rounding == DotRounding::TowardZero13 ? ~uint32_t(0x3ff) : ~0u;
  for (unsigned n = 0; n < tileStep; ++n)
    bits[n] = truncateToFloat(total[n] * back[n], keep);
}

/// True when an accumulator is infinite or NaN.
template <bool half>
inline bool isSpecial(uint32_t bits) {
  return half ? (bits & 0x7c00) == 0x7c00 : (bits & 0x7f800000) == 0x7f800000;
}

/// Does the columns of a step again whose block contains an infinity or NaN.
template <bool half>
inline void redoSpecial(const Tile &t, const FloatTile &f, const MatrixOp &op,
                        unsigned i, unsigned j, const uint8_t *depths,
                        unsigned count, const uint32_t *before,
                        uint32_t *after) {
  for (unsigned n = 0; n < tileStep; ++n) {
    if (!f.specialRow[i] && !f.specialColumn[j + n] &&
        !isSpecial<half>(before[n]))
      continue;
    uint32_t a[tileDepth], b[tileDepth];
    for (unsigned q = 0; q < count; ++q) {
      a[q] = t.a[i][depths[q]];
      b[q] = t.b[depths[q]][j + n];
    }
    after[n] = fuseDot(op.model, op.a, op.b, op.d, a, b, count, before[n]);
  }
}

/// The ordinary addition that ends an instruction with DotModel::widens.
template <bool half>
inline uint32_t addLast(uint32_t a, uint32_t b) {
  if (half)
    return encode<Half>(double(halfToFloat(uint16_t(a))) +
                            double(halfToFloat(uint16_t(b))),
                        Round::Nearest, false);
  return bitCast<uint32_t>(canonical(bitCast<float>(a) + bitCast<float>(b)));
}

template <bool half>
inline void multiplyFloats(Tile &t, const MatrixOp &op) {
  FloatTile f;
  f.anySpecial = false;
  switch (op.a) {
  case MatrixType::F16:
    decodeA<F16Element>(t, f);
    break;
  case MatrixType::BF16:
    decodeA<BF16Element>(t, f);
    break;
  case MatrixType::TF32:
    decodeA<TF32Element>(t, f);
    break;
  case MatrixType::E4M3:
    decodeA<E4M3Element>(t, f);
    break;
  default:
    decodeA<E5M2Element>(t, f);
    break;
  }
  switch (op.b) {
  case MatrixType::F16:
    decodeB<F16Element>(t, f);
    break;
  case MatrixType::BF16:
    decodeB<BF16Element>(t, f);
    break;
  case MatrixType::TF32:
    decodeB<TF32Element>(t, f);
    break;
  case MatrixType::E4M3:
    decodeB<E4M3Element>(t, f);
    break;
  default:
    decodeB<E5M2Element>(t, f);
    break;
  }
  const DotModel &model = op.model;
  unsigned length = model.blockLength, blocks = t.depth / length;
  uint8_t depths[tileDepth];
  for (unsigned block = 0; block < blocks; ++block)
    for (unsigned q = 0; q < length; ++q)
      depths[block * length + q] = uint8_t(getDotIndex(model, block, q));
  for (unsigned i = 0; i < t.rows; ++i)
    for (unsigned j = 0; j < t.columns; j += tileStep) {
      uint32_t *d = &t.d[i][j];
      uint32_t accumulator[tileStep], before[tileStep];
      for (unsigned n = 0; n < tileStep; ++n)
        accumulator[n] = model.widens ? 0 : d[n];
      for (unsigned block = 0; block < blocks; ++block) {
        bool redo = f.anySpecial;
        for (unsigned n = 0; n < tileStep; ++n) {
          before[n] = accumulator[n];
          redo |= isSpecial<half>(before[n]);
        }
        const uint8_t *first = depths + block * length;
        fuseStep<half>(f, i, j, first, length, model, accumulator);
        if (redo)
          redoSpecial<half>(t, f, op, i, j, first, length, before, accumulator);
      }
      for (unsigned n = 0; n < tileStep; ++n)
        d[n] =
            model.widens ? addLast<half>(d[n], accumulator[n]) : accumulator[n];
    }
}

/// An element of `bits` bits as an integer.
inline uint32_t extend(uint32_t value, unsigned bits, bool isSigned) {
  unsigned shift = 32 - bits;
  return isSigned ? uint32_t(int32_t(value << shift) >> shift)
                  : value << shift >> shift;
}

/// Integers, and floats in payload mode.
inline void multiplyIntegers(Tile &t, const MatrixOp &op) {
  bool signedA = op.payload || op.a == MatrixType::S8;
  bool signedB = op.payload || op.b == MatrixType::S8;
  unsigned bitsA = getBits(op.a), bitsB = getBits(op.b);
  for (unsigned i = 0; i < t.rows; ++i)
    for (unsigned k = 0; k < t.depth; ++k) {
      uint32_t x = extend(t.a[i][k], bitsA, signedA);
      t.a[i][k] = op.negate ? 0 - x : x;
    }
  for (unsigned k = 0; k < t.depth; ++k) {
    FUSIONEMU_LANES
    for (unsigned j = 0; j < t.columns; ++j)
      t.b[k][j] = extend(t.b[k][j], bitsB, signedB);
  }
  uint32_t mask = op.d == MatrixType::F16 ? 0xffff : ~0u;
  for (unsigned i = 0; i < t.rows; ++i)
    for (unsigned j = 0; j < t.columns; j += tileStep) {
      uint32_t sum[tileStep] = {};
      for (unsigned k = 0; k < t.depth; ++k) {
        uint32_t a = t.a[i][k];
        FUSIONEMU_LANES
        for (unsigned n = 0; n < tileStep; ++n)
          sum[n] += a * t.b[k][j + n];
      }
      uint32_t *d = &t.d[i][j];
      if (!op.saturate) {
        for (unsigned n = 0; n < tileStep; ++n)
          d[n] = (d[n] + sum[n]) & mask;
        continue;
      }
      // Products of 8 bits cannot overflow before the accumulator is added.
      for (unsigned n = 0; n < tileStep; ++n) {
        int64_t x = int64_t(int32_t(d[n])) + int32_t(sum[n]);
        x = x > 0x7fffffff ? 0x7fffffff : x;
        d[n] = uint32_t(x < -int64_t(0x80000000) ? -int64_t(0x80000000) : x);
      }
    }
}

/// D = A * B + D by the rules of `op`. A and B are left as anything.
inline void multiplyTile(Tile &t, const MatrixOp &op) {
  if (op.payload || !isFloat(op.a)) {
    multiplyIntegers(t, op);
    return;
  }
  if (op.negate) {
    uint32_t sign = 1u << (getBits(op.a) - 1);
    for (unsigned i = 0; i < t.rows; ++i)
      for (unsigned k = 0; k < t.depth; ++k)
        t.a[i][k] ^= sign;
  }
  if (op.d == MatrixType::F16)
    multiplyFloats<true>(t, op);
  else
    multiplyFloats<false>(t, op);
}

/// Takes the elements of one lane's registers apart or puts them together.
/// f(row, column, bits) is called for each element, and may change the bits
/// when `writes`.
template <bool writes, typename F>
inline void forFragment(uint8_t *regs, const int32_t *slots, unsigned count,
                        MatrixOperand operand, unsigned m, MatrixType type,
                        F f) {
  unsigned bits = getBits(type), per = bits >= 32 ? 1 : 32 / bits;
  uint32_t mask = bits >= 32 ? ~0u : (1u << bits) - 1;
  for (unsigned r = 0; r < count; ++r) {
    auto *lanes = reinterpret_cast<uint32_t *>(regs + slots[r]);
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      uint32_t value = lanes[lane], result = 0;
      for (unsigned e = 0; e < per; ++e) {
        MatrixPlace place = getMatrixPlace(operand, m, per, lane, r, e);
        uint32_t x = (value >> (e * bits)) & mask;
        f(place.row, place.column, x);
        if (writes)
          result |= (x & mask) << (e * bits);
      }
      if (writes)
        lanes[lane] = result;
    }
  }
}

} // namespace
} // namespace FUSIONEMU_ISA
} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_EXEC_MATRIXTILE_H
