//===- ErrorCodes.cpp - Errors with a number ------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the lookup and the wording of errors with a code.
//
//===----------------------------------------------------------------------===//

#include "fusion/Support/ErrorCodes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fusion;

static const ErrorInfo kErrors[] = {
#define FUSION_TOOL_ERROR(number, name, exit, meaning, remedy)                 \
  {ErrorCode::name, #name, exit, meaning, remedy},
#include "fusion/Support/ErrorCodes.def"
};

ArrayRef<ErrorInfo> fusion::getErrorTable() { return kErrors; }

const ErrorInfo &fusion::getErrorInfo(ErrorCode code) {
  return *llvm::find_if(
      kErrors, [&](const ErrorInfo &info) { return info.code == code; });
}

std::string fusion::formatError(ErrorCode code, const Twine &cause,
                                StringRef remedy) {
  if (remedy.empty())
    remedy = getErrorInfo(code).remedy;
  return ("FUS-" + Twine(static_cast<int>(code)) + ": " + cause + "; " + remedy)
      .str();
}

InFlightDiagnostic fusion::emitCodedError(Location loc, ErrorCode code,
                                          const Twine &cause,
                                          StringRef remedy) {
  return emitError(loc) << formatError(code, cause, remedy);
}

std::optional<int> fusion::findErrorNumber(StringRef message) {
  size_t position = message.find("FUS-");
  if (position == StringRef::npos)
    return std::nullopt;
  int number;
  if (message.substr(position + 4)
          .take_while(llvm::isDigit)
          .getAsInteger(10, number))
    return std::nullopt;
  return number;
}

int fusion::getExitStatus(StringRef message) {
  std::optional<int> number = findErrorNumber(message);
  for (const ErrorInfo &info : kErrors)
    if (number && static_cast<int>(info.code) == *number)
      return info.exitStatus;
  return kExitDiagnosed;
}
