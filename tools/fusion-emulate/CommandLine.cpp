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

static std::string readAsynchrony(const std::string &value,
                                  Asynchrony &asynchrony) {
  if (value != "late" && value != "early")
    return "'" + value + "' is neither late nor early";
  asynchrony = value == "late" ? Asynchrony::Late : Asynchrony::Early;
  return "";
}

/// Switches a check, or all, off.
static std::string readNoCheck(const std::string &value, Checks &checks) {
  const std::pair<const char *, bool *> all[] = {
      {"uninitialized", &checks.uninitialized},
      {"shared-races", &checks.sharedRaces},
      {"global-races", &checks.globalRaces},
      {"asynchrony", &checks.asynchrony}};
  bool isKnown = false;
  for (auto [name, check] : all)
    if (value == "all" || value == name) {
      *check = false;
      isKnown = true;
    }
  return isKnown ? "" : "'" + value + "' is not a check";
}

static const char detailsText[] =
    R"(ARG is one of
  i8:N i16:N i32:N i64:N f32:X f64:X   a scalar
  buf:NAME:BYTES[:FILL]                a buffer
  out:NAME:TYPE:COUNT[:FILL]           a buffer, printed afterwards
  tmap:NAME:ELEMENT:DIMS:BOX[:OPTION]  a tensor map over the buffer NAME
FILL is TYPE=VALUE or TYPE=iota; without it the bytes are uninitialised.
TYPE is i8, i16, i32, i64, f32 or f64, u8 to u64 as well for out.
ELEMENT is u8, s32, f16, bf16, f32, tf32 and so on; DIMS and BOX are lists with
the innermost dimension first, as in tmap:a:bf16:512,64:64,64. BOX is im2col for
such a map. An OPTION is strides=BYTES,..., swizzle=32|64|128,
element-strides=N,..., fill=nan, offset=BYTES, l2=64|128|256,
interleave=16|32; for im2col lower=W,H,D upper=W,H,D channels=N pixels=N.

Exit code: 0 ran, 1 an error was reported, 2 wrong usage, 3 unsupported, 70 a
defect of the tool.
)";

/// Adds the options that say what is launched.
static void addLaunch(fusiontool::OptionTable &table, CommandLine &line) {
  auto addDim = [&](const std::string &name, std::string text, Dim3 &dim) {
    table.add(name + "=X[,Y[,Z]]", std::move(text),
              [&dim](const std::string &value) {
                return parseDim(value, dim)
                           ? ""
                           : "'" + value + "' is not of the form X,Y,Z";
              });
  };
  table.addText("--kernel=NAME",
                "The kernel to run; may be left out if there is one",
                line.kernel);
  addDim("--grid", "Blocks, 1 each unless said", line.grid);
  addDim("--block", "Threads of a block", line.block);
  addDim("--cluster", "Blocks of a cluster, when the kernel does not say",
         line.options.cluster);
  table.addNumber("--shared=BYTES", "Dynamic shared memory", line.shared,
                  UINT32_MAX);
  table.add("--arg=ARG", "One argument; repeat in order",
            [&line](const std::string &value) {
              std::string error;
              bool fine =
                  parseArgument(value, line.arguments.emplace_back(), error);
              return fine ? std::string() : error;
            });
  table.add("--buffer=ARG", "A buffer (buf or out) that is no argument itself",
            [&line](const std::string &value) {
              std::string error;
              Argument &buffer = line.buffers.emplace_back();
              if (!parseArgument(value, buffer, error))
                return error;
              return buffer.kind == Argument::Kind::Buffer
                         ? std::string()
                         : "'" + value + "' is no buffer";
            });
}

/// Adds the options that say how it runs and what is printed.
static void addRun(fusiontool::OptionTable &table, CommandLine &line) {
  table.addFlag("--counters", "Print what the launch did", line.counters);
  table.add("--profile[=json]",
            "Print what each instruction did: traffic, sectors of each "
            "request, bank conflicts, pipes; as JSON nothing else goes to the "
            "standard output",
            [&line](const std::string &value) {
              line.profile = true;
              line.profileJson = value == "json";
              return value.empty() || value == "json"
                         ? ""
                         : "'" + value + "' is not json";
            });
  table.addFlag("--payload",
                "Replace floats by integers that wrap, so that sums are exact "
                "in any order",
                line.parse.payload);
  table.addFlag("--time", "Print the time it took and the speed", line.time);
  table.addNumber("--threads=N", "Host threads, 0 for one per processor",
                  line.options.threads, 1024);
  table.addNumber("--max-steps=N", "Instructions that one warp may execute",
                  line.options.maxSteps);
  table.addNumber("--max-launch-steps=N",
                  "Instructions that all warps together may execute",
                  line.options.maxLaunchSteps);
  table.add("--asynchrony=late|early",
            "When asynchronous operations take effect: as late as PTX allows, "
            "the default, or at once",
            [&line](const std::string &value) {
              return readAsynchrony(value, line.options.asynchrony);
            });
  table.add("--no-check=uninitialized|shared-races|global-races|asynchrony|all",
            "Switch a check off; repeat", [&line](const std::string &value) {
              return readNoCheck(value, line.options.checks);
            });
}

fusiontool::OptionTable fusionemu::makeOptionTable(CommandLine &line) {
  fusiontool::OptionTable table(
      "fusion-emulate", "FILE.ptx [options]",
      "Runs a PTX kernel on the built-in emulator, with all checks on");
  table.addFlag("--list-kernels", "Print the kernels of the module and stop",
                line.listKernels);
  addLaunch(table, line);
  addRun(table, line);
  table.setPositional([&line](const std::string &argument) {
    if (!line.file.empty())
      return "cannot read '" + argument + "'";
    line.file = argument;
    return std::string(argument.empty() ? "the name of the file is empty" : "");
  });
  table.setDetails(detailsText);
  return table;
}

bool fusionemu::parseCommandLine(const std::vector<std::string> &args,
                                 CommandLine &line, std::string &error) {
  error = makeOptionTable(line).parse(args);
  if (error.empty() && line.file.empty())
    error = "expected a PTX file";
  return error.empty();
}
