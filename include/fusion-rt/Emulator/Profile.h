//===- Profile.h - What the instructions of a kernel did --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines counts for each instruction of a launch, and the report
// that adds launches up and prints them as text or JSON.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RT_EMULATOR_PROFILE_H
#define FUSION_RT_EMULATOR_PROFILE_H

#include "fusion-rt/Emulator/Emulator.h"

namespace fusionemu {

/// What one instruction of the PTX text did, in all warps of the launch.
struct InstructionCounts {
  uint64_t executions = 0; ///< By warps.
  uint64_t lanes = 0;      ///< Summed over the executions.
  /// Loads, stores and atomics of global memory; sectors have 32 bytes.
  uint64_t globalRequests = 0, globalSectors = 0, globalBytes = 0;
  uint64_t sharedRequests = 0, bankConflicts = 0;
  /// Bytes that it started to copy between global and shared memory.
  uint64_t copyBytes = 0;

  InstructionCounts &operator+=(const InstructionCounts &other);
};

struct InstructionProfile {
  uint32_t line = 0;  ///< Of the PTX text.
  std::string source; ///< "model.mlir:17", or empty.
  std::string text;   ///< "ld.global.v4.f32"
  Pipe pipe = Pipe::Other;
  InstructionCounts counts;
};

/// All instructions of a kernel in the order of the code, also those that
/// never ran. A function that is called from several places counts once.
class Profile {
public:
  std::vector<InstructionProfile> instructions;
};

/// DRAM traffic: bytes that were read and bytes that were written, each once.
uint64_t getTraffic(const Counters &counters);

/// The launches of one kernel, added up.
struct KernelProfile {
  std::string name;
  uint64_t launches = 0;
  Dim3 grid, block; ///< Of the last launch.
  Counters counters;
  Profile profile;
  /// DRAM traffic that the compiler predicted for all launches; -1 unknown.
  int64_t predictedBytes = -1;
};

/// What a run did, kernel by kernel in the order of their first launches.
class ProfileReport {
public:
  void addLaunch(std::string_view kernel, Dim3 grid, Dim3 block,
                 const Counters &counters, const Profile &profile);
  /// Sets the predicted traffic of a kernel that was launched.
  void setPrediction(std::string_view kernel, int64_t bytes);
  /// The predicted traffic of the whole run; -1 unknown.
  void setTotalPrediction(int64_t bytes) { predictedBytes = bytes; }

  const std::vector<KernelProfile> &getKernels() const { return kernels; }

  /// Tables of the kernels and of the `hotLines` instructions with the most
  /// sectors, and with the most bank conflicts.
  std::string toText(unsigned hotLines = 10) const;
  /// As docs/Emulator.md defines it.
  std::string toJson() const;

private:
  KernelProfile &getKernel(std::string_view name);
  KernelProfile getTotal() const;

  std::vector<KernelProfile> kernels;
  int64_t predictedBytes = -1;
};

} // namespace fusionemu

#endif // FUSION_RT_EMULATOR_PROFILE_H
