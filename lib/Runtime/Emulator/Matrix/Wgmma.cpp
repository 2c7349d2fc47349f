//===- Wgmma.cpp - Matrix products of a warpgroup -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what instructions of whole warps share, and the way to
// the arithmetic that fits this processor.
//
//===----------------------------------------------------------------------===//

#include "Matrix/Wgmma.h"
#include "Operations.h"

using namespace fusionemu;

MatrixExtent fusionemu::getExtentA(const WgmmaOp &op) {
  return {64, op.k, getBits(op.a) / 8, op.transposeA};
}

MatrixExtent fusionemu::getExtentB(const WgmmaOp &op) {
  return {op.n, op.k, getBits(op.b) / 8, op.transposeB};
}

void fusionemu::computeWgmma(Context &c, Warp &warp, const WgmmaOp &op,
                             uint64_t descA, uint64_t descB, bool scaleD,
                             Block &block) {
  getHandlers().wgmma(c, warp, op, descA, descB, scaleD, block);
}

bool fusionemu::gatherWholeWarp(Context &c, Next &next) {
  constexpr uint32_t all = ~uint32_t(0);
  if (c.exec == all)
    return true;
  next = Next::Fail;
  const Warp &w = *c.warp;
  unsigned first = unsigned(__builtin_ctz(c.exec));
  std::string needs = "executes an instruction that all 32 threads of a warp "
                      "must execute together, but ";
  if (w.live != all) {
    fail(c, ErrorKind::BarrierDivergence, first,
         needs + (w.exists != all
                      ? "the warp has only " +
                            std::to_string(__builtin_popcount(w.exists)) +
                            " threads"
                      : "some have exited"));
    return false;
  }
  uint32_t absent = c.active & ~c.exec;
  // Lanes at a meeting point wait for these lanes, not here.
  for (const Join &join : w.joins)
    if (join.used)
      absent |= join.arrived & ~c.exec;
  if (absent != 0) {
    fail(c, ErrorKind::BarrierDivergence, first,
         needs + describeThread(c, w, unsigned(__builtin_ctz(absent))) +
             " does not");
    return false;
  }
  if (gatherLanes(c, all))
    return true;
  next = Next::Switch;
  return false;
}
