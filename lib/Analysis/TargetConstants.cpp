//===- TargetConstants.cpp - Constants of a chip by name ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements how a description of a chip is changed by name.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/TargetConstants.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir::fusion;

/// What the group `chip` has.
namespace {
struct ChipConstant {
  llvm::StringLiteral name;
  /// One of the two.
  int64_t TargetInfo::*count;
  double TargetInfo::*rate;
  /// Code may be made for all of it.
  bool isLimit;
};
} // namespace

static constexpr ChipConstant kChipConstants[] = {
    {"numSMs", &TargetInfo::numSMs, nullptr, false},
    {"clockHz", nullptr, &TargetInfo::clockHz, false},
    {"l2Bytes", &TargetInfo::l2Bytes, nullptr, false},
    {"registersPerSM", &TargetInfo::registersPerSM, nullptr, true},
    {"maxRegistersPerThread", &TargetInfo::maxRegistersPerThread, nullptr,
     true},
    {"maxThreadsPerSM", &TargetInfo::maxThreadsPerSM, nullptr, true},
    {"maxThreadsPerBlock", &TargetInfo::maxThreadsPerBlock, nullptr, true},
    {"maxBlocksPerSM", &TargetInfo::maxBlocksPerSM, nullptr, true},
    {"maxBlocksPerCluster", &TargetInfo::maxBlocksPerCluster, nullptr, true},
    {"sharedPerSM", &TargetInfo::sharedPerSM, nullptr, true},
    {"maxSharedPerBlock", &TargetInfo::maxSharedPerBlock, nullptr, true},
};

static llvm::Error assign(TargetInfo &target, const ChipConstant &constant,
                          double value) {
  auto refuse = [&](const llvm::Twine &what) {
    return llvm::createStringError(
        "chip." + constant.name + " is " + what + ", not " +
        llvm::formatv("{0}", llvm::format("%g", value)).str());
  };
  if (!std::isfinite(value) || value <= 0)
    return refuse("a positive number");
  if (constant.rate) {
    target.*constant.rate = value;
    return llvm::Error::success();
  }
  int64_t &count = target.*constant.count;
  // Whole numbers are exact up to here.
  constexpr double kMost = 1LL << 53;
  if (value != std::floor(value) || value > kMost)
    return refuse("a whole number");
  if (constant.isLimit && value > static_cast<double>(count))
    return refuse("at most " + llvm::Twine(count) + " on " + target.name);
  count = static_cast<int64_t>(value);
  return llvm::Error::success();
}

llvm::Error mlir::fusion::setConstant(TargetInfo &target, llvm::StringRef group,
                                      llvm::StringRef name, double value) {
  if (group != "chip")
    return target.fitted.set(group, name, value);
  for (const ChipConstant &constant : kChipConstants)
    if (constant.name == name)
      return assign(target, constant, value);
  return llvm::createStringError("there is no constant chip." + name);
}
