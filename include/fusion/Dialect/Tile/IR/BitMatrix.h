//===- BitMatrix.h - Linear maps over GF(2) ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the arithmetic under the layouts of the tile dialect:
// spans and linear maps of bit vectors, where addition is XOR. A vector is one
// 64-bit word, so a map of n input bits is n words and every operation is a
// handful of instructions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_IR_BITMATRIX_H
#define FUSION_DIALECT_TILE_IR_BITMATRIX_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace mlir::fusion::tile {

/// The span of bit vectors, grown one vector at a time. Remembers how to write
/// every member as an XOR of the vectors inserted.
class BitSpan {
public:
  BitSpan() = default;
  explicit BitSpan(llvm::ArrayRef<uint64_t> vectors) {
    for (uint64_t vector : vectors)
      insert(vector);
  }

  /// Adds the next vector (its number is size() before the call; 64 at most)
  /// and returns whether it is independent of all those before it.
  bool insert(uint64_t vector);

  /// Returns the set of inserted vectors, as a mask of their numbers, whose XOR
  /// is `vector`; none if `vector` is outside the span. Only vectors that were
  /// independent when inserted take part, so the answer is unique and early
  /// vectors win over late ones.
  std::optional<uint64_t> express(uint64_t vector) const;

  bool contains(uint64_t vector) const { return express(vector).has_value(); }
  unsigned rank() const { return rows.size(); }
  unsigned size() const { return count; }

private:
  /// `value` is the XOR of the vectors in `combination`; its highest bit is set
  /// in no other row.
  struct Row {
    uint64_t value;
    uint64_t combination;
  };
  llvm::SmallVector<Row, 16> rows;
  unsigned count = 0;
};

/// A linear map from bit vectors to bit vectors: column i is the image of the
/// unit vector i.
class BitMatrix {
public:
  BitMatrix() = default;
  BitMatrix(llvm::ArrayRef<uint64_t> columns, unsigned numRows);

  static BitMatrix identity(unsigned size);

  unsigned numColumns() const { return columns.size(); }
  unsigned numRows() const { return rows; }
  uint64_t column(unsigned i) const { return columns[i]; }
  llvm::ArrayRef<uint64_t> getColumns() const { return columns; }

  /// The image of `vector`: the XOR of the columns of its set bits.
  uint64_t apply(uint64_t vector) const;

  unsigned rank() const { return BitSpan(columns).rank(); }
  bool isInjective() const { return rank() == columns.size(); }
  bool isSurjective() const { return rank() == rows; }

  /// The map `x -> this(inner(x))`. Precondition: inner.numRows() is at most
  /// numColumns().
  BitMatrix compose(const BitMatrix &inner) const;

  /// A map R with this(R(y)) = y for every y; none if this map is not
  /// surjective. Of several preimages the one built from the earliest
  /// independent columns is taken, so dependent columns are never used.
  std::optional<BitMatrix> rightInverse() const;

  bool operator==(const BitMatrix &other) const {
    return rows == other.rows && columns == other.columns;
  }
  bool operator!=(const BitMatrix &other) const { return !(*this == other); }

private:
  llvm::SmallVector<uint64_t, 16> columns;
  unsigned rows = 0;
};

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_IR_BITMATRIX_H
