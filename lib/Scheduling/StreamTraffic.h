//===- StreamTraffic.h - What a schedule asks memory for --------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the accesses of a kernel without products under a
// schedule.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_SCHEDULING_STREAMTRAFFIC_H
#define FUSION_LIB_SCHEDULING_STREAMTRAFFIC_H

#include "BlockWork.h"
#include "fusion/Analysis/CostModel.h"

namespace mlir::fusion {

/// A tensor that the kernel reads or writes at one place.
struct Stream {
  const GraphValue &value;
  ArrayRef<int64_t> shape;
  ArrayRef<AffineExpr> coords;
  DimMask mask;
  /// The sweeps over what is walked in which it is needed, a bit each.
  uint64_t sweeps;
  bool isWrite;
  /// Bytes that it is the first to touch.
  double uniqueBytes;
  /// Of the tiles of all blocks, the share that loads elements of it.
  double touched = 1;
  /// Coordinates that are near those of a lookup at places computed of loops
  /// alone; else empty.
  SmallVector<AffineExpr, 0> near = {};
};

/// How a thread holds its elements of a tile: whole rows, or so many neighbours
/// along memory; and how many of them one access moves of each stream.
struct HeldElements {
  bool hasRows = false;
  int64_t neighbours = 1;
  SmallVector<int64_t> widths;
};

/// The accesses of a kernel, and what its blocks ask for in each.
class StreamTraffic {
public:
  explicit StreamTraffic(const BlockWork &work);

  const BlockWork &getWork() const { return work; }
  ArrayRef<Stream> get() const { return streams; }
  /// Adds the traffic to `cost`, and the instructions of accesses.
  void addTo(KernelCost &cost) const;

  /// Says how threads of a pointwise kernel hold what they compute.
  void setHeld(const HeldElements &elements) { held = elements; }

  /// Threads have windows, all of them written out.
  bool hasWindows() const { return windows; }
  /// It is accessed place by place then.
  bool isOfWindows(const Stream &stream) const {
    return windows && !isGather(stream) && !stream.shape.empty();
  }
  /// What warps ask caches for, to load or store a tensor of windows or of
  /// results.
  struct Requests {
    /// Instructions of warps, sectors and lines that one touches, and turns of
    /// the first cache that it takes; registers of a thread for all of them.
    double count = 0, sectors = 0, lines = 0, passes = 0, registers = 0;
    /// Lines that a warp touches for results of a strip each before it comes
    /// back for what the next ones need of the same rows.
    double linesOfRows = 0;
  };
  Requests countRequests(const Stream &stream) const;
  /// Of the points at `coords`, those that a thread has no other for: where
  /// windows are written out, what several of them have in common is in its
  /// registers.
  double getOwnShare(ArrayRef<AffineExpr> coords) const;
  bool isGather(const Stream &stream) const;
  /// An access finds its place from quotients or remainders of a coordinate.
  bool isOfParts(const Stream &stream) const;
  /// Parts of coordinates lie outside of the tensor: it is padded, or joined to
  /// another one.
  bool mayLieOutside(const Stream &stream) const;
  /// Elements that lie side by side in what a tile, or a block in all, touches
  /// of the tensor.
  double getRun(const Stream &stream, ArrayRef<double> have) const;
  /// What lies side by side in memory is what each step of a scan reduces.
  bool isAlongHeld(const Stream &stream) const;
  /// Elements of one load or store of a thread; of a copy ahead if it is one,
  /// which moves nothing of two rows of a padded tile at once.
  double getVector(const Stream &stream, double run,
                   bool isCopied = false) const;
  /// What is read of chunk after chunk is copied ahead into shared memory.
  bool isCopied(const Stream &stream) const;
  /// Turns of caches, for each element, by what is asked for in vain of rows
  /// that threads access as they hold them, `vector` elements at a time.
  double countInVain(const Stream &stream, double vector) const;
  /// Rows are loaded otherwise than threads hold them, and exchanged.
  bool exchangesRows() const;
  /// Of the points of a tile those at which the tensor has elements, where
  /// threads know them as positions in their rows.
  double getShareOfRow(const Stream &stream) const;
  /// Of the points of what is stored, those that give an element: one for each
  /// granule.
  double getStoredShare(const Stream &stream) const;

private:
  void find();
  void add(const Stream &stream, KernelCost &cost) const;
  /// Rows of which a tile has a part begin with sectors.
  bool hasWholeRows(const Stream &stream) const;
  /// A thread has several results side by side along dimension `along` of the
  /// tensor, for which it comes back to a line.
  bool hasStripsAlong(const Stream &stream, unsigned along) const;
  /// Where the rows begin of which a thread has elements along dimension
  /// `along` of the tensor, in bytes.
  SmallVector<int64_t> getRowPlaces(const Stream &stream, unsigned along,
                                    int64_t elementBytes) const;
  /// It is known which elements the lanes of a pointwise kernel access at once.
  bool hasLanes(const Stream &stream) const;
  /// Clocks of multiprocessors for lines that the stores of `stream` fill in
  /// part.
  double countStoreClocks(const Stream &stream, const Requests &requests) const;
  /// The same of a scan across memory, for sectors that two blocks store.
  double countScannedClocks(const Stream &stream) const;
  void addWindows(const Stream &stream, AccessCost access,
                  KernelCost &cost) const;
  /// Elements of dimension `number` of a tensor that a tile, or a block in all,
  /// touches; the share of what lies between them that is used.
  double getSpan(const Stream &stream, unsigned number,
                 ArrayRef<double> have) const;
  double getDensity(const Stream &stream, unsigned number) const;
  /// Of a thread's neighbours along memory those that find an element of their
  /// own: others find the same.
  double getDistinctShare(const Stream &stream) const;
  /// Of the blocks, those that have elements of the tensor: the others are in
  /// what pads it, or in what is joined to it.
  double getShareInside(const Stream &stream) const;
  /// Bytes that divide where such a run of a block begins and ends, a sector's
  /// at most.
  double getAlignment(const Stream &stream) const;
  /// Of the points of the stream, those that a thread loads.
  double getLoadedShare(const Stream &stream) const {
    return stream.isWrite ? 1 : getOwnShare(stream.coords);
  }
  /// Of what threads come back to in the first cache, the part that it has lost
  /// by then.
  double getLostShare(const Requests &requests) const;
  /// Lines of L2 that stores take in turn for each that they fill.
  double getLineFactor(const Stream &stream) const;

  const BlockWork &work;
  const LoopFacts &facts;
  const LoopConstants &fitted;
  const KernelBody &body;
  const LoopSchedule &schedule;
  std::vector<Stream> streams;
  bool windows = false;
  std::optional<HeldElements> held;
};

} // namespace mlir::fusion

#endif // FUSION_LIB_SCHEDULING_STREAMTRAFFIC_H
