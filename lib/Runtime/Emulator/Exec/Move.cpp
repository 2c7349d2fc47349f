//===- Move.cpp - Moves, packing, predicates ------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the instructions that move values without computing.
//
//===----------------------------------------------------------------------===//

#include "Exec/Lanes.h"

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
struct Bits128 {
  uint64_t low, high;
};

template <typename T>
Next move(Context &c, const Instruction &I) {
  return unary<T, T>(c, I, [](T a) { return a; });
}
template <typename From, typename To>
Next resize(Context &c, const Instruction &I) {
  return unary<To, From>(c, I, [](From a) { return To(a); });
}

/// Joins the registers of a vector operand into one wider register.
template <typename From, typename To>
Next pack(Context &c, const Instruction &I) {
  constexpr unsigned n = sizeof(To) / sizeof(From);
  const int32_t *parts = &c.kernel->extraOperands[I.target];
  From *d = c.slot<From>(I.dst);
  for (unsigned p = 0; p < n; ++p) {
    const From *s = c.slot<From>(parts[p]);
    for (unsigned i = 0; i < warpSize; ++i)
      if ((c.exec >> i) & 1)
        d[i * n + p] = s[i];
  }
  return Next::Continue;
}
template <typename From, typename To>
Next unpack(Context &c, const Instruction &I) {
  constexpr unsigned n = sizeof(From) / sizeof(To);
  const int32_t *parts = &c.kernel->extraOperands[I.target];
  // The source may be one of the destinations' registers in no valid program,
  // but a copy keeps even that well defined.
  alignas(64) To copy[warpSize * n];
  __builtin_memcpy(copy, c.slot<To>(I.a), sizeof(copy));
  for (unsigned p = 0; p < n; ++p) {
    To *d = c.slot<To>(parts[p]);
    for (unsigned i = 0; i < warpSize; ++i)
      if ((c.exec >> i) & 1)
        d[i] = copy[i * n + p];
  }
  return Next::Continue;
}

template <typename T>
Next select(Context &c, const Instruction &I) {
  const T *a = c.slot<T>(I.a), *b = c.slot<T>(I.b);
  uint32_t p = c.preds[I.c] ^ I.aux;
  return forLanes<T>(c, c.slot<T>(I.dst), [=](unsigned i) {
    T x = a[i], y = b[i];
    return (p >> i) & 1 ? x : y;
  });
}

// Predicate logic; aux holds which operands are negated.
inline uint32_t operandA(Context &c, const Instruction &I) {
  return c.preds[I.a] ^ (I.aux & 1 ? ~0u : 0u);
}
inline uint32_t operandB(Context &c, const Instruction &I) {
  return c.preds[I.b] ^ (I.aux & 2 ? ~0u : 0u);
}
Next movePredicate(Context &c, const Instruction &I) {
  writePredicate(c, I.dst, operandA(c, I));
  return Next::Continue;
}
Next notPredicate(Context &c, const Instruction &I) {
  writePredicate(c, I.dst, ~operandA(c, I));
  return Next::Continue;
}
Next andPredicate(Context &c, const Instruction &I) {
  writePredicate(c, I.dst, operandA(c, I) & operandB(c, I));
  return Next::Continue;
}
Next orPredicate(Context &c, const Instruction &I) {
  writePredicate(c, I.dst, operandA(c, I) | operandB(c, I));
  return Next::Continue;
}
Next xorPredicate(Context &c, const Instruction &I) {
  writePredicate(c, I.dst, operandA(c, I) ^ operandB(c, I));
  return Next::Continue;
}
Next selectPredicate(Context &c, const Instruction &I) {
  uint32_t p = c.preds[I.c] ^ (I.aux & 4 ? ~0u : 0u);
  writePredicate(c, I.dst, (operandA(c, I) & p) | (operandB(c, I) & ~p));
  return Next::Continue;
}
Next nothing(Context &, const Instruction &) { return Next::Continue; }
/// A clock that counts the warp's own instructions, so that results repeat.
Next clock(Context &c, const Instruction &I) {
  uint64_t now = c.warp->steps;
  return forLanes<uint64_t>(c, c.slot<uint64_t>(I.dst),
                            [=](unsigned) { return now; });
}
} // namespace

Handler findMove(unsigned bytes) {
  switch (bytes) {
  case 1:
    return move<uint8_t>;
  case 2:
    return move<uint16_t>;
  case 4:
    return move<uint32_t>;
  case 8:
    return move<uint64_t>;
  case 16:
    return move<Bits128>;
  default:
    return nullptr;
  }
}

Handler findSelect(unsigned bytes) {
  switch (bytes) {
  case 1:
    return select<uint8_t>;
  case 2:
    return select<uint16_t>;
  case 4:
    return select<uint32_t>;
  case 8:
    return select<uint64_t>;
  default:
    return nullptr;
  }
}

template <typename From>
static Handler findResizeTo(unsigned to) {
  switch (to) {
  case 1:
    return resize<From, uint8_t>;
  case 2:
    return resize<From, uint16_t>;
  case 4:
    return resize<From, uint32_t>;
  case 8:
    return resize<From, uint64_t>;
  default:
    return nullptr;
  }
}

Handler findResize(unsigned from, unsigned to, bool isSigned) {
  switch (from) {
  case 1:
    return isSigned ? findResizeTo<int8_t>(to) : findResizeTo<uint8_t>(to);
  case 2:
    return isSigned ? findResizeTo<int16_t>(to) : findResizeTo<uint16_t>(to);
  case 4:
    return isSigned ? findResizeTo<int32_t>(to) : findResizeTo<uint32_t>(to);
  case 8:
    return findResizeTo<uint64_t>(to);
  default:
    return nullptr;
  }
}

#define FUSIONEMU_PACK(F)                                                      \
  switch (from * 256 + to) {                                                   \
  case 1 * 256 + 2:                                                            \
    return F<uint8_t, uint16_t>;                                               \
  case 1 * 256 + 4:                                                            \
    return F<uint8_t, uint32_t>;                                               \
  case 2 * 256 + 4:                                                            \
    return F<uint16_t, uint32_t>;                                              \
  case 2 * 256 + 8:                                                            \
    return F<uint16_t, uint64_t>;                                              \
  case 4 * 256 + 8:                                                            \
    return F<uint32_t, uint64_t>;                                              \
  case 4 * 256 + 16:                                                           \
    return F<uint32_t, Bits128>;                                               \
  case 8 * 256 + 16:                                                           \
    return F<uint64_t, Bits128>;                                               \
  default:                                                                     \
    return nullptr;                                                            \
  }

template <typename Part, typename Whole>
static Next unpackWhole(Context &c, const Instruction &I) {
  return unpack<Whole, Part>(c, I);
}

Handler findPack(unsigned from, unsigned to){FUSIONEMU_PACK(pack)} Handler
    findUnpack(unsigned whole, unsigned part) {
  unsigned from = part, to = whole;
  FUSIONEMU_PACK(unpackWhole)
}

static bool same(std::string_view a, const char *b) {
  size_t n = __builtin_strlen(b);
  return a.size() == n && __builtin_memcmp(a.data(), b, n) == 0;
}

Handler findCollective(std::string_view name);

Handler findSpecial(std::string_view name) {
  if (same(name, "mov.pred"))
    return movePredicate;
  if (same(name, "not.pred"))
    return notPredicate;
  if (same(name, "and.pred"))
    return andPredicate;
  if (same(name, "or.pred"))
    return orPredicate;
  if (same(name, "xor.pred"))
    return xorPredicate;
  if (same(name, "selp.pred"))
    return selectPredicate;
  if (same(name, "nop"))
    return nothing;
  if (same(name, "ld.used"))
    return findUsedLoad();
  if (same(name, "clock"))
    return clock;
  return findCollective(name);
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
