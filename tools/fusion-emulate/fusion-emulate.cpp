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
  --max-launch-steps=N  instructions that all warps together may execute
  --asynchrony=WHEN     asynchronous operations take effect as late as PTX
                        allows (late, the default) or at once (early)
  --no-check=WHAT       uninitialized, shared-races, global-races, asynchrony
                        or all

Exit code: 0 ran, 1 an error was reported, 2 wrong usage, 3 unsupported, 70 a
defect of the tool.
)";

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
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--help") == 0) {
      std::cout << usageText;
      return Success;
    }
  CommandLine line;
  std::string error;
  if (!parseCommandLine({argv + 1, argv + argc}, line, error)) {
    reportUsage(error);
    return Usage;
  }
  return runTool(line);
}
