//===- TensorCores.h - What warpgroups can multiply -------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the rules on products by warpgroups that are fed by tensor
// copies. Planning prices by them and scheduling decides by them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_TENSORCORES_H
#define FUSION_ANALYSIS_TENSORCORES_H

#include "fusion/Analysis/Contraction.h"
#include "fusion/Analysis/MmaCost.h"
#include "fusion/Analysis/TargetInfo.h"
#include <optional>

namespace mlir::fusion {

/// Why the products of a kernel are not made by warpgroups.
enum class TensorCoreObstacle {
#define FUSION_OBSTACLE(enumerator, code, text) enumerator,
#include "fusion/Analysis/TensorCoreObstacles.def"
};

/// The code as users see it, e.g. `misaligned-rows`.
StringRef stringifyObstacle(TensorCoreObstacle obstacle);
/// One sentence on what the code means.
StringRef describeObstacle(TensorCoreObstacle obstacle);
/// All obstacles, in the order of the table.
ArrayRef<TensorCoreObstacle> getAllObstacles();

/// True when single warps of `target` can make the products of `sum` on tensor
/// cores, wherever the operands come from.
bool isMadeByWarps(const Contraction &sum, const TargetInfo &target);

/// The share of the rate of 16-bit products by single warps (mma.sync) that
/// those of `target` reach at `sum`, whose depth is walked in runs of `depth`
/// elements. Tiles of its factors consist of runs as they are in memory if it
/// `hasRuns`.
double getWarpShare(const Contraction &sum, int64_t depth, bool hasRuns,
                    const TargetInfo &target);

/// The dimensions that a kernel's products are tiled along.
struct ProductDims {
  /// Dimensions, adjacent ones, that rows and columns are made of.
  SmallVector<unsigned> rows, columns;
  /// The contracted dimension that chunks are taken of.
  unsigned depth = 0;
  /// Contracted dimensions before it that one walk runs through with it.
  SmallVector<unsigned> outerDepths;
  /// Those of the products of the same tile that are made after the first one,
  /// each along a dimension of its own.
  SmallVector<unsigned, 2> laterDepths;

  /// The rows or the columns.
  ArrayRef<unsigned> getOwn(unsigned side) const {
    return side == 0 ? rows : columns;
  }
};

/// The contracted dimension of `sum` that chunks are taken of: the channels of
/// images, otherwise one along which neighbours of most factors lie in memory
/// and fill an access, of equal ones the largest, of these the last.
/// `innermostOf` gives the last dimension of a factor that has several
/// elements, if it knows it.
unsigned
getDepthDim(const Contraction &sum,
            llvm::function_ref<int64_t(unsigned)> extentOf,
            llvm::function_ref<std::optional<unsigned>(unsigned)> innermostOf);

/// The same of a contraction whose dimensions are the loops of its operation;
/// factors are as that reads them.
unsigned getDepthLoop(const Contraction &sum);

/// True when two products of one kernel can share its loops and tile.
bool haveEqualLoops(const Contraction &a, const Contraction &b);

/// True when two products of one kernel have one tile, of which each walks a
/// dimension of its own.
bool haveEqualTiles(const Contraction &a, const Contraction &b);

/// True when all sizes of the contraction are known at compile time.
bool hasStaticSizes(const Contraction &contraction);

/// What keeps operand `side` of `sum` from being copied into shared memory as
/// warpgroups read it. Rows of memory must begin at multiples of 16 bytes.
std::optional<TensorCoreObstacle>
findOperandObstacle(const Contraction &sum, unsigned side,
                    const ProductDims &dims,
                    llvm::function_ref<SmallVector<unsigned>(Value)> dimsOf);

/// What keeps warpgroups from making `sum`, tiled along `dims`; nothing when
/// they can. `dimsOf` gives the dimensions of a tensor that have more than one
/// element, in order.
std::optional<TensorCoreObstacle>
findObstacle(const Contraction &sum, const ProductDims &dims,
             llvm::function_ref<SmallVector<unsigned>(Value)> dimsOf);

/// True when each tile of `sum`, whose rows are in groups, can have rows of one
/// group: `results` are the tensors that the kernel writes, `isOutside` tells
/// those that it reads.
bool hasTilesOfGroups(const Contraction &sum, const ProductDims &dims,
                      ValueRange results,
                      llvm::function_ref<SmallVector<unsigned>(Value)> dimsOf,
                      llvm::function_ref<bool(Value)> isOutside);

/// True when rows of `type` in memory begin anywhere in the 128-byte lines of
/// L2, so that a piece of such a row as large as a line mostly lies in two.
bool straddlesLines(RankedTensorType type);

/// Adds a tensor of `type`, of which the epilogue reads or writes whole tiles,
/// to `tiles`, those that tensor copies move, if they can, else to those that
/// are exchanged.
void addTiles(MmaProblem &problem, SmallVectorImpl<MmaTiles> &tiles,
              RankedTensorType type);

/// Whether threads can copy tiles of `type` in whole 32-bit registers.
bool isCopiedByThreads(RankedTensorType type);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_TENSORCORES_H
