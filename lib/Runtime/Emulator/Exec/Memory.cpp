//===- Memory.cpp - ld and st ---------------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements loads and stores of all spaces and widths.
//
//===----------------------------------------------------------------------===//

#include "Exec/Access.h"
#include "Machine/ReadQueue.h"

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
struct Bits128 {
  uint64_t low, high;
};

template <typename To, typename From>
inline To widen(From x) {
  return To(x);
}
template <>
inline Bits128 widen<Bits128, Bits128>(Bits128 x) {
  return x;
}

template <typename M>
inline M loadFrom(const uint8_t *p) {
  M value;
  __builtin_memcpy(&value, p, sizeof(M));
  return value;
}

/// Loads elements of type M into registers of type R, which is at least as
/// wide. A vector's registers stand in extraOperands.
template <typename M, typename R>
Next load(Context &c, const Instruction &I) {
  Access A;
  A.mode = I.aux & strongAccess ? AccessMode::StrongRead : AccessMode::Read;
  if (!resolve(c, I, A))
    return Next::Fail;
  if (c.warp->reads && A.base == c.block->shared)
    noteRead(c, A.offset, c.exec, A.bytes);
  unsigned count = I.aux & vectorMask;
  const int32_t *slots =
      count > 1 ? &c.kernel->extraOperands[I.target] : &I.dst;
  bool all = c.exec == ~uint32_t(0);
  for (unsigned v = 0; v < count; ++v) {
    R *d = c.slot<R>(slots[v]);
    if (A.unit && all) {
      const uint8_t *p = pointerOf(A, 0) + v * sizeof(M);
      if (count == 1) {
        FUSIONEMU_LANES
        for (unsigned i = 0; i < warpSize; ++i)
          d[i] = widen<R>(loadFrom<M>(p + i * sizeof(M)));
        continue;
      }
      uint64_t stride = A.bytes;
      for (unsigned i = 0; i < warpSize; ++i)
        d[i] = widen<R>(loadFrom<M>(p + i * stride));
      continue;
    }
    if (all && I.space == Space::Param && A.uniform) {
      R value = widen<R>(loadFrom<M>(pointerOf(A, 0) + v * sizeof(M)));
      for (unsigned i = 0; i < warpSize; ++i)
        d[i] = value;
      continue;
    }
    for (uint32_t r = c.exec; r; r &= r - 1) {
      unsigned lane = lowest(r);
      d[lane] = widen<R>(loadFrom<M>(pointerOf(A, lane) + v * sizeof(M)));
    }
  }
  return Next::Continue;
}

/// Fails where a lane's address does not suit the whole of a load.
bool checkAligned(Context &c, const Instruction &I) {
  Access A;
  A.mode = AccessMode::Read;
  computeAddresses(c, I, A);
  uint32_t exec = c.exec,
           bad = exec & collect([&](unsigned i) {
                   return (A.address[i] & (I.accessBytes - 1u)) != 0;
                 });
  if (!bad)
    return true;
  c.exec = bad;
  bool fine = resolve(c, I, A);
  c.exec = exec;
  return fine;
}

/// A load of which only the bytes I.c are used. The others are neither looked
/// at nor loaded: ones stand for them, of which every float is a NaN.
Next loadUsed(Context &c, const Instruction &I) {
  if (!checkAligned(c, I))
    return Next::Fail;
  auto used = uint32_t(I.c);
  uint8_t bytes[warpSize][32];
  __builtin_memset(bytes, 0xff, sizeof(bytes));
  bool isFirst = true;
  for (unsigned at = 0; at < I.accessBytes; ++at) {
    unsigned size = getUsedRun(used, at);
    if (size == 0)
      continue;
    Instruction part = I;
    part.offset += at;
    part.accessBytes = uint8_t(size);
    Access A;
    A.mode = I.aux & strongAccess ? AccessMode::StrongRead : AccessMode::Read;
    Counters before = c.counters;
    if (!resolve(c, part, A))
      return Next::Fail;
    if (isFirst && c.warp->reads && A.base == c.block->shared)
      noteRead(c, A.offset, c.exec, 32 - unsigned(__builtin_clz(used)) - at);
    // All parts are one request, and of one sector.
    if (!isFirst) {
      before.globalLoadBytes = c.counters.globalLoadBytes;
      c.counters = before;
    }
    for (uint32_t r = c.exec; r; r &= r - 1)
      __builtin_memcpy(&bytes[lowest(r)][at], pointerOf(A, lowest(r)), size);
    isFirst = false;
    at += size - 1;
  }
  unsigned count = I.aux & vectorMask, element = I.accessBytes / count;
  const int32_t *slots =
      count > 1 ? &c.kernel->extraOperands[I.target] : &I.dst;
  auto width = unsigned(I.d);
  for (unsigned v = 0; v < count; ++v)
    for (uint32_t r = c.exec; r; r &= r - 1) {
      const uint8_t *from = &bytes[lowest(r)][v * element];
      uint8_t *to = c.slot<uint8_t>(slots[v]) + lowest(r) * width;
      bool negative = (I.aux & signedLoad) && (from[element - 1] & 0x80);
      __builtin_memset(to, negative ? 0xff : 0, width);
      __builtin_memcpy(to, from, element);
    }
  return Next::Continue;
}

template <typename M, typename R>
Next store(Context &c, const Instruction &I) {
  Access A;
  A.mode = I.aux & strongAccess ? AccessMode::StrongWrite : AccessMode::Write;
  if (!resolve(c, I, A))
    return Next::Fail;
  unsigned count = I.aux & vectorMask;
  const int32_t *slots =
      count > 1 ? &c.kernel->extraOperands[I.target] : &I.dst;
  bool all = c.exec == ~uint32_t(0);
  for (unsigned v = 0; v < count; ++v) {
    const R *s = c.slot<R>(slots[v]);
    if (A.unit && all) {
      uint8_t *p = pointerOf(A, 0) + v * sizeof(M);
      uint64_t stride = count == 1 ? sizeof(M) : A.bytes;
      for (unsigned i = 0; i < warpSize; ++i) {
        M value = widen<M>(s[i]);
        __builtin_memcpy(p + i * stride, &value, sizeof(M));
      }
      continue;
    }
    // Lanes with the same address: the highest wins, always.
    for (uint32_t r = c.exec; r; r &= r - 1) {
      unsigned lane = lowest(r);
      M value = widen<M>(s[lane]);
      __builtin_memcpy(pointerOf(A, lane) + v * sizeof(M), &value, sizeof(M));
    }
  }
  return Next::Continue;
}

template <typename M>
Handler pickLoad(unsigned registerBytes) {
  switch (registerBytes) {
  case 1:
    if constexpr (sizeof(M) <= 1)
      return load<M, uint8_t>;
    return nullptr;
  case 2:
    if constexpr (sizeof(M) <= 2)
      return load<M, uint16_t>;
    return nullptr;
  case 4:
    if constexpr (sizeof(M) <= 4)
      return load<M, uint32_t>;
    return nullptr;
  case 8:
    return load<M, uint64_t>;
  default:
    return nullptr;
  }
}
template <typename M>
Handler pickStore(unsigned registerBytes) {
  switch (registerBytes) {
  case 1:
    if constexpr (sizeof(M) <= 1)
      return store<M, uint8_t>;
    return nullptr;
  case 2:
    if constexpr (sizeof(M) <= 2)
      return store<M, uint16_t>;
    return nullptr;
  case 4:
    if constexpr (sizeof(M) <= 4)
      return store<M, uint32_t>;
    return nullptr;
  case 8:
    return store<M, uint64_t>;
  default:
    return nullptr;
  }
}
} // namespace

Handler findLoad(unsigned bytes, bool isSigned, unsigned registerBytes) {
  switch (bytes) {
  case 1:
    return isSigned ? pickLoad<int8_t>(registerBytes)
                    : pickLoad<uint8_t>(registerBytes);
  case 2:
    return isSigned ? pickLoad<int16_t>(registerBytes)
                    : pickLoad<uint16_t>(registerBytes);
  case 4:
    return isSigned ? pickLoad<int32_t>(registerBytes)
                    : pickLoad<uint32_t>(registerBytes);
  case 8:
    return pickLoad<uint64_t>(registerBytes);
  case 16:
    return registerBytes == 16 ? load<Bits128, Bits128> : nullptr;
  default:
    return nullptr;
  }
}

Handler findUsedLoad() { return loadUsed; }

Handler findStore(unsigned bytes, unsigned registerBytes) {
  switch (bytes) {
  case 1:
    return pickStore<uint8_t>(registerBytes);
  case 2:
    return pickStore<uint16_t>(registerBytes);
  case 4:
    return pickStore<uint32_t>(registerBytes);
  case 8:
    return pickStore<uint64_t>(registerBytes);
  case 16:
    return registerBytes == 16 ? store<Bits128, Bits128> : nullptr;
  default:
    return nullptr;
  }
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
