//===- FittedConstants.cpp - What is measured of a chip -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements access to fitted constants by name.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/FittedConstants.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <type_traits>

using namespace mlir::fusion;

void FittedConstants::visit(
    llvm::function_ref<void(llvm::StringRef, llvm::StringRef, double)> visit)
    const {
#define FUSION_FITTED_BEGIN(Type, group)                                       \
  {                                                                            \
    const Type &constants = group;                                             \
    constexpr llvm::StringLiteral groupName = #group;
#define FUSION_FITTED(type, name)                                              \
  visit(groupName, #name, static_cast<double>(constants.name));
#define FUSION_FITTED_END(Type, group) }
#include "fusion/Analysis/FittedConstants.def"
}

/// Makes `value` that of `constant`, called `group`.`name`.
template <typename T>
static llvm::Error assign(T &constant, llvm::StringRef group,
                          llvm::StringRef name, double value) {
  auto refuse = [&](llvm::StringRef kind) {
    return llvm::createStringError(
        llvm::formatv("{0}.{1} is a {2} number, not {3}", group, name, kind,
                      llvm::format("%g", value))
            .str());
  };
  if (!std::isfinite(value) || value <= 0)
    return refuse("positive");
  // Whole numbers are exact up to here.
  constexpr double kMost = 1LL << 53;
  if (std::is_integral_v<T> && (value != std::floor(value) || value > kMost))
    return refuse("whole");
  constant = static_cast<T>(value);
  return llvm::Error::success();
}

llvm::Error FittedConstants::set(llvm::StringRef group, llvm::StringRef name,
                                 double value) {
#define FUSION_FITTED_BEGIN(Type, own)                                         \
  if (group == #own) {                                                         \
    Type &constants = own;
#define FUSION_FITTED(type, own)                                               \
  if (name == #own)                                                            \
    return assign(constants.own, group, name, value);
#define FUSION_FITTED_END(Type, own) }
#include "fusion/Analysis/FittedConstants.def"
  return llvm::createStringError("there is no constant " + group + "." + name);
}
