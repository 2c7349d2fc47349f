//===- CommandLine.h - Options of fusion-emulate ---------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the command line of fusion-emulate.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_EMULATE_COMMANDLINE_H
#define FUSION_TOOLS_FUSION_EMULATE_COMMANDLINE_H

#include "../OptionTable.h"
#include "Arguments.h"

namespace fusionemu {

struct CommandLine {
  std::string file, kernel;
  bool listKernels = false, counters = false, time = false;
  bool profile = false, profileJson = false;
  ParseOptions parse;
  Dim3 grid, block;
  uint32_t shared = 0;
  Options options;
  std::vector<Argument> arguments;
  std::vector<Argument> buffers; ///< That are no arguments themselves.
};

/// The options, which write into `line`.
fusiontool::OptionTable makeOptionTable(CommandLine &line);

/// Reads the arguments behind the name of the program. On failure `error` says
/// why.
bool parseCommandLine(const std::vector<std::string> &args, CommandLine &line,
                      std::string &error);

} // namespace fusionemu

#endif // FUSION_TOOLS_FUSION_EMULATE_COMMANDLINE_H
