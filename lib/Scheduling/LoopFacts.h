//===- LoopFacts.h - What schedules of loops depend on ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the facts of a kernel without products that its schedules
// depend on: what its dimensions are, and how they lie in memory.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_SCHEDULING_LOOPFACTS_H
#define FUSION_LIB_SCHEDULING_LOOPFACTS_H

#include "fusion/Analysis/KernelBody.h"
#include "fusion/Analysis/TargetInfo.h"
#include "fusion/Analysis/WalkLimits.h"
#include "fusion/Scheduling/LoopSchedule.h"
#include "llvm/ADT/SmallBitVector.h"
#include <optional>

namespace mlir::fusion {

/// A tensor that a kernel reads or writes.
struct KernelTensor {
  unsigned value;
  /// Sizes of what the kernel has of it, and the iteration dimension that runs
  /// along each, if one does.
  SmallVector<int64_t> shape;
  SmallVector<std::optional<unsigned>> dims;
  double elementBytes;
  /// Of what is read: the dimensions that its indices depend on.
  llvm::SmallBitVector follows;
  /// Of what is read: the parts that it is wanted in.
  SmallVector<BodyPart, 0> parts = {};

  double elements() const;
  /// The number of the dimension that follows `inner`, which are the fastest
  /// ones; none where others are.
  std::optional<unsigned> findBeyond(ArrayRef<unsigned> inner) const;
};

/// What data say of the elements of a walk: limits (WalkLimits.h) that all
/// reductions of a kernel have, each by the element of one tensor at the walk's
/// coordinate.
struct DataLimits {
  unsigned walked;
  /// Of the limits, and for each limit that element's.
  SmallVector<LimitSymbol> symbols;
  SmallVector<LinearExpr, 2> limits;
  SmallVector<unsigned, 2> data;
};

/// The facts of a kernel that its schedule depends on. Dimensions are those of
/// its body.
struct LoopFacts {
  const KernelBody &body;
  const TargetInfo &target;
  /// A typical size for each that is dynamic; 1 for those that are neither of
  /// results nor walked by reductions or scans.
  SmallVector<int64_t> extents;
  /// Dimensions of results; those that reductions, and scans, walk. Also those
  /// of size 1.
  llvm::SmallBitVector root, reduced, scanned;
  /// Elements of a granule of each dimension, of which reductions give one
  /// element for each granule; 1 for no granules.
  SmallVector<int64_t> granules;
  /// Those of the primary result, outermost first; nothing where no dimension
  /// runs along it.
  SmallVector<std::optional<unsigned>> primary;
  SmallVector<KernelTensor> inputs, outputs;
  /// Bytes of tensors whose fastest dimension this is, if tiles can have it,
  /// and of all.
  SmallVector<double> contiguousBytes;
  double bytes = 0;
  /// Bytes of the widest and the narrowest element of a tensor.
  int64_t widestElement = 1;
  int64_t narrowestElement = 8;
  /// Dimensions of results that some operand lacks, so that tiles along them
  /// read the operand again.
  llvm::SmallBitVector repeats;
  /// Operations per element in the bodies of the kernel's structured
  /// operations.
  double operations = 0;
  /// What is joined along a dimension: so many parts, if there are any, and a
  /// number that divides where each begins.
  struct Join {
    int64_t parts = 0, step = 0;
  };
  /// For each dimension.
  SmallVector<Join> joins;
  /// Of the only dimension that is reduced; none where data limit nothing.
  std::optional<DataLimits> dataLimits;

  LoopFacts(const KernelBody &body, const TargetInfo &target);

  unsigned getNumDims() const { return extents.size(); }
  std::optional<int64_t> getStaticExtent(unsigned dim) const {
    return body.isStatic(dim) ? std::optional(extents[dim]) : std::nullopt;
  }
  /// The iteration dimension of loop `loop` of the node of `instance`.
  unsigned getDimOfLoop(const BodyInstance &instance, unsigned loop) const;
  /// `instance` is a reduction along `dim`.
  bool reduces(const BodyInstance &instance, unsigned dim) const;
  /// The dimension that `instance` reduces in granules, if there is one.
  std::optional<unsigned> getGranuleDim(const BodyInstance &instance) const;
  /// Reductions divide a dimension into granules.
  bool hasGranules() const {
    return llvm::any_of(granules, [](int64_t size) { return size > 1; });
  }
  /// The kernel computes `op`.
  bool contains(Operation *op) const;
  /// The dimension that most bytes are contiguous along.
  unsigned getFastest() const;
  /// Of each dimension, bytes of the tensors that go on along it in memory
  /// behind the dimensions `inner`.
  SmallVector<double> getBytesBeyond(ArrayRef<unsigned> inner) const;

private:
  void findKinds();
  void findJoins();
  void findTensors();
  void findPrimary();
  void findDataLimits();
};

} // namespace mlir::fusion

#endif // FUSION_LIB_SCHEDULING_LOOPFACTS_H
