//===- Collective.cpp - Instructions that cross lanes ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements shuffles, votes, matches and warp reductions. Each
// waits until every lane of its member mask has come.
//
//===----------------------------------------------------------------------===//

#include "Exec/Lanes.h"

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
inline unsigned lowest(uint32_t mask) { return unsigned(__builtin_ctz(mask)); }

/// The union of the member masks that the executing lanes name. False, with
/// an error, when a lane leaves itself out.
bool membersOf(Context &c, int32_t slot, uint32_t &required) {
  const uint32_t *masks = c.slot<uint32_t>(slot);
  required = 0;
  for (uint32_t rest = c.exec; rest; rest &= rest - 1) {
    unsigned lane = lowest(rest);
    required |= masks[lane];
    if (!((masks[lane] >> lane) & 1)) {
      fail(c, ErrorKind::BarrierDivergence, lane,
           "executes with a member mask that does not contain itself");
      return false;
    }
  }
  required &= c.warp->live;
  return true;
}

/// The common start of every .sync instruction whose member mask is at `slot`.
#define FUSIONEMU_GATHER(slot)                                                 \
  uint32_t required;                                                           \
  if (!membersOf(c, slot, required))                                           \
    return Next::Fail;                                                         \
  if (__builtin_expect((required & ~c.exec) != 0, 0) &&                        \
      !gatherLanes(c, required))                                               \
    return Next::Switch;

enum ShuffleMode { Up, Down, Bfly, Idx };

/// Calls f(group) for each set of executing lanes with the same member mask.
template <typename F>
void forGroups(Context &c, int32_t slot, F f) {
  const uint32_t *masks = c.slot<uint32_t>(slot);
  for (uint32_t rest = c.exec; rest;) {
    uint32_t mask = masks[lowest(rest)], group = 0;
    for (uint32_t r = rest; r; r &= r - 1)
      if (masks[lowest(r)] == mask)
        group |= uint32_t(1) << lowest(r);
    f(group);
    rest &= ~group;
  }
}

/// shfl.sync: a value, b lane or delta, c clamp and segment, d member mask.
/// The second destination is the predicate in aux.
template <ShuffleMode mode>
Next shuffle(Context &c, const Instruction &I) {
  FUSIONEMU_GATHER(I.d)
  const uint32_t *a = c.slot<uint32_t>(I.a);
  const uint32_t *b = c.slot<uint32_t>(I.b);
  const uint32_t *control = c.slot<uint32_t>(I.c);
  uint32_t result[warpSize], inRange = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    int bval = int(b[lane] & 31), cval = int(control[lane] & 31);
    int segmask = int((control[lane] >> 8) & 31);
    int maxLane = (int(lane) & segmask) | (cval & ~segmask);
    int minLane = int(lane) & segmask;
    int j = 0;
    bool ok = false;
    switch (mode) {
    case Up:
      j = int(lane) - bval;
      ok = j >= maxLane;
      break;
    case Down:
      j = int(lane) + bval;
      ok = j <= maxLane;
      break;
    case Bfly:
      j = int(lane) ^ bval;
      ok = j <= maxLane;
      break;
    case Idx:
      j = minLane | (bval & ~segmask);
      ok = j <= maxLane;
      break;
    }
    if (!ok)
      j = int(lane);
    result[lane] = a[j & 31];
    inRange |= uint32_t(ok) << lane;
  }
  blend(c.slot<uint32_t>(I.dst), result, c.exec);
  writePredicate(c, int32_t(I.aux), inRange);
  return Next::Continue;
}

/// vote.sync: predicate a (negated by aux bit 0), member mask in d.
enum VoteMode { All, Any, Uni, Ballot };
template <VoteMode mode>
Next vote(Context &c, const Instruction &I) {
  FUSIONEMU_GATHER(I.d)
  uint32_t bits = (c.preds[I.a] ^ (I.aux & 1 ? ~0u : 0u)) & c.exec;
  uint32_t result = 0;
  forGroups(c, I.d, [&](uint32_t group) {
    uint32_t yes = bits & group;
    bool value = false;
    switch (mode) {
    case All:
      value = yes == group;
      break;
    case Any:
      value = yes != 0;
      break;
    case Uni:
      value = yes == 0 || yes == group;
      break;
    case Ballot:
      break;
    }
    if (mode == Ballot) {
      uint32_t *d = c.slot<uint32_t>(I.dst);
      for (uint32_t r = group; r; r &= r - 1)
        d[lowest(r)] = yes;
    } else if (value) {
      result |= group;
    }
  });
  if (mode != Ballot)
    writePredicate(c, I.dst, result);
  return Next::Continue;
}

/// match.sync: value a, member mask in d; match.all's predicate is aux.
template <typename T, bool all>
Next match(Context &c, const Instruction &I) {
  FUSIONEMU_GATHER(I.d)
  const T *a = c.slot<T>(I.a);
  T values[warpSize];
  __builtin_memcpy(values, a, sizeof(values));
  uint32_t *d = c.slot<uint32_t>(I.dst);
  uint32_t agreed = 0;
  forGroups(c, I.d, [&](uint32_t group) {
    bool same = true;
    for (uint32_t r = group; r; r &= r - 1) {
      unsigned lane = lowest(r);
      uint32_t peers = 0;
      for (uint32_t s = group; s; s &= s - 1)
        if (values[lowest(s)] == values[lane])
          peers |= uint32_t(1) << lowest(s);
      same &= peers == group;
      if (!all)
        d[lane] = peers;
    }
    if (all)
      for (uint32_t r = group; r; r &= r - 1)
        d[lowest(r)] = same ? group : 0;
    if (same)
      agreed |= group;
  });
  if (all)
    writePredicate(c, int32_t(I.aux), agreed);
  return Next::Continue;
}

enum ReduxMode { RAdd, RMinU, RMaxU, RMinS, RMaxS, RAnd, ROr, RXor };
template <ReduxMode mode>
inline uint32_t reduceTwo(uint32_t a, uint32_t b) {
  switch (mode) {
  case RAdd:
    return a + b;
  case RMinU:
    return a < b ? a : b;
  case RMaxU:
    return a > b ? a : b;
  case RMinS:
    return int32_t(a) < int32_t(b) ? a : b;
  case RMaxS:
    return int32_t(a) > int32_t(b) ? a : b;
  case RAnd:
    return a & b;
  case ROr:
    return a | b;
  case RXor:
    return a ^ b;
  }
  return a;
}
template <ReduxMode mode>
Next redux(Context &c, const Instruction &I) {
  FUSIONEMU_GATHER(I.d)
  const uint32_t *a = c.slot<uint32_t>(I.a);
  uint32_t *d = c.slot<uint32_t>(I.dst);
  forGroups(c, I.d, [&](uint32_t group) {
    uint32_t value = a[lowest(group)];
    for (uint32_t r = group & (group - 1); r; r &= r - 1)
      value = reduceTwo<mode>(value, a[lowest(r)]);
    for (uint32_t r = group; r; r &= r - 1)
      d[lowest(r)] = value;
  });
  return Next::Continue;
}

/// redux.sync of f32: the smallest or largest; aux bit 0 takes magnitudes, bit
/// 1 lets a NaN win. Otherwise a NaN loses against every number.
template <bool isMax>
Next reduxFloat(Context &c, const Instruction &I) {
  FUSIONEMU_GATHER(I.d)
  const float *a = c.slot<float>(I.a);
  uint32_t *d = c.slot<uint32_t>(I.dst);
  uint32_t keep = I.aux & 1 ? 0x7fffffff : ~uint32_t(0);
  bool nanWins = I.aux & 2;
  forGroups(c, I.d, [&](uint32_t group) {
    bool anyNaN = false, anyNumber = false;
    int32_t best = 0;
    for (uint32_t r = group; r; r &= r - 1) {
      uint32_t bits = bitCast<uint32_t>(a[lowest(r)]) & keep;
      if ((bits & 0x7fffffff) > 0x7f800000) {
        anyNaN = true;
        continue;
      }
      // Ordered like the numbers, with -0 below +0.
      int32_t order = int32_t(bits ^ (bits >> 31 ? 0x7fffffff : 0));
      if (!anyNumber || (isMax ? order > best : order < best))
        best = order;
      anyNumber = true;
    }
    uint32_t value = uint32_t(best) ^ (best < 0 ? 0x7fffffff : 0);
    if (!anyNumber || (anyNaN && nanWins))
      value = 0x7fffffff;
    for (uint32_t r = group; r; r &= r - 1)
      d[lowest(r)] = value;
  });
  return Next::Continue;
}

Next activeMask(Context &c, const Instruction &I) {
  uint32_t mask = c.exec;
  return forLanes<uint32_t>(c, c.slot<uint32_t>(I.dst),
                            [=](unsigned) { return mask; });
}
/// elect.sync: the lowest member lane is elected.
Next elect(Context &c, const Instruction &I) {
  FUSIONEMU_GATHER(I.d)
  uint32_t leaders = 0;
  uint32_t *d = c.slot<uint32_t>(I.dst);
  forGroups(c, I.d, [&](uint32_t group) {
    leaders |= group & (0 - group);
    for (uint32_t r = group; r; r &= r - 1)
      d[lowest(r)] = lowest(group);
  });
  writePredicate(c, int32_t(I.aux), leaders);
  return Next::Continue;
}

struct Entry {
  const char *name;
  Handler handler;
};
const Entry entries[] = {
    {"shfl.up", shuffle<Up>},
    {"shfl.down", shuffle<Down>},
    {"shfl.bfly", shuffle<Bfly>},
    {"shfl.idx", shuffle<Idx>},
    {"vote.all", vote<All>},
    {"vote.any", vote<Any>},
    {"vote.uni", vote<Uni>},
    {"vote.ballot", vote<Ballot>},
    {"match.any.b32", match<uint32_t, false>},
    {"match.any.b64", match<uint64_t, false>},
    {"match.all.b32", match<uint32_t, true>},
    {"match.all.b64", match<uint64_t, true>},
    {"redux.add.s32", redux<RAdd>},
    {"redux.add.u32", redux<RAdd>},
    {"redux.min.u32", redux<RMinU>},
    {"redux.max.u32", redux<RMaxU>},
    {"redux.min.s32", redux<RMinS>},
    {"redux.max.s32", redux<RMaxS>},
    {"redux.and.b32", redux<RAnd>},
    {"redux.or.b32", redux<ROr>},
    {"redux.xor.b32", redux<RXor>},
    {"redux.min.f32", reduxFloat<false>},
    {"redux.max.f32", reduxFloat<true>},
    {"activemask", activeMask},
    {"elect", elect},
};
} // namespace

Handler findCollective(std::string_view name) {
  for (const Entry &entry : entries)
    if (name.size() == __builtin_strlen(entry.name) &&
        __builtin_memcmp(name.data(), entry.name, name.size()) == 0)
      return entry.handler;
  return nullptr;
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
