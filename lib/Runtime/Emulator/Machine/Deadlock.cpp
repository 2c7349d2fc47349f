//===- Deadlock.cpp - Who waits where -------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the report when no thread of a cluster can go on.
//
//===----------------------------------------------------------------------===//

#include "Machine/Cluster.h"

using namespace fusionemu;

namespace {
/// Collects who waits where, the first few of them.
class Parties {
public:
  explicit Parties(const Context &c) : c(c) {}
  void add(const Block &block, Warp &w, uint32_t lanes, uint32_t pc,
           const std::string &why);
  std::string take() const;

  Block *firstBlock = nullptr;
  Warp *firstWarp = nullptr;
  uint32_t firstPc = 0;

private:
  static constexpr unsigned most = 8;
  const Context &c;
  std::string text;
  unsigned listed = 0;
};
} // namespace

/// "threads 64-79 of warp 2"
static std::string describeLanes(const Warp &w, uint32_t lanes) {
  std::string text = "threads ";
  bool first = true;
  for (unsigned i = 0; i < warpSize; ++i) {
    if (!((lanes >> i) & 1))
      continue;
    unsigned end = i;
    while (end + 1 < warpSize && ((lanes >> (end + 1)) & 1))
      ++end;
    text += (first ? "" : ",") + std::to_string(w.index * warpSize + i);
    if (end != i)
      text += "-" + std::to_string(w.index * warpSize + end);
    first = false;
    i = end;
  }
  return text + " of warp " + std::to_string(w.index);
}

void Parties::add(const Block &block, Warp &w, uint32_t lanes, uint32_t pc,
                  const std::string &why) {
  if (!firstWarp) {
    firstBlock = const_cast<Block *>(&block);
    firstWarp = &w;
    firstPc = pc;
  }
  if (listed++ >= most)
    return;
  std::string where =
      block.cluster->size > 1
          ? " of block " + std::to_string(block.rank) + " of the cluster"
          : "";
  text += (text.empty() ? "" : "; ") + describeLanes(w, lanes) + where + " " +
          why + " " + describePlace(c, pc);
}

std::string Parties::take() const {
  if (listed <= most)
    return text;
  return text + "; and " + std::to_string(listed - most) + " more groups";
}

/// "wait for the mbarrier at 128 of shared memory (2 of 3 arrivals and 64
/// bytes missing) at"
static std::string describeMBarrierWait(Block &own, uint32_t address) {
  uint64_t offset = 0;
  Block *block = findSharedBlock(own, address, offset);
  std::string text = "wait for the mbarrier at " + std::to_string(offset) +
                     " of shared memory";
  if (block && block != &own)
    text += " of block " + std::to_string(block->rank) + " of the cluster";
  auto found =
      block ? block->mbarriers.find(uint32_t(offset)) : own.mbarriers.end();
  if (block && found != block->mbarriers.end()) {
    const MBarrier &m = found->second;
    text += " (phase " + std::to_string(m.phase) + ", " +
            std::to_string(m.pending) + " of " + std::to_string(m.expected) +
            " arrivals";
    if (m.bytes != 0)
      text += " and " + std::to_string(m.bytes) + " bytes";
    text += " missing)";
  }
  return text + " at";
}

void fusionemu::failDeadlock(Context &c, Cluster &cluster) {
  bool disagree = false, waitsForOthers = false;
  bool warpWaits = false, clusterWaits = false;
  Parties parties(c);
  for (unsigned r = 0; r < cluster.size; ++r) {
    Block &block = cluster.blocks[r];
    for (unsigned i = 0; i < block.numWarps; ++i) {
      Warp &w = block.warps[i];
      bool atBarrier = false;
      uint32_t barrierPc = noTarget;
      for (unsigned k = 0; k < w.numFragments; ++k) {
        const Fragment &f = w.fragments[k];
        switch (f.state) {
        case Fragment::State::BlockBarrier:
          disagree |= atBarrier && barrierPc != f.pc;
          atBarrier = true;
          barrierPc = f.pc;
          parties.add(block, w, f.mask, f.pc - 1, "wait at");
          break;
        case Fragment::State::MBarrier:
          waitsForOthers = true;
          parties.add(block, w, f.mask, f.pc,
                      describeMBarrierWait(block, f.waitsFor));
          break;
        case Fragment::State::ClusterBarrier:
          clusterWaits = true;
          parties.add(block, w, f.mask, f.pc,
                      "wait for the other threads of the cluster at");
          break;
        case Fragment::State::WarpGroup:
          waitsForOthers = true;
          parties.add(block, w, f.mask, f.pc,
                      "wait for the other warps of their warpgroup at");
          break;
        case Fragment::State::WarpSync:
          disagree = warpWaits = true;
          parties.add(block, w, f.mask, f.pc, "wait for their warp at");
          break;
        default:
          disagree = true;
          parties.add(block, w, f.mask, f.pc - 1, "wait for their warp at");
          break;
        }
      }
      for (const Join &j : w.joins)
        if (j.used && j.arrived) {
          disagree = true;
          parties.add(block, w, j.arrived, j.pc,
                      "have passed and wait to reconverge before");
        }
    }
  }
  if (!parties.firstWarp)
    return;
  c.block = parties.firstBlock;
  c.warp = parties.firstWarp;
  c.pc = parties.firstPc + 1;
  // Lanes that wait for those at an mbarrier are no reason for anything.
  bool diverged = disagree && !waitsForOthers && (warpWaits || !clusterWaits);
  fail(c, diverged ? ErrorKind::BarrierDivergence : ErrorKind::Deadlock,
       warpSize,
       diverged ? "has threads of one warp waiting for each other at different "
                  "places: " +
                      parties.take()
                : "is deadlocked: " + parties.take());
}
