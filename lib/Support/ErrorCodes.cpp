//===- ErrorCodes.cpp - Errors with a number ------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the table of codes and the wording of errors.
//
//===----------------------------------------------------------------------===//

#include "fusion/Support/ErrorCodes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace mlir;
using namespace mlir::fusion;

/// Of the runtime's errors one says that the program is right and cannot be
/// run: fusion-emulate ends with this as well.
static int getRuntimeExit(StringRef name) {
  return name == "EmulatorUnsupported" ? kExitUnsupported : kExitDiagnosed;
}

/// The three lists, joined. Neither strings nor entries are copied.
static SmallVector<CodeInfo> makeTable() {
  SmallVector<CodeInfo> table = {
#define FUSION_TOOL_ERROR(number, name, exit, meaning, remedy)                 \
  {number, exit, meaning, remedy},
#include "fusion/Support/ErrorCodes.def"
#define FUSION_PHASE_CODE(number, exit, meaning, remedy)                       \
  {number, exit, meaning, remedy},
#include "fusion/Support/PhaseCodes.def"
#define FUSION_ERROR(name, number, meaning, remedy)                            \
  {number, getRuntimeExit(#name), meaning, remedy},
#include "fusion/Executable/Errors.def"
  };
  llvm::sort(table, [](const CodeInfo &a, const CodeInfo &b) {
    return a.number < b.number;
  });
  return table;
}

ArrayRef<CodeInfo> fusion::getCodeTable() {
  static const SmallVector<CodeInfo> table = makeTable();
  return table;
}

const CodeInfo *fusion::findCode(int number) {
  ArrayRef<CodeInfo> table = getCodeTable();
  const CodeInfo *found =
      llvm::lower_bound(table, number, [](const CodeInfo &info, int value) {
        return info.number < value;
      });
  return found != table.end() && found->number == number ? found : nullptr;
}

std::string fusion::formatCode(int number) {
  return llvm::formatv("FUS-{0,0+4}", number).str();
}

std::string fusion::explainCode(const CodeInfo &info) {
  std::string status =
      info.exitStatus ? "error, exit status " + std::to_string(info.exitStatus)
                      : "remark";
  return (formatCode(info.number) + " (" + status +
          ")\n  cause:  " + info.meaning + "\n  remedy: " + info.remedy + "\n")
      .str();
}

std::optional<int> fusion::parseCode(StringRef text) {
  text.consume_front_insensitive("FUS-");
  int number;
  if (text.getAsInteger(10, number))
    return std::nullopt;
  return number;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

std::string CodedMessage::str() const {
  std::string text = number ? formatCode(number) + ": " + cause : cause;
  return remedy.empty() ? text : text + "; " + remedy;
}

std::string fusion::formatError(ErrorCode code, const Twine &cause,
                                StringRef remedy) {
  CodedMessage message{static_cast<int>(code), cause.str(), remedy.str()};
  if (remedy.empty())
    if (const CodeInfo *info = findCode(message.number))
      message.remedy = info->remedy.str();
  return message.str();
}

InFlightDiagnostic fusion::emitCodedError(Location loc, ErrorCode code,
                                          const Twine &cause,
                                          StringRef remedy) {
  return emitError(loc) << formatError(code, cause, remedy);
}

/// Where the code of `message` stands and its number.
static std::optional<std::pair<size_t, int>> locateCode(StringRef message) {
  size_t position = message.find("FUS-");
  if (position == StringRef::npos)
    return std::nullopt;
  int number;
  if (message.substr(position + 4)
          .take_while(llvm::isDigit)
          .getAsInteger(10, number))
    return std::nullopt;
  return std::pair(position, number);
}

CodedMessage fusion::parseMessage(StringRef message) {
  CodedMessage result;
  auto code = locateCode(message);
  if (!code) {
    result.cause = message.str();
    return result;
  }
  result.number = code->second;
  StringRef before = message.take_front(code->first);
  StringRef after = message.drop_front(code->first + strlen("FUS-"))
                        .drop_while(llvm::isDigit);
  after.consume_front(":");
  after = after.ltrim();
  const CodeInfo *info = findCode(result.number);
  StringRef remedy;
  // The table's remedy may hold a semicolon; another is a single clause.
  if (info && after.ends_with(("; " + info->remedy).str())) {
    remedy = info->remedy;
    after = after.drop_back(remedy.size() + 2);
  } else if (after.contains("; ")) {
    std::tie(after, remedy) = after.rsplit("; ");
  } else if (info) {
    remedy = info->remedy;
  }
  result.cause = (before + after).str();
  result.remedy = remedy.str();
  return result;
}

std::optional<int> fusion::findErrorNumber(StringRef message) {
  auto code = locateCode(message);
  if (!code)
    return std::nullopt;
  return code->second;
}

int fusion::getExitStatus(int number) {
  const CodeInfo *info = findCode(number);
  return info && info->exitStatus ? info->exitStatus : int(kExitDiagnosed);
}

int fusion::getExitStatus(StringRef message) {
  std::optional<int> number = findErrorNumber(message);
  return number ? getExitStatus(*number) : int(kExitDiagnosed);
}
