//===- ProgramText.h - Text that may be parsed ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what is checked of a program before it is parsed.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_PREPROCESSING_PROGRAMTEXT_H
#define FUSION_PREPROCESSING_PROGRAMTEXT_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class MLIRContext;

namespace fusion {

/// Emits an error and fails if the contents of the file `name` are no text, or
/// nest too deeply for a parser that calls itself.
LogicalResult checkProgramText(StringRef text, StringRef name,
                               MLIRContext *context);

} // namespace fusion
} // namespace mlir

#endif // FUSION_PREPROCESSING_PROGRAMTEXT_H
