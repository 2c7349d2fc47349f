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
#include "fusion/Analysis/FewRowsCost.h"
#include "fusion/Analysis/KernelBody.h"
#include "fusion/Analysis/MmaCost.h"
#include "fusion/Analysis/ProductProblem.h"
#include "fusion/Analysis/Reductions.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// The contractions of a kernel, which all run over the same loops.
struct Product {
  SmallVector<Contraction, 2> sums;
  ProductDims dims;
  /// Reductions run along the last dimension of the columns, of which a tile
  /// has all, or the blocks of a panel.
  bool wholeRows = false;
};
} // namespace

static int64_t extentOf(const IterationSpace &space, unsigned dim,
                        const ScheduleLimits &limits) {
  return space.getDims()[dim].getStaticExtent().value_or(limits.typicalExtent);
}

/// The contractions of `kernel`, when there are some, all over the same loops
/// and none feeding another, and when nothing else walks those loops.
static std::optional<Product> findProduct(KernelOp kernel,
                                          const IterationSpace &space,
                                          const ScheduleLimits &limits) {
  Product product;
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
      std::optional<Contraction> sum = matchContraction(
          structured,
          [&](unsigned loop) { return space.getDimOfLoop(structured, loop); },
          [](Value tensor) { return isa<BlockArgument>(tensor); });
      if (sum) {
        if (isDerived)
          return std::nullopt;
        if (!product.sums.empty() && !haveEqualLoops(*sum, product.sums[0]))
          return std::nullopt;
        product.sums.push_back(*sum);
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
  if (product.sums.empty())
    return std::nullopt;
  const Contraction &first = product.sums.front();
  // A reduction of a product over dimensions that tiles divide has no tile
  // form; a tile may have whole rows, or blocks finish them together.
  if (!reduced.empty()) {
    unsigned last = 0;
    for (unsigned dim : first.columns)
      if (extentOf(space, dim, limits) != 1)
        last = dim;
    std::optional<int64_t> extent = space.getDims()[last].getStaticExtent();
    if (reduced.size() != 1 || reduced.front() != last || !extent ||
        *extent > kMaxPanelRow)
      return std::nullopt;
    product.wholeRows = true;
  }
  // Rows and columns are what a block owns: dimensions of the results only.
  for (ArrayRef<unsigned> dims :
       {ArrayRef(first.rows), ArrayRef(first.columns), ArrayRef(first.batch)})
    for (unsigned dim : dims) {
      const IterationDim &info = space.getDims()[dim];
      bool isRow = product.wholeRows && dim == reduced.front();
      if (!isRow && (!info.root || info.reduction || info.scan))
        return std::nullopt;
    }
  return product;
}

/// The iteration dimension that indexes dimension `dim` of `tensor`. Where the
/// kernel reads the beginning of a tensor, or one that zeros are added to at
/// the end, it is that of what is read. Filled tensors have none.
static std::optional<unsigned> dimOf(Value tensor, unsigned dim,
                                     const IterationSpace &space) {
  for (Operation *user : tensor.getUsers()) {
    if (auto pad = dyn_cast<tensor::PadOp>(user);
        pad && isConstantIntValue(pad.getMixedLowPad()[dim], 0) &&
        !isConstantIntValue(pad.getMixedHighPad()[dim], 0))
      return dimOf(pad.getResult(), dim, space);
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (slice && slice.getType().getRank() == slice.getSourceType().getRank() &&
        isConstantIntValue(slice.getMixedOffsets()[dim], 0) &&
        isConstantIntValue(slice.getMixedStrides()[dim], 1))
      return dimOf(slice.getResult(), dim, space);
  }
  return space.findDimOfTensor(tensor, dim);
}

/// The dimensions that `tensor` varies along and that have more than one
/// element, in order.
static SmallVector<unsigned> dimsOf(Value tensor, const IterationSpace &space) {
  SmallVector<unsigned> dims;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.getDimSize(i) != 1)
      if (std::optional<unsigned> dim = dimOf(tensor, i, space))
        dims.push_back(*dim);
  return dims;
}

/// What keeps warpgroups, fed by tensor copies, from making the products.
static std::optional<TensorCoreObstacle>
findProductObstacle(const Product &product, const IterationSpace &space) {
  for (const Contraction &sum : product.sums)
    if (auto obstacle = findObstacle(sum, product.dims,
                                     [&](Value v) { return dimsOf(v, space); }))
      return obstacle;
  return std::nullopt;
}

/// True when rows are in no groups, or tiles can have rows of one group each.
static bool tilesGroups(KernelOp kernel, const Product &product,
                        const IterationSpace &space) {
  const Contraction &first = product.sums.front();
  if (!first.grouped)
    return true;
  // Rows of a slice that is written in place end where it does.
  SmallVector<Value> stored = kernel.getStoredValues();
  return space.getDims()[first.groupedDim].granule == 1 &&
         llvm::equal(stored, kernel.getYield().getValues()) &&
         fusion::hasTilesOfGroups(
             first, product.dims, stored,
             [&](Value v) { return dimsOf(v, space); },
             [](Value v) { return isa<BlockArgument>(v); });
}

/// Leaves the configurations that tiles of groups are built for: a block finds
/// each tile by itself, so that blocks share none.
static void keepPlainConfigs(SmallVector<MmaConfig> &configs) {
  llvm::erase_if(configs, [](const MmaConfig &config) {
    return config.split != 1 || config.multicast != 1 || config.stream != 0 ||
           !llvm::isPowerOf2_64(config.rows);
  });
}

static MmaProblem describe(KernelOp kernel, const Product &product,
                           const IterationSpace &space,
                           const ScheduleLimits &limits) {
  ProductView view;
  view.sums = product.sums;
  view.dims = product.dims;
  view.wholeRows = product.wholeRows;
  KernelBody body = KernelBody::getWhole(space.getGraph());
  for (unsigned dim = 0; dim < space.getNumDims(); ++dim) {
    view.extents.push_back(extentOf(space, dim, limits));
    view.granules.push_back(space.getDims()[dim].granule);
    view.spans.push_back(body.getSpan(dim));
  }
  for (unsigned side = 0; side < 2; ++side) {
    const ContractionOperand &operand = product.sums.front().operands[side];
    view.factorDims[side] =
        dimsOf(operand.source ? operand.source : operand.tensor, space);
  }
  auto add = [&](SmallVector<ProductTensor> &tensors, Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    bool byGranules =
        llvm::any_of(llvm::seq<int64_t>(0, type.getRank()),
                     [&](int64_t i) { return space.getGranule(value, i) > 1; });
    tensors.push_back({value, dimsOf(value, space), byGranules});
  };
  for (Value argument : kernel.getBlock().getArguments())
    add(view.reads, argument);
  for (Value yielded : kernel.getStoredValues())
    add(view.writes, yielded);
  for (auto op : kernel.getBlock().getOps<linalg::LinalgOp>())
    if (llvm::none_of(product.sums,
                      [&](const Contraction &sum) { return sum.op == op; }))
      view.others.push_back(op);
  return describeProducts(view);
}

/// Can single warps make the products on tensor cores?
static bool hasWarpProducts(const Product &product, const TargetInfo &target) {
  return llvm::all_of(product.sums, [&](const Contraction &sum) {
    return isMadeByWarps(sum, target);
  });
}

static ScheduleAttr makeSchedule(KernelOp kernel, const Product &product,
                                 const IterationSpace &space, MmaKind kind,
                                 const MmaConfig &config,
                                 int64_t depthWarps = 1) {
  MLIRContext *context = kernel.getContext();
  const Contraction &first = product.sums.front();
  SmallVector<AxisKind> kinds(space.getNumDims(), AxisKind::Grid);
  SmallVector<int64_t> tiles(space.getNumDims(), 1);
  for (unsigned dim : first.contracted)
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
  if (product.wholeRows)
    kinds[product.dims.columns.back()] = AxisKind::Full;
  tiles[product.dims.rows.back()] = config.rows;
  tiles[product.dims.columns.back()] = config.columns;
  tiles[product.dims.depth] = config.depth;
  SmallVector<AxisAttr> axes;
  for (auto [dim, axisKind, tile] : llvm::enumerate(kinds, tiles))
    axes.push_back(AxisAttr::get(context, axisKind, tile,
                                 dim == product.dims.depth ? depthWarps : 1, 1,
                                 1, 1, 1, 1, 1));
  auto mma = MmaAttr::get(context, kind, config.stages, config.chunk,
                          config.split, config.group, config.blocks,
                          config.multicast, config.groups * config.rowGroups,
                          config.stream, config.apart, /*skew=*/0);
  return ScheduleAttr::get(context, Strategy::Contraction, axes, config.warps,
                           mma);
}

/// The contractions of `kernel` with the dimensions that they are tiled along.
static std::optional<Product> findTiledProduct(KernelOp kernel,
                                               const IterationSpace &space,
                                               const ScheduleLimits &limits) {
  std::optional<Product> product = findProduct(kernel, space, limits);
  if (!product)
    return std::nullopt;
  const Contraction &first = product->sums.front();
  auto sizeOf = [&](unsigned dim) { return extentOf(space, dim, limits); };
  SmallVector<SmallVector<unsigned>> rowTensors, columnTensors;
  auto add = [&](SmallVector<SmallVector<unsigned>> &tensors, Value tensor) {
    tensors.push_back(dimsOf(tensor, space));
  };
  // Places of windows in images are counted, they need not lie side by side.
  for (const Contraction &sum : product->sums) {
    if (!sum.operands[0].channels)
      add(rowTensors, sum.operands[0].tensor);
    if (!sum.operands[1].channels)
      add(columnTensors, sum.operands[1].tensor);
  }
  SmallVector<Value> results(kernel.getStoredValues());
  results.push_back(first.op->getResult(0));
  for (Value result : results) {
    add(rowTensors, result);
    add(columnTensors, result);
  }
  product->dims.rows = getMergeableDims(first.rows, rowTensors, sizeOf);
  product->dims.columns =
      getMergeableDims(first.columns, columnTensors, sizeOf);
  if (product->wholeRows)
    product->dims.columns = {product->dims.columns.back()};
  product->dims.depth = getDepthDim(first, sizeOf);
  return product;
}

SmallVector<ScheduleAttr>
fusion::getTensorCoreSchedules(KernelOp kernel, const IterationSpace &space,
                               const ScheduleLimits &limits) {
  std::optional<Product> product = findTiledProduct(kernel, space, limits);
  if (!product || !limits.target || !tilesGroups(kernel, *product, space))
    return {};
  bool grouped = product->sums.front().grouped.has_value();
  SmallVector<ScheduleAttr> schedules;
  const TargetInfo &target = *limits.target;
  MmaProblem problem = describe(kernel, *product, space, limits);
  SmallVector<MmaConfig> groups, few;
  if (target.hasWarpgroups && !findProductObstacle(*product, space))
    groups = getWgmmaConfigs(problem, target);
  if (grouped)
    keepPlainConfigs(groups);
  bool byWarps = hasWarpProducts(*product, target);
  bool windows = llvm::any_of(product->sums, [](const Contraction &sum) {
    return sum.operands[0].channels || sum.operands[1].channels;
  });
  if (byWarps && !windows && !product->wholeRows && !grouped)
    few = getFewRowsConfigs(problem, target);
  auto addFew = [&] {
    for (const MmaConfig &config : few)
      schedules.push_back(makeSchedule(kernel, *product, space,
                                       MmaKind::MmaSync, config, config.warps));
  };
  // Warpgroups take about twice their price for a few rows.
  const MmaConstants &fitted = target.fitted.mma;
  double rate = problem.rows <= fitted.fewRows ? fitted.fewRowsCost : 1;
  bool fewFirst = !few.empty() &&
                  (groups.empty() ||
                   getFewRowsSeconds(problem, few.front(), target) <
                       rate * getMmaSeconds(problem, groups.front(), target));
  if (fewFirst)
    addFew();
  for (const MmaConfig &config : groups)
    schedules.push_back(
        makeSchedule(kernel, *product, space, MmaKind::Wgmma, config));
  if (!fewFirst)
    addFew();
  // Single warps reduce rows that one tile has.
  bool ofPanels = product->wholeRows && problem.columns > kMaxWholeRow;
  if (schedules.empty() && byWarps && !ofPanels)
    schedules.push_back(makeSchedule(kernel, *product, space, MmaKind::MmaSync,
                                     getMmaSyncConfig(problem, target)));
  return schedules;
}

EstimateAttr fusion::predictFor(EstimateAttr estimate, KernelOp kernel,
                                const IterationSpace &space,
                                ScheduleAttr schedule,
                                const ScheduleLimits &limits) {
  MmaAttr mma = schedule.getMma();
  if (!mma || mma.getKind() == MmaKind::Fma)
    return estimate;
  std::optional<Product> product = findTiledProduct(kernel, space, limits);
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
  MmaProblem problem = describe(kernel, *product, space, limits);
  if (getMmaSharedBytes(problem, config) > limits.target->maxSharedPerBlock)
    config.staging = 1;
  bool byGroups = mma.getKind() == MmaKind::Wgmma;
  return EstimateAttr::get(
      kernel.getContext(), estimate.getTime(), estimate.getDramBytes(),
      estimate.getFlops(),
      byGroups ? getMmaRegisters(problem, config)
               : getMmaSyncRegisters(
                     problem, config,
                     schedule.getAxes()[product->dims.depth].getWarps()),
      byGroups ? getMmaSharedBytes(problem, config) : estimate.getSharedBytes(),
      estimate.getSavedBytes(), estimate.getSavedLaunches());
}
