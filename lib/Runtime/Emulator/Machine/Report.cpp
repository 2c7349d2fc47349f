//===- Report.cpp - What went wrong, where, and with whom -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reports of the checks: each names kernel, PTX line,
// source line, thread, address and the other party.
//
//===----------------------------------------------------------------------===//

#include "Machine/Cluster.h"
#include "Machine/Launch.h"
#include "Support.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace fusionemu;

static std::string triple(uint32_t x, uint32_t y, uint32_t z) {
  return "(" + std::to_string(x) + "," + std::to_string(y) + "," +
         std::to_string(z) + ")";
}

Status::Status(ErrorKind kind, std::string reason, unsigned line)
    : kind(kind), line(line) {
  char code[16];
  std::snprintf(code, sizeof(code), "FUS-7%03u: ", unsigned(kind));
  text = code + std::move(reason);
}

std::string fusionemu::describeSource(const Program &program, SourceLoc loc) {
  if (loc.file == 0 || loc.line == 0)
    return "";
  auto file = program.syntax.files.find(loc.file);
  std::string name = file == program.syntax.files.end()
                         ? "file " + std::to_string(loc.file)
                         : file->second;
  size_t slash = name.rfind('/');
  if (slash != std::string::npos)
    name = name.substr(slash + 1);
  return name + ":" + std::to_string(loc.line);
}

static const InstructionInfo &infoAt(const Context &c, uint32_t pc) {
  return c.kernel->infos[std::min<size_t>(pc, c.kernel->infos.size() - 1)];
}

std::string fusionemu::describePlace(const Context &c, uint32_t pc) {
  const InstructionInfo &info = infoAt(c, pc);
  std::string text = "PTX line " + std::to_string(info.line);
  std::string source = describeSource(c.launch->program, info.loc);
  if (!source.empty())
    text += " (" + source + ")";
  if (!info.spelling.empty())
    text += " '" + std::string(info.spelling) + "'";
  return text;
}

static std::string describeBlock(const Context &c) {
  const Dim3 &b = c.block->id;
  return "block " + triple(b.x, b.y, b.z);
}

/// "(3,0,0)".
static std::string threadText(const Context &c, const Warp &warp,
                              unsigned lane) {
  const Dim3 &n = c.launch->blockDim;
  uint32_t thread = warp.index * warpSize + lane;
  return triple(thread % n.x, thread / n.x % n.y, thread / n.x / n.y);
}

std::string fusionemu::describeThread(const Context &c, const Warp &warp,
                                      unsigned lane) {
  return "thread " + threadText(c, warp, lane) + " of " + describeBlock(c);
}

std::string fusionemu::describeLane(const Context &c, unsigned lane) {
  return "thread " + threadText(c, *c.warp, lane) + " of the same warp";
}

Next fusionemu::fail(Context &c, ErrorKind kind, unsigned lane,
                     const std::string &what) {
  std::string who = lane < warpSize ? describeThread(c, *c.warp, lane)
                                    : "warp " + std::to_string(c.warp->index) +
                                          " of " + describeBlock(c);
  if (kind == ErrorKind::Deadlock ||
      (kind == ErrorKind::BarrierDivergence && lane >= warpSize))
    who = describeBlock(c);
  c.error = Status(kind,
                   "kernel '" + c.kernel->info.name + "', " +
                       describePlace(c, c.here()) + ": " + who + " " + what,
                   infoAt(c, c.here()).line);
  return Next::Fail;
}

Allocation *fusionemu::findAllocation(const Context &c, uint64_t address) {
  Allocation *const *end = c.allocations + c.numAllocations;
  Allocation *const *after = std::upper_bound(
      c.allocations, end, address,
      [](uint64_t value, const Allocation *a) { return value < a->base; });
  if (after == c.allocations)
    return nullptr;
  Allocation *a = *std::prev(after);
  return address - a->base < a->size ? a : nullptr;
}

static std::string accessText(const char *verb, unsigned bytes,
                              uint64_t address) {
  return std::string(verb) + " " + std::to_string(bytes) + " bytes at " +
         hex(address);
}

static std::string allocationText(const Allocation &a) {
  return "'" + a.name + "' (" + std::to_string(a.size) + " bytes at " +
         hex(a.base) + ")";
}

Next fusionemu::failGlobal(Context &c, unsigned lane, uint64_t address,
                           unsigned bytes, const char *verb) {
  std::string what = accessText(verb, bytes, address);
  Allocation *const *end = c.allocations + c.numAllocations;
  Allocation *const *after = std::upper_bound(
      c.allocations, end, address,
      [](uint64_t value, const Allocation *a) { return value < a->base; });
  Allocation *below = after == c.allocations ? nullptr : *std::prev(after);
  Allocation *above = after == end ? nullptr : *after;
  if (below && address - below->base < below->size) {
    uint64_t offset = address - below->base;
    std::string where =
        ", offset " + std::to_string(offset) + " of " + allocationText(*below);
    if (!below->live)
      return fail(c, ErrorKind::UseAfterFree, lane,
                  what + where + ", which was freed");
    if (offset & (bytes - 1))
      return fail(c, ErrorKind::Misaligned, lane,
                  what + where + ", which is not a multiple of " +
                      std::to_string(bytes));
    if (below->size - offset < bytes)
      return fail(c, ErrorKind::OutOfBounds, lane,
                  what + where + ", " +
                      std::to_string(bytes - (below->size - offset)) +
                      " bytes of it past the end");
    return fail(c, ErrorKind::ReadOnly, lane,
                what + where + ", which is constant");
  }
  // Far from everything is a wild pointer rather than a wrong index.
  constexpr uint64_t near = uint64_t(1) << 32;
  uint64_t past = below ? address - (below->base + below->size) : ~uint64_t(0);
  uint64_t before = above ? above->base - address : ~uint64_t(0);
  // Addresses behind an end are far more often meant for that allocation.
  if (below && past < near && (past <= before || before > 4096)) {
    std::string where = ", " + std::to_string(past) +
                        " bytes past the end of " + allocationText(*below);
    if (!below->live)
      return fail(c, ErrorKind::UseAfterFree, lane,
                  what + where + ", which was freed");
    return fail(c, ErrorKind::OutOfBounds, lane, what + where);
  }
  if (above && before < near)
    return fail(c, ErrorKind::OutOfBounds, lane,
                what + ", " + std::to_string(before) +
                    " bytes before the start of " + allocationText(*above));
  return fail(c, ErrorKind::InvalidAddress, lane,
              what + ", which belongs to no allocation");
}

/// ", offset 4 of 'tile'" when the offset lies in a named variable.
static std::string describeShared(const Context &c, uint64_t offset) {
  for (const SharedVariable &v : c.kernel->sharedVariables)
    if (offset - v.offset < v.size)
      return ", offset " + std::to_string(offset - v.offset) + " of '" +
             v.name + "'";
  if (offset >= c.kernel->dynamicSharedOffset && offset < c.block->sharedBytes)
    return ", offset " +
           std::to_string(offset - c.kernel->dynamicSharedOffset) +
           " of the dynamic shared memory";
  return "";
}

/// " of shared memory", with its block where that is another one.
static std::string sharedText(const Context &c, const Block &block) {
  std::string text = " of shared memory";
  if (&block != c.block)
    text += " of block " + std::to_string(block.rank) + " of the cluster";
  return text;
}

Next fusionemu::failNoBlock(Context &c, unsigned lane, uint64_t address) {
  return fail(c, ErrorKind::OutOfBounds, lane,
              "uses the address " + hex(address) +
                  " of shared memory, which belongs to no block of a cluster "
                  "of " +
                  std::to_string(c.block->cluster->size));
}

Next fusionemu::failSpace(Context &c, unsigned lane, const char *space,
                          uint64_t offset, uint64_t limit, unsigned bytes,
                          const char *verb) {
  std::string what =
      accessText(verb, bytes, offset) + " of " + space + " memory";
  if (limit == 0 && std::strcmp(space, "parameter") == 0)
    return fail(c, ErrorKind::ReadOnly, lane, what + ", which is constant");
  if (offset < limit && (offset & (bytes - 1)))
    return fail(c, ErrorKind::Misaligned, lane,
                what + ", which is not a multiple of " + std::to_string(bytes));
  return fail(c, ErrorKind::OutOfBounds, lane,
              what + ", which has " + std::to_string(limit) + " bytes");
}

Next fusionemu::failUninitializedGlobal(Context &c, unsigned lane,
                                        const Allocation &a, uint64_t offset,
                                        unsigned bytes) {
  return fail(c, ErrorKind::UninitializedGlobal, lane,
              accessText("reads", bytes, a.base + offset) + ", offset " +
                  std::to_string(offset) + " of " + allocationText(a) +
                  ", which nobody has written");
}

Next fusionemu::failUninitializedShared(Context &c, unsigned lane,
                                        uint64_t offset, unsigned bytes) {
  return fail(c, ErrorKind::UninitializedShared, lane,
              accessText("reads", bytes, offset) + " of shared memory" +
                  describeShared(c, offset) +
                  ", which nobody has written in this block");
}

static const char *actOf(AccessMode mode) {
  switch (mode) {
  case AccessMode::Read:
  case AccessMode::StrongRead:
    return "reads";
  case AccessMode::Write:
  case AccessMode::StrongWrite:
    return "writes";
  case AccessMode::Atomic:
    return "updates";
  }
  return "";
}

std::string fusionemu::describeAgent(const Context &c, unsigned agent) {
  const Cluster &cluster = *c.block->cluster;
  std::string text =
      agent & asyncAgent ? "an asynchronous operation of warp " : "warp ";
  agent &= asyncAgent - 1;
  if (!cluster.sharesClocks)
    return text + std::to_string(agent);
  unsigned rank = agent / c.block->numWarps;
  text += std::to_string(agent % c.block->numWarps);
  if (rank != c.block->rank)
    text += " of block " + std::to_string(rank) + " of the cluster";
  return text;
}

Next fusionemu::failSharedRace(Context &c, unsigned lane, const Block &block,
                               uint64_t offset, unsigned bytes, AccessMode mode,
                               unsigned otherAgent, bool otherWrites) {
  return fail(c, ErrorKind::SharedRace, lane,
              accessText(actOf(mode), bytes, offset) + sharedText(c, block) +
                  describeShared(c, offset) + ", which " +
                  describeAgent(c, otherAgent) +
                  (otherWrites ? " wrote" : " read") +
                  (otherAgent & asyncAgent ? " with no wait in between"
                                           : " with no barrier in between"));
}

Next fusionemu::failLaneRace(Context &c, unsigned lane, const Block &block,
                             uint64_t offset, unsigned bytes, AccessMode mode,
                             unsigned otherLane, bool otherWrites) {
  return fail(
      c, ErrorKind::SharedRace, lane,
      accessText(actOf(mode), bytes, offset) + sharedText(c, block) +
          describeShared(c, offset) + ", which " + describeLane(c, otherLane) +
          (otherWrites ? " wrote" : " read") + " with no barrier in between");
}

/// The first bulk copy, cp.async or wgmma in flight that uses the bytes.
static std::string describeInFlight(const Context &c, const Block &block,
                                    uint64_t offset, unsigned bytes) {
  auto overlaps = [&](uint64_t first, uint64_t count) {
    return first < offset + bytes && offset < first + count;
  };
  auto describe = [&](const Warp &w, uint32_t pc) {
    return describePlace(c, pc) + " by warp " + std::to_string(w.index);
  };
  for (const BulkCopy &copy : block.cluster->copies) {
    bool receives = (copy.targets >> block.rank) & 1;
    if ((receives && overlaps(copy.shared, copy.bytes)) ||
        (copy.block == &block && copy.kind == BulkCopy::Kind::Store &&
         overlaps(copy.shared, copy.bytes)) ||
        (copy.block == &block && copy.kind == BulkCopy::Kind::Share &&
         overlaps(copy.source, copy.bytes)))
      return describe(*copy.warp, copy.pc);
  }
  for (unsigned i = 0; i < block.numWarps; ++i) {
    const Warp &w = block.warps[i];
    for (const ThreadCopy &copy : w.copies)
      if (!copy.isArrival && overlaps(copy.shared, copy.bytes))
        return describe(w, copy.pc);
    if (!w.wgmmas.empty())
      return describe(w, w.wgmmas.front().pc);
  }
  return "an asynchronous operation";
}

Next fusionemu::failSharedState(Context &c, unsigned lane, const Block &block,
                                uint64_t offset, unsigned bytes,
                                AccessMode mode) {
  std::string what = accessText(actOf(mode), bytes, offset) +
                     sharedText(c, block) + describeShared(c, offset);
  for (const auto &[at, mbarrier] : block.mbarriers)
    if (at < offset + bytes && offset < at + 8)
      return fail(c, ErrorKind::BarrierMisuse, lane,
                  what + ", which holds the mbarrier that was initialised at " +
                      describePlace(c, mbarrier.initPc));
  return fail(c, ErrorKind::InFlight, lane,
              what + ", which is still in use by " +
                  describeInFlight(c, block, offset, bytes));
}

Next fusionemu::failGlobalRace(Context &c, unsigned lane, const Allocation &a,
                               uint64_t offset, unsigned bytes, AccessMode mode,
                               uint32_t otherBlock, bool otherWrites) {
  std::string other = "several other blocks";
  if (otherBlock != manyReaders) {
    uint64_t linear = otherBlock - 1;
    const Dim3 &g = c.launch->grid;
    other =
        "block " + triple(uint32_t(linear % g.x), uint32_t(linear / g.x % g.y),
                          uint32_t(linear / g.x / g.y));
  }
  return fail(c, ErrorKind::GlobalRace, lane,
              accessText(actOf(mode), bytes, a.base + offset) + ", offset " +
                  std::to_string(offset) + " of " + allocationText(a) +
                  ", which " + other + (otherWrites ? " wrote" : " read") +
                  " in the same launch");
}

bool fusionemu::storesSameValue(const Context &c, const Instruction &I,
                                unsigned lane, const uint8_t *memory) {
  unsigned count = I.aux & 15;
  if (count == 0)
    return false;
  unsigned element = I.accessBytes / count, reg = unsigned(I.d);
  for (unsigned v = 0; v < count; ++v) {
    int32_t slot = count > 1 ? c.kernel->extraOperands[I.target + v] : I.dst;
    if (std::memcmp(c.regs + slot + lane * reg, memory + v * element,
                    element) != 0)
      return false;
  }
  return true;
}

bool fusionemu::storeSameValue(const Context &c, const Instruction &I,
                               unsigned lane, unsigned other) {
  unsigned count = I.aux & 15, reg = unsigned(I.d);
  if (count == 0)
    return false;
  unsigned element = I.accessBytes / count;
  for (unsigned v = 0; v < count; ++v) {
    int32_t slot = count > 1 ? c.kernel->extraOperands[I.target + v] : I.dst;
    const uint8_t *values = c.regs + slot;
    if (std::memcmp(values + lane * reg, values + other * reg, element) != 0)
      return false;
  }
  return true;
}

uint64_t *fusionemu::createSectors(Context &c, Allocation &a, bool isStore) {
  std::lock_guard<std::mutex> lock(c.launch->memory.shadowMutex);
  uint64_t *&bits = isStore ? a.storeSectors : a.loadSectors;
  if (!bits) {
    uint64_t sectors = a.size / 32 + 1;
    auto *map = reinterpret_cast<uint64_t *>(mapPages((sectors + 63) / 64 * 8));
    __atomic_store_n(&bits, map, __ATOMIC_RELEASE);
  }
  return bits;
}

bool fusionemu::createRaceShadow(Context &c, Allocation &a) {
  std::lock_guard<std::mutex> lock(c.launch->memory.shadowMutex);
  if (a.readers)
    return true;
  uint64_t bytes = (a.size + 1) * 4;
  auto *writers = reinterpret_cast<uint32_t *>(mapPages(bytes));
  auto *readers = reinterpret_cast<uint32_t *>(mapPages(bytes));
  if (!writers || !readers) {
    unmapPages(writers, bytes);
    unmapPages(readers, bytes);
    return false;
  }
  a.writers = writers;
  __atomic_store_n(&a.readers, readers, __ATOMIC_RELEASE);
  return true;
}
