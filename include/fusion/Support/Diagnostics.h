//===- Diagnostics.h - Diagnostics with their parts -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the one way in which diagnostics leave the compiler: as
// text with the line they are about, and as records with their parts. Tools
// print the text, the C interface hands out both.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_DIAGNOSTICS_H
#define FUSION_SUPPORT_DIAGNOSTICS_H

#include "fusion/Support/ErrorCodes.h"
#include "mlir/IR/Diagnostics.h"
#include <vector>

namespace mlir::fusion {

/// One diagnostic, taken apart.
struct DiagnosticRecord {
  DiagnosticSeverity severity = DiagnosticSeverity::Error;
  /// Code, cause and remedy. Notes and warnings may have no code.
  CodedMessage message;
  /// Where it is; an empty name and zeros where there is no place.
  std::string file;
  unsigned line = 0, column = 0;
  std::vector<DiagnosticRecord> notes;
};

/// Prints diagnostics with the line that they are about, and keeps them. An
/// error that has no code gets the current one, so that every error has one,
/// and the remedy of the table if it has none. Remarks are dropped: tools print
/// decisions from the report.
class CodedDiagnostics : public SourceMgrDiagnosticHandler {
public:
  CodedDiagnostics(llvm::SourceMgr &sourceMgr, MLIRContext *context,
                   raw_ostream &os);

  /// The code for errors without one, from here on.
  void setDefaultCode(ErrorCode code) { defaultCode = code; }

  bool hasError() const { return exitStatus != kExitOk; }
  /// That of the first error; kExitOk if there is none.
  int getExitStatus() const { return exitStatus; }
  /// Everything reported, in order.
  const std::vector<DiagnosticRecord> &getRecords() const { return records; }

private:
  void handle(Diagnostic &diagnostic);

  ErrorCode defaultCode = ErrorCode::InputInvalid;
  int exitStatus = kExitOk;
  std::vector<DiagnosticRecord> records;
};

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_DIAGNOSTICS_H
