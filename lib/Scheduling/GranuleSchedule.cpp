//===- GranuleSchedule.cpp - Schedules of walks through granules ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the schedules of kernels that reduce a dimension in
// granules. A block has one granule, and walks its rows, a few at a time: it
// holds them whole where others reduce along them, and adds them up.
//
//===----------------------------------------------------------------------===//

#include "LoopFamilies.h"

#include "fusion/Support/Hardware.h"

using namespace mlir;
using namespace mlir::fusion;

/// Sets tiles along what is neither divided nor reduced, and lies along memory
/// in the largest operand: so many elements side by side.
static void addColumns(const LoopFacts &facts, int64_t width,
                       LoopSchedule &draft) {
  const KernelTensor *largest = nullptr;
  for (const KernelTensor &input : facts.inputs)
    if (!largest || input.elements() > largest->elements())
      largest = &input;
  if (!largest)
    return;
  int64_t columns = 1;
  for (std::optional<unsigned> dim : llvm::reverse(largest->dims)) {
    if (!dim || columns >= width || draft[*dim].kind == AxisKind::Loop)
      return;
    LoopAxis &axis = draft[*dim];
    if (axis.kind == AxisKind::Grid && facts.root.test(*dim))
      axis.tile = std::min<int64_t>(llvm::bit_floor<uint64_t>(width / columns),
                                    nextPowerOfTwo(facts.extents[*dim]));
    columns *= axis.tile;
  }
}

/// Adds to `found` blocks of more and more threads for `draft`, and the same
/// with rows copied ahead.
static void addThreads(const LoopFacts &facts, unsigned divided,
                       LoopSchedule draft, LoopSchedules &found) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  int64_t elements = draft.tileElements();
  int64_t warps = 0;
  for (int64_t perThread = fitted.longPerThread;
       perThread >= fitted.shortPerThread; perThread /= 2) {
    draft.warps = warpsFor(elements, perThread);
    if (draft.warps == warps)
      continue;
    warps = draft.warps;
    found.push_back(draft);
    double bytes = 0;
    for (const KernelTensor &input : facts.inputs)
      if (llvm::is_contained(input.dims, std::optional(divided)))
        bytes += static_cast<double>(elements) * input.elementBytes;
    auto room = static_cast<double>(facts.target.maxSharedPerBlock);
    auto stages = std::min(fitted.walkStages,
                           static_cast<int64_t>(room / std::max(bytes, 1.0)));
    if (stages < 2)
      continue;
    found.push_back(draft);
    found.back()[divided].stages = stages;
  }
}

LoopSchedules mlir::fusion::getGranuleSchedules(const LoopFacts &facts) {
  const ReductionConstants &fitted = facts.target.fitted.reductions;
  LoopSchedule draft(Strategy::Reduction, facts.getNumDims());
  draft[facts.getFastest()].vector =
      std::clamp<int64_t>(16 / facts.narrowestElement, 1, 8);
  unsigned divided = 0;
  for (unsigned dim = 0; dim < facts.getNumDims(); ++dim) {
    if (facts.granules[dim] > 1) {
      divided = dim;
      draft[dim].kind = AxisKind::Loop;
    } else if (facts.reduced.test(dim) && facts.extents[dim] > 1) {
      draft[dim].kind = AxisKind::Full;
      draft[dim].tile = nextPowerOfTwo(facts.extents[dim]);
    }
  }
  addColumns(facts,
             facts.reduced.any() ? kLineBytes / facts.narrowestElement
                                 : fitted.rowElements,
             draft);
  // Rows that a block takes at a time divide its granule.
  LoopSchedules found;
  for (int64_t rows = 1; facts.granules[divided] % rows == 0; rows *= 2) {
    draft[divided].tile = rows;
    int64_t elements = draft.tileElements();
    if (rows > 1 && elements > fitted.splitChunk)
      break;
    bool isLast = facts.granules[divided] % (2 * rows) != 0;
    if (elements >= fitted.rowElements || isLast)
      addThreads(facts, divided, draft, found);
  }
  return found;
}
