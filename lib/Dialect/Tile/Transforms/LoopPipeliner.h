//===- LoopPipeliner.h - Loads of a loop ahead ------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how the loads of a loop's products are made several
// iterations ahead: into a ring of stages in shared memory, which can be walked
// in three ways, or into registers. In iteration i, with S stages:
//
//   wait for the copies of iteration i; barrier
//   read the stage of iteration i
//   start the copies of iteration i + S - 1, into the stage that iteration
//     i - 1 read: the barrier has made sure that it has been read
//   multiply
//
// The barrier is that of the block (RingInStep.cpp) or, where each warp reads
// what it copies itself, that of a warp (RingOfWarps.cpp). Where warps share
// the depth and unpack what they multiply, stages have barriers of their own if
// the chip has good ones (RingWithBarriers.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_TILE_TRANSFORMS_LOOPPIPELINER_H
#define FUSION_LIB_DIALECT_TILE_TRANSFORMS_LOOPPIPELINER_H

#include "CopyPlan.h"
#include "fusion/Dialect/Tile/Transforms/TensorCopy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

#include <vector>

namespace mlir::fusion::tile {

/// Whether `value` can be computed for another iteration of `loop`: it depends
/// on the induction variable and on what is known before the loop alone.
bool isKnownAhead(Value value, scf::ForOp loop);

/// Clones what computes `value` in the iteration to which `mapping` takes the
/// induction variable.
Value computeAhead(OpBuilder &builder, Value value, scf::ForOp loop,
                   IRMapping &mapping);

/// The loads in the body of `loop` of tiles whose places are known ahead, in
/// order.
SmallVector<LoadOp> loadsKnownAhead(scf::ForOp loop);

/// Those of them that a product in the body depends on.
SmallVector<LoadOp> loadsOfProducts(scf::ForOp loop);

/// Makes one loop of `loop` and the loops of which it is a perfect nest, so
/// that copies run ahead over its ends.
scf::ForOp flattenNest(scf::ForOp loop);

/// Rewrites one loop.
class LoopPipeliner {
public:
  LoopPipeliner(scf::ForOp loop, int64_t stages, unsigned numWarps,
                int64_t sharedBytes, bool mbarriers = false)
      : loop(loop), stages(stages), mbarriers(mbarriers), numWarps(numWarps),
        sharedBytes(sharedBytes), rewriter(loop.getContext()),
        loc(loop.getLoc()) {}

  /// Rewrites a loop of products: chooses a way to walk the ring, and loads the
  /// rest.
  void run();
  /// Rewrites a loop in which each thread copies what it loads itself; the rest
  /// is loaded as it is used.
  void runByThreads();
  /// Rewrites a loop whose steps wait for something else than memory, such as
  /// other blocks: all that can be is loaded one iteration ahead.
  void runIntoRegisters() { loadAhead(loadsKnownAhead(loop)); }

private:
  /// Who copies what is read: those who read it wait for no others.
  enum class Readers { Block, Warps, Threads };

  struct Copied {
    LoadOp load;
    CopyPlan plan;
    Value buffer;
    /// For a producer; `plan` and `buffer` are for threads.
    TensorCopy tensor = {};
  };

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  /// The induction variable so many iterations after `from`.
  Value positionAhead(int64_t iterations, Value from);
  Value isInLoop(Value position);

  /// Lets each warp copy what it reads, where that is all but little: then no
  /// warp waits for another one, and while some start copies others multiply.
  /// What is left, factors of groups, is loaded as it is used. False when warps
  /// share more.
  bool planReaders(ArrayRef<LoadOp> loads, SmallVectorImpl<LoadOp> &others);
  /// Plans copies by the engine for all that it can load; false, with a remark,
  /// when that leaves out more than what is small.
  bool planProduced(ArrayRef<LoadOp> loads, SmallVectorImpl<LoadOp> &others);
  /// Leaves the ring of `copies` as many stages as shared memory holds; false
  /// when it does not hold two. A remark says so.
  bool fitStages();
  /// Makes `loads` give the layout in which each is used.
  void loadAsUsed(ArrayRef<LoadOp> loads);
  /// Whether a producer feeds the products faster than their own warps do:
  /// where these unpack several numbers of a byte, or weights that lie across
  /// the depth, for few rows. Others lose by it.
  bool wantsProducer(ArrayRef<LoadOp> loads);
  /// Whether warps share the depth of all products and compute an operand.
  /// Those that multiply what they read wait for memory alone.
  bool unpacksOnce();

  /// Walks the ring in step: a barrier of the block, or of each warp where it
  /// reads what it copies, begins each iteration.
  void takeTurns(Readers readers);
  /// Walks the ring with barriers of the stages.
  void takeTurnsWithBarriers();
  /// Gives the copies to a producer and everything else to consumers.
  void takeTurnsWithProducer();
  /// Makes `loads` one iteration ahead, into values that the loop carries.
  void loadAhead(ArrayRef<LoadOp> loads);

  void startCopies(Value position, Value stage, Value predicate);
  /// Starts the copies of the first `count` iterations before the loop.
  void fillFirstStages(int64_t count, Readers readers);
  /// Gives the copies buffers with the stages of the ring.
  void allocateBuffers();
  /// Replaces `load` by reads, in each layout that is wanted, of the buffer
  /// that `getBuffer` gives where it is asked.
  void readBuffer(LoadOp load, function_ref<Value()> getBuffer);
  /// Replaces the loads by reads of the buffers; copies still begin where the
  /// loads say, so that they are erased when all copies have been started.
  void readStages(Value stage);
  void eraseLoads();

  /// Carries `first` through the loop as one more value, which `next` gives for
  /// the next iteration.
  Value carry(Value first, function_ref<Value(OpBuilder &, Value)> next);
  /// The number of the stage that an iteration reads.
  Value carryStage();

  scf::ForOp loop;
  int64_t stages;
  bool mbarriers;
  unsigned numWarps;
  /// Shared memory of a block.
  int64_t sharedBytes;
  /// The barriers of the stages, if they have some.
  Value ring;
  IRRewriter rewriter;
  Location loc;
  std::vector<Copied> copies;
};

} // namespace mlir::fusion::tile

#endif // FUSION_LIB_DIALECT_TILE_TRANSFORMS_LOOPPIPELINER_H
