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

#include "Decode/KernelDecoder.h"

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

namespace {
/// Immediate post-dominators after Lengauer and Tarjan, by the numbers of a
/// depth-first search from the exit along reversed edges. The bound of
/// O(edges * log blocks) holds for every graph, which matters because the
/// graph may have been made to take long. Nothing here recurses.
class PostDominators {
public:
  explicit PostDominators(Graph &g);
  void find();

private:
  void numberBlocks();
  /// The block with the least semi-dominator on the way from `v` to the root
  /// of its tree.
  uint32_t evaluate(uint32_t v);

  static constexpr uint32_t none = ~uint32_t(0);
  Graph &g;
  std::vector<uint32_t> number;        ///< Of a block; none if not reached.
  std::vector<uint32_t> block, parent; ///< By number.
  std::vector<uint32_t> semi, best, ancestor;
  std::vector<uint32_t> path;
};
} // namespace

PostDominators::PostDominators(Graph &g) : g(g), number(g.next.size(), none) {}

void PostDominators::numberBlocks() {
  uint32_t exit = uint32_t(g.next.size()) - 1;
  std::vector<std::pair<uint32_t, size_t>> stack{{exit, 0}};
  number[exit] = 0;
  block.push_back(exit);
  parent.push_back(none);
  while (!stack.empty()) {
    auto &[node, edge] = stack.back();
    if (edge == g.previous[node].size()) {
      stack.pop_back();
      continue;
    }
    uint32_t to = g.previous[node][edge++];
    if (number[to] != none)
      continue;
    parent.push_back(number[node]);
    number[to] = uint32_t(block.size());
    block.push_back(to);
    stack.push_back({to, 0});
  }
}

uint32_t PostDominators::evaluate(uint32_t v) {
  if (ancestor[v] == none)
    return v;
  for (uint32_t u = v; ancestor[ancestor[u]] != none; u = ancestor[u])
    path.push_back(u);
  for (; !path.empty(); path.pop_back()) {
    uint32_t u = path.back(), above = ancestor[u];
    if (semi[best[above]] < semi[best[u]])
      best[u] = best[above];
    ancestor[u] = ancestor[above];
  }
  return best[v];
}

void PostDominators::find() {
  numberBlocks();
  uint32_t count = uint32_t(block.size());
  ancestor.assign(count, none);
  for (uint32_t i = 0; i < count; ++i)
    semi.push_back(i);
  best = semi;
  std::vector<uint32_t> dominator(count, 0);
  // Blocks whose semi-dominator is known, chained by semi-dominator.
  std::vector<uint32_t> first(count, none), following(count, none);
  for (uint32_t w = count - 1; w > 0; --w) {
    for (uint32_t successor : g.next[block[w]])
      if (number[successor] != none)
        semi[w] = std::min(semi[w], semi[evaluate(number[successor])]);
    following[w] = first[semi[w]];
    first[semi[w]] = w;
    ancestor[w] = parent[w];
    for (uint32_t v = first[parent[w]]; v != none; v = following[v]) {
      uint32_t u = evaluate(v);
      dominator[v] = semi[u] < semi[v] ? u : parent[w];
    }
    first[parent[w]] = none;
  }
  g.postDominator.assign(g.next.size(), none);
  g.postDominator[block[0]] = block[0];
  for (uint32_t w = 1; w < count; ++w) {
    if (dominator[w] != semi[w])
      dominator[w] = dominator[dominator[w]];
    g.postDominator[block[w]] = block[dominator[w]];
  }
}

void fusionemu::placeReconvergence(Kernel &kernel) {
  Graph g = buildGraph(kernel);
  PostDominators(g).find();
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
