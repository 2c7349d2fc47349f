//===- ReadQueue.h - Loads that may be queued still -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what a warp remembers of its loads of shared memory. A load
// is over for certain when an instruction has used what it brought, or behind a
// fence.proxy.async; until then it may be queued, and a copy engine that an
// arrival lets go on may be there first.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_READQUEUE_H
#define FUSION_LIB_RUNTIME_EMULATOR_READQUEUE_H

#include "Machine/Context.h"

namespace fusionemu {

/// A load from the shared memory of the warp's block.
struct QueuedRead {
  uint32_t serial = 0; ///< Among the loads of the warp.
  uint32_t pc = 0;
  /// The warp's time when it was issued and when it was known to be over; 0
  /// until then.
  uint32_t time = 0, end = 0;
  uint32_t low = 0, high = 0; ///< All bytes lie in [low, high).
  uint32_t lanes = 0, bytes = 0;
  uint32_t offset[warpSize]; ///< Of each of `lanes`.
};

/// The last loads of a warp. Who issues more before one of them is used has
/// no room for their values.
struct ReadQueue {
  static constexpr unsigned capacity = 256;
  /// Reads that matter: without an end, or with one that an arrival after the
  /// load does not tell of.
  uint64_t tracked[capacity / 64];
  unsigned live; ///< Reads without an end.
  uint32_t next; ///< Serial number of the next one.
  QueuedRead reads[capacity];
};

/// Records a load by the current instruction.
void noteRead(Context &c, const uint64_t *offset, uint32_t lanes,
              uint32_t bytes);
/// Ends the loads whose values the current instruction uses.
void followReads(Context &c);
/// Ends all loads of the warp.
void endReads(Warp &w);
/// Forgets all loads of a warp that starts.
void clearReads(const Kernel &kernel, Warp &w);

/// A load of `block` that may not be over for the current warp, which is about
/// to overwrite these bytes through the async proxy; null if there is none.
/// `reader` is the warp that loads.
const QueuedRead *findQueuedRead(const Context &c, const Block &block,
                                 uint32_t offset, uint32_t bytes,
                                 const Warp *&reader);

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_READQUEUE_H
