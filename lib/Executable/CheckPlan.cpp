//===- CheckPlan.cpp - Are temporaries kept while they are needed? --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the check of a workspace, by walking the steps of an
// entry as a device would.
//
//===----------------------------------------------------------------------===//

#include "fusion/Executable/BufferPlan.h"

#include <algorithm>

namespace fusionpkg {

/// The temporaries that a step names.
static std::vector<uint32_t> findTemps(const Entry &entry, const Step &step) {
  std::vector<uint32_t> temps;
  auto add = [&](uint32_t buffer) {
    if (buffer < entry.buffers.size() &&
        entry.buffers[buffer].kind == BufferKind::Temp)
      temps.push_back(buffer);
  };
  if (step.kind == StepKind::Launch) {
    for (const Arg &arg : step.args)
      if (arg.kind == ArgKind::Buffer)
        add(arg.index);
      else if (arg.kind == ArgKind::TensorMap)
        add(entry.tensorMaps[arg.index].buffer);
    return temps;
  }
  add(step.dst);
  if (step.kind == StepKind::Copy)
    add(step.src);
  return temps;
}

Error checkPlan(const Entry &entry, const std::vector<int64_t> &bytes,
                const BufferPlan &plan) {
  auto meet = [&](uint32_t a, uint32_t b) {
    return bytes[a] > 0 && bytes[b] > 0 &&
           plan.offsets[a] < plan.offsets[b] + bytes[b] &&
           plan.offsets[b] < plan.offsets[a] + bytes[a];
  };
  // Temporaries that hold something, and those whose bytes another has taken.
  std::vector<bool> isHeld(entry.buffers.size()), isLost(entry.buffers.size());
  auto fail = [&](uint32_t lost, size_t step) {
    return Error(ErrorCode::WorkspaceOverlap,
                 "entry '" + entry.name + "', step " + std::to_string(step) +
                     ": temporary '" + entry.buffers[lost].name +
                     "' is needed, but another has taken its place");
  };
  for (size_t i = 0; i < entry.steps.size(); ++i) {
    std::vector<uint32_t> temps = findTemps(entry, entry.steps[i]);
    // What a step is the first to name, it writes.
    for (uint32_t temp : temps) {
      if (isHeld[temp])
        continue;
      isHeld[temp] = true;
      for (uint32_t other = 0; other < entry.buffers.size(); ++other)
        if (other != temp && isHeld[other] && meet(temp, other))
          isLost[other] = true;
    }
    for (uint32_t temp : temps)
      if (isLost[temp])
        return fail(temp, i);
  }
  return {};
}

} // namespace fusionpkg
