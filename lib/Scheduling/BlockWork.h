//===- BlockWork.h - What blocks and threads do of a schedule ---*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how a schedule divides the iteration dimensions of a
// kernel without products among blocks and threads.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_SCHEDULING_BLOCKWORK_H
#define FUSION_LIB_SCHEDULING_BLOCKWORK_H

#include "LoopFacts.h"

namespace mlir::fusion {

/// What the blocks of a schedule, and their threads, have of each dimension.
struct BlockWork {
  BlockWork(const LoopFacts &facts, const LoopSchedule &schedule);

  /// Of `sweeps`, those in which values of `mask` are computed or read anew.
  double countSweeps(DimMask mask, uint64_t sweeps) const;
  /// Steps of a walk through a granule in which a reduction is finished: all
  /// for what is reduced beside granules, else one.
  double countFinishes(const BodyInstance &instance) const {
    return facts.hasGranules() && body.getNode(instance).granuleLoop < 0 ? trips
                                                                         : 1;
  }
  /// Reductions on the longest path for which warps wait for each other in each
  /// step of a walk through a granule.
  unsigned countMeetings() const;
  /// Blocks along dimensions that `mask` lacks: each has its own copy.
  double countCopies(DimMask mask) const;
  /// Points that threads compute: with those beyond the ends of dimensions.
  double countPoints(DimMask mask) const;
  /// Chunks of a row are read one after the other, from where a vector begins.
  bool walksAlong(unsigned dim) const {
    return schedule.strategy == Strategy::Reduction &&
           schedule[dim].kind == AxisKind::Loop && schedule[dim].tile > 1 &&
           facts.reduced.test(dim);
  }
  /// Threads that hold elements of the same result of `instance`, and results
  /// of which a thread has elements.
  struct Sharing {
    double threads = 1, results = 1;
  };
  Sharing getSharing(const BodyInstance &instance) const;
  /// Dimensions of the results of `instance` that a tile has: of a granule it
  /// has the one result.
  DimMask getResultMask(const BodyInstance &instance) const;
  /// Of them, lanes along memory of what is reduced.
  double countLanesAlong() const;
  /// Elements along memory that one access of a thread brings.
  int64_t getVectorAlong() const;
  /// Threads have all that they reduce; nothing is exchanged.
  bool keepsByThread() const;
  /// They have whole rows along memory then.
  bool keepsRows() const {
    return keepsByThread() && facts.reduced.test(facts.getFastest());
  }
  /// Threads that have elements of one result: each computes what follows from
  /// it.
  double countRepeats() const;
  /// Elements of a walk's tile come to have different counts, by which moments
  /// divide.
  bool countsByElement() const;
  /// Elements of a walk's tile that a thread reduces before it combines them
  /// with the states of `instance`.
  double countFolded(const BodyInstance &instance) const;
  /// Of the elements of a walk that data limit, the share that a block walks:
  /// what data say is taken to be spread evenly over the results.
  double getCountingShare() const;
  /// Blocks walk what data leave of a walk.
  bool hasCounting() const {
    return facts.dataLimits && schedule[facts.dataLimits->walked].limited;
  }
  /// Chunks along `dim` are copied ahead.
  bool copiesAhead(unsigned dim) const;
  /// Of a step of such a walk, elements of `mask` that a thread computes.
  double countInStep(DimMask mask) const;
  /// Of the tiles of all blocks, the share that has elements of `parts` and
  /// computes them: all do but where blocks find the parts of theirs.
  double getTouchedShare(ArrayRef<BodyPart> parts) const;
  /// Elements of a walk that are written out.
  double countWrittenOut() const;
  /// Chunks of a walk that are loaded in one loop.
  double countTripsInTurn() const;

  const LoopFacts &facts;
  const KernelBody &body;
  const LoopSchedule &schedule;
  /// For each dimension: blocks along it, elements of a tile and of a block in
  /// all, and how many elements threads have over those that there are.
  SmallVector<double> blocksOf, tileOf, coverOf, paddingOf;
  double blocks = 1, trips = 1, threads, perThread;
  /// Steps of a walk that are written out, so that their loads are on their way
  /// together.
  double turns = 1;
  /// Chunks in flight or in use at once.
  double stages = 1;
  bool walks = false, isSplit = false, inCluster = false;
  /// Blocks walk runs of what they scan, twice.
  bool hasRuns = false;
  /// Threads walk what is scanned element by element, and reduce what they have
  /// of each step: so many elements of `reduced` dimensions, of which `sharing`
  /// lanes have the others.
  bool reducesInSteps = false;
  double heldInStep = 1, sharing = 1;

private:
  void measure(unsigned dim);
  /// What lies past the end of a dimension that a block has whole is no code
  /// where it lies there in the registers of all threads.
  void dropPadding();
  void findTurns();
  void findSteps();
  /// The same as countPoints() where what is scanned is reduced in each step:
  /// each of the lanes that share a column computes what the column has alone.
  double countPointsOfSteps(DimMask mask) const;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_SCHEDULING_BLOCKWORK_H
