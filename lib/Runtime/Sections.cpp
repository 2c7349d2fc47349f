//===- Sections.cpp - Launches between which memory comes and goes --------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the division of a launch for the sizes of its inputs.
//
//===----------------------------------------------------------------------===//

#include "Objects.h"

#include <algorithm>

namespace fusionrt {

using namespace fusionpkg;

Result<std::unique_ptr<FusionRtSections>>
makeSections(FusionRtEntry &entry, const FusionRtTensor *inputs,
             uint32_t numInputs, const FusionRtSectionOptions &options) {
  const Specialization *spec = nullptr;
  std::unique_ptr<Specialization> transient;
  if (Error error = entry.specialize(inputs, numInputs, spec, transient))
    return error;
  std::vector<bool> isReleased(numInputs, false);
  for (uint32_t i = 0; options.isReleased && i < numInputs; ++i)
    isReleased[i] = options.isReleased[i] != 0;
  auto leastGain =
      static_cast<int64_t>(std::min<uint64_t>(options.leastGain, INT64_MAX));
  Result<SectionPlan> plan =
      planSections(entry.entry, spec->bufferBytes, isReleased,
                   spec->workspaceBytes, leastGain);
  if (!plan)
    return plan.getError();
  auto sections = std::make_unique<FusionRtSections>(
      FusionRtSections{entry, spec->symbols, std::move(*plan), {}});
  sections->begun.resize(sections->plan.firstSteps.size());
  for (uint32_t i = 0; i < sections->plan.uses.size(); ++i) {
    const Lifetime &use = sections->plan.uses[i];
    if (use.first <= use.last)
      sections->begun[use.first].push_back(i);
  }
  return sections;
}

} // namespace fusionrt
