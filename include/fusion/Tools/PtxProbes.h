//===- PtxProbes.h - Does a planted fault have an effect? -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines variants of PTX that tell whether an edit that no check
// found could have been found: one that computes what it did before, or what
// nobody uses, is no fault for the inputs at hand.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_PTXPROBES_H
#define FUSION_TOOLS_PTXPROBES_H

#include "fusion/Tools/PtxEdits.h"
#include <optional>

namespace mlir::fusion {

/// `ptx` with the statement of `edit` as it was and the edited one beside it,
/// which traps where their results differ. A run without a report shows that
/// the edit changes no value. Nothing where the result is not in registers.
std::optional<std::string> buildComparison(llvm::StringRef ptx,
                                           const PtxEdit &edit);

/// Variants of `ptx` in which what the edit changes (a result where it differs,
/// an address, the bytes of copies that a predicate guards) is something else
/// entirely. If these are not found either, no output of the run depends on it.
/// Empty for other predicates, whose one other value the edit has given them,
/// and for statements without a result.
std::vector<std::string> buildCorruptions(llvm::StringRef ptx,
                                          const PtxEdit &edit);

} // namespace mlir::fusion

#endif // FUSION_TOOLS_PTXPROBES_H
