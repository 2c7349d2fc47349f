//===- PanelFormat.h - Memory that blocks exchange through ------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines how the memory looks through which blocks give each other
// what they have reduced.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_PANELFORMAT_H
#define FUSION_SUPPORT_PANELFORMAT_H

#include <cstdint>

namespace mlir::fusion {

/// Bytes of a word in which an element and the number of its exchange travel,
/// and of what stands before a panel's words.
constexpr int64_t kPanelWordBytes = 8, kPanelHeadBytes = 16;

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_PANELFORMAT_H
