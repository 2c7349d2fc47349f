//===- RunTool.h - fusion-run as a function ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what fusion-run does, with its command line parsed.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_RUNTOOL_H
#define FUSION_TOOLS_RUNTOOL_H

#include "fusion/Reference/RandomInputs.h"
#include "fusion/Support/Counts.h"
#include "fusion/Tools/Steering.h"
#include <string>
#include <vector>

namespace mlir::fusion {

/// How fusion-run prints what its kernels did.
enum class ProfileFormat { None, Text, Json };

struct RunToolOptions {
  /// A program or a package.
  std::string input;
  /// Shared libraries with dialects that the program uses.
  std::vector<std::string> dialectPlugins;
  /// Empty: the only function.
  std::string entry;
  /// Empty: the device's, or the compiler's default on the emulator.
  std::string target;
  std::string device = "auto";
  /// One .npy file per argument, or none with `random`.
  std::vector<std::string> inputFiles;
  bool random = false;
  RandomInputOptions randomOptions;
  /// A folder for the outputs, empty for none.
  std::string outputFolder;
  /// The program of a package, for `verify`.
  std::string reference;
  bool verify = false, bench = false, explain = false;
  /// Run the program with a kernel for each operation too, and print both.
  bool compare = false;
  /// Where the page of the program and of what was measured goes, empty for
  /// nowhere. Of a program, not of a package.
  std::string report;
  /// Compare with the program run one operation at a time, both with integers
  /// in place of floats. Emulator only; excludes `verify`.
  bool verifyPayload = false;
  /// After `verify`: how many faults to plant in the kernels, one at a time.
  /// Emulator only, with `random`.
  unsigned mutate = 0;
  bool fastNumerics = false;
  /// As in CompileOptions.
  int64_t largestValue = kLargestValue;
  /// Of a program, not of a package.
  SteeringOptions steering;
  /// Emulator only. As JSON, everything else goes to the standard error.
  ProfileFormat profile = ProfileFormat::None;
  /// Emulator only: asynchronous operations take effect at once.
  bool earlyAsynchrony = false;
};

/// Compiles if need be, runs, verifies, times. Returns the exit status: 0 only
/// if the run succeeded and, with `verify`, every output is right.
int runRunTool(const RunToolOptions &options);

/// "NAME=SIZE" of --dim into `dims`; an error text if it is not that.
std::string parseDim(const std::string &text,
                     std::map<std::string, int64_t> &dims);
/// "LO:HI" of --int-range.
std::string parseIntRange(const std::string &text, int64_t &low, int64_t &high);

} // namespace mlir::fusion

#endif // FUSION_TOOLS_RUNTOOL_H
