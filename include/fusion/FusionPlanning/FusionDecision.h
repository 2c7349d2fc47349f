//===- FusionDecision.h - Yes, or no with a reason --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the answer to "may these be one kernel?".
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_FUSIONPLANNING_FUSIONDECISION_H
#define FUSION_FUSIONPLANNING_FUSIONDECISION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>

namespace mlir::fusion {

enum class ReasonCode {
#define FUSION_REASON(enumerator, code, text) enumerator,
#include "fusion/FusionPlanning/ReasonCodes.def"
};

/// The code as users see it, e.g. `reduction-mismatch`.
llvm::StringRef stringifyReason(ReasonCode code);
/// One sentence on what the code means.
llvm::StringRef describeReason(ReasonCode code);
/// All codes, in the order of the table.
llvm::ArrayRef<ReasonCode> getAllReasons();

/// Yes, or no with a reason. Converts to true when the answer is yes.
class FusionDecision {
public:
  static FusionDecision yes() { return FusionDecision(); }
  /// `detail` names the ops concerned.
  static FusionDecision no(ReasonCode code, std::string detail = "") {
    FusionDecision decision;
    decision.allowed = false;
    decision.code = code;
    decision.detail = std::move(detail);
    return decision;
  }

  explicit operator bool() const { return allowed; }
  /// Why not; only for refusals.
  ReasonCode getCode() const { return code; }
  llvm::StringRef getDetail() const { return detail; }

private:
  bool allowed = true;
  ReasonCode code = ReasonCode::IntoConsumer;
  std::string detail;
};

} // namespace mlir::fusion

#endif // FUSION_FUSIONPLANNING_FUSIONDECISION_H
