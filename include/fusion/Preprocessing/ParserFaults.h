//===- ParserFaults.h - What upstream's parser dies of ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines a check of programs before they are parsed.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PREPROCESSING_PARSERFAULTS_H
#define FUSION_PREPROCESSING_PARSERFAULTS_H

#include "fusion/Preprocessing/NestingDepth.h"

namespace mlir::fusion {

struct ParserFault {
  TextPosition place;
  /// What is wrong there.
  const char *cause;
};

/// The first error in `text` of those that upstream's parser does not survive,
/// if there is one. All are errors; none is in a valid program.
///  - Where `) dimensions =` or `) permutation =` is not followed by a list of
///    integers, linalg.reduce, linalg.broadcast and linalg.transpose go on
///    after their own error, and crash.
///  - tensor.from_elements prepares as many operands as its type has elements
///    before it looks at those that are there.
/// Linear in the text.
std::optional<ParserFault> findParserFault(llvm::StringRef text);

} // namespace mlir::fusion

#endif // FUSION_PREPROCESSING_PARSERFAULTS_H
