//===- CommandLine.cpp - Options of fusion-emulate ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the command line of fusion-emulate.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

using namespace fusionemu;

static bool parseDim(const std::string &text, Dim3 &dim) {
  std::vector<std::string> parts = split(text, ',');
  uint32_t *out[] = {&dim.x, &dim.y, &dim.z};
  if (parts.empty() || parts.size() > 3)
    return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    int64_t value;
    if (!parseInteger(parts[i], value) || value < 0 || value > 0xffffffffll)
      return false;
    *out[i] = uint32_t(value);
  }
  return true;
}

bool fusionemu::parseCommandLine(const std::vector<std::string> &args,
                                 CommandLine &line, std::string &error) {
  auto fail = [&](const std::string &text) {
    error = text;
    return false;
  };
  for (const std::string &arg : args) {
    size_t equals = arg.find('=');
    std::string name = arg.substr(0, equals);
    std::string value =
        equals == std::string::npos ? "" : arg.substr(equals + 1);
    int64_t number = 0;
    bool isNumber = parseInteger(value, number) && number >= 0;
    if (arg == "--list-kernels") {
      line.listKernels = true;
    } else if (arg == "--counters") {
      line.counters = true;
    } else if (arg == "--profile" || arg == "--profile=json") {
      line.profile = true;
      line.profileJson = arg != "--profile";
    } else if (arg == "--payload") {
      line.parse.payload = true;
    } else if (arg == "--time") {
      line.time = true;
    } else if (name == "--kernel") {
      line.kernel = value;
    } else if (name == "--grid" || name == "--block" || name == "--cluster") {
      Dim3 &dim = name == "--grid"    ? line.grid
                  : name == "--block" ? line.block
                                      : line.options.cluster;
      if (!parseDim(value, dim))
        return fail("'" + arg + "' is not of the form " + name + "=X,Y,Z");
    } else if (name == "--shared" && isNumber && number <= 0xffffffffll) {
      line.shared = uint32_t(number);
    } else if (name == "--threads" && isNumber && number <= 1024) {
      line.options.threads = unsigned(number);
    } else if (name == "--max-steps" && isNumber) {
      line.options.maxSteps = uint64_t(number);
    } else if (name == "--max-launch-steps" && isNumber) {
      line.options.maxLaunchSteps = uint64_t(number);
    } else if (name == "--no-check") {
      Checks &checks = line.options.checks;
      bool all = value == "all";
      if (!all && value != "uninitialized" && value != "shared-races" &&
          value != "global-races" && value != "asynchrony")
        return fail("'" + value + "' is not a check");
      checks.uninitialized &= !all && value != "uninitialized";
      checks.sharedRaces &= !all && value != "shared-races";
      checks.globalRaces &= !all && value != "global-races";
      checks.asynchrony &= !all && value != "asynchrony";
    } else if (name == "--asynchrony" &&
               (value == "late" || value == "early")) {
      line.options.asynchrony =
          value == "late" ? Asynchrony::Late : Asynchrony::Early;
    } else if (name == "--arg") {
      line.arguments.emplace_back();
      if (!parseArgument(value, line.arguments.back(), error))
        return false;
    } else if (name == "--buffer") {
      line.buffers.emplace_back();
      if (!parseArgument(value, line.buffers.back(), error))
        return false;
      if (line.buffers.back().kind != Argument::Kind::Buffer)
        return fail("'" + value + "' is no buffer");
    } else if (!arg.empty() && arg[0] != '-' && line.file.empty()) {
      line.file = arg;
    } else {
      return fail("cannot read '" + arg + "'");
    }
  }
  return !line.file.empty() || fail("expected a PTX file");
}
