//===- fusion-emulate.cpp - Run PTX without a GPU -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion-emulate, the command line of the PTX emulator.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "fusion-rt/Emulator/Profile.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace fusionemu;

namespace {
enum ExitCode { Success = 0, Diagnosed = 1, Usage = 2, Unsupported = 3 };

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
} // namespace

static const char usageText[] =
    R"(usage: fusion-emulate FILE.ptx [options]

Runs a PTX kernel on the built-in emulator, with all checks on.

  --list-kernels        print the kernels of the module and stop
  --kernel=NAME         the kernel to run; may be left out if there is one
  --grid=X[,Y[,Z]]      blocks, 1 each unless said
  --block=X[,Y[,Z]]     threads of a block
  --cluster=X[,Y[,Z]]   blocks of a cluster, when the kernel does not say
  --shared=BYTES        dynamic shared memory
  --arg=ARG             one argument; repeat in order. ARG is one of
        i8:N i16:N i32:N i64:N f32:X f64:X   a scalar
        buf:NAME:BYTES[:FILL]                a buffer
        out:NAME:TYPE:COUNT[:FILL]           a buffer, printed afterwards
        tmap:NAME:ELEMENT:DIMS:BOX[:OPTION]  a tensor map over the buffer NAME
      FILL is TYPE=VALUE or TYPE=iota; without it the bytes are uninitialised.
      TYPE is i8, i16, i32, i64, f32 or f64, u8 to u64 as well for out.
      ELEMENT is u8, s32, f16, bf16, f32, tf32 and so on; DIMS and BOX are lists
      with the innermost dimension first, as in tmap:a:bf16:512,64:64,64. BOX is
      im2col for such a map. An OPTION is strides=BYTES,..., swizzle=32|64|128,
      element-strides=N,..., fill=nan, offset=BYTES, l2=64|128|256,
      interleave=16|32; for im2col lower=W,H,D upper=W,H,D channels=N pixels=N.
  --buffer=ARG          a buffer (buf or out) that is no argument itself
  --counters            print what the launch did
  --profile[=json]      print what each instruction did: traffic, sectors of
                        each request, bank conflicts, pipes; as JSON nothing
                        else goes to the standard output
  --payload             replace floats by integers that wrap, so that sums are
                        exact in any order
  --time                print the time it took and the speed
  --threads=N           host threads, 0 for one per processor
  --max-steps=N         instructions that one warp may execute
  --asynchrony=WHEN     asynchronous operations take effect as late as PTX
                        allows (late, the default) or at once (early)
  --no-check=WHAT       uninitialized, shared-races, global-races, asynchrony
                        or all

Exit code: 0 ran, 1 an error was reported, 2 wrong usage, 3 unsupported.
)";

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

static bool fail(const std::string &text) {
  std::cerr << "fusion-emulate: " << text << "\n";
  return false;
}

static bool parseCommandLine(int argc, char **argv, CommandLine &line) {
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
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
      std::string error;
      if (!parseArgument(value, line.arguments.back(), error))
        return fail(error);
    } else if (name == "--buffer") {
      line.buffers.emplace_back();
      std::string error;
      if (!parseArgument(value, line.buffers.back(), error))
        return fail(error);
      if (line.buffers.back().kind != Argument::Kind::Buffer)
        return fail("'" + value + "' is no buffer");
    } else if (arg[0] != '-' && line.file.empty()) {
      line.file = arg;
    } else {
      return fail("cannot read '" + arg + "'");
    }
  }
  return !line.file.empty() || fail("expected a PTX file");
}

static int report(const Status &status) {
  std::cerr << "error: " << status.message() << "\n";
  return status.getKind() == ErrorKind::Unsupported ? Unsupported : Diagnosed;
}

static void listKernels(const Module &module) {
  for (const KernelInfo &k : module.getKernels()) {
    std::cout << k.name << "(";
    for (size_t i = 0; i < k.parameters.size(); ++i)
      std::cout << (i ? ", " : "") << k.parameters[i].size << " bytes";
    std::cout << ") shared " << k.staticSharedBytes
              << (k.usesDynamicShared ? "+dynamic" : "") << " local "
              << k.localBytes << " instructions " << k.instructions;
    if (k.reqntid.x)
      std::cout << " reqntid " << k.reqntid.x << "," << k.reqntid.y << ","
                << k.reqntid.z;
    if (!k.unsupported.empty())
      std::cout << " unsupported: " << k.unsupported;
    std::cout << "\n";
  }
}

static void printCounters(const Counters &n, std::FILE *file) {
  auto line = [file](const char *name, uint64_t value) {
    std::fprintf(file, "%s: %llu\n", name, (unsigned long long)value);
  };
  line("instructions", n.instructions);
  line("lane-instructions", n.laneInstructions);
  line("global-load-requests", n.globalLoadRequests);
  line("global-load-sectors", n.globalLoadSectors);
  line("global-load-bytes", n.globalLoadBytes);
  line("distinct-load-bytes", n.distinctLoadBytes);
  line("global-store-requests", n.globalStoreRequests);
  line("global-store-sectors", n.globalStoreSectors);
  line("global-store-bytes", n.globalStoreBytes);
  line("distinct-store-bytes", n.distinctStoreBytes);
  line("global-atomic-requests", n.globalAtomicRequests);
  line("global-atomic-sectors", n.globalAtomicSectors);
  line("global-atomic-bytes", n.globalAtomicBytes);
  line("shared-load-requests", n.sharedLoadRequests);
  line("shared-store-requests", n.sharedStoreRequests);
  line("shared-atomic-requests", n.sharedAtomicRequests);
  line("bank-conflicts", n.bankConflicts);
  line("barriers", n.barriers);
  line("divergent-branches", n.divergentBranches);
}

static int runTool(CommandLine &line) {
  std::ifstream stream(line.file, std::ios::binary);
  if (!stream) {
    fail("cannot open '" + line.file + "'");
    return Diagnosed;
  }
  std::ostringstream text;
  text << stream.rdbuf();
  Module module;
  size_t slash = line.file.rfind('/');
  std::string shortName =
      slash == std::string::npos ? line.file : line.file.substr(slash + 1);
  if (Status s = module.parse(text.str(), shortName, line.parse); !s.ok())
    return report(s);
  if (line.listKernels) {
    listKernels(module);
    return Success;
  }
  if (line.kernel.empty() && module.getKernels().size() == 1)
    line.kernel = module.getKernels()[0].name;
  const KernelInfo *kernel = module.findKernel(line.kernel);
  if (!kernel) {
    std::string names;
    for (const KernelInfo &k : module.getKernels())
      names += (names.empty() ? "" : ", ") + k.name;
    fail("the module has no kernel '" + line.kernel + "', only: " + names);
    return Usage;
  }
  Memory memory;
  std::vector<uint8_t> block;
  std::string error;
  Status prepared;
  switch (prepareArguments(line.arguments, line.buffers, *kernel, memory, block,
                           error, prepared)) {
  case Preparation::Done:
    break;
  case Preparation::BadUsage:
    fail(error);
    return Usage;
  case Preparation::Failed:
    return report(prepared);
  }
  line.options.print = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
  };
  Counters counters;
  Profile profile;
  if (line.profile)
    line.options.profile = &profile;
  auto begin = std::chrono::steady_clock::now();
  Status status =
      launch(memory, module, line.kernel, line.grid, line.block, line.shared,
             block.data(), block.size(), line.options, &counters);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  if (!status.ok())
    return report(status);
  std::FILE *file = line.profileJson ? stderr : stdout;
  for (const std::vector<Argument> *list : {&line.arguments, &line.buffers})
    for (const Argument &a : *list) {
      if (!a.isOutput)
        continue;
      std::vector<uint8_t> contents(a.size);
      if (Status s = memory.read(a.address, contents.data(), a.size); !s.ok())
        return report(s);
      printBuffer(a, contents, file);
    }
  if (line.counters)
    printCounters(counters, file);
  if (line.time)
    std::fprintf(file,
                 "milliseconds: %.3f\nmillion-lane-instructions-per-second: "
                 "%.0f\n",
                 seconds.count() * 1e3,
                 double(counters.laneInstructions) / seconds.count() / 1e6);
  if (line.profile) {
    ProfileReport profiles;
    profiles.addLaunch(line.kernel, line.grid, line.block, counters, profile);
    std::cout << (line.profileJson ? profiles.toJson() : profiles.toText());
  }
  return Success;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--help") == 0) {
      std::cout << usageText;
      return Success;
    }
  CommandLine line;
  if (!parseCommandLine(argc, argv, line)) {
    std::cerr << "try --help\n";
    return Usage;
  }
  return runTool(line);
}
