//===- Quantization.cpp - Formulas of quantisation ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file writes the ops of FusionQuantizationOps.td as formulas.
//
//===----------------------------------------------------------------------===//

#include "FormulaRegistry.h"

#include "fusion/Support/ElementType.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::formulas;

namespace {

/// The integers of a format, of which `perByte` share one i8.
struct IntegerFormat {
  double low, high;
  int64_t perByte;
};

/// Which scale and zero point belong to an element.
struct Parameters {
  const BoundedTensor &scale;
  const BoundedTensor *zeroPoint;
  std::optional<int64_t> axis, groupSize;

  int64_t locate(ArrayRef<int64_t> index) const {
    if (scale.getRank() == 0)
      return 0;
    if (!groupSize)
      return index[*axis];
    Shape group(index);
    group[*axis] /= *groupSize;
    return scale.locate(group);
  }
  Bounded getZeroPoint(int64_t at) const {
    return zeroPoint ? zeroPoint->getNumber(at) : Bounded(0);
  }
};

} // namespace

static IntegerFormat getIntegers(QuantFormat format) {
  switch (format) {
  case QuantFormat::UInt8:
    return {0, 255, 1};
  case QuantFormat::Int4:
    return {-8, 7, 2};
  case QuantFormat::UInt4:
    return {0, 15, 2};
  default:
    return {-128, 127, 1};
  }
}

template <typename OpTy>
static Parameters getParameters(OpTy op, const Operands &in) {
  return {in.get(op.getScale()),
          op.getZeroPoint() ? &in.get(op.getZeroPoint()) : nullptr,
          op.getAxis(), op.getGroupSize()};
}

//===----------------------------------------------------------------------===//
// Quantisation
//===----------------------------------------------------------------------===//

/// `clamp(round(x / scale) + zero_point, lo, hi)`; NaN gives lo.
static Bounded quantizeInteger(const Bounded &quotient,
                               const Bounded &zeroPoint,
                               const IntegerFormat &format) {
  if (quotient.isNaN())
    return format.low;
  Bounded shifted = roundEven(quotient) + zeroPoint;
  if (!shifted.isKnown())
    return Bounded::hull(format.low, format.low, format.high);
  return minimum(maximum(shifted, format.low), format.high);
}

/// The i8 with the bits of the integers in `parts`, the first in the low end.
static Bounded pack(ArrayRef<Bounded> parts) {
  auto signExtend = [](int64_t bits) {
    return static_cast<double>(static_cast<int8_t>(bits & 0xff));
  };
  if (parts.size() == 1) {
    const Bounded &part = parts[0];
    double value = signExtend(static_cast<int64_t>(part.value));
    double low = value, high = value;
    for (double q = part.low(); q <= part.high(); ++q) {
      low = std::fmin(low, signExtend(static_cast<int64_t>(q)));
      high = std::fmax(high, signExtend(static_cast<int64_t>(q)));
    }
    return Bounded::hull(value, low, high);
  }
  auto combine = [&](double even, double odd) {
    return signExtend((static_cast<int64_t>(even) & 0xf) |
                      (static_cast<int64_t>(odd) & 0xf) << 4);
  };
  double value = combine(parts[0].value, parts[1].value);
  double low = value, high = value;
  for (double even = parts[0].low(); even <= parts[0].high(); ++even)
    for (double odd = parts[1].low(); odd <= parts[1].high(); ++odd) {
      low = std::fmin(low, combine(even, odd));
      high = std::fmax(high, combine(even, odd));
    }
  return Bounded::hull(value, low, high);
}

/// `x / scale`, clamped to the largest finite numbers and rounded.
static Bounded quantizeFloat(const Bounded &quotient, DType type) {
  double largest = type == DType::F8E4M3 ? 448 : 57344;
  return roundTo(minimum(maximum(quotient, -largest), largest), type);
}

static Results quantize(QuantizeOp op, const Operands &in) {
  const BoundedTensor &x = in.get(op.getInput());
  Parameters parameters = getParameters(op, in);
  DType compute = in.getArithmetic().type;
  bool isFloat = op.getFormat() == QuantFormat::Float8;
  Type stored = elementTypeOf(op.getResult());
  IntegerFormat format = getIntegers(op.getFormat());

  Shape shape(x.getShape());
  int64_t perByte = isFloat ? 1 : format.perByte;
  if (perByte > 1)
    shape.back() /= perByte;
  BoundedTensor q(stored, shape, /*isDerived=*/true);
  SmallVector<Bounded, 2> parts;
  forEachIndex(x.getShape(), [&](int64_t n, ArrayRef<int64_t> index) {
    int64_t at = parameters.locate(index);
    Bounded quotient = divide(x[n], parameters.scale[at], compute);
    if (isFloat) {
      q[n] = quantizeFloat(quotient, *getDType(stored));
      return;
    }
    parts.push_back(
        quantizeInteger(quotient, parameters.getZeroPoint(at), format));
    if (static_cast<int64_t>(parts.size()) == perByte) {
      q[n / perByte] = pack(parts);
      parts.clear();
    }
  });
  return {q};
}

//===----------------------------------------------------------------------===//
// Dequantisation
//===----------------------------------------------------------------------===//

/// Integer number `part` of those in a byte.
static double unpack(int64_t byte, int64_t part, const IntegerFormat &format) {
  if (format.perByte == 1)
    return format.low < 0 ? static_cast<int8_t>(byte) : byte & 0xff;
  int64_t bits = byte >> (4 * part) & 0xf;
  return format.low < 0 && bits >= 8 ? bits - 16 : bits;
}

/// The same for a byte that derives from floats.
static Bounded unpack(const Bounded &byte, int64_t part,
                      const IntegerFormat &format) {
  if (!byte.isKnown())
    return Bounded::unknown();
  double value = unpack(static_cast<int64_t>(byte.value), part, format);
  double low = value, high = value;
  for (double b = byte.low(); b <= byte.high(); ++b) {
    double other = unpack(static_cast<int64_t>(b), part, format);
    low = std::fmin(low, other);
    high = std::fmax(high, other);
  }
  return Bounded::hull(value, low, high);
}

/// `y = (q - zero_point) scale`.
static Results dequantize(DequantizeOp op, const Operands &in) {
  const BoundedTensor &q = in.get(op.getInput());
  Parameters parameters = getParameters(op, in);
  bool isFloat = op.getFormat() == QuantFormat::Float8;
  IntegerFormat format = getIntegers(op.getFormat());
  int64_t perByte = isFloat ? 1 : format.perByte;

  Shape shape(q.getShape());
  if (perByte > 1)
    shape.back() *= perByte;
  Array y(shape, in.getArithmetic());
  forEachIndex(shape, [&](int64_t n, ArrayRef<int64_t> index) {
    int64_t at = parameters.locate(index);
    Bounded stored = q.getNumber(n / perByte);
    Real number(isFloat ? stored : unpack(stored, n % perByte, format),
                in.getArithmetic());
    // The difference of small integers is exact.
    if (!isFloat)
      number = number.with(roundTo(number.get() - parameters.getZeroPoint(at),
                                   number.getType()));
    y.set(n, number * number.with(parameters.scale[at]));
  });
  return {y.round(elementTypeOf(op.getResult()))};
}

void formulas::addQuantizationFormulas(FormulaRegistry &registry) {
  registry.add(quantize);
  registry.add(dequantize);
}
