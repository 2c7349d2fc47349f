//===- Mma.cpp - mma.sync -------------------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the matrix products of one warp.
//
//===----------------------------------------------------------------------===//

#include "Exec/MatrixTile.h"
#include "Matrix/Wgmma.h"

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
const int32_t *slotsAt(const Context &c, uint32_t first) {
  return c.kernel->extraOperands.data() + first;
}

/// mma.sync with elements of at most 32 bits; aux is an index of Kernel::mmas.
Next multiply(Context &c, const Instruction &I) {
  Next next;
  if (!gatherWholeWarp(c, next))
    return next;
  const MmaOp &op = c.kernel->mmas[I.aux];
  Tile t;
  t.rows = op.m;
  t.columns = op.n;
  t.depth = op.k;
  forFragment<false>(
      c.regs, slotsAt(c, op.firstA), op.countA, MatrixOperand::A, op.m, op.a,
      [&](unsigned row, unsigned k, uint32_t x) { t.a[row][k] = x; });
  forFragment<false>(
      c.regs, slotsAt(c, op.firstB), op.countB, MatrixOperand::B, op.m, op.b,
      [&](unsigned k, unsigned column, uint32_t x) { t.b[k][column] = x; });
  forFragment<false>(
      c.regs, slotsAt(c, op.firstC), op.countD, MatrixOperand::D, op.m, op.d,
      [&](unsigned row, unsigned column, uint32_t x) { t.d[row][column] = x; });
  MatrixOp arithmetic = op;
  if (op.model.widens && !op.payload) {
    for (unsigned k = 0; k < op.k; ++k) {
      for (unsigned i = 0; i < op.m; ++i)
        t.a[i][k] = widenToHalf(op.a, t.a[i][k]);
      for (unsigned j = 0; j < op.n; ++j)
        t.b[k][j] = widenToHalf(op.b, t.b[k][j]);
    }
    arithmetic.a = arithmetic.b = MatrixType::F16;
  }
  multiplyTile(t, arithmetic);
  forFragment<true>(c.regs, slotsAt(c, op.firstD), op.countD, MatrixOperand::D,
                    op.m, op.d,
                    [&](unsigned row, unsigned column, uint32_t &x) {
                      x = t.d[row][column];
                    });
  return Next::Continue;
}

double quiet(double x) {
  return bitCast<double>(bitCast<uint64_t>(x) | uint64_t(1) << 51);
}

/// a * b + c. Of several NaN that of B is passed on, then that of C.
double multiplyAdd(double a, double b, double c) {
  if (b != b)
    return quiet(b);
  if (c != c)
    return quiet(c);
  if (a != a)
    return quiet(a);
  double result = __builtin_fma(a, b, c);
  return result != result ? bitCast<double>(uint64_t(0xfff8) << 48) : result;
}

/// mma.sync of f64: a chain of fused multiply-adds in the order of k.
Next multiplyDouble(Context &c, const Instruction &I) {
  Next next;
  if (!gatherWholeWarp(c, next))
    return next;
  const MmaOp &op = c.kernel->mmas[I.aux];
  uint64_t a[16][16], b[16][8], d[16][8];
  auto each = [&](uint32_t first, unsigned count, MatrixOperand operand,
                  auto f) {
    const int32_t *slots = slotsAt(c, first);
    for (unsigned r = 0; r < count; ++r)
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        MatrixPlace p = getMatrixPlace(operand, op.m, 1, lane, r, 0);
        f(p.row, p.column, c.slot<uint64_t>(slots[r])[lane]);
      }
  };
  each(op.firstA, op.countA, MatrixOperand::A,
       [&](unsigned i, unsigned k, uint64_t x) { a[i][k] = x; });
  each(op.firstB, op.countB, MatrixOperand::B,
       [&](unsigned k, unsigned j, uint64_t x) { b[k][j] = x; });
  each(op.firstC, op.countD, MatrixOperand::D,
       [&](unsigned i, unsigned j, uint64_t x) { d[i][j] = x; });
  for (unsigned i = 0; i < op.m; ++i)
    for (unsigned j = 0; j < op.n; ++j) {
      uint64_t sum = d[i][j];
      for (unsigned k = 0; k < op.k; ++k)
        sum = op.payload
                  ? sum + a[i][k] * b[k][j]
                  : bitCast<uint64_t>(multiplyAdd(bitCast<double>(a[i][k]),
                                                  bitCast<double>(b[k][j]),
                                                  bitCast<double>(sum)));
      d[i][j] = sum;
    }
  each(op.firstD, op.countD, MatrixOperand::D,
       [&](unsigned i, unsigned j, uint64_t &x) { x = d[i][j]; });
  return Next::Continue;
}
} // namespace

Handler findMma(bool isDouble) { return isDouble ? multiplyDouble : multiply; }

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
