//===- Wgmma.cpp - The arithmetic of wgmma --------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what one warp computes of a warpgroup's product.
//
//===----------------------------------------------------------------------===//

#include "Matrix/Wgmma.h"
#include "Exec/MatrixTile.h"

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
/// Calls f(mn, k, bits) for the elements (mn, k) of an operand in shared
/// memory with first <= mn < first + count, 16 bytes at a time.
template <typename T, typename F>
inline void forElements(const uint8_t *shared, const MatrixDescriptor &d,
                        const MatrixExtent &extent, unsigned first,
                        unsigned count, F f) {
  constexpr unsigned perChunk = 16 / sizeof(T);
  T chunk[perChunk];
  if (!extent.transposed) {
    for (unsigned mn = 0; mn < count; ++mn)
      for (unsigned k = 0; k < extent.k; k += perChunk) {
        __builtin_memcpy(
            chunk, shared + getMatrixOffset(d, extent, first + mn, k), 16);
        for (unsigned e = 0; e < perChunk; ++e)
          f(mn, k + e, uint32_t(chunk[e]));
      }
    return;
  }
  for (unsigned k = 0; k < extent.k; ++k)
    for (unsigned mn = 0; mn < count; mn += perChunk) {
      __builtin_memcpy(chunk,
                       shared + getMatrixOffset(d, extent, first + mn, k), 16);
      for (unsigned e = 0; e < perChunk; ++e)
        f(mn + e, k, uint32_t(chunk[e]));
    }
}

template <typename F>
inline void forElements(const uint8_t *shared, uint64_t descriptor,
                        const MatrixExtent &extent, unsigned first,
                        unsigned count, F f) {
  MatrixDescriptor d = decodeMatrixDescriptor(descriptor);
  switch (extent.elementBytes) {
  case 1:
    return forElements<uint8_t>(shared, d, extent, first, count, f);
  case 2:
    return forElements<uint16_t>(shared, d, extent, first, count, f);
  default:
    return forElements<uint32_t>(shared, d, extent, first, count, f);
  }
}
} // namespace

void computeWgmma(Context &c, Warp &warp, const WgmmaOp &op, uint64_t descA,
                  uint64_t descB, bool scaleD, Block &block) {
  const int32_t *slots = c.kernel->extraOperands.data();
  Tile t;
  t.columns = op.n;
  t.depth = op.k;
  if (op.countA != 0)
    forFragment<false>(
        warp.regs, slots + op.firstA, op.countA, MatrixOperand::A, tileRows,
        op.a, [&](unsigned row, unsigned k, uint32_t x) { t.a[row][k] = x; });
  else
    forElements(block.shared, descA, getExtentA(op), warp.index % 4 * tileRows,
                tileRows,
                [&](unsigned row, unsigned k, uint32_t x) { t.a[row][k] = x; });
  forElements(
      block.shared, descB, getExtentB(op), 0, op.n,
      [&](unsigned column, unsigned k, uint32_t x) { t.b[k][column] = x; });
  if (scaleD)
    forFragment<false>(warp.regs, slots + op.firstD, op.countD,
                       MatrixOperand::D, tileRows, op.d,
                       [&](unsigned row, unsigned column, uint32_t x) {
                         t.d[row][column] = x;
                       });
  else
    __builtin_memset(t.d, 0, sizeof(t.d));
  multiplyTile(t, op);
  forFragment<true>(warp.regs, slots + op.firstD, op.countD, MatrixOperand::D,
                    tileRows, op.d,
                    [&](unsigned row, unsigned column, uint32_t &x) {
                      x = t.d[row][column];
                    });
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
