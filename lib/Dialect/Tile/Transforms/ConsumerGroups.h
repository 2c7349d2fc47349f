//===- ConsumerGroups.h - Groups that take turns at tiles -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares what it takes for groups of consumers to walk the tiles of
// a block in turns: the loop over the tiles, and how many stages of the ring
// each tile takes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_TILE_TRANSFORMS_CONSUMERGROUPS_H
#define FUSION_LIB_DIALECT_TILE_TRANSFORMS_CONSUMERGROUPS_H

#include "RolePlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::fusion::tile {

/// The loop over the tiles of a block and, outermost first, the loops of the
/// contraction inside it.
struct TileWalk {
  scf::ForOp tiles;
  SmallVector<scf::ForOp> contraction;

  explicit operator bool() { return static_cast<bool>(tiles); }
  /// The operation of a tile's body that is, or has, the contraction: null when
  /// the body itself makes the products.
  Operation *getContraction() {
    return contraction.empty() ? nullptr : contraction.front().getOperation();
  }
};

/// The walk of the program that `plan` is of, when groups can take turns at its
/// tiles: every tile takes the same number of stages.
FailureOr<TileWalk> findTileWalk(const ContractionPlan &plan,
                                 std::string &whyNot);

/// Emits the number of stages that a tile takes; `find` gives what stands for a
/// value of the program.
Value emitStagesOfTile(OpBuilder &builder, Location loc, const TileWalk &walk,
                       function_ref<Value(Value)> find);

} // namespace mlir::fusion::tile

#endif // FUSION_LIB_DIALECT_TILE_TRANSFORMS_CONSUMERGROUPS_H
