//===- Lanes.h - Loops over the lanes of a warp -----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the loops that every handler is made of. It is built once
// for each host instruction set, in a namespace of that name, so nothing here
// may be an ordinary inline function that the linker could share.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_EXEC_LANES_H
#define FUSION_LIB_RUNTIME_EMULATOR_EXEC_LANES_H

#include "Machine/Context.h"
#include "Operations.h"

#include <cstdint>
#include <cstring>

#ifndef FUSIONEMU_ISA
#error "FUSIONEMU_ISA names the namespace of this build of the handlers"
#endif

// Lanes never depend on each other: a register is read and written by the
// same lane, and two registers never overlap.
#if defined(__clang__)
#define FUSIONEMU_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define FUSIONEMU_LANES _Pragma("GCC ivdep")
#endif

namespace fusionemu {
namespace FUSIONEMU_ISA {

/// Copies the lanes in `exec` of `from` to `to`.
template <typename T>
static inline void blend(T *to, const T *from, uint32_t exec) {
  FUSIONEMU_LANES
  for (unsigned i = 0; i < warpSize; ++i)
    to[i] = (exec >> i) & 1 ? from[i] : to[i];
}

/// Sets register `to` of type T, `pack` values in a lane, to f(i) for each
/// value i.
template <typename T, unsigned pack = 1, typename F>
static inline Next forLanes(Context &c, T *to, F f) {
  constexpr unsigned n = warpSize * pack;
  if (__builtin_expect(c.full, 1)) {
    FUSIONEMU_LANES
    for (unsigned i = 0; i < n; ++i)
      to[i] = f(i);
    return Next::Continue;
  }
  alignas(64) T result[n];
  FUSIONEMU_LANES
  for (unsigned i = 0; i < n; ++i)
    result[i] = f(i);
  if constexpr (pack == 1) {
    blend(to, result, c.exec);
  } else {
    for (unsigned i = 0; i < n; ++i)
      if ((c.exec >> (i / pack)) & 1)
        to[i] = result[i];
  }
  return Next::Continue;
}

template <typename D, typename A, unsigned pack = 1, typename F>
static inline Next unary(Context &c, const Instruction &I, F f) {
  const A *a = c.slot<A>(I.a);
  return forLanes<D, pack>(c, c.slot<D>(I.dst),
                           [=](unsigned i) { return f(a[i]); });
}

template <typename D, typename A, typename B, unsigned pack = 1, typename F>
static inline Next binary(Context &c, const Instruction &I, F f) {
  const A *a = c.slot<A>(I.a);
  const B *b = c.slot<B>(I.b);
  return forLanes<D, pack>(c, c.slot<D>(I.dst),
                           [=](unsigned i) { return f(a[i], b[i]); });
}

template <typename D, typename A, typename B, typename C, unsigned pack = 1,
          typename F>
static inline Next ternary(Context &c, const Instruction &I, F f) {
  const A *a = c.slot<A>(I.a);
  const B *b = c.slot<B>(I.b);
  const C *d = c.slot<C>(I.c);
  return forLanes<D, pack>(c, c.slot<D>(I.dst),
                           [=](unsigned i) { return f(a[i], b[i], d[i]); });
}

/// Writes the lanes of a predicate.
static inline void writePredicate(Context &c, int32_t predicate,
                                  uint32_t value) {
  uint32_t &p = c.preds[predicate];
  p = (p & ~c.exec) | (value & c.exec);
}

/// The bits of f(i) over all lanes.
template <typename F>
static inline uint32_t collect(F f) {
  uint32_t bits = 0;
  FUSIONEMU_LANES
  for (unsigned i = 0; i < warpSize; ++i)
    bits |= uint32_t(f(i)) << i;
  return bits;
}

Handler findInteger(Op op, Type type);
Handler findIntegerExtra(Op op, Type type);
Handler findFloat(Op op, Type type, FloatMode mode);
Handler findFunction(Op op, Type type, FloatMode mode);
Handler findRounded(Op op, Type type, FloatMode mode);
Handler findHalf(Op op, Type type, FloatMode mode);
Handler findCompare(Compare op, Type type, bool ftz, bool toRegister);
Handler findConvert(const Conversion &conversion);
Handler findMove(unsigned bytes);
Handler findResize(unsigned from, unsigned to, bool isSigned);
Handler findPack(unsigned from, unsigned to);
Handler findUnpack(unsigned from, unsigned to);
Handler findSelect(unsigned bytes);
Handler findLoad(unsigned bytes, bool isSigned, unsigned registerBytes);
/// The load "ld.used", whose handler is of all types.
Handler findUsedLoad();
Handler findStore(unsigned bytes, unsigned registerBytes);
Handler findAtomic(Op op, Type type, bool vector);
Handler findSpecial(std::string_view name);
Handler findMatrixMove(MatrixMove move, bool transposed);
Handler findMma(bool isDouble);
void computeWgmma(Context &c, Warp &warp, const WgmmaOp &op, uint64_t descA,
                  uint64_t descB, bool scaleD, Block &block);
Handler findPayloadInteger(Op op, Type type);
Handler findPayloadFloat(Op op, Type type, FloatMode mode);
Handler findPayloadCompare(Compare op, Type type, bool ftz, bool toRegister);
Handler findPayloadConvert(const Conversion &conversion);
Handler findPayloadAtomic(Op op, Type type, bool vector);
Next run(Context &c, uint64_t budget);

} // namespace FUSIONEMU_ISA
} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_EXEC_LANES_H
