//===- Compare.cpp - Is a result right? -----------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the verification of results.
//
//===----------------------------------------------------------------------===//

#include "fusion/Reference/Compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace mlir::fusion;

std::string mlir::fusion::formatIndex(int64_t index,
                                      const std::vector<int64_t> &shape) {
  std::string text = "]";
  for (size_t dim = shape.size(); dim-- > 0;) {
    text = std::to_string(index % shape[dim]) + text;
    if (dim)
      text = ", " + text;
    index /= shape[dim];
  }
  return "[" + text;
}

static std::string formatNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

/// Bytes of an element; of two that share one, that.
static size_t getBytes(const HostTensor &tensor) {
  return std::max<size_t>(1, fusionpkg::getStorageBits(tensor.getDType()) / 8);
}

/// Byte `number` of an element of `bytes` that was not written.
static uint8_t getPoisonByte(size_t number, size_t bytes) {
  return number + 1 == bytes ? 0xFF : 0xF5;
}

void mlir::fusion::poison(HostTensor &tensor) {
  size_t bytes = getBytes(tensor);
  for (size_t i = 0; i < tensor.getNumBytes(); ++i)
    tensor.data()[i] = getPoisonByte(i % bytes, bytes);
}

/// True if every bit of the element is as it was before the run.
static bool isPoison(const HostTensor &tensor, int64_t index) {
  size_t bytes = getBytes(tensor);
  const uint8_t *begin = tensor.data() + index * bytes;
  for (size_t i = 0; i < bytes; ++i)
    if (begin[i] != getPoisonByte(i, bytes))
      return false;
  return true;
}

namespace {

/// Compares element by element.
class Comparison {
public:
  Comparison(const HostTensor &got, const ReferenceTensor &expected)
      : got(got), expected(expected), isOfFloats(isFloat(got)) {}

  OutputReport run();

private:
  bool compareElement(int64_t index);
  bool compareNumber(int64_t index, double result, Bounded wanted);
  bool isCheckable(Bounded wanted) const;
  bool fail(int64_t index, std::string failure);
  void measureScale();
  void judge();

  const HostTensor &got;
  const ReferenceTensor &expected;
  bool isOfFloats;
  OutputReport report;
  /// The root mean square of what is expected.
  double scale = 0;
};

} // namespace

bool Comparison::fail(int64_t index, std::string failure) {
  report.verdict = Verdict::Wrong;
  report.failingIndex = index;
  report.failure = std::move(failure);
  return false;
}

void Comparison::measureScale() {
  double squares = 0;
  int64_t count = 0;
  for (Bounded element : expected.elements)
    if (element.isKnown() && std::isfinite(element.value)) {
      squares += element.value * element.value;
      ++count;
    }
  scale = count ? std::sqrt(squares / count) : 0;
}

/// True where a wrong result could be told from a right one.
bool Comparison::isCheckable(Bounded wanted) const {
  if (wanted.isExact())
    return true;
  if (expected.dtype == DType::I1 || !wanted.isKnown())
    return false;
  return wanted.error <= std::fmax(scale, std::fabs(wanted.value));
}

bool Comparison::compareNumber(int64_t index, double result, Bounded wanted) {
  HostTensor scratch = createTensor(expected.dtype, {1});
  auto overflows = [&](double bound) {
    scratch.setDouble(0, bound);
    return !std::isfinite(scratch.getDouble(0));
  };
  std::string numbers =
      "is " + formatNumber(result) + ", expected " + formatNumber(wanted.value);
  if (std::isfinite(wanted.value) && isOfFloats && overflows(wanted.value)) {
    // No number of the type is as large, but one may be in the interval.
    bool isRight = std::isinf(result) ? (result > 0) == (wanted.value > 0)
                                      : wanted.contains(result);
    isRight |= std::isnan(result) && expected.dtype == DType::F8E4M3;
    return isRight ? true : fail(index, std::move(numbers));
  }
  bool isSame = wanted.value == result ||
                (std::isnan(wanted.value) && std::isnan(result));
  if (!std::isfinite(wanted.value) || std::isnan(result))
    return isSame ? true : fail(index, std::move(numbers));
  if (std::isinf(result))
    return overflows(result > 0 ? wanted.high() : wanted.low())
               ? true
               : fail(index, std::move(numbers));
  double error = std::fabs(result - wanted.value);
  double allowed = wanted.error;
  if (isOfFloats)
    allowed += getUlp(std::fmax(std::fabs(wanted.value), std::fabs(result)),
                      expected.dtype) /
               2;
  report.maxError = std::fmax(report.maxError, error);
  report.allowedMaxError = std::fmax(report.allowedMaxError, allowed);
  if (error > 0)
    report.maxUse = std::fmax(report.maxUse, error / allowed);
  if (error <= allowed)
    return true;
  return fail(index, numbers + ": error " + formatNumber(error) + ", allowed " +
                         formatNumber(allowed));
}

bool Comparison::compareElement(int64_t index) {
  if (got.getDType() == DType::I1 && got.data()[index] > 1)
    return fail(index, "is the byte " + std::to_string(got.data()[index]) +
                           ", which is neither 0 nor 1" +
                           (isPoison(got, index) ? " (never written)" : ""));
  if (!expected.isBounded) {
    int64_t result = got.getInteger(index);
    int64_t wanted = expected.integers.getInteger(index);
    return result == wanted ||
           fail(index, "is " + std::to_string(result) + ", expected " +
                           std::to_string(wanted));
  }
  Bounded wanted = expected.elements[index];
  double result = got.getDouble(index);
  if (isOfFloats && std::isnan(result) && isPoison(got, index))
    return fail(index,
                "was never written, expected " + formatNumber(wanted.value));
  if (isCheckable(wanted))
    return compareNumber(index, result, wanted);
  ++report.numUnchecked;
  return true;
}

void Comparison::judge() {
  report.verdict = Verdict::Verified;
  int64_t count = got.getNumElements();
  auto allowed = static_cast<int64_t>(count * kMaxUncheckedShare);
  if (report.numUnchecked <= allowed)
    return;
  report.verdict = Verdict::NotChecked;
  report.failure = "cannot be checked: the error that roundings may cause in " +
                   std::to_string(report.numUnchecked) + " of " +
                   std::to_string(count) +
                   " elements is as large as the elements";
}

OutputReport Comparison::run() {
  measureScale();
  bool isRight = true;
  for (int64_t i = 0, e = got.getNumElements(); isRight && i < e; ++i)
    isRight = compareElement(i);
  if (scale > 0)
    report.maxRelativeError = report.maxError / scale;
  if (!isOfFloats)
    report.maxError = report.maxRelativeError = report.maxUse = 0;
  if (isRight)
    judge();
  return report;
}

OutputReport mlir::fusion::compareOutput(const HostTensor &got,
                                         const ReferenceTensor &expected) {
  if (got.getDType() == expected.dtype && got.getDims() == expected.dims)
    return Comparison(got, expected).run();
  OutputReport report;
  report.failure = "is " + getTypeString(got) + ", expected " +
                   getTypeString(createTensor(expected.dtype, expected.dims));
  return report;
}
