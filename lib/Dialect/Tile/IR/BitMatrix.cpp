//===- BitMatrix.cpp - Linear maps over GF(2) -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements spans and linear maps of bit vectors.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/BitMatrix.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>

using namespace mlir::fusion::tile;

/// The highest set bit of a vector that is not zero, alone.
static uint64_t leadingBit(uint64_t vector) { return llvm::bit_floor(vector); }

bool BitSpan::insert(uint64_t vector) {
  assert(count < 64 && "a combination mask has 64 bits");
  uint64_t combination = uint64_t(1) << count++;
  for (const Row &row : rows) {
    if (!(vector & leadingBit(row.value)))
      continue;
    vector ^= row.value;
    combination ^= row.combination;
  }
  if (!vector)
    return false;
  // Keeping the rows fully reduced lets one pass in any order express a vector.
  uint64_t lead = leadingBit(vector);
  for (Row &row : rows) {
    if (!(row.value & lead))
      continue;
    row.value ^= vector;
    row.combination ^= combination;
  }
  rows.push_back({vector, combination});
  return true;
}

std::optional<uint64_t> BitSpan::express(uint64_t vector) const {
  uint64_t combination = 0;
  for (const Row &row : rows) {
    if (!(vector & leadingBit(row.value)))
      continue;
    vector ^= row.value;
    combination ^= row.combination;
  }
  if (vector)
    return std::nullopt;
  return combination;
}

BitMatrix::BitMatrix(llvm::ArrayRef<uint64_t> columns, unsigned numRows)
    : columns(columns.begin(), columns.end()), rows(numRows) {
  assert(columns.size() <= 64 && numRows <= 64 && "a vector has 64 bits");
#ifndef NDEBUG
  for (uint64_t column : columns)
    assert((column & ~llvm::maskTrailingOnes<uint64_t>(numRows)) == 0 &&
           "a column reaches beyond the rows");
#endif
}

BitMatrix BitMatrix::identity(unsigned size) {
  llvm::SmallVector<uint64_t, 16> columns;
  for (unsigned i = 0; i != size; ++i)
    columns.push_back(uint64_t(1) << i);
  return BitMatrix(columns, size);
}

uint64_t BitMatrix::apply(uint64_t vector) const {
  assert((columns.size() == 64 || vector >> columns.size() == 0) &&
         "vector has more bits than the map has columns");
  uint64_t image = 0;
  for (; vector; vector &= vector - 1)
    image ^= columns[llvm::countr_zero(vector)];
  return image;
}

BitMatrix BitMatrix::compose(const BitMatrix &inner) const {
  assert(inner.rows <= columns.size() && "inner image exceeds this domain");
  BitMatrix result;
  result.rows = rows;
  for (uint64_t column : inner.columns)
    result.columns.push_back(apply(column));
  return result;
}

std::optional<BitMatrix> BitMatrix::rightInverse() const {
  BitSpan span(columns);
  BitMatrix result;
  result.rows = columns.size();
  for (unsigned i = 0; i != rows; ++i) {
    std::optional<uint64_t> preimage = span.express(uint64_t(1) << i);
    if (!preimage)
      return std::nullopt;
    result.columns.push_back(*preimage);
  }
  return result;
}
