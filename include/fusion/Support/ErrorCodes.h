//===- ErrorCodes.h - Errors with a number ----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the codes of ErrorCodes.def, their texts and exit codes,
// and how an error with a code is worded.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SUPPORT_ERRORCODES_H
#define FUSION_SUPPORT_ERRORCODES_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"
#include <optional>
#include <string>

namespace mlir::fusion {

enum class ErrorCode : int {
#define FUSION_TOOL_ERROR(number, name, exit, meaning, remedy) name = number,
#include "fusion/Support/ErrorCodes.def"
};

/// Exit statuses of every tool.
enum ExitStatus {
  kExitOk = 0,
  kExitDiagnosed = 1,
  kExitUsage = 2,
  kExitUnsupported = 3,
  kExitInternal = 70
};

/// What the table says about one code.
struct ErrorInfo {
  ErrorCode code;
  StringRef name;
  int exitStatus;
  StringRef meaning, remedy;
};

/// The table, in the order of the numbers.
ArrayRef<ErrorInfo> getErrorTable();
const ErrorInfo &getErrorInfo(ErrorCode code);

/// "FUS-1003: <cause>; <remedy>", with the remedy of the table if none is
/// given.
std::string formatError(ErrorCode code, const Twine &cause,
                        StringRef remedy = "");

/// Emits formatError(code, cause, remedy) at `loc`.
InFlightDiagnostic emitCodedError(Location loc, ErrorCode code,
                                  const Twine &cause, StringRef remedy = "");

/// The number after the first "FUS-" in `message`, if there is one.
std::optional<int> findErrorNumber(StringRef message);

/// The exit status for a message: that of its code if the table has it, else
/// kExitDiagnosed.
int getExitStatus(StringRef message);

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_ERRORCODES_H
