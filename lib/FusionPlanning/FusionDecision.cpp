//===- FusionDecision.cpp - Yes, or no with a reason ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the table of reason codes.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/FusionDecision.h"

using namespace mlir::fusion;

namespace {
struct Reason {
  llvm::StringLiteral code;
  llvm::StringLiteral text;
};
} // namespace

static constexpr Reason kReasons[] = {
#define FUSION_REASON(enumerator, code, text) {code, text},
#include "fusion/FusionPlanning/ReasonCodes.def"
};

llvm::StringRef mlir::fusion::stringifyReason(ReasonCode code) {
  return kReasons[static_cast<unsigned>(code)].code;
}

llvm::StringRef mlir::fusion::describeReason(ReasonCode code) {
  return kReasons[static_cast<unsigned>(code)].text;
}

llvm::ArrayRef<ReasonCode> mlir::fusion::getAllReasons() {
  static constexpr ReasonCode codes[] = {
#define FUSION_REASON(enumerator, code, text) ReasonCode::enumerator,
#include "fusion/FusionPlanning/ReasonCodes.def"
  };
  return codes;
}
