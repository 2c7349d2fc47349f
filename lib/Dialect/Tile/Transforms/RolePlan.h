//===- RolePlan.h - Who loads, multiplies and stores what -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the decisions that giving roles to warps needs beside
// those on the products: which loads and stores the tensor copy engine does,
// through which rings and buffers. Nothing here changes a program.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_TILE_TRANSFORMS_ROLEPLAN_H
#define FUSION_LIB_DIALECT_TILE_TRANSFORMS_ROLEPLAN_H

#include "ContractionPlan.h"
#include "fusion/Analysis/MmaCost.h"
#include "fusion/Support/SharedPlaces.h"

namespace mlir::fusion::tile {

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

/// The condition beside the products of `plan` under which all results of the
/// program are stored, when producers can compute it: the block's own tiles.
scf::IfOp findFinish(ProgramOp program, const ContractionPlan &plan);

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
