//===- SectionPlan.h - Memory as a launch goes on ---------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the plan of a launch in sections: runs of steps, between
// which the caller allocates what the next one begins to need and gives back
// what the last one was the last to need.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_EXECUTABLE_SECTIONPLAN_H
#define FUSION_EXECUTABLE_SECTIONPLAN_H

#include "fusion/Executable/BufferPlan.h"

namespace fusionpkg {

/// Lives here count sections, both ends included; `first > last` is never.
struct SectionPlan {
  /// The first step of each section, of which there is at least one.
  std::vector<uint32_t> firstSteps;
  /// Of every buffer. Outputs are needed from their first step to the end.
  std::vector<Lifetime> uses;
  /// Where temporaries are. Those that are needed in the same sections have one
  /// block, and signals have one.
  std::vector<Lifetime> blocks;
  /// Of temporaries and signals: the block, and where in it.
  std::vector<uint32_t> blockOf;
  std::vector<int64_t> offsets;
  /// The most that is needed at a time: inputs that the caller gives back,
  /// outputs and temporaries; in sections, and were all there from the
  /// beginning to the end, with one workspace.
  int64_t bytes = 0, wholeBytes = 0;
};

/// Divides the steps of `entry` into as few sections as need no more memory
/// than the neediest step does. `bytes` are the sizes of its buffers,
/// `isReleased` says of every input whether the caller gives it back once it is
/// not needed, and the plan is of one section if those after the first would
/// spare less than `leastGain` bytes each. An error only when sizes pass 2^63
/// together.
Result<SectionPlan> planSections(const Entry &entry,
                                 const std::vector<int64_t> &bytes,
                                 const std::vector<bool> &isReleased,
                                 int64_t workspaceBytes, int64_t leastGain);

} // namespace fusionpkg

#endif // FUSION_EXECUTABLE_SECTIONPLAN_H
