//===- DefaultChip.h - The chip that is compiled for ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines which of the chips of Chips.def is meant when none is
// named.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_DEFAULTCHIP_H
#define FUSION_SUPPORT_DEFAULTCHIP_H

#include "llvm/ADT/StringRef.h"

namespace mlir::fusion {

/// The chip that is compiled for when none is named.
constexpr llvm::StringLiteral kDefaultChip = "sm_90a";

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_DEFAULTCHIP_H
