//===- ReadQueue.cpp - Loads that may be queued still ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the watch over loads of shared memory from their issue
// to the first use of what they bring.
//
//===----------------------------------------------------------------------===//

#include "Machine/ReadQueue.h"
#include "Machine/Shadow.h"

#include <algorithm>
#include <cstring>

using namespace fusionemu;

static void setTracked(ReadQueue &queue, const QueuedRead &read, bool value) {
  unsigned at = read.serial % ReadQueue::capacity;
  uint64_t bit = uint64_t(1) << at % 64;
  queue.tracked[at / 64] = (queue.tracked[at / 64] & ~bit) | (value ? bit : 0);
}

static bool isTracked(const ReadQueue &queue, unsigned at) {
  return (queue.tracked[at / 64] >> at % 64) & 1;
}

/// The read is over. Who knows of an arrival that came later knows that; when
/// there was none since the load, every arrival is later.
static void end(Warp &w, QueuedRead &read) {
  read.end = w.clock[w.agent];
  --w.reads->live;
  if (read.end == read.time)
    setTracked(*w.reads, read, false);
}

static void end(Warp &w, uint32_t serial) {
  unsigned at = serial % ReadQueue::capacity;
  QueuedRead &read = w.reads->reads[at];
  if (read.serial == serial && read.end == 0 && isTracked(*w.reads, at))
    end(w, read);
}

void fusionemu::noteRead(Context &c, const uint64_t *offset, uint32_t lanes,
                         uint32_t bytes) {
  Warp &w = *c.warp;
  ReadQueue &queue = *w.reads;
  const InstructionInfo &info = c.kernel->infos[c.here()];
  uint32_t serial = queue.next;
  bool isKept = false;
  for (uint32_t k = 0; k < info.uses; ++k) {
    const RegisterUse &use = c.kernel->registerUses[info.firstUse + k];
    if (!use.isWrite)
      continue;
    w.registerLoad[use.slot / 32] = serial;
    isKept = true;
  }
  // Nobody can use what goes nowhere.
  if (!isKept)
    return;
  ++queue.next;
  unsigned at = serial % ReadQueue::capacity;
  QueuedRead &read = queue.reads[at];
  if (isTracked(queue, at) && read.end == 0)
    --queue.live;
  read.serial = serial;
  read.pc = c.here();
  read.time = w.clock[w.agent];
  read.end = 0;
  read.lanes = lanes;
  read.bytes = bytes;
  read.low = ~uint32_t(0);
  read.high = 0;
  for (uint32_t r = lanes; r; r &= r - 1) {
    uint32_t first = uint32_t(offset[lowest(r)]);
    read.offset[lowest(r)] = first;
    read.low = std::min(read.low, first);
    read.high = std::max(read.high, first + bytes);
  }
  setTracked(queue, read, true);
  ++queue.live;
}

void fusionemu::followReads(Context &c) {
  Warp &w = *c.warp;
  const InstructionInfo &info = c.kernel->infos[c.here()];
  const RegisterUse *uses = c.kernel->registerUses.data() + info.firstUse;
  unsigned read = 0;
  for (uint32_t k = 0; k < info.uses; ++k)
    read += !uses[k].isWrite;
  uint32_t copied = 0;
  for (uint32_t k = 0; k < info.uses; ++k) {
    uint32_t &load = w.registerLoad[uses[k].slot / 32];
    if (uses[k].isWrite || load == 0)
      continue;
    // A copy need not wait: assemblers give both one place.
    if (read == 1 && info.spelling.substr(0, 4) == "mov.") {
      copied = load;
      continue;
    }
    end(w, load);
    load = 0;
  }
  for (uint32_t k = 0; k < info.uses; ++k) {
    if (!uses[k].isWrite)
      continue;
    uint32_t &load = w.registerLoad[uses[k].slot / 32];
    // A load that came later would overwrite what is written now.
    if (load != 0 && load != copied)
      end(w, load);
    load = copied;
  }
}

void fusionemu::endReads(Warp &w) {
  for (unsigned at = 0; at < ReadQueue::capacity && w.reads->live; ++at)
    if (isTracked(*w.reads, at) && w.reads->reads[at].end == 0)
      end(w, w.reads->reads[at]);
}

void fusionemu::clearReads(const Kernel &kernel, Warp &w) {
  std::fill_n(w.reads->tracked, ReadQueue::capacity / 64, uint64_t(0));
  w.reads->live = 0;
  w.reads->next = 1;
  std::fill_n(w.registerLoad, kernel.fileBytes / 32 + 1, 0u);
}

static bool overlaps(const QueuedRead &read, uint32_t first, uint32_t last) {
  if (read.high <= first || read.low >= last)
    return false;
  for (uint32_t r = read.lanes; r; r &= r - 1) {
    uint32_t at = read.offset[lowest(r)];
    if (at < last && at + read.bytes > first)
      return true;
  }
  return false;
}

const QueuedRead *fusionemu::findQueuedRead(const Context &c,
                                            const Block &block, uint32_t offset,
                                            uint32_t bytes,
                                            const Warp *&reader) {
  const Clock &known = c.warp->clock, &fenced = c.warp->proxyClock;
  for (unsigned i = 0; i < block.numWarps; ++i) {
    const Warp &w = block.warps[i];
    if (!w.reads)
      return nullptr;
    for (unsigned word = 0; word < ReadQueue::capacity / 64; ++word)
      for (uint64_t rest = w.reads->tracked[word]; rest; rest &= rest - 1) {
        QueuedRead &read =
            w.reads->reads[64 * word + unsigned(__builtin_ctzll(rest))];
        if (!overlaps(read, offset, offset + bytes))
          continue;
        bool isOver = read.end != 0 && read.end <= known[w.agent];
        if (!isOver && read.time > fenced[w.agent]) {
          reader = &w;
          return &read;
        }
        // What overwrites all of it is what it had to be looked at for.
        if (read.end != 0 && read.low >= offset && read.high <= offset + bytes)
          setTracked(*w.reads, read, false);
      }
  }
  return nullptr;
}
