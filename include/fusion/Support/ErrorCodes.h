//===- ErrorCodes.h - Errors with a number ----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the table of every code that the project prints, FUS-nnnn,
// and how an error with a code is worded. The table is that of three lists: the
// tools' (ErrorCodes.def), the phases' (PhaseCodes.def) and the runtime's
// (fusion/Executable/Errors.def, which needs no LLVM).
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
struct CodeInfo {
  int number;
  /// Of a tool that stops there; 0 for remarks, which stop nothing.
  int exitStatus;
  StringRef meaning, remedy;
};

/// The table, in the order of the numbers.
ArrayRef<CodeInfo> getCodeTable();
/// The entry of `number`; null if there is none.
const CodeInfo *findCode(int number);
/// "FUS-0711"
std::string formatCode(int number);
/// The entry for people: cause, remedy and exit status, a line each.
std::string explainCode(const CodeInfo &info);
/// The number in "FUS-3401", "fus-3401" or "3401".
std::optional<int> parseCode(StringRef text);

/// "FUS-1003: <cause>; <remedy>", with the remedy of the table if none is
/// given.
std::string formatError(ErrorCode code, const Twine &cause,
                        StringRef remedy = "");

/// Emits formatError(code, cause, remedy) at `loc`.
InFlightDiagnostic emitCodedError(Location loc, ErrorCode code,
                                  const Twine &cause, StringRef remedy = "");

/// A message taken apart.
struct CodedMessage {
  /// 0 if the message has no code.
  int number = 0;
  std::string cause, remedy;

  /// "FUS-1003: <cause>; <remedy>"
  std::string str() const;
};

/// Takes "FUS-1003: cause; remedy" apart. The code may stand behind MLIR's
/// "'arith.addf' op ", which then begins the cause. A message with a code and
/// without a remedy of its own gets the table's.
CodedMessage parseMessage(StringRef message);

/// The number behind the first "FUS-" in `message`, if there is one.
std::optional<int> findErrorNumber(StringRef message);

/// The exit status for a message: that of its code if the table has it, else
/// kExitDiagnosed.
int getExitStatus(StringRef message);
int getExitStatus(int number);

} // namespace mlir::fusion

#endif // FUSION_SUPPORT_ERRORCODES_H
