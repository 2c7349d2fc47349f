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

const char *getDefaultRemedy(ErrorCode code) {
  switch (code) {
  case ErrorCode::None:
    return "";
#define FUSION_ERROR(name, number, remedy)                                     \
  case ErrorCode::name:                                                        \
    return remedy;
#include "fusion/Executable/Errors.def"
  }
  return "";
}

std::string Error::str() const {
  if (code == ErrorCode::None)
    return "";
  std::string text =
      "FUS-" + std::to_string(static_cast<int>(code)) + ": " + cause;
  if (!remedy.empty())
    text += "; " + remedy;
  return text;
}

} // namespace fusionpkg
