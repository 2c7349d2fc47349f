//===- Launch.h - One launch ------------------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what the host threads of one launch share.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_LAUNCH_H
#define FUSION_LIB_RUNTIME_EMULATOR_LAUNCH_H

#include "Machine/Context.h"
#include "Machine/MemoryImpl.h"
#include "Operations.h"
#include "ProfileImpl.h"

#include <atomic>
#include <mutex>

namespace fusionemu {

/// What all host threads of one launch share.
class Launch {
public:
  Memory::Impl &memory;
  const Program &program;
  const Kernel &kernel;
  const Options &options;
  Dim3 grid, blockDim;
  uint64_t numBlocks = 0;
  uint32_t numThreads = 0, numWarps = 0;
  Dim3 cluster; ///< Blocks of a cluster.
  uint32_t clusterSize = 1;
  uint32_t teamSize = 1; ///< Clusters that run in turns.
  uint32_t sharedBytes = 0, dynamicSharedBytes = 0;
  std::vector<uint8_t> params;
  /// Where the launch put the variables of the module.
  std::vector<uint64_t> variables;

  /// Counts teams of clusters, and clusters.
  std::atomic<uint64_t> nextBlock{0};
  /// The lowest one that failed; those behind it are not started, so that
  /// the error reported does not depend on the host's threads.
  std::atomic<uint64_t> failedBlock{~uint64_t(0)};
  /// Instructions of all warps so far, where they are limited.
  std::atomic<uint64_t> steps{0};
  std::mutex resultMutex;
  Status error;
  Counters counters;
  /// By instruction of the kernel; empty without a profile.
  std::vector<InstructionCounts> profile;

  Launch(Memory::Impl &memory, const Program &program, const Kernel &kernel,
         const Options &options)
      : memory(memory), program(program), kernel(kernel), options(options) {}

  /// Runs blocks until none is left; one call for each host thread.
  void work();

private:
  /// Whether the launch has executed more than it may, `count` instructions
  /// after it was asked last; the error is set then.
  bool exceedsSteps(uint64_t count);
};

/// Lets lanes that wait to reconverge go on alone: those they wait for may be
/// waiting for them, at a lock for example.
void releaseWaitingLanes(Warp &warp);

/// Creates the module's variables in memory once; `addresses` has one entry
/// for each.
Status loadVariables(Memory::Impl &memory, const Program &program,
                     std::vector<uint64_t> &addresses);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_LAUNCH_H
