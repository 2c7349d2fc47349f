//===- TargetInfo.cpp - Limits and rates of a GPU -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search in the table of known chips.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/TargetInfo.h"
#include "fusion/Support/DefaultChip.h"
#include "fusion/Support/ErrorCodes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

using namespace mlir::fusion;

const TargetInfo *mlir::fusion::lookupTarget(llvm::StringRef name) {
  for (const TargetInfo &target : getKnownTargets())
    if (target.name == name)
      return &target;
  return nullptr;
}

/// The compute capability in "sm_103a", 103; nothing if `name` is no such name.
static std::optional<unsigned> getCapability(llvm::StringRef name) {
  unsigned number = 0;
  if (!name.consume_front("sm_") || name.consumeInteger(10, number))
    return std::nullopt;
  return number;
}

/// The known name that `name` is most likely to stand for: that of the newest
/// chip that is no newer, or the one that is spelled most alike.
static llvm::StringRef getNearestName(llvm::StringRef name) {
  std::optional<unsigned> wanted = getCapability(name);
  auto distance = [&](const TargetInfo &target) {
    unsigned known = *getCapability(target.name);
    unsigned age = !wanted            ? 0
                   : known <= *wanted ? *wanted - known
                                      : 1000 + known - *wanted;
    return std::pair(age, name.edit_distance(target.name));
  };
  return llvm::min_element(getKnownTargets(),
                           [&](const TargetInfo &a, const TargetInfo &b) {
                             return distance(a) < distance(b);
                           })
      ->name;
}

llvm::Expected<const TargetInfo *>
mlir::fusion::getTarget(llvm::StringRef name) {
  if (const TargetInfo *target = lookupTarget(name))
    return target;
  std::string remedy;
  llvm::raw_string_ostream os(remedy);
  os << "the nearest known one is " << getNearestName(name)
     << "; known targets: ";
  llvm::interleaveComma(getKnownTargets(), os,
                        [&](const TargetInfo &target) { os << target.name; });
  return llvm::createStringError(std::errc::invalid_argument, "%s",
                                 formatError(ErrorCode::UnknownTarget,
                                             "unknown target '" + name + "'",
                                             remedy)
                                     .c_str());
}

const TargetInfo *mlir::fusion::findTargetFor(int major, int minor) {
  unsigned capability = 10 * major + minor;
  const TargetInfo *best = nullptr;
  for (const TargetInfo &target : getKnownTargets()) {
    // Instructions of one chip run on no other.
    bool isOfOne = !llvm::isDigit(target.name.back());
    unsigned known = *getCapability(target.name);
    if (isOfOne ? known == capability : known <= capability)
      best = &target;
  }
  return best;
}

const TargetInfo &mlir::fusion::getDefaultTarget() {
  return *lookupTarget(kDefaultChip);
}
