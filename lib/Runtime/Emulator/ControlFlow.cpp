//===- ControlFlow.cpp - Where lanes meet again ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the control flow graph of a kernel and its immediate
// post-dominators, where diverged lanes reconverge.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include <algorithm>

using namespace fusionemu;

namespace {
/// The control flow graph of a kernel: blocks of instructions, and a last
/// block that stands for having exited.
struct Graph {
  std::vector<uint32_t> leaders; ///< First instruction.
  std::vector<std::vector<uint32_t>> next, previous;
  std::vector<uint32_t> postDominator; ///< Immediate; self for none.

  uint32_t blockOf(uint32_t pc) const {
    return uint32_t(std::upper_bound(leaders.begin(), leaders.end(), pc) -
                    leaders.begin()) -
           1;
  }
};
} // namespace

static bool isConditional(const Instruction &I) {
  return I.guard != truePredicate || I.guardXor != 0;
}

static bool endsBlock(const Instruction &I) {
  return I.handler == branch || I.handler == branchIndexed ||
         I.handler == exitLanes;
}

static Graph buildGraph(const Kernel &kernel) {
  Graph g;
  uint32_t count = uint32_t(kernel.code.size());
  std::vector<bool> isLeader(count, false);
  isLeader[0] = true;
  auto lead = [&](uint32_t pc) {
    if (pc < count)
      isLeader[pc] = true;
  };
  for (uint32_t pc = 0; pc < count; ++pc) {
    const Instruction &I = kernel.code[pc];
    if (I.handler == branch)
      lead(I.target);
    if (I.handler == branchIndexed)
      for (uint32_t i = 0; i < I.aux; ++i)
        lead(uint32_t(kernel.extraOperands[I.target + i]));
    if (endsBlock(I))
      lead(pc + 1);
  }
  for (uint32_t pc = 0; pc < count; ++pc)
    if (isLeader[pc])
      g.leaders.push_back(pc);
  uint32_t exit = uint32_t(g.leaders.size());
  g.next.resize(exit + 1);
  g.previous.resize(exit + 1);
  for (uint32_t b = 0; b < exit; ++b) {
    uint32_t last = (b + 1 < exit ? g.leaders[b + 1] : count) - 1;
    const Instruction &I = kernel.code[last];
    auto connect = [&](uint32_t to) {
      g.next[b].push_back(to);
      g.previous[to].push_back(b);
    };
    if (I.handler == branch)
      connect(g.blockOf(I.target));
    if (I.handler == branchIndexed)
      for (uint32_t i = 0; i < I.aux; ++i)
        connect(g.blockOf(uint32_t(kernel.extraOperands[I.target + i])));
    // Lanes that exit never meet the others again, so that an exit inside a
    // branch is no reason to meet later than the rest does.
    if (I.handler == exitLanes && !isConditional(I))
      connect(exit);
    if (!endsBlock(I) || isConditional(I))
      connect(b + 1);
  }
  return g;
}

/// Immediate post-dominators by iteration over the reversed graph, after
/// Cooper, Harvey and Kennedy.
static void findPostDominators(Graph &g) {
  uint32_t count = uint32_t(g.next.size()), exit = count - 1;
  constexpr uint32_t unknown = ~uint32_t(0);
  std::vector<uint32_t> order(count, unknown), sequence;
  // Post-order from the exit along reversed edges, without recursion.
  std::vector<std::pair<uint32_t, size_t>> stack{{exit, 0}};
  std::vector<bool> seen(count, false);
  seen[exit] = true;
  while (!stack.empty()) {
    uint32_t node = stack.back().first;
    size_t &edge = stack.back().second;
    if (edge < g.previous[node].size()) {
      uint32_t to = g.previous[node][edge++];
      if (!seen[to]) {
        seen[to] = true;
        stack.push_back({to, 0});
      }
      continue;
    }
    order[node] = uint32_t(sequence.size());
    sequence.push_back(node);
    stack.pop_back();
  }
  g.postDominator.assign(count, unknown);
  g.postDominator[exit] = exit;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = sequence.size(); i-- > 0;) {
      uint32_t node = sequence[i];
      if (node == exit)
        continue;
      uint32_t best = unknown;
      for (uint32_t successor : g.next[node]) {
        if (g.postDominator[successor] == unknown)
          continue;
        if (best == unknown) {
          best = successor;
          continue;
        }
        uint32_t x = best, y = successor;
        while (x != y) {
          while (order[x] < order[y])
            x = g.postDominator[x];
          while (order[y] < order[x])
            y = g.postDominator[y];
        }
        best = x;
      }
      if (best != g.postDominator[node]) {
        g.postDominator[node] = best;
        changed = true;
      }
    }
  }
}

void Decoder::placeReconvergence() {
  Graph g = buildGraph(kernel);
  findPostDominators(g);
  uint32_t exit = uint32_t(g.leaders.size());
  uint32_t count = uint32_t(kernel.code.size());

  // Which blocks need a meeting point in front of them.
  std::vector<bool> meets(exit, false);
  std::vector<uint32_t> meeting(count, noTarget);
  for (uint32_t b = 0; b < exit; ++b) {
    uint32_t last = (b + 1 < exit ? g.leaders[b + 1] : count) - 1;
    const Instruction &I = kernel.code[last];
    bool diverges =
        (I.handler == branch && isConditional(I)) || I.handler == branchIndexed;
    uint32_t at = g.postDominator[b];
    if (!diverges || at >= exit)
      continue;
    meets[at] = true;
    meeting[last] = at;
  }

  // Insert them and move everything behind.
  std::vector<uint32_t> moved(count + 1);
  std::vector<uint32_t> place(exit, noTarget);
  std::vector<Instruction> code;
  std::vector<InstructionInfo> infos;
  code.reserve(count + exit);
  infos.reserve(count + exit);
  uint32_t nextBlock = 0;
  for (uint32_t pc = 0; pc < count; ++pc) {
    // A branch to a block goes to its meeting point.
    moved[pc] = uint32_t(code.size());
    if (nextBlock < exit && g.leaders[nextBlock] == pc) {
      if (meets[nextBlock]) {
        place[nextBlock] = uint32_t(code.size());
        Instruction I;
        I.handler = reconverge;
        I.counted = 0;
        code.push_back(I);
        infos.push_back(kernel.infos[pc]);
      }
      ++nextBlock;
    }
    code.push_back(kernel.code[pc]);
    infos.push_back(kernel.infos[pc]);
    if (meeting[pc] != noTarget)
      code.back().reconverge = meeting[pc];
  }
  for (Instruction &I : code) {
    if (I.handler == branch)
      I.target = moved[I.target];
    if (I.handler == branchIndexed)
      for (uint32_t i = 0; i < I.aux; ++i) {
        int32_t &target = kernel.extraOperands[I.target + i];
        target = int32_t(moved[target]);
      }
    if (I.reconverge != noTarget)
      I.reconverge = place[I.reconverge];
  }
  kernel.code = std::move(code);
  kernel.infos = std::move(infos);
}
