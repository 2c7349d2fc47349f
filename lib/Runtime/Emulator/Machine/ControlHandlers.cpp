//===- ControlHandlers.cpp - Divergence and reconvergence -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements branches, exits and the waits of a warp's lanes for
// each other. A warp is a set of fragments, each with its own pc, so that
// lanes that diverged can wait for each other without deadlock.
//
//===----------------------------------------------------------------------===//

#include "Machine/Launch.h"

#include <cassert>

using namespace fusionemu;

static Fragment &currentFragment(Context &c) {
  return c.warp->fragments[c.warp->current];
}

static void removeFragment(Warp &w, unsigned index) {
  w.fragments[index] = w.fragments[--w.numFragments];
}

static void addFragment(Warp &w, const Fragment &f) {
  assert(w.numFragments < warpSize && "a fragment has at least one lane");
  w.fragments[w.numFragments++] = f;
}

/// A join for `lanes` at `pc`. Nested joins hold ever fewer lanes, so that
/// there is room unless lanes were released from joins that others keep open;
/// then the lanes meet at the next join outside.
static int8_t addJoin(Warp &w, uint32_t pc, uint32_t lanes, int8_t parent) {
  for (unsigned i = 0; i < warpSize; ++i) {
    if (w.joins[i].used)
      continue;
    w.joins[i] = {pc, lanes, 0, parent, true};
    return int8_t(i);
  }
  return parent;
}

/// Splits the executing lanes off to `target`; the others go on here.
static void diverge(Context &c, uint32_t lanes, uint32_t target,
                    uint32_t meeting) {
  Warp &w = *c.warp;
  Fragment &f = currentFragment(c);
  int8_t join = f.join;
  // A loop whose lanes leave one by one keeps using one join.
  if (meeting != noTarget && (join < 0 || w.joins[join].pc != meeting))
    join = addJoin(w, meeting, c.active, f.join);
  Fragment other;
  other.pc = target;
  other.mask = lanes;
  other.join = join;
  c.active &= ~lanes;
  f.mask = c.active;
  f.join = join;
  addFragment(w, other);
}

Next fusionemu::branch(Context &c, const Instruction &I) {
  if (c.exec == c.active) {
    c.pc = I.target;
    return Next::Continue;
  }
  ++c.counters.divergentBranches;
  diverge(c, c.exec, I.target, I.reconverge);
  return Next::Continue;
}

/// brx.idx: a is the index, extraOperands[target ...] the labels, aux their
/// number.
Next fusionemu::branchIndexed(Context &c, const Instruction &I) {
  const uint32_t *index = c.slot<uint32_t>(I.a);
  const int32_t *targets = &c.kernel->extraOperands[I.target];
  uint32_t rest = c.exec;
  for (uint32_t r = rest; r; r &= r - 1) {
    unsigned lane = unsigned(__builtin_ctz(r));
    if (index[lane] >= I.aux)
      return fail(c, ErrorKind::InvalidAddress, lane,
                  "branches to entry " + std::to_string(index[lane]) +
                      " of a table of " + std::to_string(I.aux));
  }
  while (true) {
    uint32_t first = index[__builtin_ctz(rest)], lanes = 0;
    for (uint32_t r = rest; r; r &= r - 1)
      if (index[__builtin_ctz(r)] == first)
        lanes |= r & (0 - r);
    uint32_t target = uint32_t(targets[first]);
    if (lanes == c.active) {
      c.pc = target;
      return Next::Continue;
    }
    ++c.counters.divergentBranches;
    diverge(c, lanes, target, I.reconverge);
    rest &= ~lanes;
    if (rest == 0)
      return Next::Continue;
  }
}

Next fusionemu::reconverge(Context &c, const Instruction &) {
  Warp &w = *c.warp;
  Fragment &f = currentFragment(c);
  uint32_t here = c.here();
  while (f.join >= 0 && w.joins[f.join].pc == here) {
    Join &j = w.joins[f.join];
    j.arrived |= f.mask;
    j.outstanding &= ~f.mask;
    if (j.outstanding != 0) {
      removeFragment(w, w.current);
      return Next::Switch;
    }
    f.mask = j.arrived;
    f.join = j.parent;
    j.used = false;
  }
  c.active = f.mask;
  return Next::Continue;
}

void fusionemu::releaseWaitingLanes(Warp &w) {
  for (Join &j : w.joins) {
    if (!j.used || j.arrived == 0)
      continue;
    Fragment f;
    f.pc = j.pc;
    f.mask = j.arrived;
    f.join = j.parent;
    j.arrived = 0;
    addFragment(w, f);
  }
}

/// Lets go of joins that wait for nobody any more.
static void completeJoins(Warp &w) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Join &j : w.joins) {
      if (!j.used || j.outstanding != 0)
        continue;
      j.used = false;
      changed = true;
      if (j.arrived == 0)
        continue;
      Fragment f;
      f.pc = j.pc;
      f.mask = j.arrived;
      f.join = j.parent;
      addFragment(w, f);
    }
  }
}

Next fusionemu::exitLanes(Context &c, const Instruction &) {
  Warp &w = *c.warp;
  uint32_t lanes = c.exec;
  w.live &= ~lanes;
  for (Join &j : w.joins)
    j.outstanding &= ~lanes;
  Fragment &f = currentFragment(c);
  c.active &= ~lanes;
  f.mask = c.active;
  bool gone = c.active == 0;
  if (gone)
    removeFragment(w, w.current);
  completeJoins(w);
  return gone ? Next::Switch : Next::Continue;
}

Next fusionemu::trap(Context &c, const Instruction &) {
  return fail(c, ErrorKind::Trap, unsigned(__builtin_ctz(c.exec)),
              "executes a trap");
}

bool fusionemu::gatherLanes(Context &c, uint32_t required) {
  Warp &w = *c.warp;
  Fragment &self = currentFragment(c);
  uint32_t here = c.here();
  uint32_t present = c.exec, wanted = required;
  for (unsigned i = 0; i < w.numFragments; ++i) {
    Fragment &f = w.fragments[i];
    if (&f == &self || f.state != Fragment::State::WarpSync || f.pc != here)
      continue;
    present |= f.exec;
    wanted |= f.waitsFor & w.live;
  }
  if (wanted & ~present) {
    self.state = Fragment::State::WarpSync;
    self.waitsFor = required;
    self.exec = c.exec;
    self.pc = here;
    return false;
  }
  for (unsigned i = 0; i < w.numFragments; ++i) {
    Fragment &f = w.fragments[i];
    if (&f == &self || f.state != Fragment::State::WarpSync || f.pc != here)
      continue;
    f.state = Fragment::State::Ready;
    f.pc = here + 1;
  }
  c.exec = present;
  c.full = false;
  return true;
}

/// Leaves the lanes of the fragment that do not execute this instruction as a
/// fragment of their own, which goes on behind it.
static void splitOffIdle(Context &c) {
  uint32_t idle = c.active & ~c.exec;
  if (idle == 0)
    return;
  Fragment other = currentFragment(c);
  other.pc = c.pc;
  other.mask = idle;
  other.state = Fragment::State::Ready;
  c.active = c.exec;
  currentFragment(c).mask = c.exec;
  addFragment(*c.warp, other);
}

/// Puts fragments together that run side by side at the same place.
static void mergeFragments(Warp &w) {
  for (unsigned i = 0; i < w.numFragments; ++i)
    for (unsigned k = i + 1; k < w.numFragments;) {
      Fragment &a = w.fragments[i], &b = w.fragments[k];
      if (a.pc == b.pc && a.join == b.join &&
          a.state == Fragment::State::Ready &&
          b.state == Fragment::State::Ready) {
        a.mask |= b.mask;
        removeFragment(w, k);
      } else {
        ++k;
      }
    }
}

/// All lanes that the executing ones name are here: those that name the same
/// have met.
static void meetGroups(Context &c, const uint32_t *masks) {
  for (uint32_t rest = c.exec; rest;) {
    uint32_t mask = masks[__builtin_ctz(rest)], group = 0;
    for (uint32_t r = rest; r; r &= r - 1)
      if (masks[__builtin_ctz(r)] == mask)
        group |= r & (0 - r);
    meetLanes(*c.warp, group);
    rest &= ~group;
  }
}

Next fusionemu::warpBarrier(Context &c, const Instruction &I) {
  const uint32_t *masks = c.slot<uint32_t>(I.a);
  uint32_t required = 0;
  for (uint32_t r = c.exec; r; r &= r - 1) {
    unsigned lane = unsigned(__builtin_ctz(r));
    required |= masks[lane];
    if (!((masks[lane] >> lane) & 1))
      return fail(c, ErrorKind::BarrierDivergence, lane,
                  "executes with a member mask that does not contain itself");
  }
  required &= c.warp->live;
  if ((required & ~c.exec) == 0) {
    meetGroups(c, masks);
    return Next::Continue;
  }
  splitOffIdle(c);
  Fragment &f = currentFragment(c);
  f.state = Fragment::State::WarpBarrier;
  f.waitsFor = required;
  f.exec = c.exec;
  f.pc = c.pc;
  return Next::Switch;
}

void fusionemu::wakeFragments(Warp &w) {
  uint32_t present = 0;
  for (unsigned i = 0; i < w.numFragments; ++i)
    if (w.fragments[i].state == Fragment::State::WarpBarrier)
      present |= w.fragments[i].exec;
  bool released = false;
  uint32_t met = 0;
  for (unsigned i = 0; i < w.numFragments; ++i) {
    Fragment &f = w.fragments[i];
    if (f.state == Fragment::State::WarpBarrier &&
        (f.waitsFor & w.live & ~present) == 0) {
      f.state = Fragment::State::Ready;
      released = true;
      if (f.exec & ~met)
        meetLanes(w, f.waitsFor & present);
      met |= f.waitsFor;
    }
  }
  if (released)
    mergeFragments(w);
  // One fragment of a complete group runs the instruction for all of them.
  for (unsigned i = 0; i < w.numFragments; ++i) {
    Fragment &f = w.fragments[i];
    if (f.state != Fragment::State::WarpSync)
      continue;
    uint32_t here = 0, wanted = 0;
    for (unsigned k = 0; k < w.numFragments; ++k) {
      const Fragment &g = w.fragments[k];
      if (g.state != Fragment::State::WarpSync || g.pc != f.pc)
        continue;
      here |= g.exec;
      wanted |= g.waitsFor & w.live;
    }
    if ((wanted & ~here) == 0) {
      f.state = Fragment::State::Ready;
      return;
    }
  }
}
