//===- DecodeErrors.cpp - What cannot be decoded --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what decoding says about a kernel that it refuses.
//
//===----------------------------------------------------------------------===//

#include "Decode/DecodeErrors.h"

using namespace fusionemu;

bool DecodeErrors::failSyntax(std::string reason) {
  if (!error.empty())
    return false;
  errorLine = syntax ? syntax->line : function.line;
  error = "PTX line " + std::to_string(errorLine) + ": " + reason;
  if (syntax)
    error += " in '" + std::string(syntax->spelling) + "'";
  return false;
}

bool DecodeErrors::failUnsupported(std::string reason) {
  if (error.empty())
    unsupportedError = true;
  return failSyntax(std::move(reason));
}

bool DecodeErrors::failInstruction() {
  if (!error.empty())
    return false;
  unsupportedError = true;
  errorLine = syntax->line;
  error = "PTX line " + std::to_string(errorLine) + ": instruction '" +
          std::string(syntax->spelling) + "' is not supported";
  return false;
}

bool DecodeErrors::failFunction(std::string reason) {
  error = std::move(reason);
  unsupportedError = true;
  return false;
}
