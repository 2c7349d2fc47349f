//===- BufferPlan.cpp - Temporaries in one workspace ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the placement of temporaries by lifetime.
//
//===----------------------------------------------------------------------===//

#include "fusion/Executable/BufferPlan.h"

#include <algorithm>
#include <numeric>

namespace fusionpkg {

Result<BufferPlan> planBuffers(const std::vector<Lifetime> &lifetimes) {
  BufferPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);

  std::vector<int64_t> sizes;
  int64_t sum = 0;
  for (const Lifetime &life : lifetimes) {
    int64_t size = 0;
    if (life.bytes < 0 ||
        __builtin_add_overflow(life.bytes, kWorkspaceAlignment - 1, &size))
      return Error(ErrorCode::SizeOverflow,
                   "a temporary of " + std::to_string(life.bytes) + " bytes");
    size -= size % kWorkspaceAlignment;
    // No placement ends past the sum of all, so nothing overflows below.
    if (__builtin_add_overflow(sum, size, &sum))
      return Error(ErrorCode::SizeOverflow,
                   "the temporaries together pass 2^63 bytes");
    sizes.push_back(size);
  }

  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (sizes[a] != sizes[b])
      return sizes[a] > sizes[b];
    if (lifetimes[a].first != lifetimes[b].first)
      return lifetimes[a].first < lifetimes[b].first;
    return a < b;
  });

  // Placed blocks, by offset.
  std::vector<size_t> placed;
  for (size_t index : order) {
    const Lifetime &life = lifetimes[index];
    if (sizes[index] == 0 || life.first > life.last)
      continue;
    int64_t offset = 0;
    for (size_t other : placed) {
      if (lifetimes[other].last < life.first ||
          lifetimes[other].first > life.last)
        continue;
      if (offset + sizes[index] <= plan.offsets[other])
        break;
      offset = std::max(offset, plan.offsets[other] + sizes[other]);
    }
    plan.offsets[index] = offset;
    plan.bytes = std::max(plan.bytes, offset + sizes[index]);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [&](int64_t value, size_t other) {
                                     return value < plan.offsets[other];
                                   }),
                  index);
  }
  return plan;
}

std::vector<Lifetime> computeLifetimes(const Entry &entry) {
  std::vector<Lifetime> lifetimes(entry.buffers.size(), {0, UINT32_MAX, 0});
  auto use = [&](uint32_t buffer, uint32_t step) {
    if (buffer >= lifetimes.size())
      return;
    lifetimes[buffer].first = std::min(lifetimes[buffer].first, step);
    lifetimes[buffer].last = std::max(lifetimes[buffer].last, step);
  };
  for (uint32_t i = 0; i < entry.steps.size(); ++i) {
    const Step &step = entry.steps[i];
    switch (step.kind) {
    case StepKind::Launch:
      for (const Arg &arg : step.args)
        if (arg.kind == ArgKind::Buffer)
          use(arg.index, i);
        else if (arg.kind == ArgKind::TensorMap)
          use(entry.tensorMaps[arg.index].buffer, i);
      break;
    case StepKind::Copy:
      use(step.src, i);
      use(step.dst, i);
      break;
    case StepKind::Fill:
      use(step.dst, i);
      break;
    }
  }
  return lifetimes;
}

Result<BufferPlan> planWorkspace(const Entry &entry, const ExprValues &values) {
  std::vector<Lifetime> all = computeLifetimes(entry), temps;
  std::vector<size_t> bufferOf;
  for (size_t i = 0; i < entry.buffers.size(); ++i) {
    const Buffer &buffer = entry.buffers[i];
    if (buffer.kind != BufferKind::Temp)
      continue;
    std::optional<int64_t> bytes = values.get(buffer.bytes);
    if (!bytes || *bytes < 0)
      return Error(ErrorCode::SizeOverflow,
                   "entry '" + entry.name + "': the size of temporary '" +
                       buffer.name + "' does not fit 64 bits");
    all[i].bytes = *bytes;
    temps.push_back(all[i]);
    bufferOf.push_back(i);
  }
  Result<BufferPlan> dense = planBuffers(temps);
  if (!dense)
    return dense.getError().inContext("entry '" + entry.name + "'");
  BufferPlan plan;
  plan.bytes = dense->bytes;
  plan.offsets.assign(entry.buffers.size(), -1);
  for (size_t i = 0; i < bufferOf.size(); ++i)
    plan.offsets[bufferOf[i]] = dense->offsets[i];
  return plan;
}

} // namespace fusionpkg
