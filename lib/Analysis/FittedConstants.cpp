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
