//===- Compilation.h - The result of one compilation ----------- -*- C++ -*-==//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what stands behind the handle of the C interface, and how
// it gets from one process to another.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CAPI_COMPILATION_H
#define FUSION_LIB_CAPI_COMPILATION_H

#include "fusion-c/Fusion.h"
#include "fusion/Support/Diagnostics.h"

struct FusionCompilation {
  FusionStatus status = FUSION_OK;
  std::string output, diagnostics, explanation, ledger;
  std::vector<mlir::fusion::DiagnosticRecord> records;

  /// All of it as bytes, for read().
  std::string write() const;
  /// Fills an empty compilation; false, and nothing to be relied on, if the
  /// bytes end early.
  bool read(llvm::StringRef bytes);

  /// Adds an error, to the text as well. The status becomes that of its code.
  void addError(mlir::fusion::DiagnosticRecord record);
};

#endif // FUSION_LIB_CAPI_COMPILATION_H
