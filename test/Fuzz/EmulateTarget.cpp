//===- EmulateTarget.cpp - Command lines of fusion-emulate
//-----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the fuzz target of the command line of fusion-emulate:
// options, buffers and tensor maps, up to the launch of a small kernel.
//
//===----------------------------------------------------------------------===//

#include "Lines.h"
#include "Targets.h"
#include "fusion-emulate/CommandLine.h"

#include <algorithm>

using namespace fusionemu;

/// Reads one element and writes another, where it is given addresses.
static const char kernelText[] =
    ".version 8.7\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n,\n"
    "    .param .align 64 .b8 map[128]) {\n"
    ".reg .b64 %x<3>; .reg .b32 %r<3>;\n"
    "ld.param.u64 %x0, [a]; ld.param.u64 %x1, [b];\n"
    "ld.global.u32 %r0, [%x0]; st.global.u32 [%x1], %r0;\nret;\n}";

/// Prints into nothing.
static void print(const Argument &argument, const Memory &memory) {
  std::vector<uint8_t> contents(argument.size);
  if (!memory.read(argument.address, contents.data(), contents.size()).ok())
    return;
  if (std::FILE *file = std::fopen("/dev/null", "w")) {
    printBuffer(argument, contents, file);
    std::fclose(file);
  }
}

std::string fusionfuzz::fuzzEmulateCommandLine(const uint8_t *data,
                                               size_t size) {
  CommandLine line;
  std::string error;
  std::vector<std::string> args = splitLines(data, size);
  if (!parseCommandLine(args, line, error))
    return error.empty() ? "refused without a reason" : "";
  constexpr uint64_t maxBuffer = 1 << 16;
  for (const std::vector<Argument> *list : {&line.arguments, &line.buffers})
    for (const Argument &argument : *list)
      if (argument.size > maxBuffer)
        return {};
  Module module;
  if (Status s = module.parse(kernelText); !s.ok())
    return s.message();
  Memory memory;
  memory.setLimit(uint64_t(16) << 20);
  std::vector<uint8_t> block;
  Status status;
  switch (prepareArguments(line.arguments, line.buffers,
                           *module.findKernel("k"), memory, block, error,
                           status)) {
  case Preparation::BadUsage:
    return error.empty() ? "bad usage without a reason" : "";
  case Preparation::Failed:
    return status.ok() ? "failed without a reason" : "";
  case Preparation::Done:
    break;
  }
  line.options.threads = 1;
  line.options.maxSteps = std::min<uint64_t>(line.options.maxSteps, 1000);
  line.options.maxLaunchSteps = 1000;
  status = launch(memory, module, "k", line.grid, line.block, line.shared,
                  block.data(), block.size(), line.options);
  if (!status.ok())
    return {};
  for (const std::vector<Argument> *list : {&line.arguments, &line.buffers})
    for (const Argument &argument : *list)
      if (argument.isOutput)
        print(argument, memory);
  return {};
}
