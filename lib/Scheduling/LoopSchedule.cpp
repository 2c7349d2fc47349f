//===- LoopSchedule.cpp - How kernels without products run ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice among the schedules of a kernel without
// products, by their price.
//
//===----------------------------------------------------------------------===//

#include "LoopFamilies.h"
#include "fusion/Analysis/CascadeBody.h"
#include <limits>

using namespace mlir;
using namespace mlir::fusion;

int64_t LoopSchedule::tileElements() const {
  int64_t elements = 1;
  for (const LoopAxis &axis : axes)
    elements *= axis.tile;
  return elements;
}

double mlir::fusion::gridBlocks(const LoopSchedule &schedule,
                                const LoopFacts &facts) {
  double blocks = 1;
  for (unsigned i = 0; i < facts.getNumDims(); ++i)
    if (schedule[i].kind == AxisKind::Grid && facts.root.test(i))
      blocks *= static_cast<double>(llvm::divideCeil(
          facts.extents[i],
          schedule[i].tile * schedule[i].strip * schedule[i].steps));
  return blocks;
}

ScheduleAttr LoopSchedule::toAttr(MLIRContext *context) const {
  SmallVector<AxisAttr> attributes;
  for (const LoopAxis &axis : axes)
    attributes.push_back(AxisAttr::get(
        context, axis.kind, axis.tile, /*warps=*/1,
        std::min(axis.vector, axis.tile), axis.strip, axis.steps, axis.split,
        axis.cluster, axis.stages, axis.limited, axis.descending, axis.parted));
  MmaAttr mma;
  if (products)
    mma = MmaAttr::get(context, products->kind, products->stages,
                       /*columns=*/0, products->split, products->group,
                       products->blocks,
                       /*multicast=*/1, products->groups, /*stream=*/0,
                       /*apart=*/products->split > 1, products->skew);
  return ScheduleAttr::get(context, strategy, attributes, warps, mma);
}

static LoopSchedules getCandidates(const LoopFacts &facts) {
  if (facts.scanned.any())
    return getScanSchedules(facts);
  if (facts.hasGranules())
    return getGranuleSchedules(facts);
  if (facts.reduced.none())
    return getPointwiseSchedules(facts);
  LoopSchedules windows = getWindowSchedules(facts);
  return windows.empty() ? getReductionSchedules(facts) : windows;
}

std::vector<PricedSchedule>
mlir::fusion::getLoopSchedules(const KernelBody &body,
                               const TargetInfo &target) {
  LoopFacts facts(body, target);
  std::vector<PricedSchedule> priced;
  for (LoopSchedule &schedule : getCandidates(facts)) {
    KernelEstimate estimate = priceSchedule(facts, schedule);
    priced.push_back({std::move(schedule), std::move(estimate)});
  }
  auto isFaster = [](const PricedSchedule &a, const PricedSchedule &b) {
    return a.estimate.seconds() < b.estimate.seconds();
  };
  // Of those that are about as fast the one that was proposed first: each after
  // it gives something up.
  double alike = target.fitted.kernels.alike *
                 llvm::min_element(priced, isFaster)->estimate.seconds();
  auto first = llvm::find_if(priced, [&](const PricedSchedule &one) {
    return one.estimate.seconds() <= alike;
  });
  std::rotate(priced.begin(), first, std::next(first));
  std::stable_sort(std::next(priced.begin()), priced.end(), isFaster);
  return priced;
}

static KernelEstimate priceLoops(const KernelBody &body,
                                 const TargetInfo &target) {
  return getLoopSchedules(body, target).front().estimate;
}

/// True when `flat`, with the result as one dimension, takes no more than about
/// what `own` does: fewer lanes are past the end of rows then.
static bool isAsFast(const KernelEstimate &flat, const KernelEstimate &own,
                     const TargetInfo &target) {
  return flat.seconds() <= own.seconds() * target.fitted.kernels.alike;
}

KernelEstimate mlir::fusion::priceKernel(const KernelBody &body,
                                         const TargetInfo &target) {
  if (hasCascade(body)) {
    std::vector<PricedSchedule> walks = getCascadeSchedules(body, target);
    if (!walks.empty())
      return walks.front().estimate;
    KernelEstimate none;
    none.time.total = std::numeric_limits<double>::infinity();
    return none;
  }
  if (body.has(NodeKind::Contraction))
    return estimateContraction(body, target);
  if (std::optional<KernelEstimate> product = estimateRowProduct(body, target))
    return *product;
  KernelBody merged = body.mergeDims();
  KernelEstimate own = priceLoops(merged, target);
  std::optional<KernelBody> flat = merged.flattenDims();
  if (!flat)
    return own;
  KernelEstimate other = priceLoops(*flat, target);
  return isAsFast(other, own, target) ? other : own;
}

bool mlir::fusion::isFasterFlat(const KernelBody &body,
                                const TargetInfo &target) {
  std::optional<KernelBody> flat = body.flattenDims();
  return flat &&
         isAsFast(priceLoops(*flat, target), priceLoops(body, target), target);
}
