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

#include "../RuntimeTool.h"
#include "CommandLine.h"
#include "fusion-rt/Emulator/Profile.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace fusionemu;
using namespace fusiontool;

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
    reportUnreadable("cannot open '" + line.file + "'");
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
    reportUsage("the module has no kernel '" + line.kernel +
                "', only: " + names);
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
    reportUsage(error);
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
  installCrashHandlers();
  CommandLine line;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (makeOptionTable(line).answer(arguments))
    return Success;
  std::string error;
  if (!parseCommandLine(arguments, line, error)) {
    reportUsage(error);
    return Usage;
  }
  return runTool(line);
}
