//===- SharedPieces.h - What programs keep in shared memory -----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what a program keeps in shared memory, and when: for the
// pass that gives it places, and for those that decide by what is left of it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_TILE_TRANSFORMS_SHAREDPIECES_H
#define FUSION_LIB_DIALECT_TILE_TRANSFORMS_SHAREDPIECES_H

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Support/SharedPlaces.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::fusion::tile {

/// What a program keeps in shared memory, and who it belongs to.
struct SharedPieces {
  SmallVector<fusion::SharedPiece> all;
  SmallVector<Operation *> owners;

  void add(Operation *owner, const fusion::SharedPiece &piece) {
    owners.push_back(owner);
    all.push_back(piece);
  }
};

/// When the buffers of a program as it is now are used. Operations that are
/// made later have no time.
class SharedTimes {
public:
  explicit SharedTimes(ProgramOp program);

  /// The buffers, with their first and last uses.
  SharedPieces findBuffers() const;
  /// Adds what lives throughout: rings, the two barriers at which the blocks of
  /// a cluster meet, and what other blocks write to.
  void addRings(SharedPieces &pieces) const;
  /// Gives all of `pieces` their offsets.
  fusion::SharedBytes place(SharedPieces &pieces) const;
  /// The bytes of a block with so many more that are used at `op` alone.
  int64_t getBytesWith(Operation *op, int64_t bytes) const;

  unsigned getLastUse(Operation *op) const { return spans.at(op).second; }
  /// The roles of consumers that take turns; null if there are none.
  SpecializeOp getGroups() const { return groups; }

private:
  mutable ProgramOp program;
  mutable SpecializeOp groups;
  /// The numbers of an operation and of the last one inside it.
  DenseMap<Operation *, std::pair<unsigned, unsigned>> spans;
};

} // namespace mlir::fusion::tile

#endif // FUSION_LIB_DIALECT_TILE_TRANSFORMS_SHAREDPIECES_H
