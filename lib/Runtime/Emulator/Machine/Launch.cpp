//===- Launch.cpp - Checking and starting launches ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements launch(): it checks the request, loads the variables of
// the module, and spreads the blocks over host threads.
//
//===----------------------------------------------------------------------===//

#include "Machine/Launch.h"

#include <algorithm>
#include <cstring>
#include <thread>

using namespace fusionemu;

/// Memory that the blocks that run at the same time may take together.
static constexpr uint64_t maxBlockBytes = uint64_t(4) << 30;

static std::string describe(Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," +
         std::to_string(d.z) + ")";
}

Status fusionemu::loadVariables(Memory::Impl &memory, const Program &program,
                                std::vector<uint64_t> &addresses) {
  auto known = memory.moduleVariables.find(program.id);
  if (known != memory.moduleVariables.end()) {
    addresses = known->second;
    return Status();
  }
  addresses.clear();
  for (const ModuleVariable &variable : program.variables) {
    uint64_t address = 0;
    if (Status s = memory.allocate(variable.size, variable.name, address);
        !s.ok())
      return s;
    addresses.push_back(address);
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    const ModuleVariable &variable = program.variables[i];
    Allocation *a = memory.findAtOrBelow(addresses[i]);
    if (!variable.init.empty())
      std::memcpy(a->data, variable.init.data(),
                  std::min<uint64_t>(variable.init.size(), a->size));
    for (const ModuleAddress &value : variable.initAddresses) {
      uint64_t bits = value.addend;
      if (value.variable < addresses.size())
        bits += addresses[value.variable];
      bits >>= value.shift;
      if (value.offset + value.size <= a->size)
        std::memcpy(a->data + value.offset, &bits, value.size);
    }
    // PTX initialises every variable, with zeros where nothing else is said.
    unmapPages(a->init, (a->size + 63) / 64 * 8);
    a->init = nullptr;
    a->readOnly = variable.space == Space::Const;
  }
  memory.moduleVariables[program.id] = addresses;
  return Status();
}

uint64_t fusionemu::getGlobalAddress(Memory &memory, const Module &module,
                                     std::string_view name) {
  if (!module.getImpl())
    return 0;
  const Program &program = module.getImpl()->program;
  std::vector<uint64_t> addresses;
  if (!loadVariables(memory.getImpl(), program, addresses).ok())
    return 0;
  for (size_t i = 0; i < addresses.size(); ++i)
    if (program.variables[i].name == name)
      return addresses[i];
  return 0;
}

std::vector<uint8_t> fusionemu::packArguments(const KernelInfo &kernel,
                                              const void *const *parameters) {
  std::vector<uint8_t> bytes(kernel.argumentBytes);
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const ParameterInfo &p = kernel.parameters[i];
    if (p.size)
      std::memcpy(bytes.data() + p.offset, parameters[i], p.size);
  }
  return bytes;
}

/// The blocks of a cluster: what the kernel requires, or what the caller asks
/// for, or one.
static Dim3 chooseCluster(const KernelInfo &info, const Options &options) {
  Dim3 cluster = info.cluster.x != 0 ? info.cluster : options.cluster;
  return {std::max(cluster.x, 1u), std::max(cluster.y, 1u),
          std::max(cluster.z, 1u)};
}

static Status checkLaunch(const Kernel &kernel, Dim3 grid, Dim3 block,
                          Dim3 cluster, uint64_t sharedBytes,
                          size_t argumentBytes, const Options &options) {
  const KernelInfo &info = kernel.info;
  std::string prefix = "launch of '" + info.name + "': ";
  auto refuse = [&](const std::string &why) {
    return Status(ErrorKind::BadLaunch, prefix + why);
  };
  if (!info.unsupported.empty())
    return Status(ErrorKind::Unsupported, prefix + info.unsupported);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 ||
      block.y == 0 || block.z == 0)
    return refuse("grid " + describe(grid) + " and block " + describe(block) +
                  " must not have a zero");
  if (grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
    return refuse("grid " + describe(grid) +
                  " exceeds (2147483647,65535,65535)");
  if (block.x > 1024 || block.y > 1024 || block.z > 64 ||
      uint64_t(block.x) * block.y * block.z > 1024)
    return refuse("block " + describe(block) +
                  " exceeds (1024,1024,64) or 1024 threads");
  Dim3 required = info.cluster, asked = options.cluster;
  if (required.x != 0 && asked.x != 0 &&
      (asked.x != required.x ||
       std::max(asked.y, 1u) != std::max(required.y, 1u) ||
       std::max(asked.z, 1u) != std::max(required.z, 1u)))
    return refuse("cluster " + describe(asked) +
                  " is not the .reqnctapercluster " + describe(required) +
                  " of the kernel");
  Dim3 r = info.reqntid;
  if (r.x != 0 && (block.x != r.x || block.y != std::max(r.y, 1u) ||
                   block.z != std::max(r.z, 1u)))
    return refuse("block " + describe(block) + " is not the .reqntid " +
                  describe(r) + " of the kernel");
  Dim3 m = info.maxntid;
  if (m.x != 0 && uint64_t(block.x) * block.y * block.z >
                      uint64_t(m.x) * std::max(m.y, 1u) * std::max(m.z, 1u))
    return refuse("block " + describe(block) + " exceeds the .maxntid " +
                  describe(m) + " of the kernel");
  if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    return refuse("grid " + describe(grid) +
                  " is not made of whole clusters of " + describe(cluster) +
                  " blocks");
  uint64_t clusterSize = uint64_t(cluster.x) * cluster.y * cluster.z;
  if (clusterSize > maxClusterSize)
    return refuse("a cluster of " + describe(cluster) + " exceeds " +
                  std::to_string(maxClusterSize) + " blocks");
  if (sharedBytes > options.maxSharedBytes)
    return refuse(std::to_string(sharedBytes) +
                  " bytes of shared memory exceed the limit of " +
                  std::to_string(options.maxSharedBytes));
  if (argumentBytes != info.argumentBytes)
    return refuse("the argument block has " + std::to_string(argumentBytes) +
                  " bytes, the kernel takes " +
                  std::to_string(info.argumentBytes));
  return Status();
}

/// How many host threads pay off.
static unsigned chooseThreads(const Launch &launch) {
  if (launch.kernel.orderSensitive)
    return 1;
  unsigned threads = launch.options.threads;
  if (threads == 0) {
    threads = std::max(1u, std::thread::hardware_concurrency());
    // Starting a thread costs as much as a few thousand instructions.
    uint64_t work =
        launch.numBlocks * launch.numWarps * launch.kernel.code.size();
    threads = unsigned(std::min<uint64_t>(threads, work / 4096 + 1));
  }
  threads = std::min(threads, 256u);
  // A kernel of many registers or local variables takes up to 1 GiB a block.
  uint64_t clusterBytes =
      launch.teamSize * launch.clusterSize * launch.numWarps *
          (uint64_t(launch.kernel.fileBytes) +
           uint64_t(launch.kernel.info.localBytes) * warpSize) +
      1;
  threads =
      unsigned(std::clamp<uint64_t>(maxBlockBytes / clusterBytes, 1, threads));
  uint64_t teamBlocks = uint64_t(launch.teamSize) * launch.clusterSize;
  return unsigned(std::min<uint64_t>(
      threads, std::max<uint64_t>(launch.numBlocks / teamBlocks, 1)));
}

static uint64_t countBits(const uint64_t *bits, uint64_t count) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < (count + 63) / 64; ++i)
    total += unsigned(__builtin_popcountll(bits[i]));
  return total;
}

/// Adds up the distinct sectors and drops what only the launch needed.
static void finishShadows(Memory::Impl &memory, Counters &counters) {
  for (Allocation *a : memory.allocations) {
    uint64_t sectors = a->size / 32 + 1, bytes = (sectors + 63) / 64 * 8;
    if (a->loadSectors)
      counters.distinctLoadBytes += 32 * countBits(a->loadSectors, sectors);
    if (a->storeSectors)
      counters.distinctStoreBytes += 32 * countBits(a->storeSectors, sectors);
    unmapPages(a->loadSectors, bytes);
    unmapPages(a->storeSectors, bytes);
    uint64_t race = (a->size + 1) * 4;
    unmapPages(a->writers, race);
    unmapPages(a->readers, race);
    a->loadSectors = a->storeSectors = nullptr;
    a->writers = a->readers = nullptr;
  }
}

Status fusionemu::launch(Memory &memory, const Module &module,
                         std::string_view name, Dim3 grid, Dim3 block,
                         uint32_t dynamicSharedBytes, const void *arguments,
                         size_t argumentBytes, const Options &options,
                         Counters *counters) {
  const Kernel *kernel = nullptr;
  if (!module.getImpl())
    return Status(ErrorKind::BadLaunch, "launch from an empty module");
  const Program &program = module.getImpl()->program;
  for (const Kernel &k : program.kernels)
    if (k.info.name == name)
      kernel = &k;
  if (!kernel)
    return Status(ErrorKind::BadLaunch,
                  "the module has no kernel '" + std::string(name) + "'");
  uint64_t sharedBytes = kernel->info.staticSharedBytes;
  if (dynamicSharedBytes)
    sharedBytes = uint64_t(kernel->dynamicSharedOffset) + dynamicSharedBytes;
  Dim3 cluster = chooseCluster(kernel->info, options);
  if (kernel->info.gridOfClusters) {
    if (uint64_t(grid.x) * cluster.x > 0x7fffffff ||
        uint64_t(grid.y) * cluster.y > 65535 ||
        uint64_t(grid.z) * cluster.z > 65535)
      return Status(ErrorKind::BadLaunch,
                    "launch of '" + kernel->info.name + "': a grid of " +
                        describe(grid) + " clusters of " + describe(cluster) +
                        " blocks is too large");
    grid = {grid.x * cluster.x, grid.y * cluster.y, grid.z * cluster.z};
  }
  if (Status s = checkLaunch(*kernel, grid, block, cluster, sharedBytes,
                             argumentBytes, options);
      !s.ok())
    return s;

  Launch launch(memory.getImpl(), program, *kernel, options);
  launch.grid = grid;
  launch.blockDim = block;
  launch.numBlocks = uint64_t(grid.x) * grid.y * grid.z;
  launch.numThreads = block.x * block.y * block.z;
  launch.numWarps = (launch.numThreads + warpSize - 1) / warpSize;
  launch.cluster = cluster;
  launch.clusterSize = cluster.x * cluster.y * cluster.z;
  launch.teamSize = std::max(options.residentBlocks / launch.clusterSize, 1u);
  launch.sharedBytes = uint32_t(sharedBytes);
  launch.dynamicSharedBytes = dynamicSharedBytes;
  const auto *bytes = static_cast<const uint8_t *>(arguments);
  launch.params.assign(bytes, bytes + argumentBytes);
  if (Status s = loadVariables(memory.getImpl(), program, launch.variables);
      !s.ok())
    return s;

  unsigned threads = chooseThreads(launch);
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i)
    others.emplace_back([&launch] { launch.work(); });
  launch.work();
  for (std::thread &other : others)
    other.join();
  finishShadows(memory.getImpl(), launch.counters);
  if (options.profile)
    *options.profile =
        makeProfile(program, *kernel, launch.profile, launch.counters);
  if (counters)
    *counters = launch.counters;
  return launch.error;
}
