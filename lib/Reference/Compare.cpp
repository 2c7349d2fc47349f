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

/// How far the largest of many sums is from their root mean square.
static constexpr double kLargestSum = 4;

namespace {

/// The part of the allowance that does not depend on the program: results that
/// happen to be exact in the unfused program must not demand exactness. In
/// units of epsilon; wide types get several, for approximated functions.
struct Floor {
  double epsilon;  // distance from 1 to the next number
  double rmsUnits; // times the root mean square of the results
  double maxUnits; // times the largest result
  double absolute; // results below it may be flushed to zero
};

/// Collects one error measure in one sweep.
struct ErrorMeasure {
  double max = 0, sumOfSquares = 0;
  int64_t count = 0;

  void add(double error) {
    max = std::max(max, error);
    sumOfSquares += error * error;
    ++count;
  }
  double getRms() const { return count ? std::sqrt(sumOfSquares / count) : 0; }
};

} // namespace

static Floor getFloor(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return {0x1p-52, 8, 32, std::numeric_limits<double>::min()};
  case DType::F32:
    return {0x1p-23, 8, 32, std::numeric_limits<float>::min()};
  case DType::BF16:
    return {0x1p-7, 0.1, 0.25, std::numeric_limits<float>::min()};
  case DType::F16:
    return {0x1p-10, 0.1, 0.25, 0x1p-24};
  case DType::F8E4M3:
    return {0x1p-3, 0.1, 0.25, 0x1p-9};
  default:
    return {0x1p-2, 0.1, 0.25, 0x1p-16};
  }
}

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

/// True if every bit of the element is as it was before the run.
static bool isPoison(const HostTensor &tensor, int64_t index) {
  size_t bytes = fusionpkg::getStorageBits(tensor.getDType()) / 8;
  const uint8_t *begin = tensor.data() + index * bytes;
  return std::all_of(begin, begin + bytes,
                     [](uint8_t byte) { return byte == kPoisonByte; });
}

/// Equal as far as NaN and infinity go.
static bool isSameClass(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b))
    return a == b;
  return true;
}

static OutputReport fail(OutputReport report, int64_t index,
                         std::string failure) {
  report.verified = false;
  report.failingIndex = index;
  report.failure = std::move(failure);
  return report;
}

/// The float64 results as the declared type would show them: what overflows
/// it is infinite.
static double clampToType(HostTensor &scratch, double exact) {
  scratch.setDouble(0, exact);
  double rounded = scratch.getDouble(0);
  return std::isfinite(rounded) ? exact : rounded;
}

static OutputReport compareFloats(
    const HostTensor &got, const HostTensor &exact, const HostTensor &declared,
    const std::vector<const HostTensor *> &perturbed, double sumError) {
  OutputReport report;
  HostTensor scratch = createTensor(got.getDType(), {1});
  int64_t count = got.getNumElements();
  ErrorMeasure gotError, declaredError, magnitude;
  for (int64_t i = 0; i < count; ++i) {
    double result = got.getDouble(i), unfused = declared.getDouble(i);
    double wanted = clampToType(scratch, exact.getDouble(i));
    if (std::isnan(result) && isPoison(got, i))
      return fail(report, i,
                  "was never written, expected " + formatNumber(wanted));
    if (!isSameClass(result, wanted) &&
        (isSameClass(unfused, wanted) || !isSameClass(result, unfused)))
      return fail(report, i,
                  "is " + formatNumber(result) + ", expected " +
                      formatNumber(wanted));
    if (!std::isfinite(wanted) || !std::isfinite(result))
      continue;
    gotError.add(std::fabs(result - wanted));
    magnitude.add(std::fabs(wanted));
    // Where the unfused program overflows it says nothing about rounding.
    if (std::isfinite(unfused))
      declaredError.add(std::fabs(unfused - wanted));
  }

  Floor floor = getFloor(got.getDType());
  double factor = count < 1000 ? 3 : 2;
  double unfusedMax = declaredError.max, unfusedRms = declaredError.getRms();
  if (count < kSmallOutput)
    for (const HostTensor *tensor : perturbed) {
      if (tensor->getDims() != exact.getDims())
        continue;
      ErrorMeasure error;
      for (int64_t i = 0; i < count; ++i)
        if (double difference =
                std::fabs(tensor->getDouble(i) - exact.getDouble(i));
            std::isfinite(difference))
          error.add(difference);
      unfusedMax = std::max(unfusedMax, error.max);
      unfusedRms = std::max(unfusedRms, error.getRms());
    }
  report.maxError = gotError.max;
  report.rmsError = gotError.getRms();
  if (double rms = magnitude.getRms(); rms > 0) {
    report.maxRelativeError = report.maxError / rms;
    report.rmsRelativeError = report.rmsError / rms;
  }
  // The sums that are far from the mean are off by more.
  double lost = sumError * magnitude.getRms();
  report.allowedMaxError = factor * unfusedMax + kLargestSum * lost +
                           floor.epsilon * floor.maxUnits * magnitude.max +
                           floor.absolute;
  report.allowedRmsError = factor * unfusedRms + lost +
                           floor.epsilon * floor.rmsUnits * magnitude.getRms() +
                           floor.absolute;

  if (double rms = magnitude.getRms(); rms > 0)
    report.allowedRelativeError = report.allowedRmsError / rms;

  bool isMaxTooLarge = !(report.maxError <= report.allowedMaxError);
  if (!isMaxTooLarge && report.rmsError <= report.allowedRmsError) {
    report.verified = true;
    return report;
  }
  // The first element beyond the allowance, or else the worst one.
  for (int64_t i = 0; i < count; ++i) {
    double wanted = clampToType(scratch, exact.getDouble(i));
    double error = std::fabs(got.getDouble(i) - wanted);
    if (!std::isfinite(error) ||
        (isMaxTooLarge ? error <= report.allowedMaxError
                       : error < report.maxError))
      continue;
    std::string failure = "is " + formatNumber(got.getDouble(i)) +
                          ", expected " + formatNumber(wanted) + ": error " +
                          formatNumber(error);
    if (isMaxTooLarge)
      failure += ", allowed " + formatNumber(report.allowedMaxError);
    else
      failure += "; the root-mean-square error is " +
                 formatNumber(report.rmsError) + ", allowed " +
                 formatNumber(report.allowedRmsError);
    return fail(report, i, std::move(failure));
  }
  return fail(report, 0, "has an error that is not a number");
}

static OutputReport compareIntegers(const HostTensor &got,
                                    const HostTensor &exact,
                                    const HostTensor &declared,
                                    bool derivesFromFloat) {
  OutputReport report;
  int64_t count = got.getNumElements();
  int64_t numAmbiguous = 0, numWrong = 0, firstWrong = -1;
  for (int64_t i = 0; i < count; ++i) {
    numAmbiguous += declared.getInteger(i) != exact.getInteger(i);
    if (got.getDType() == DType::I1 && got.data()[i] > 1)
      return fail(report, i,
                  "is the byte " + std::to_string(got.data()[i]) +
                      ", which is neither 0 nor 1" +
                      (isPoison(got, i) ? " (never written)" : ""));
    if (got.getInteger(i) != declared.getInteger(i) && numWrong++ == 0)
      firstWrong = i;
  }
  int64_t allowed =
      derivesFromFloat ? 2 * numAmbiguous + count / 1000 : int64_t(0);
  if (numWrong > allowed)
    return fail(report, firstWrong,
                "is " + std::to_string(got.getInteger(firstWrong)) +
                    ", expected " +
                    std::to_string(declared.getInteger(firstWrong)) + " (" +
                    std::to_string(numWrong) + " of " + std::to_string(count) +
                    " differ)");
  report.verified = true;
  report.numTolerated = numWrong;
  return report;
}

OutputReport
mlir::fusion::compareOutput(const HostTensor &got, const HostTensor &exact,
                            const HostTensor &declared,
                            const std::vector<const HostTensor *> &perturbed,
                            bool derivesFromFloat, double sumError) {
  if (got.getDType() != declared.getDType() ||
      got.getDims() != declared.getDims())
    return fail({}, -1,
                "is " + getTypeString(got) + ", expected " +
                    getTypeString(declared));
  if (exact.getDims() != declared.getDims())
    return fail({}, -1,
                "has no reference: the float64 program gives " +
                    getTypeString(exact));
  if (isFloat(got))
    return compareFloats(got, exact, declared, perturbed, sumError);
  return compareIntegers(got, exact, declared, derivesFromFloat);
}
