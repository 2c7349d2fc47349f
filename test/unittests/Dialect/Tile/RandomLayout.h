//===- RandomLayout.h - Random layouts for tests ----------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the random layouts that the tests of this folder share.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_DIALECT_TILE_RANDOMLAYOUT_H
#define FUSION_TEST_UNITTESTS_DIALECT_TILE_RANDOMLAYOUT_H

#include "fusion/Dialect/Tile/IR/LinearLayout.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <random>

namespace mlir::fusion::tile {

/// A layout that holds every element of `shape`: deals the bits of the tile to
/// `laneBits` lanes, warps and registers at random, now and then replicating
/// and, if `mixing`, now and then stepping along several bits at once.
inline LinearLayout randomLayout(std::mt19937 &random,
                                 llvm::ArrayRef<int64_t> shape,
                                 unsigned laneBits, unsigned warpBits,
                                 bool mixing) {
  unsigned elementBits = 0;
  for (int64_t size : shape)
    elementBits += llvm::Log2_64(size);
  int64_t elements = int64_t(1) << elementBits;
  llvm::SmallVector<int32_t, 16> bits;
  for (unsigned i = 0; i != elementBits; ++i)
    bits.push_back(1 << i);
  std::shuffle(bits.begin(), bits.end(), random);
  if (mixing)
    for (unsigned i = 1; i < elementBits; ++i)
      if (random() % 3 == 0)
        bits[i] ^= bits[random() % i];
  std::shuffle(bits.begin(), bits.end(), random);
  llvm::SmallVector<Coords, 8> regs, lanes, warps;
  auto deal = [&](llvm::SmallVectorImpl<Coords> &group, unsigned count) {
    for (unsigned i = 0; i != count; ++i)
      group.push_back(
          {!bits.empty() && random() % 8 ? bits.pop_back_val() : 0});
  };
  deal(lanes, laneBits);
  deal(warps, warpBits);
  deal(regs, bits.size());
  while (!bits.empty())
    regs.push_back({bits.pop_back_val()});
  return LinearLayout::fromBases({elements}, regs, lanes, warps)
      ->reshape(shape);
}

} // namespace mlir::fusion::tile

#endif // FUSION_TEST_UNITTESTS_DIALECT_TILE_RANDOMLAYOUT_H
