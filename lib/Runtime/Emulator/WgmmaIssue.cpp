//===- WgmmaIssue.cpp - wgmma, executed at once ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the instructions of the wgmma family as if they were
// synchronous: the product is there when the instruction has been issued.
//
//===----------------------------------------------------------------------===//

#include "Wgmma.h"

using namespace fusionemu;

/// The value that all lanes must have in a 64-bit register.
static bool readUniform(Context &c, uint32_t operand, uint64_t &value) {
  const auto *lanes = c.slot<uint64_t>(c.kernel->extraOperands[operand]);
  value = lanes[0];
  for (unsigned i = 1; i < warpSize; ++i)
    if (lanes[i] != value) {
      fail(c, ErrorKind::BarrierDivergence, i,
           "has another matrix descriptor than the first thread of its warp");
      return false;
    }
  return true;
}

/// Checks that an operand lies in the block's shared memory.
static bool checkOperand(Context &c, uint64_t bits, const MatrixExtent &extent,
                         const char *name) {
  if (const char *reason = validateMatrixDescriptor(bits)) {
    fail(c, ErrorKind::InvalidAddress, 0,
         std::string("uses a descriptor of ") + name + " that " + reason);
    return false;
  }
  uint64_t worst = 0;
  forEachMatrixRange(decodeMatrixDescriptor(bits), extent,
                     [&](uint32_t offset, uint32_t bytes) {
                       if (uint64_t(offset) + bytes > worst)
                         worst = uint64_t(offset) + bytes;
                     });
  if (worst <= c.block->sharedBytes)
    return true;
  fail(c, ErrorKind::OutOfBounds, 0,
       std::string("multiplies a matrix ") + name + " that reaches byte " +
           std::to_string(worst) + " of shared memory, which has " +
           std::to_string(c.block->sharedBytes) + " bytes");
  return false;
}

Next fusionemu::wgmmaIssue(Context &c, const Instruction &I) {
  Next next;
  if (!gatherWholeWarp(c, next))
    return next;
  const WgmmaOp &op = c.kernel->wgmmas[I.aux];
  if (c.warp->index / 4 * 4 + 4 > c.block->numWarps)
    return fail(c, ErrorKind::BarrierDivergence, 0,
                "is not in a warpgroup of four warps");
  uint64_t descA = 0, descB = 0;
  if (op.countA == 0 && (!readUniform(c, op.descriptorA, descA) ||
                         !checkOperand(c, descA, getExtentA(op), "A")))
    return Next::Fail;
  if (!readUniform(c, op.descriptorB, descB) ||
      !checkOperand(c, descB, getExtentB(op), "B"))
    return Next::Fail;
  uint32_t scale = c.preds[op.scaleD] ^ (op.scaleDNegated ? ~0u : 0u);
  if (scale != 0 && scale != ~0u)
    return fail(c, ErrorKind::BarrierDivergence,
                unsigned(__builtin_ctz(scale & 1 ? ~scale : scale)),
                "has another scale-d than the first thread of its warp");
  computeWgmma(c, *c.warp, op, descA, descB, scale != 0, *c.block);
  return Next::Continue;
}

Next fusionemu::wgmmaFence(Context &c, const Instruction &) {
  Next next;
  return gatherWholeWarp(c, next) ? Next::Continue : next;
}

Next fusionemu::wgmmaCommit(Context &c, const Instruction &) {
  Next next;
  return gatherWholeWarp(c, next) ? Next::Continue : next;
}

Next fusionemu::wgmmaWait(Context &c, const Instruction &) {
  Next next;
  return gatherWholeWarp(c, next) ? Next::Continue : next;
}
