//===- MatrixMove.cpp - ldmatrix, stmatrix, movmatrix ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the moves of 8x8 matrices of 16-bit elements between
// shared memory and the registers of a warp. A lane holds the elements
// 2 * (lane % 4) and the next one of row lane / 4.
//
//===----------------------------------------------------------------------===//

#include "Exec/Access.h"
#include "Machine/ReadQueue.h"
#include "Matrix/Wgmma.h"

using namespace fusionemu;

namespace fusionemu {
namespace FUSIONEMU_ISA {

namespace {
/// Finds and checks the rows of `matrices` matrices: row r of matrix m is at
/// the address of lane 8 * m + r. Each is one access of 16 bytes.
bool resolveRows(Context &c, const Instruction &I, Access &A,
                 unsigned matrices) {
  if (I.space == Space::Generic) {
    Access addresses;
    if (I.addressBytes == 0)
      for (uint64_t &address : addresses.address)
        address = uint64_t(I.offset);
    else
      computeAddresses(c, I, addresses);
    for (unsigned lane = 0; lane < 8 * matrices; ++lane)
      if (spaceOf(addresses.address[lane]) != Space::Shared) {
        fail(c, ErrorKind::InvalidAddress, lane,
             "names a row of a matrix that is not in shared memory");
        return false;
      }
  }
  c.exec = matrices == 4 ? ~uint32_t(0) : (uint32_t(1) << 8 * matrices) - 1;
  bool fine = resolve(c, I, A);
  if (fine && reads(A.mode) && c.warp->reads && A.base == c.block->shared)
    noteRead(c, A.offset, c.exec, A.bytes);
  c.exec = ~uint32_t(0);
  return fine;
}

const int32_t *slotsOf(const Context &c, const Instruction &I) {
  return c.kernel->extraOperands.data() + I.target;
}

/// d is the number of matrices, whose registers stand in extraOperands.
template <bool transposed>
Next loadMatrices(Context &c, const Instruction &I) {
  Next next;
  if (!gatherWholeWarp(c, next))
    return next;
  Access A;
  unsigned matrices = unsigned(I.d);
  if (!resolveRows(c, I, A, matrices))
    return Next::Fail;
  uint16_t elements[4][8][8];
  for (unsigned m = 0; m < matrices; ++m)
    for (unsigned row = 0; row < 8; ++row)
      __builtin_memcpy(elements[m][row], pointerOf(A, 8 * m + row), 16);
  for (unsigned m = 0; m < matrices; ++m) {
    uint32_t *to = c.slot<uint32_t>(slotsOf(c, I)[m]);
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      unsigned r = lane / 4, k = lane % 4 * 2;
      uint32_t low = transposed ? elements[m][k][r] : elements[m][r][k];
      uint32_t high =
          transposed ? elements[m][k + 1][r] : elements[m][r][k + 1];
      to[lane] = low | high << 16;
    }
  }
  return Next::Continue;
}

template <bool transposed>
Next storeMatrices(Context &c, const Instruction &I) {
  Next next;
  if (!gatherWholeWarp(c, next))
    return next;
  Access A;
  A.mode = AccessMode::Write;
  unsigned matrices = unsigned(I.d);
  if (!resolveRows(c, I, A, matrices))
    return Next::Fail;
  for (unsigned m = 0; m < matrices; ++m) {
    uint16_t elements[8][8];
    const uint32_t *from = c.slot<uint32_t>(slotsOf(c, I)[m]);
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      unsigned r = lane / 4, k = lane % 4 * 2;
      uint16_t low = uint16_t(from[lane]), high = uint16_t(from[lane] >> 16);
      (transposed ? elements[k][r] : elements[r][k]) = low;
      (transposed ? elements[k + 1][r] : elements[r][k + 1]) = high;
    }
    for (unsigned row = 0; row < 8; ++row)
      __builtin_memcpy(pointerOf(A, 8 * m + row), elements[row], 16);
  }
  return Next::Continue;
}

/// movmatrix.trans: across the lanes of the warp.
Next transposeMatrix(Context &c, const Instruction &I) {
  Next next;
  if (!gatherWholeWarp(c, next))
    return next;
  const uint32_t *from = c.slot<uint32_t>(I.a);
  uint16_t elements[8][8];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    elements[lane / 4][lane % 4 * 2] = uint16_t(from[lane]);
    elements[lane / 4][lane % 4 * 2 + 1] = uint16_t(from[lane] >> 16);
  }
  uint32_t *to = c.slot<uint32_t>(I.dst);
  for (unsigned lane = 0; lane < warpSize; ++lane)
    to[lane] = elements[lane % 4 * 2][lane / 4] |
               uint32_t(elements[lane % 4 * 2 + 1][lane / 4]) << 16;
  return Next::Continue;
}
} // namespace

Handler findMatrixMove(MatrixMove move, bool transposed) {
  switch (move) {
  case MatrixMove::Load:
    return transposed ? loadMatrices<true> : loadMatrices<false>;
  case MatrixMove::Store:
    return transposed ? storeMatrices<true> : storeMatrices<false>;
  case MatrixMove::Transpose:
    return transposeMatrix;
  }
  return nullptr;
}

} // namespace FUSIONEMU_ISA
} // namespace fusionemu
