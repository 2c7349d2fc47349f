//===- DecodeErrors.h - What cannot be decoded ---------------- -*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what decoding says about a kernel that it refuses.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_DECODEERRORS_H
#define FUSION_LIB_RUNTIME_EMULATOR_DECODEERRORS_H

#include "Program.h"

#include <string>

namespace fusionemu {

/// The first error in one kernel.
class DecodeErrors {
public:
  explicit DecodeErrors(const FunctionSyntax &function) : function(function) {}

  /// What is decoded now; null behind the last instruction.
  void setInstruction(const InstructionSyntax *instruction) {
    syntax = instruction;
  }
  // Each returns false.
  bool failSyntax(std::string reason);
  bool failUnsupported(std::string reason);
  bool failInstruction();
  /// The whole function is not supported, for this reason.
  bool failFunction(std::string reason);

  bool hasFailed() const { return !error.empty(); }
  /// "PTX line 12: ...".
  const std::string &getError() const { return error; }
  unsigned getErrorLine() const { return errorLine; }
  /// The error is about something valid that is not implemented.
  bool isUnsupported() const { return unsupportedError; }

private:
  const FunctionSyntax &function;
  const InstructionSyntax *syntax = nullptr;
  std::string error;
  unsigned errorLine = 0;
  bool unsupportedError = false;
};

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_DECODEERRORS_H
