//===- SelectSchedule.cpp - Chooses how a kernel is executed --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of a schedule: on tensor cores or by plain
// arithmetic for kernels with products, by the price of their loops for all
// others.
//
//===----------------------------------------------------------------------===//

#include "fusion/Scheduling/SelectSchedule.h"
#include "ContractionSchedule.h"
#include "LoopFamilies.h"
#include "fusion/Analysis/CascadeBody.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::fusion;

/// The first contraction of `kernel`.
static std::optional<Contraction> findProduct(KernelOp kernel,
                                              const IterationSpace &space) {
  for (auto op : kernel.getBlock().getOps<linalg::LinalgOp>())
    if (std::optional<Contraction> product = matchContraction(op, space))
      return product;
  return std::nullopt;
}

/// Tiles of results that threads compute by plain arithmetic.
static ScheduleAttr schedulePlainProduct(KernelOp kernel,
                                         const IterationSpace &space,
                                         const Contraction &product,
                                         const ScheduleLimits &limits) {
  const WarpProductConstants &fitted = limits.target->fitted.warpProducts;
  unsigned numDims = space.getNumDims();
  SmallVector<int64_t> extents, tiles(numDims, 1);
  for (const IterationDim &dim : space.getDims())
    extents.push_back(dim.getStaticExtent().value_or(limits.typicalExtent));
  auto largest = [&](ArrayRef<unsigned> dims) {
    unsigned best = dims.front();
    for (unsigned dim : dims)
      if (extents[dim] > extents[best])
        best = dim;
    return best;
  };
  unsigned row = largest(product.rows), column = largest(product.columns),
           inner = largest(product.contracted);
  for (unsigned side : {row, column})
    tiles[side] = std::min(fitted.plainSide, nextPowerOfTwo(extents[side]));
  tiles[inner] = std::min(fitted.plainDepth, nextPowerOfTwo(extents[inner]));
  auto countBlocks = [&] {
    double blocks = 1;
    for (unsigned i = 0; i < numDims; ++i)
      if (!space.getDims()[i].reduction)
        blocks *= llvm::divideCeil(extents[i], tiles[i]);
    return blocks;
  };
  while (countBlocks() < static_cast<double>(limits.target->numSMs) &&
         tiles[row] * tiles[column] > fitted.leastPlainTile)
    tiles[tiles[row] >= tiles[column] ? row : column] /= 2;
  SmallVector<AxisAttr> axes;
  for (unsigned i = 0; i < numDims; ++i)
    axes.push_back(AxisAttr::get(
        kernel.getContext(),
        space.getDims()[i].reduction ? AxisKind::Loop : AxisKind::Grid,
        tiles[i], /*warps=*/1, /*vector=*/1, /*strip=*/1, /*steps=*/1,
        /*split=*/1, /*cluster=*/1, /*stages=*/1, /*limited=*/false,
        /*descending=*/false, /*parted=*/false));
  return ScheduleAttr::get(kernel.getContext(), Strategy::Contraction, axes,
                           warpsFor(tiles[row] * tiles[column],
                                    fitted.plainPerThread, fitted.plainWarps));
}

static StringRef describe(BodyProblem problem) {
  switch (problem) {
  case BodyProblem::None:
    return "nothing is wrong";
  case BodyProblem::TooManyDims:
    return "it has more than 64 dimensions";
  case BodyProblem::TooManyInstances:
    return "an operation is needed at too many different places";
  case BodyProblem::ReductionCoordinates:
    return "what is reduced or scanned is needed at other places than its own";
  case BodyProblem::ReadInPlace:
    return "what is written in place is read";
  }
  llvm_unreachable("not a problem");
}

static void remarkUnsplitScan(KernelOp kernel, StringRef obstacle) {
  auto func = kernel->getParentOfType<FunctionOpInterface>();
  if (!func)
    return;
  auto remark =
      remark::missed(kernel.getLoc(), remark::RemarkOpts::name("unsplit-scan")
                                          .category("fusion-schedule")
                                          .function(func.getName()));
  if (remark)
    remark << ("one block walks a long scanned dimension: " + obstacle).str();
}

/// Schedules by the price of loops, of the kernel as a graph of its own.
static FailureOr<std::vector<RankedSchedule>>
getSchedulesOfLoops(KernelOp kernel, const IterationSpace &space,
                    const ScheduleLimits &limits) {
  KernelBody body = KernelBody::getWhole(space.getGraph());
  if (body.getProblem() != BodyProblem::None)
    return kernel.emitError("FUS-3128: no block can compute the kernel: ")
           << describe(body.getProblem());
  StringRef obstacle = getUnsplitScanReason(body, *limits.target);
  if (!obstacle.empty())
    remarkUnsplitScan(kernel, obstacle);
  std::vector<RankedSchedule> schedules;
  for (PricedSchedule &priced : getLoopSchedules(body, *limits.target))
    schedules.push_back({priced.schedule.toAttr(kernel.getContext()),
                         std::move(priced.estimate)});
  return schedules;
}

FailureOr<std::vector<RankedSchedule>>
mlir::fusion::getSchedules(KernelOp kernel, const IterationSpace &space,
                           const ScheduleLimits &limits) {
  bool scans = llvm::any_of(space.getDims(),
                            [](const IterationDim &dim) { return dim.scan; });
  std::optional<Contraction> product;
  if (!scans)
    product = findProduct(kernel, space);
  if (!product)
    return getSchedulesOfLoops(kernel, space, limits);
  std::vector<RankedSchedule> schedules;
  KernelBody body = KernelBody::getWhole(space.getGraph());
  if (body.getProblem() == BodyProblem::None && hasCascade(body))
    for (PricedSchedule &priced : getCascadeSchedules(body, *limits.target))
      schedules.push_back({priced.schedule.toAttr(kernel.getContext()),
                           std::move(priced.estimate)});
  if (!schedules.empty())
    return schedules;
  for (ScheduleAttr schedule : getTensorCoreSchedules(kernel, space, limits))
    schedules.push_back({schedule, std::nullopt});
  if (schedules.empty() && !isContraction(product->op))
    return getSchedulesOfLoops(kernel, space, limits);
  if (schedules.empty())
    schedules.push_back(
        {schedulePlainProduct(kernel, space, *product, limits), std::nullopt});
  return schedules;
}
