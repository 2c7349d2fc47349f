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
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::fusion;

const TargetInfo *mlir::fusion::lookupTarget(llvm::StringRef name) {
  for (const TargetInfo &target : getKnownTargets())
    if (target.name == name)
      return &target;
  return nullptr;
}

llvm::Expected<const TargetInfo *>
mlir::fusion::getTarget(llvm::StringRef name) {
  if (const TargetInfo *target = lookupTarget(name))
    return target;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "FUS-2001: unknown target '" << name << "'; known targets: ";
  llvm::interleaveComma(getKnownTargets(), os,
                        [&](const TargetInfo &target) { os << target.name; });
  return llvm::createStringError(std::errc::invalid_argument, text.c_str());
}

const TargetInfo &mlir::fusion::getDefaultTarget() {
  return *lookupTarget("sm_90a");
}
