//===- ContractionSchedule.cpp - Schedules of contractions ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the schedules of kernels around a contraction that run
// on tensor cores: which instruction can make the products, which dimensions
// make up rows, columns and depth, and what the model is asked about them.
//
//===----------------------------------------------------------------------===//

#include "ContractionSchedule.h"
#include "fusion/Analysis/BodyProduct.h"
#include "fusion/Analysis/MmaCost.h"
#include "fusion/Analysis/Reductions.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

std::optional<Contraction>
fusion::matchContraction(linalg::LinalgOp op, const IterationSpace &space) {
  return matchContraction(
      op, [&](unsigned loop) { return space.getDimOfLoop(op, loop); },
      [](Value tensor) { return isa<BlockArgument>(tensor); });
}

/// The contractions of `kernel`, when there are some, all of one tile and none
/// feeding another, and when nothing else walks their loops.
static std::optional<BodyProduct> findProduct(KernelOp kernel,
                                              const IterationSpace &space,
                                              const TargetInfo &target) {
  std::optional<Contraction> first;
  SmallVector<linalg::LinalgOp> ops;
  llvm::SmallDenseSet<Value> derived;
  llvm::SmallSetVector<unsigned, 2> reduced;
  for (Operation &op : kernel.getBlock()) {
    bool isDerived = llvm::any_of(op.getOperands(),
                                  [&](Value v) { return derived.contains(v); });
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (structured && structured.getNumReductionLoops() > 0) {
      // Each tile reduces its own granules, for others to go on with.
      if (matchGranules(structured))
        continue;
      std::optional<Contraction> sum = matchContraction(structured, space);
      if (sum) {
        if (isDerived)
          return std::nullopt;
        if (!first)
          first = sum;
        ops.push_back(structured);
        isDerived = true;
      } else if (isDerived) {
        SmallVector<unsigned> loops;
        structured.getReductionDims(loops);
        for (unsigned loop : loops)
          reduced.insert(space.getDimOfLoop(structured, loop));
      }
    }
    if (isDerived)
      for (Value result : op.getResults())
        derived.insert(result);
  }
  if (!first)
    return std::nullopt;
  // A reduction of a product over dimensions that tiles divide has no tile
  // form; a tile may have whole rows, or blocks finish them together.
  if (!reduced.empty()) {
    unsigned last = 0;
    for (unsigned dim : first->columns)
      if (space.getDims()[dim].getStaticExtent() != 1)
        last = dim;
    std::optional<int64_t> extent = space.getDims()[last].getStaticExtent();
    if (reduced.size() != 1 || reduced.front() != last || !extent ||
        *extent > kMaxPanelRow)
      return std::nullopt;
  }
  // Rows and columns are what a block owns: dimensions of the results only.
  for (ArrayRef<unsigned> dims :
       {ArrayRef(first->rows), ArrayRef(first->columns),
        ArrayRef(first->batch)})
    for (unsigned dim : dims) {
      const IterationDim &info = space.getDims()[dim];
      if (!reduced.contains(dim) && (!info.root || info.reduction || info.scan))
        return std::nullopt;
    }
  KernelBody body = KernelBody::getWhole(space.getGraph());
  if (body.getProblem() != BodyProblem::None)
    return std::nullopt;
  BodyProduct product = getBodyProduct(body, ops, !reduced.empty(), target);
  if (product.sums.empty())
    return std::nullopt;
  return product;
}

static ScheduleAttr makeSchedule(KernelOp kernel, const BodyProduct &product,
                                 const IterationSpace &space, MmaKind kind,
                                 const MmaConfig &config,
                                 int64_t depthWarps = 1) {
  MLIRContext *context = kernel.getContext();
  SmallVector<AxisKind> kinds(space.getNumDims(), AxisKind::Grid);
  SmallVector<int64_t> tiles(space.getNumDims(), 1);
  for (const Contraction &sum : product.sums)
    for (unsigned dim : sum.contracted)
      kinds[dim] = AxisKind::Loop;
  for (unsigned dim = 0; dim < space.getNumDims(); ++dim)
    if (space.getDims()[dim].reduction)
      kinds[dim] = AxisKind::Loop;
  for (const Contraction &sum : product.sums)
    if (sum.grouped)
      kinds[sum.groupDim] = AxisKind::Group;
  for (const SmallVector<unsigned> *dims :
       {&product.dims.rows, &product.dims.columns})
    for (unsigned dim : ArrayRef(*dims).drop_back())
      kinds[dim] = AxisKind::Merged;
  for (unsigned dim : product.dims.outerDepths)
    kinds[dim] = AxisKind::Merged;
  if (product.wholeRows)
    kinds[product.dims.columns.back()] = AxisKind::Full;
  tiles[product.dims.rows.back()] = config.rows;
  tiles[product.dims.columns.back()] = config.columns;
  tiles[product.dims.depth] = config.depth;
  for (unsigned dim : product.dims.laterDepths)
    tiles[dim] = config.depth;
  SmallVector<AxisAttr> axes;
  for (auto [dim, axisKind, tile] : llvm::enumerate(kinds, tiles))
    axes.push_back(AxisAttr::get(context, axisKind, tile,
                                 dim == product.dims.depth ? depthWarps : 1, 1,
                                 1, 1, 1, 1, 1, /*limited=*/false,
                                 /*descending=*/false, /*parted=*/false));
  auto mma = MmaAttr::get(context, kind, config.stages, config.chunk,
                          config.split, config.group, config.blocks,
                          config.multicast, config.groups * config.rowGroups,
                          config.stream, config.apart, /*skew=*/0);
  return ScheduleAttr::get(context, Strategy::Contraction, axes, config.warps,
                           mma);
}

SmallVector<ScheduleAttr>
fusion::getTensorCoreSchedules(KernelOp kernel, const IterationSpace &space,
                               const ScheduleLimits &limits) {
  if (!limits.target)
    return {};
  const TargetInfo &target = *limits.target;
  std::optional<BodyProduct> product = findProduct(kernel, space, target);
  if (!product)
    return {};
  ProductConfigs configs = getProductConfigs(*product, target);
  SmallVector<ScheduleAttr> schedules;
  auto addFew = [&] {
    for (const MmaConfig &config : configs.few)
      schedules.push_back(makeSchedule(kernel, *product, space,
                                       MmaKind::MmaSync, config, config.warps));
  };
  // One row or one column is a reduction but where warps share its depth, of
  // which copies bring whole pieces.
  if (!isContraction(product->sums.front().op)) {
    if (llvm::all_of(product->problem.copied,
                     [](bool copied) { return copied; }))
      addFew();
    return schedules;
  }
  if (configs.fewFirst)
    addFew();
  for (const MmaConfig &config : configs.groups)
    schedules.push_back(
        makeSchedule(kernel, *product, space, MmaKind::Wgmma, config));
  if (!configs.fewFirst)
    addFew();
  // Single warps reduce rows that one tile has.
  bool ofPanels = product->wholeRows && product->problem.columns > kMaxWholeRow;
  if (schedules.empty() && product->byWarps && !ofPanels)
    schedules.push_back(
        makeSchedule(kernel, *product, space, MmaKind::MmaSync,
                     getMmaSyncConfig(product->problem, target)));
  return schedules;
}

EstimateAttr fusion::predictFor(EstimateAttr estimate, KernelOp kernel,
                                const IterationSpace &space,
                                ScheduleAttr schedule,
                                const ScheduleLimits &limits) {
  MmaAttr mma = schedule.getMma();
  if (!mma || mma.getKind() == MmaKind::Fma)
    return estimate;
  std::optional<BodyProduct> product =
      findProduct(kernel, space, *limits.target);
  if (!product)
    return estimate;
  auto tileOf = [&](unsigned dim) { return schedule.getAxes()[dim].getTile(); };
  MmaConfig config;
  config.rows = tileOf(product->dims.rows.back());
  config.columns = tileOf(product->dims.columns.back());
  config.depth = tileOf(product->dims.depth);
  config.warps = schedule.getWarps();
  config.stages = mma.getStages();
  config.chunk = mma.getColumns();
  config.split = mma.getSplit();
  config.group = mma.getGroup();
  config.blocks = mma.getBlocks();
  config.multicast = mma.getMulticast();
  // Groups have rows of a tile together where these are no power of two.
  (llvm::isPowerOf2_64(config.rows) ? config.groups : config.rowGroups) =
      mma.getGroups();
  config.stream = mma.getStream();
  config.apart = mma.getApart();
  const MmaProblem &problem = product->problem;
  if (getMmaSharedBytes(problem, config, *limits.target) >
      limits.target->maxSharedPerBlock)
    config.staging = 1;
  bool byGroups = mma.getKind() == MmaKind::Wgmma;
  return EstimateAttr::get(
      kernel.getContext(), estimate.getTime(), estimate.getDramBytes(),
      estimate.getFlops(),
      byGroups ? getMmaRegisters(problem, config)
               : getMmaSyncRegisters(
                     problem, config,
                     schedule.getAxes()[product->dims.depth].getWarps()),
      byGroups ? getMmaSharedBytes(problem, config, *limits.target)
               : estimate.getSharedBytes(),
      estimate.getSavedBytes(), estimate.getSavedLaunches());
}
