//===- Error.cpp - Coded errors without exceptions ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the text of errors.
//
//===----------------------------------------------------------------------===//

#include "fusion/Executable/Error.h"

namespace fusionpkg {

const std::vector<ErrorInfo> &getErrorTable() {
  static const std::vector<ErrorInfo> table = {
#define FUSION_ERROR(name, number, meaning, remedy)                            \
  {ErrorCode::name, #name, meaning, remedy},
#include "fusion/Executable/Errors.def"
  };
  return table;
}

const char *getDefaultRemedy(ErrorCode code) {
  for (const ErrorInfo &info : getErrorTable())
    if (info.code == code)
      return info.remedy;
  return "";
}

std::string Error::str() const {
  if (!content)
    return "";
  std::string text = "FUS-" + std::to_string(static_cast<int>(content->code)) +
                     ": " + content->cause;
  if (!content->remedy.empty())
    text += "; " + content->remedy;
  return text;
}

} // namespace fusionpkg
