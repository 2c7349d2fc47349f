//===- ContractionPlan.h - Products and what feeds them ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares which products warpgroups can make, and which loads feed
// them. Loads of vectors and masks are rewritten to what tensor copies take;
// nothing else here changes a program.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_TILE_TRANSFORMS_CONTRACTIONPLAN_H
#define FUSION_LIB_DIALECT_TILE_TRANSFORMS_CONTRACTIONPLAN_H

#include "fusion/Dialect/Tile/Transforms/TensorCopy.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::fusion::tile {

/// Rows of one instruction of a warpgroup.
constexpr int64_t kInstructionRows = 64;

/// Why a program does not get roles: a reason code of remarks, the number of
/// the message and a sentence.
struct Refusal {
  StringRef name;
  int number = 0;
  std::string text;
  Location loc;
};

/// How one product is made.
struct Product {
  DotOp dot;
  /// The instruction's rows are the rows of `b`.
  bool swapped = false;
  /// The operand is computed; else it is a load's buffer.
  bool computedA = false, computedB = false;
  /// It is prepared for a walk: computed of no product.
  bool preparedA = false, preparedB = false;

  /// A computed operand stays in registers when its rows are the
  /// instruction's, but for what is prepared; else the consumer puts it into
  /// shared memory.
  bool isStoredA() const { return computedA && (swapped || preparedA); }
  bool isStoredB() const { return computedB && (!swapped || preparedB); }
};

/// The products of a program and the loads that feed them.
struct ContractionPlan {
  /// The block of the products; of several, in order, the bodies of loops
  /// beside each other, or the block that these stand in, whose stages have the
  /// same buffers.
  SmallVector<Block *, 2> blocks;
  SmallVector<Product> products;
  /// Loads that become buffers of the ring, in program order.
  llvm::MapVector<Operation *, TensorCopy> loads;
  /// Loads of what another load brings, its dimensions exchanged: they have
  /// that one's buffer.
  llvm::MapVector<Operation *, std::pair<LoadOp, BufferType>> transposed;
  /// Computed operands that go through shared memory.
  llvm::MapVector<Value, BufferType> stored;
  /// The loop around the products whose turns are those of groups that read the
  /// same stages, and the loads of which each group has its own.
  scf::ForOp rowGroups;
  llvm::SmallPtrSet<Operation *, 4> ownLoads;

  /// The first of the blocks; what is around it is around all.
  Block *getFirst() const { return blocks.front(); }
  bool holds(Block *block) const { return llvm::is_contained(blocks, block); }
  /// The loads that have buffers in the stages of `block`.
  SmallVector<Operation *> getLoads(Block *block) const;

  /// The loop that is meant for groups, whether they can share it out or not.
  scf::ForOp findRowGroups() const;
  /// Turns of that loop, 1 without one.
  int64_t countRowGroups() const;
  /// Leaves the turns of that loop to one group, one after the other.
  void dropRowGroups();
  /// True for a load that the ring has a buffer of.
  bool isInRing(Operation *load) const {
    return loads.contains(load) || transposed.contains(load);
  }
  /// Buffers of a stage that `load` has.
  int64_t getCopies(Operation *load) const;
  /// The number of the first of them.
  unsigned getNumber(Operation *load) const;
  /// True for a prepared operand that the consumer puts into its buffer where
  /// it is made, before the loop of the products.
  bool isHeld(Value operand) const;
  /// True when copies for all blocks of a cluster are among the loads.
  bool hasMulticast() const;
  /// True when the products' block is repeated for one sum; a sum of a single
  /// step stands beside its epilogue, perhaps in a loop over tiles.
  bool isLoop() const { return isLoop(getFirst()); }
  static bool isLoop(Block *block);
  /// True when the products of one of several blocks are made between `op` and
  /// a user of its result.
  bool outlivesProducts(Operation *op) const;
  /// True for what sums are rounded to before others of the same tile are made:
  /// kept so it takes fewer registers meanwhile.
  bool isKeptNarrow(Operation *op) const;
};

/// True when a value of this type is no tile and no buffer.
bool isScalarType(Type type);

/// True when a role that holds no tiles can compute `value`.
bool isScalarComputable(Value value);

/// True when one of `worklist` is computed from a value for which `isSource`
/// holds.
bool dependsOn(SmallVector<Value> worklist, function_ref<bool(Value)> isSource);

/// True when `op` needs the result of a product of its block.
bool needsProduct(Operation *op);

/// How a producer loads what `load` reads; fails with the reason.
FailureOr<TensorCopy> getProducedCopy(LoadOp load, std::string &whyNot);

/// What products that feed each other have of a vector in each step, the sums
/// of rows that are walked, or of bits, a mask's, comes with their operands:
/// loaded by those who multiply it would be waited for in each.
void makeRows(ArrayRef<DotOp> dots);

/// Plans the products of a program; fails with the reason.
FailureOr<ContractionPlan> planContraction(ProgramOp program,
                                           std::optional<Refusal> &refusal);

} // namespace mlir::fusion::tile

#endif // FUSION_LIB_DIALECT_TILE_TRANSFORMS_CONTRACTIONPLAN_H
