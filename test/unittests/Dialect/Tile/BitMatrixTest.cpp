//===- BitMatrixTest.cpp - Tests of linear maps over GF(2) ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests spans and linear maps of bit vectors against brute force.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/BitMatrix.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace mlir::fusion::tile;

namespace {

TEST(BitSpan, ExpressesByTheEarliestVectors) {
  BitSpan span;
  EXPECT_TRUE(span.insert(0b011));
  EXPECT_TRUE(span.insert(0b110));
  EXPECT_FALSE(span.insert(0b101)); // The XOR of the two.
  EXPECT_FALSE(span.insert(0));
  EXPECT_EQ(span.rank(), 2u);
  EXPECT_EQ(span.size(), 4u);
  EXPECT_EQ(span.express(0b101), 0b011u);
  EXPECT_EQ(span.express(0), 0u);
  EXPECT_FALSE(span.contains(0b001));
}

TEST(BitSpan, AgreesWithEnumeration) {
  std::mt19937_64 random(1);
  for (unsigned trial = 0; trial != 200; ++trial) {
    llvm::SmallVector<uint64_t, 8> vectors;
    for (unsigned i = 0; i != 6; ++i)
      vectors.push_back(random() & 0xff);
    std::set<uint64_t> members;
    for (unsigned mask = 0; mask != 64; ++mask) {
      uint64_t sum = 0;
      for (unsigned i = 0; i != 6; ++i)
        if (mask >> i & 1)
          sum ^= vectors[i];
      members.insert(sum);
    }
    BitSpan span(vectors);
    EXPECT_EQ(uint64_t(1) << span.rank(), members.size());
    for (uint64_t vector = 0; vector != 256; ++vector) {
      std::optional<uint64_t> mask = span.express(vector);
      ASSERT_EQ(mask.has_value(), members.count(vector) == 1);
      if (!mask)
        continue;
      uint64_t sum = 0;
      for (unsigned i = 0; i != 6; ++i)
        if (*mask >> i & 1)
          sum ^= vectors[i];
      EXPECT_EQ(sum, vector);
    }
  }
}

TEST(BitMatrix, ComposesAsFunctionsDo) {
  std::mt19937_64 random(2);
  llvm::SmallVector<uint64_t, 8> a, b;
  for (unsigned i = 0; i != 5; ++i)
    a.push_back(random() & 0x7f);
  for (unsigned i = 0; i != 6; ++i)
    b.push_back(random() & 0x1f);
  BitMatrix outer(a, 7), inner(b, 5);
  BitMatrix both = outer.compose(inner);
  EXPECT_EQ(both.numColumns(), 6u);
  EXPECT_EQ(both.numRows(), 7u);
  for (uint64_t x = 0; x != 64; ++x)
    EXPECT_EQ(both.apply(x), outer.apply(inner.apply(x)));
}

TEST(BitMatrix, RightInverse) {
  // Onto three bits, with a repeated and a zero column.
  BitMatrix map({0b001, 0b001, 0b000, 0b011, 0b111}, 3);
  EXPECT_TRUE(map.isSurjective());
  EXPECT_FALSE(map.isInjective());
  std::optional<BitMatrix> inverse = map.rightInverse();
  ASSERT_TRUE(inverse);
  for (uint64_t y = 0; y != 8; ++y) {
    EXPECT_EQ(map.apply(inverse->apply(y)), y);
    EXPECT_EQ(inverse->apply(y) & 0b00110, 0u) << "dependent columns unused";
  }
  EXPECT_FALSE(BitMatrix({0b01, 0b01}, 2).rightInverse());
  EXPECT_EQ(BitMatrix::identity(4).rightInverse(), BitMatrix::identity(4));
}

} // namespace
