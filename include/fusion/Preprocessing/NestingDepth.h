//===- NestingDepth.h - Depth of brackets in a text -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the check that keeps MLIR's recursive parser from running
// out of stack.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PREPROCESSING_NESTINGDEPTH_H
#define FUSION_PREPROCESSING_NESTINGDEPTH_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mlir::fusion {

/// The deepest nesting that a program may have. MLIR's parser calls itself once
/// or more per bracket and overflows an 8 MiB stack between 2,000 and 4,000.
inline constexpr unsigned kMaxNestingDepth = 256;

/// A place in a text, counted from one.
struct TextPosition {
  unsigned line;
  unsigned column;
};

/// The first bracket of MLIR text that opens a level beyond `limit`, if any.
/// Brackets in strings and comments do not count. Linear in the text, with no
/// recursion and no allocation.
std::optional<TextPosition> findDeepNesting(llvm::StringRef text,
                                            unsigned limit = kMaxNestingDepth);

} // namespace mlir::fusion

#endif // FUSION_PREPROCESSING_NESTINGDEPTH_H
