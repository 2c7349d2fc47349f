//===- Question.h - Why two operations are, or are not, fused ---*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the answer to --explain=A,B.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REPORT_QUESTION_H
#define FUSION_REPORT_QUESTION_H

#include "fusion/Report/ReadExplanation.h"

namespace mlir::fusion {

/// True if `op` is called `name`: by its label, by a line ("17" or
/// "model.py:17"), by both ("matmul:17"), or by a name that a front door gave
/// it.
bool isCalled(const ExplainedOperation &op, llvm::StringRef name);

/// Says of each operation called `first` and each called `second` whether they
/// share a kernel, which decision made it so, or what stands between them. An
/// operation is called as isCalled says, or by its number ("#4").
/// `explanation` has the graph. An error says what matches nothing.
llvm::Expected<std::string> explainPair(const Explanation &explanation,
                                        llvm::StringRef first,
                                        llvm::StringRef second);

} // namespace mlir::fusion

#endif // FUSION_REPORT_QUESTION_H
