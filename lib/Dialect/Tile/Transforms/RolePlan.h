//===- RolePlan.h - Who loads, multiplies and stores what -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the decisions that giving roles to warps needs: which
// products warpgroups can make, which loads and stores the tensor copy engine
// does, through which rings and buffers. Nothing here changes a program.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_TILE_TRANSFORMS_ROLEPLAN_H
#define FUSION_LIB_DIALECT_TILE_TRANSFORMS_ROLEPLAN_H

#include "fusion/Analysis/MmaCost.h"
#include "fusion/Dialect/Tile/Transforms/TensorCopy.h"
#include "fusion/Support/SharedPlaces.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::fusion::tile {

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

/// Loads outside the contraction that share a ring, in program order.
struct SideRing {
  BufferType buffer;
  llvm::MapVector<Operation *, TensorCopy> loads;
  /// Of each group of consumers.
  int64_t stages = fusion::kSideStages;
  /// An operand of the products that is the same in all turns of their loop:
  /// its stage is taken before the loop and freed after it.
  bool isHeld = false;
  /// An operand of a product that runs behind the others of its turn: it has as
  /// many stages as the ring of the contraction, each freed on its own.
  bool isApart = false;

  bool isOperand() const { return isHeld || isApart; }
};

/// Stores through buffers of one type, in program order.
struct Staging {
  BufferType buffer;
  int64_t numBuffers = 1;
  /// The ring of an operand that nothing reads any more, whose stage is the
  /// buffer: its number among the rings beside that of the contraction.
  std::optional<unsigned> held;
  llvm::MapVector<Operation *, TensorCopy> stores;
};

/// Everything that is decided before the program changes.
struct RolePlan {
  ContractionPlan contraction;
  int64_t stages = 1;
  /// Groups of consumers that take turns at tiles, or have rows of one. Each
  /// has stages of its own in the rings of the epilogue, and buffers of its
  /// own.
  int64_t groups = 1;
  bool takesTurns() const { return groups > 1 && !contraction.rowGroups; }
  SmallVector<SideRing> sideRings;
  SmallVector<Staging> stagings;
  /// What is done only for the block's own tiles, if there are others.
  scf::IfOp finish;

  RingType getMainRing() const;
  RingType getSideRing(unsigned number) const;
  /// Passes the turn from group to group.
  RingType getTurnRing(MLIRContext *context) const;
  /// Bytes of all rings and staging buffers, beside `others`.
  int64_t getSharedBytes(ArrayRef<fusion::SharedPiece> others = {}) const;
};

/// True when a value of this type is no tile and no buffer.
bool isScalarType(Type type);

/// True when a role that holds no tiles can compute `value`.
bool isScalarComputable(Value value);

/// The condition beside the products of `plan` under which all results of the
/// program are stored, when producers can compute it: the block's own tiles.
scf::IfOp findFinish(ProgramOp program, const ContractionPlan &plan);

/// Plans the products of a program; fails with the reason.
FailureOr<ContractionPlan> planContraction(ProgramOp program,
                                           std::optional<Refusal> &refusal);

/// Moves the small loads that follow a contraction, biases and scales, to where
/// they are not waited for.
void hoistSmallLoads(ProgramOp program, const ContractionPlan &plan);

/// Plans rings for operands that are the same in all turns of the products'
/// loop, and takes them out of the ring of the contraction.
void planHeldOperands(RolePlan &plan);

/// Plans a ring for the operand that the second of two products loads, and
/// takes it out of the ring of the contraction, so that neither waits for the
/// other's.
void planApartOperand(RolePlan &plan);

/// Lets products that contract the two dimensions of one tile read one buffer.
void planTransposedOperands(ContractionPlan &plan);

/// Plans the loads and stores around the contraction.
void planEpilogue(ProgramOp program, RolePlan &plan);

/// Makes the plan fit `limit` bytes of shared memory, beside what the program
/// reserves itself: one staging buffer instead of two, fewer stages, then plain
/// loads and stores in the epilogue. Fails when nothing helps.
LogicalResult fitSharedMemory(ProgramOp program, RolePlan &plan, int64_t limit,
                              const fusion::TargetInfo &target);

} // namespace mlir::fusion::tile

#endif // FUSION_LIB_DIALECT_TILE_TRANSFORMS_ROLEPLAN_H
