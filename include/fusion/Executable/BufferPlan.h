//===- BufferPlan.h - Temporaries in one workspace --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the planner that gives temporaries their offsets. It is
// one function for the compiler, which reports the peak for static sizes, and
// for the runtime, which plans when it first meets a set of sizes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_EXECUTABLE_BUFFERPLAN_H
#define FUSION_EXECUTABLE_BUFFERPLAN_H

#include "fusion/Executable/Error.h"
#include "fusion/Executable/PackageModel.h"

namespace fusionpkg {

/// A block of memory that is needed from step `first` to step `last`, both
/// included.
struct Lifetime {
  int64_t bytes = 0;
  uint32_t first = 0, last = 0;
};

/// Offsets in one workspace, in the order of the lifetimes given.
struct BufferPlan {
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
};

constexpr int64_t kWorkspaceAlignment = 256;

/// Places blocks so that two that live at the same time do not overlap: the
/// largest first, each at the lowest offset that is free for its whole life.
/// Offsets are multiples of kWorkspaceAlignment. An error only when the sum
/// passes 2^63.
Result<BufferPlan> planBuffers(const std::vector<Lifetime> &lifetimes);

/// First and last step that names each buffer of `entry`; `first > last` for
/// one that no step names. Sizes are left 0.
std::vector<Lifetime> computeLifetimes(const Entry &entry);

/// The offsets of all buffers of an entry for the given sizes; -1 for those
/// that are not temporaries.
Result<BufferPlan> planWorkspace(const Entry &entry, const ExprValues &values);

/// Walks the steps of `entry` and says which temporary would be overwritten
/// while it is needed, were they all at the offsets of `plan`, with sizes by
/// buffer. This is not how plans are made: where temporaries have allocations
/// of their own, nothing else would tell a wrong one.
Error checkPlan(const Entry &entry, const std::vector<int64_t> &bytes,
                const BufferPlan &plan);

} // namespace fusionpkg

#endif // FUSION_EXECUTABLE_BUFFERPLAN_H
