//===- MatrixAccessTest.cpp - Tests of reading fragments by ldmatrix ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file replays what ldmatrix does on buffers of chunks and holds it to the
// layouts of fragments.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/MatrixAccess.h"
#include "fusion/Dialect/Tile/IR/MmaSyncLayouts.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir::fusion::tile;

namespace {

/// Checks that the access gives every register the bytes of its element, by
/// the rules of the PTX ISA, and that no matrix has bank conflicts.
void replay(const LinearLayout &layout, const SharedLayout &shared,
            const MatrixAccess &access) {
  std::set<unsigned> written;
  for (unsigned warp = 0; warp != layout.numWarps(); ++warp)
    for (const MatrixAccess::Group &group : access.groups) {
      auto row = [&](unsigned matrix, unsigned number) {
        return access.laneOffset.apply(8 * matrix + number) ^
               access.warpOffset.apply(warp) ^ group.offset;
      };
      ASSERT_EQ(group.regs.size(), access.matrices);
      for (unsigned matrix = 0; matrix != access.matrices; ++matrix) {
        std::set<uint64_t> banks;
        for (unsigned i = 0; i != 8; ++i)
          banks.insert(row(matrix, i) % kBankRowBytes);
        EXPECT_EQ(banks.size(), 8u);
        const RegisterMap &regs = group.regs[matrix];
        for (unsigned lane = 0; lane != 32; ++lane)
          for (unsigned i = 0; i != regs.size(); ++i) {
            uint64_t offset =
                access.transposed
                    ? row(matrix, 2 * (lane % 4) + i) + 2 * (lane / 4)
                    : row(matrix, lane / 4) + 4 * (lane % 4) +
                          i * shared.elementBytes();
            EXPECT_EQ(offset,
                      shared.offsetOf(layout.elementOf(regs[i], lane, warp)));
          }
        written.insert(regs.begin(), regs.end());
      }
    }
  for (unsigned reg = 0; reg != layout.numRegs(); ++reg)
    EXPECT_TRUE(written.count(access.holder[reg]));
}

TEST(MatrixAccess, FragmentsComeByLdmatrix) {
  for (unsigned bits : {8u, 16u, 32u})
    for (bool swapped : {false, true})
      for (int64_t depth : {64, 128}) {
        LinearLayout acc = *mmaSyncAccumulator({64, 64}, 4, bits, swapped);
        for (unsigned operand : {0u, 1u}) {
          LinearLayout layout = *mmaSyncOperand(operand, acc, depth, bits);
          SharedLayout shared = *getChunkedBuffer({64, depth}, bits / 8, 1);
          std::optional<MatrixAccess> access = getMatrixAccess(layout, shared);
          ASSERT_TRUE(access);
          EXPECT_FALSE(access->transposed);
          EXPECT_EQ(access->matrices, 4u);
          replay(layout, shared, *access);
        }
      }
}

TEST(MatrixAccess, ShortRowsToo) {
  LinearLayout acc = *mmaSyncAccumulator({32, 32}, 1, 16);
  for (int64_t depth : {16, 32}) {
    LinearLayout layout = *mmaSyncOperand(0, acc, depth, 16);
    SharedLayout shared = *getChunkedBuffer({32, depth}, 2, 1);
    replay(layout, shared, *getMatrixAccess(layout, shared));
  }
}

TEST(MatrixAccess, TheOtherMajorIsTransposed) {
  LinearLayout acc = *mmaSyncAccumulator({64, 128}, 4, 16);
  for (unsigned operand : {0u, 1u}) {
    int64_t extent = operand ? 128 : 64;
    LinearLayout layout = *mmaSyncOperand(operand, acc, 32, 16);
    SharedLayout shared = *getChunkedBuffer({extent, 32}, 2, 0);
    std::optional<MatrixAccess> access = getMatrixAccess(layout, shared);
    ASSERT_TRUE(access);
    EXPECT_TRUE(access->transposed);
    replay(layout, shared, *access);
  }
}

TEST(MatrixAccess, BytesOfDequantisedOperands) {
  // Runs of 4 along the depth: 8-bit elements of a 16-bit product.
  LinearLayout acc = *mmaSyncAccumulator({16, 64}, 4, 16);
  LinearLayout layout = *mmaSyncOperand(1, acc, 64, 16, /*log2Run=*/2);
  SharedLayout shared = *getChunkedBuffer({64, 64}, 1, 1);
  std::optional<MatrixAccess> access = getMatrixAccess(layout, shared);
  ASSERT_TRUE(access);
  replay(layout, shared, *access);
}

TEST(MatrixAccess, RefusesOtherLayouts) {
  LinearLayout acc = *mmaSyncAccumulator({64, 64}, 4, 32);
  LinearLayout layout = *mmaSyncOperand(0, acc, 32, 32);
  // Elements of 4 bytes cannot be transposed.
  EXPECT_FALSE(getMatrixAccess(layout, *getChunkedBuffer({64, 32}, 4, 0)));
  // Rows of a thread's own.
  EXPECT_FALSE(getMatrixAccess(getBlockedLayout({64, 64}, {1, 0}, 8, 32, 4),
                               *getChunkedBuffer({64, 64}, 2, 1)));
  EXPECT_FALSE(getChunkedBuffer({64, 4}, 2, 1));
}

TEST(MatrixAccess, CopiesHaveNoBankConflicts) {
  for (unsigned bytes : {1u, 2u, 4u})
    for (int64_t columns : {64, 128}) {
      LinearLayout threads =
          getBlockedLayout({64, columns}, {1, 0}, 16 / bytes, 32, 4);
      SharedLayout shared = *getChunkedBuffer({64, columns}, bytes, 1);
      EXPECT_TRUE(
          getSharedAccessCost(threads, shared, 16 / bytes).isConflictFree());
    }
}

} // namespace
