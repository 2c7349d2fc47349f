//===- MatrixUtils.h - Matrices in tests ------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines matrices of bits, their values, and the way between a
// matrix and the registers of a warp's lanes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_EMULATOR_MATRIXUTILS_H
#define FUSION_TEST_UNITTESTS_EMULATOR_MATRIXUTILS_H

#include "Matrix/Matrix.h"
#include "TestUtils.h"

#include <cmath>

namespace fusionemu {

/// The fields of a floating-point type.
struct FloatFields {
  int exponent, mantissa;
};
inline FloatFields fieldsOf(MatrixType type) {
  switch (type) {
  case MatrixType::F16:
    return {5, 10};
  case MatrixType::BF16:
    return {8, 7};
  case MatrixType::E4M3:
    return {4, 3};
  case MatrixType::E5M2:
    return {5, 2};
  case MatrixType::F64:
    return {11, 52};
  default:
    return {8, 23};
  }
}

/// The value of an element that is finite.
inline double valueOf(MatrixType type, uint64_t bits) {
  switch (type) {
  case MatrixType::S8:
    return int8_t(bits);
  case MatrixType::U8:
    return uint8_t(bits);
  case MatrixType::S32:
    return int32_t(bits);
  case MatrixType::F64:
    return asDouble(bits);
  case MatrixType::TF32:
    return asFloat(bits & 0xffffe000);
  default:
    break;
  }
  FloatFields f = fieldsOf(type);
  uint64_t mantissa = bits & ((uint64_t(1) << f.mantissa) - 1);
  int field = int(bits >> f.mantissa) & ((1 << f.exponent) - 1);
  int bias = (1 << (f.exponent - 1)) - 1;
  double x = field == 0
                 ? std::ldexp(double(mantissa), 1 - bias - f.mantissa)
                 : std::ldexp(double(mantissa) + std::ldexp(1.0, f.mantissa),
                              field - bias - f.mantissa);
  return (bits >> (f.exponent + f.mantissa)) & 1 ? -x : x;
}

/// The bits of a number that the type represents.
inline uint64_t bitsOf(MatrixType type, double x) {
  if (!isFloat(type))
    return uint64_t(int64_t(x)) & ((uint64_t(1) << getBits(type)) - 1);
  if (type == MatrixType::F64)
    return bits(x);
  FloatFields f = fieldsOf(type);
  int bias = (1 << (f.exponent - 1)) - 1;
  uint64_t sign = uint64_t(std::signbit(x)) << (f.exponent + f.mantissa);
  if (x == 0)
    return sign;
  int scale = std::max(std::ilogb(x), 1 - bias);
  double fraction = std::ldexp(std::fabs(x), f.mantissa - scale);
  EXPECT_EQ(fraction, std::floor(fraction)) << x << " is not representable";
  uint64_t hidden = uint64_t(1) << f.mantissa;
  uint64_t magnitude = uint64_t(fraction);
  return sign | (magnitude < hidden ? magnitude
                                    : (uint64_t(scale + bias) << f.mantissa) +
                                          (magnitude - hidden));
}

struct Matrix {
  MatrixType type;
  unsigned rows, columns;
  std::vector<uint64_t> bits;
  Matrix(MatrixType type, unsigned rows, unsigned columns)
      : type(type), rows(rows), columns(columns), bits(rows * columns, 0) {}
  uint64_t &at(unsigned row, unsigned column) {
    return bits.at(row * columns + column);
  }
  double value(unsigned row, unsigned column) {
    return valueOf(type, at(row, column));
  }
  template <typename F>
  Matrix &fill(F f) {
    for (uint64_t &x : bits)
      x = f();
    return *this;
  }
  /// Integers from -limit to limit, or from 0 where there is no sign.
  Matrix &fillSmall(std::mt19937 &random, int limit) {
    bool isSigned = type != MatrixType::U8;
    return fill([&] {
      int x = int(random() % unsigned(limit * 2 + 1)) - limit;
      return bitsOf(type, isSigned ? x : std::abs(x));
    });
  }
};

/// Bytes of a register that holds elements of a type.
inline unsigned registerBytes(MatrixType type) {
  return type == MatrixType::F64 ? 8 : 4;
}

/// Moves a matrix into registers, as bytes by lane and register, or back.
/// `firstRow` is where the 16 rows of a warp start.
inline void moveFragment(Matrix &matrix, MatrixOperand operand, unsigned m,
                         unsigned firstRow, bool toRegisters,
                         uint8_t *registers) {
  unsigned bits = getBits(matrix.type);
  unsigned per = bits >= 32 ? 1 : 32 / bits, size = registerBytes(matrix.type);
  unsigned rows = firstRow + m <= matrix.rows && operand != MatrixOperand::B
                      ? m
                      : matrix.rows;
  unsigned count = countMatrixRegisters(matrix.type, rows, matrix.columns);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < count; ++r)
      for (unsigned e = 0; e < per; ++e) {
        MatrixPlace p = getMatrixPlace(operand, m, per, lane, r, e);
        uint64_t &x = matrix.at(firstRow + p.row, p.column);
        uint8_t *at = registers + (lane * count + r) * size + e * bits / 8;
        if (toRegisters)
          std::memcpy(at, &x, bits / 8);
        else
          std::memcpy(&(x = 0), at, bits / 8);
      }
}

} // namespace fusionemu

#endif // FUSION_TEST_UNITTESTS_EMULATOR_MATRIXUTILS_H
