//===- RoleWriters.h - Writes the regions of roles --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how the roles of a program are written, given the plan of
// what each does: the producers of rings and the consumer.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_TILE_TRANSFORMS_ROLEWRITERS_H
#define FUSION_LIB_DIALECT_TILE_TRANSFORMS_ROLEWRITERS_H

#include "ConsumerGroups.h"
#include "RolePlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::fusion::tile {

/// The ring of the contraction (number 0) and those beside it, with what is
/// read through them.
struct RoleRing {
  Value value;
  /// The blocks or loads at which a stage is taken: the products' block for
  /// ring 0, each load for the others.
  llvm::SmallPtrSet<Operation *, 4> loads;
};

/// The values that exist before the roles part.
struct RoleContext {
  RolePlan plan;
  SmallVector<RoleRing> rings;
  /// By view, type and windows.
  DenseMap<std::tuple<Value, Type, Attribute, Attribute>, Value> maps;
  /// For each store that the engine makes, the buffer it goes through.
  DenseMap<Operation *, Value> staging;
  /// The buffer of each computed operand that goes through one.
  DenseMap<Value, Value> stored;
  /// With several groups of consumers: the loop whose turns they take, and the
  /// ring that passes them.
  TileWalk walk;
  Value turns;

  int64_t groups() const { return plan.groups; }

  ContractionPlan &contraction() { return plan.contraction; }
  static std::tuple<Value, Type, Attribute, Attribute>
  keyOf(Value view, const TensorCopy &copy) {
    return {view, copy.map, copy.im2col,
            DenseI64ArrayAttr::get(view.getContext(), copy.strides)};
  }
  Value mapOf(Value view, const TensorCopy &copy) const {
    return maps.lookup(keyOf(view, copy));
  }
  /// True when a stage of ring `number` is taken at or inside `op`.
  bool usesRing(Operation *op, unsigned number) const;
};

/// The state of a role while its region is written: what stands for the values
/// of the program, and the position in each ring.
struct RoleState {
  OpBuilder builder;
  IRMapping mapping;
  SmallVector<Value> positions;
};

/// The operations of the program's block that stay before the roles: scalars
/// and views that depend on such only. The others are returned in order.
SmallVector<Operation *> splitPrologue(ProgramOp program);

/// `position` moved `by` steps.
Value emitNext(OpBuilder &builder, Location loc, Value position,
               int64_t by = 1);

/// Opens a copy of `loop` in `state` that carries `inits` and then the
/// positions of the rings `numbers`; the builder is left in its body.
scf::ForOp openLoop(RoleState &state, scf::ForOp loop, SmallVector<Value> inits,
                    ArrayRef<unsigned> numbers);

/// Ends a loop that openLoop opened.
void closeLoop(RoleState &state, scf::ForOp copy, SmallVector<Value> yielded,
               ArrayRef<unsigned> numbers);

/// Writes, in `state`, the region of the producer that feeds ring `ring`, from
/// `source`, the program's operations.
/// Opens the copy of a condition, in which rings `numbers` move on.
scf::IfOp openCondition(RoleState &state, scf::IfOp condition,
                        ArrayRef<unsigned> numbers);

/// Ends it, where these rings were at `before` when it was opened.
void closeCondition(RoleState &state, scf::IfOp copy, ArrayRef<Value> before,
                    ArrayRef<unsigned> numbers);

void writeProducer(RoleContext &common, unsigned ring, RoleState &state,
                   Block &source);

/// Writes, in `state`, the region of the warps that hold tiles.
void writeConsumer(RoleContext &common, RoleState &state, Block &source);

} // namespace mlir::fusion::tile

#endif // FUSION_LIB_DIALECT_TILE_TRANSFORMS_ROLEWRITERS_H
