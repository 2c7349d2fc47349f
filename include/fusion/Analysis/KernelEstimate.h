//===- KernelEstimate.h - The price of a kernel body ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the bridge from a set of tensor ops to the cost model: it
// tries a few launch shapes for the body and keeps the fastest.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_KERNELESTIMATE_H
#define FUSION_ANALYSIS_KERNELESTIMATE_H

#include "fusion/Analysis/CostModel.h"
#include "fusion/Analysis/KernelBody.h"
#include "fusion/Analysis/MmaCost.h"
#include "fusion/Analysis/TensorCores.h"

namespace mlir::fusion {

/// What the cost model predicts for a body under the best shape tried.
struct KernelEstimate {
  KernelCost cost;
  KernelShape shape;
  KernelTime time;
  /// For a contraction by warpgroups, how; for any other, why not.
  std::optional<MmaConfig> mma;
  std::optional<TensorCoreObstacle> obstacle;
  /// Where warpgroups cannot, single warps make the products on tensor cores.
  bool byWarps = false;
  /// Steps that blocks make of a walk, of all that it has: a mask of positions
  /// may leave out some.
  double walkedShare = 1;

  double seconds() const { return time.total; }
  double bytes() const { return cost.uniqueBytes(); }
};

/// Prices `body`, which must have no problem, on `target`.
KernelEstimate estimateContraction(const KernelBody &body,
                                   const TargetInfo &target);

/// The price of `body`, which has no contraction, as products of a single row
/// by tensor cores, where it is no more than that and they have tiles for it.
std::optional<KernelEstimate> estimateRowProduct(const KernelBody &body,
                                                 const TargetInfo &target);

/// The price of `kernels`, which do not depend on each other, as one launch:
/// each has blocks of its own, all with the registers and the shared memory of
/// the neediest, and those of one may run beside those of another.
KernelEstimate estimateTogether(ArrayRef<const KernelEstimate *> kernels,
                                const TargetInfo &target);

/// True when `a` and `b`, of `body`, read the same element at each point: by
/// equal coordinates, but for those along dimensions of one element.
bool readSame(const KernelBody &body, const BodyAccess &a, const BodyAccess &b);

/// Bytes of the tensors that `body` reads, for each access: what it brings in
/// beyond what earlier ones of the same tensor did.
SmallVector<double> getFirstTouches(const KernelBody &body);

/// The change of `expr` when dimension `position` grows by one, where that is
/// known and the same everywhere; splits by division count as their quotient.
double getSlope(AffineExpr expr, unsigned position);

/// True when `expr` is known only at run time: elements at such coordinates may
/// lie anywhere.
bool isKnownAtRunTime(AffineExpr expr);

/// Bytes that a kernel of `body` reads and writes, each element once.
double getUniqueBytes(const KernelBody &body);

} // namespace mlir::fusion

#endif // FUSION_ANALYSIS_KERNELESTIMATE_H
