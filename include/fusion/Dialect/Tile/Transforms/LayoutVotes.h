//===- LayoutVotes.h - Layouts that accesses choose -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares how threads hold a tile, by how it lies in memory and what
// it is reduced or scanned along: for layout assignment, and for prices, which
// say what it will do.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_TRANSFORMS_LAYOUTVOTES_H
#define FUSION_DIALECT_TILE_TRANSFORMS_LAYOUTVOTES_H

#include "fusion/Analysis/TargetInfo.h"
#include "fusion/Dialect/Tile/IR/LinearLayout.h"
#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"
#include "fusion/Dialect/Tile/Transforms/ScanLayouts.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::fusion::tile {

/// What of an access layouts depend on.
struct VotingAccess {
  /// Along each dimension of the tile: elements that one instruction moves, 0
  /// where neighbours lie apart; the distance of neighbours, where it is known.
  SmallVector<int64_t> widths;
  SmallVector<std::optional<int64_t>> strides;
  /// And the share of its positions at which there are elements, at most.
  SmallVector<double> inside;
  /// Of an element.
  unsigned bits = 32;
  bool isStore = false;

  static VotingAccess of(const AccessForm &access);
  int64_t getWidth(unsigned dim) const {
    return std::max<int64_t>(widths[dim], 1);
  }
  double getBytes() const { return std::max(bits / 8.0, 1.0); }
};

/// The dimensions of a tile of `rank` in the order in which memory has them, as
/// far as the first of `accesses` along `fastest` says so; else the last ones
/// first.
SmallVector<unsigned> orderByMemory(ArrayRef<VotingAccess> accesses,
                                    unsigned rank, unsigned fastest);

/// What a group of tiles that share a layout is used for.
struct LayoutVotes {
  SmallVector<int64_t> shape;
  SmallVector<VotingAccess> accesses;
  /// Dimensions that a reduction or scan of the group combines; those that a
  /// reduction and what reduces its results again leave none of; those that a
  /// scan goes through in order.
  llvm::SmallBitVector reduced, reducedAtLast, scanned;
  SmallVector<ScanWork> scans;
  /// Values of an element that reductions combine.
  unsigned numReduced = 0;
  /// A loop carries tiles of the group, and reduces them in each step.
  bool isReducedInSteps = false;
  /// Neighbours that a thread holds at least.
  int64_t leastVector = 1;

  explicit LayoutVotes(ArrayRef<int64_t> shape)
      : shape(shape), reduced(shape.size()), reducedAtLast(shape.size()),
        scanned(shape.size()) {}
};

/// Layouts of a block's tiles.
class LayoutVoter {
public:
  LayoutVoter(int64_t numWarps, const fusion::TargetInfo &target)
      : numWarps(numWarps), target(target) {}

  struct Choice {
    LinearLayout layout;
    /// Threads have whole rows along memory.
    bool hasRows = false;
  };
  Choice choose(const LayoutVotes &votes) const;

  /// Who uses what an access moves, besides.
  struct Use {
    /// A tile that warps would read several times is read once.
    bool once = false;
    /// Threads have runs of what they scan: narrow accesses are as good, but no
    /// gaps between lanes.
    bool scans = false;
    /// They have rows, and access them as they hold them where lanes are so
    /// close that memory has little to bring in vain.
    bool hasRows = false;
  };
  /// The layout in which `access` itself is best done when its values, a tile
  /// of `shape`, are used in layout `used`.
  LinearLayout prefer(const VotingAccess &access, ArrayRef<int64_t> shape,
                      const LinearLayout &used, Use use) const;

private:
  LinearLayout chooseForReductions(const LayoutVotes &votes, unsigned fastest,
                                   int64_t vector) const;
  double countInLanes(const LayoutVotes &votes, const LinearLayout &layout,
                      unsigned fastest) const;
  std::optional<LinearLayout> findRows(const LayoutVotes &votes,
                                       unsigned fastest,
                                       const LinearLayout &lanes) const;
  LinearLayout chooseForScans(const LayoutVotes &votes, unsigned fastest,
                              int64_t widest) const;

  int64_t numWarps;
  const fusion::TargetInfo &target;
};

} // namespace mlir::fusion::tile

#endif // FUSION_DIALECT_TILE_TRANSFORMS_LAYOUTVOTES_H
