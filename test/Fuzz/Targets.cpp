//===- Targets.cpp - What the fuzzers run ---------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the bodies of the fuzz targets. Crashes, hangs and
// memory beyond the limit show by themselves; what is checked here is that
// runs which must agree do.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "Generator.h"
#include "Operations.h"
#include "fusion-rt/Emulator/Emulator.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

using namespace fusionemu;

/// Device memory of one run.
static constexpr uint64_t memoryLimit = uint64_t(64) << 20;

//===----------------------------------------------------------------------===//
// The parser
//===----------------------------------------------------------------------===//

/// Launches a kernel whose every parameter is full of addresses of one buffer.
static void runSomehow(const Module &module, const KernelInfo &kernel) {
  if (kernel.argumentBytes > 4096 || kernel.localBytes > 16384)
    return;
  Memory memory;
  memory.setLimit(memoryLimit);
  uint64_t address = 0;
  std::vector<uint8_t> contents(4096, 1);
  if (!memory.allocate(contents.size(), "buffer", address).ok() ||
      !memory.write(address, contents.data(), contents.size()).ok())
    return;
  std::vector<uint8_t> arguments(kernel.argumentBytes);
  for (size_t i = 0; i + 8 <= arguments.size(); i += 8)
    std::memcpy(&arguments[i], &address, 8);
  Dim3 block = {33, 1, 1};
  if (kernel.reqntid.x != 0)
    block = {kernel.reqntid.x, std::max(kernel.reqntid.y, 1u),
             std::max(kernel.reqntid.z, 1u)};
  else if (kernel.maxntid.x != 0)
    block.x = std::min(block.x, kernel.maxntid.x);
  Options options;
  options.maxSteps = 500;
  options.threads = 1;
  // Two blocks, unless the kernel asks for clusters of its own.
  for (uint32_t blocks : {2u, 8u})
    if (launch(memory, module, kernel.name, {blocks, 1, 1}, block, 64,
               arguments.data(), arguments.size(), options)
            .getKind() != ErrorKind::BadLaunch)
      return;
}

std::string fusionfuzz::fuzzParser(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Module module;
  Status status = module.parse(text, "fuzz.ptx");
  if (!status.ok()) {
    size_t lines = 1 + size_t(std::count(text.begin(), text.end(), '\n'));
    if (status.getLine() > lines)
      return "an error in a line that does not exist: " + status.message();
    if (status.getKind() != ErrorKind::Syntax &&
        status.getKind() != ErrorKind::Unsupported)
      return "an error of another kind: " + status.message();
    if (status.message().find("fuzz.ptx") == std::string::npos)
      return "an error without the file: " + status.message();
    return {};
  }
  size_t kernels = 0;
  for (const KernelInfo &kernel : module.getKernels()) {
    if (module.findKernel(kernel.name) != &kernel)
      return "kernel '" + kernel.name + "' cannot be found";
    if (++kernels <= 4)
      runSomehow(module, kernel);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {
/// All that a launch leaves behind.
struct Outcome {
  Status status;
  Counters counters;
  std::vector<uint8_t> memory;
};
} // namespace

static Outcome run(const fusionfuzz::Program &program, const Module &module,
                   const Options &options) {
  using namespace fusionfuzz;
  Outcome outcome;
  Memory memory;
  memory.setLimit(memoryLimit);
  static constexpr uint32_t sizes[] = {inputBytes, maxBlocks * sliceBytes,
                                       atomicBytes};
  static const char *const names[] = {"in", "out", "sum"};
  uint64_t addresses[3] = {};
  const KernelInfo &kernel = *module.findKernel("k");
  std::vector<uint8_t> arguments(kernel.argumentBytes);
  for (unsigned i = 0; i < 3; ++i) {
    std::vector<uint8_t> contents(sizes[i]);
    for (uint32_t k = 0; k < sizes[i]; ++k)
      contents[k] = uint8_t((k * 2654435761u + i) >> 13);
    outcome.status = memory.allocate(sizes[i], names[i], addresses[i]);
    // The last part of the output is never initialised.
    uint32_t written = i == 1 ? sizes[i] - sliceBytes / 2 : sizes[i];
    if (outcome.status.ok())
      outcome.status = memory.write(addresses[i], contents.data(), written);
    if (!outcome.status.ok())
      return outcome;
    std::memcpy(&arguments[8 * i], &addresses[i], 8);
  }
  std::memcpy(&arguments[24], &program.scalar, 4);
  // A map that cannot be encoded stays zero, which is no map.
  uint8_t map[tensorMapBytes] = {};
  TensorMapInfo info = program.map;
  info.globalAddress = addresses[0];
  (void)encodeTensorMap(info, map).ok();
  if (program.damagedByte < tensorMapBytes)
    map[program.damagedByte] ^= 0x11;
  std::memcpy(&arguments[kernel.parameters.back().offset], map, sizeof(map));
  outcome.status = launch(memory, module, "k", program.grid, program.block,
                          program.dynamicSharedBytes, arguments.data(),
                          arguments.size(), options, &outcome.counters);
  for (unsigned i = 0; i < 3; ++i) {
    std::vector<uint8_t> contents(sizes[i]);
    if (Status s = memory.read(addresses[i], contents.data(), sizes[i]);
        !s.ok())
      outcome.status = s;
    outcome.memory.insert(outcome.memory.end(), contents.begin(),
                          contents.end());
  }
  return outcome;
}

static std::string compare(const Outcome &a, const Outcome &b, const char *what,
                           bool counters) {
  if (a.status.message() != b.status.message())
    return std::string(what) + ": '" + a.status.message() + "' against '" +
           b.status.message() + "'";
  for (size_t i = 0; i < a.memory.size(); ++i)
    if (a.memory[i] != b.memory[i])
      return std::string(what) + ": memory differs at byte " +
             std::to_string(i) + " of in, out and sum, " +
             std::to_string(a.memory[i]) + " against " +
             std::to_string(b.memory[i]);
  static_assert(std::is_trivially_copyable_v<Counters>, "compared as bytes");
  if (counters && std::memcmp(&a.counters, &b.counters, sizeof(Counters)) != 0)
    return std::string(what) + ": counters differ";
  return {};
}

std::string fusionfuzz::fuzzExecution(const uint8_t *data, size_t size) {
  Program program = generate(data, size);
  Module module;
  if (Status s = module.parse(program.text); !s.ok())
    return s.message();
  const KernelInfo *kernel = module.findKernel("k");
  if (!kernel->unsupported.empty())
    return kernel->unsupported;

  Options options;
  options.maxSteps = 3000;
  options.threads = 1;
  options.cluster = program.cluster;
  Outcome first = run(program, module, options);

  // Early, copies take effect at another time, and a program without the
  // waits it needs may come to another end. It has to come to one.
  Options early = options;
  early.asynchrony = Asynchrony::Early;
  (void)run(program, module, early);

  // Neither host threads nor the host's instructions may change anything.
  auto isRace = [](const Outcome &o) {
    return o.status.getKind() == ErrorKind::GlobalRace;
  };
  Options threaded = options;
  threaded.threads = 2;
  Outcome other = run(program, module, threaded);
  if (!isRace(first) && !isRace(other)) {
    // What blocks behind a failed one did depends on who came first.
    if (!first.status.ok())
      other.memory = first.memory;
    if (std::string s =
            compare(first, other, "1 and 2 host threads", first.status.ok());
        !s.empty())
      return s;
  }
  std::string chosen = getHandlers().name;
  for (const char *name : {"isa_base", "isa_v3", "isa_v4"}) {
    if (chosen == name || !selectHandlers(name))
      continue;
    Module again;
    Status parsed = again.parse(program.text);
    Outcome wide = run(program, again, options);
    selectHandlers(chosen);
    if (!parsed.ok())
      return parsed.message();
    if (std::string s = compare(first, wide, name, true); !s.empty())
      return s;
  }
  // What no check objects to gives the same without checks.
  if (!first.status.ok())
    return {};
  Options unchecked = options;
  unchecked.checks = {false, false, false, false};
  unchecked.countMemory = false;
  return compare(first, run(program, module, unchecked), "checks on and off",
                 false);
}
