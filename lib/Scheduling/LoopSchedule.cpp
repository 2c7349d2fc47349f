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

/// The dimension of the kernel's space that each of the body's is; nothing for
/// those that no operation of the kernel has.
static SmallVector<std::optional<unsigned>>
matchDims(const KernelBody &body, const IterationSpace &space) {
  SmallVector<std::optional<unsigned>> result(body.getExtents().size());
  for (const BodyInstance &instance : body.getInstances()) {
    const GraphNode &node = body.getNode(instance);
    if (!instance.natural)
      continue;
    auto match = [&](unsigned loop, std::optional<unsigned> dim) {
      unsigned own = cast<AffineDimExpr>(instance.loops[loop]).getPosition();
      if (!result[own])
        result[own] = dim;
    };
    if (isa<linalg::LinalgOp>(node.op) && !isa<linalg::FillOp>(node.op)) {
      for (unsigned loop = 0; loop < node.extents.size(); ++loop)
        match(loop, space.getDimOfLoop(node.op, loop));
      continue;
    }
    // One loop for each dimension of the result, or of the slice that is
    // written in place.
    Value tensor = KernelOp::getStored(node.op->getResult(0));
    for (unsigned loop = 0; loop < node.extents.size(); ++loop)
      match(loop, space.findDimOfTensor(tensor, loop));
  }
  return result;
}

ScheduleAttr LoopSchedule::toAttr(KernelOp kernel, const KernelBody &body,
                                  const IterationSpace &space) const {
  SmallVector<LoopAxis> ordered(space.getNumDims());
  for (auto [own, dim] : llvm::enumerate(matchDims(body, space)))
    if (dim)
      ordered[*dim] = axes[own];
  SmallVector<AxisAttr> attributes;
  for (const LoopAxis &axis : ordered)
    attributes.push_back(
        AxisAttr::get(kernel.getContext(), axis.kind, axis.tile, /*warps=*/1,
                      std::min(axis.vector, axis.tile), axis.strip, axis.steps,
                      axis.split, axis.cluster, axis.stages));
  MmaAttr mma;
  if (products)
    mma = MmaAttr::get(kernel.getContext(), products->kind, products->stages,
                       /*columns=*/0, /*split=*/1, /*group=*/1, /*blocks=*/0,
                       /*multicast=*/1, /*groups=*/1, /*stream=*/0,
                       /*apart=*/0, products->skew);
  return ScheduleAttr::get(kernel.getContext(), strategy, attributes, warps,
                           mma);
}

static LoopSchedules getCandidates(const LoopFacts &facts) {
  if (facts.scanned.any())
    return getScanSchedules(facts);
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
  return getLoopSchedules(body.mergeDims(), target).front().estimate;
}
