//===- FittedConstants.h - What is measured of a chip -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the constants of models that are fitted to measurements of
// a chip, `fitted.group.name`. FittedConstants.def says what each means.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_FITTEDCONSTANTS_H
#define FUSION_ANALYSIS_FITTEDCONSTANTS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace mlir::fusion {

#define FUSION_FITTED_BEGIN(Type, group) struct Type {
#define FUSION_FITTED(type, name) type name = 0;
#define FUSION_FITTED_END(Type, group)                                         \
  }                                                                            \
  ;
#include "fusion/Analysis/FittedConstants.def"

/// The constants of one chip.
struct FittedConstants {
  /// The part that was measured.
  llvm::StringLiteral part;
#define FUSION_FITTED_BEGIN(Type, group) Type group;
#define FUSION_FITTED(type, name)
#include "fusion/Analysis/FittedConstants.def"

  /// Calls `visit` with the group, the name and the value of each constant.
  void visit(llvm::function_ref<void(llvm::StringRef, llvm::StringRef, double)>
                 visit) const;

  /// Makes `value` that of constant `name` of `group`, which it has to suit.
  llvm::Error set(llvm::StringRef group, llvm::StringRef name, double value);
};

/// One H200 SXM, as of 2026-11-23.
extern const FittedConstants kFittedOnH200;

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_FITTEDCONSTANTS_H
