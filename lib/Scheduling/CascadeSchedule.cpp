//===- CascadeSchedule.cpp - Schedules of products that share a walk ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the schedules of kernels in which contractions feed
// contractions: a block owns rows, walks the dimension that the last ones
// contract once, and keeps what they add up. The price is that of the steps of
// the walk: products, and the arithmetic on what the inner ones give, of which
// the rows' maxima are needed before the next product can begin. Where a mask
// of positions says that a block's rows have nothing in its first or last steps
// these are left out; blocks are then of unequal length, and the longest start
// first.
//
//===----------------------------------------------------------------------===//

#include "CascadeArithmetic.h"
#include "LoopFamilies.h"
#include "PreparedOperands.h"
#include "fusion/Analysis/CascadeBody.h"
#include "fusion/Analysis/MmaCost.h"
#include "fusion/Analysis/MovedRegisters.h"
#include "fusion/Analysis/TensorCores.h"
#include "fusion/Support/LinearExpr.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <queue>

using namespace mlir;
using namespace mlir::fusion;

/// Rows of an instruction: fewer are the columns of one.
static constexpr int64_t kGroupRows = 64;
/// Columns of an instruction that reading its rows takes as long as.
static constexpr int64_t kLeastColumns = 32;

/// Where buffers in rings begin, a multiple of these bytes.
static constexpr int64_t kBufferBytes = 1024;

/// Stages of a walk's ring, and where there is room for them those of one whose
/// stages are freed late, as operands are computed of what they bring.
static constexpr int64_t kStages = 2, kPreparedStages = 3;

namespace {
/// What limits the walk of a block: linear over the dimensions, and what the
/// scalars add to it where that can be said.
struct PricedLimit {
  LinearExpr linear;
  std::optional<int64_t> scalars;
};

/// The part of the walked dimension that a block walks.
struct WalkRange {
  int64_t begin, end;
};

/// What schedules of one body depend on.
class CascadeScheduler {
public:
  CascadeScheduler(const KernelBody &body, const TargetInfo &target)
      : body(body), target(target), cascade(analyzeCascade(body)),
        prepared(body, cascade, target) {
    // What a step stores, all steps store.
    if (cascade.storesSteps)
      cascade.limits.clear();
  }

  std::vector<PricedSchedule> run();

private:
  /// A way to walk.
  struct Tiling {
    /// Rows and walked elements of a step, warpgroups, and how many of these
    /// have the rows of one tile together; the others have tiles of their own.
    int64_t rows, steps, warpgroups, together;
    int64_t skew = 0;
    /// Of the ring that what is loaded in each step goes through.
    int64_t stages = kStages;
    /// Each block has one tile after the other.
    bool isPersistent = false;
    /// Blocks that share the walk of a tile.
    int64_t split = 1;
    /// The order of blocks.
    bool descending = false;
    int64_t group = 1;

    WalkTile getTile() const { return {rows, steps}; }
  };

  bool findProducts();
  std::optional<Contraction> match(unsigned instance) const;
  bool findTiledDims();
  /// Of the rows' dimensions those that tiles have rows of.
  SmallVector<unsigned> findTiledRows(ArrayRef<unsigned> all) const;
  /// Warpgroups can make the products of operands as tensor copies bring them.
  bool canMultiply() const;
  SmallVector<Tiling> getTilings() const;
  /// Adds `tiling`, if there is room for it, with one tile a block and with
  /// several.
  void addTilings(Tiling tiling, SmallVectorImpl<Tiling> &tilings) const;
  /// Adds `tiling`, with one tile a block, with as many blocks for each tile as
  /// multiprocessors have room for.
  void addSplits(Tiling tiling, SmallVectorImpl<Tiling> &tilings) const;
  LoopSchedule makeSchedule(const Tiling &tiling) const;
  KernelEstimate price(const Tiling &tiling) const;
  /// Bytes that are copied in a step.
  double countCopiedBytes(const Tiling &tiling) const;
  /// Registers of a thread that multiplies.
  int64_t countRegisters(const Tiling &tiling) const;
  KernelShape getShape(const Tiling &tiling) const;
  /// Blocks that a multiprocessor has at a time.
  int64_t getResident(const Tiling &tiling) const;
  /// Tiles that all multiprocessors have at a time.
  int64_t countPlaces(const Tiling &tiling) const;
  /// Seconds of so many instructions for each element of a step, of warpgroups
  /// that run one after the other.
  double getSeconds(const Tiling &tiling, double instructions) const;
  /// What one step of a block takes: of its products and of everything else.
  std::pair<double, double> getStepSeconds(const Tiling &tiling) const;
  void addTraffic(const Tiling &tiling, KernelCost &cost) const;
  /// What limits the walk, and how much of it.
  void findLimits();
  /// What the rows from `first` on of a block walk.
  WalkRange getRange(const Tiling &tiling, int64_t first) const;
  /// Steps of each tile of rows, one after the other.
  SmallVector<int64_t> countSteps(const Tiling &tiling) const;
  /// The share of all steps that is made, and of the walked dimension that any
  /// block reads.
  std::pair<double, double> getShares(const Tiling &tiling) const;
  /// Blocks leave steps out, as far as is known now.
  bool isLimited(const Tiling &tiling) const;
  /// Slices, of all dimensions before the rows, that blocks differ along.
  int64_t countSlices() const;
  /// `tiling` with its longest blocks first, of as many slices as makes the
  /// last one end first.
  Tiling orderBlocks(Tiling tiling) const;
  /// Calls `visit` for each tile of rows, of all slices, in the order of
  /// blocks.
  void visitTiles(const Tiling &tiling, int64_t tiles,
                  function_ref<void(int64_t)> visit) const;
  /// What blocks that share a walk take for what each has added up.
  double getExchangeSeconds(const Tiling &tiling) const;
  /// From the start of the first block to the end of the last one.
  double getBlockSeconds(const Tiling &tiling) const;
  double getStepTime(const Tiling &tiling) const;
  int64_t extentOf(unsigned dim) const {
    return static_cast<int64_t>(body.getExtents()[dim]);
  }
  /// How many rows tiles are made of, and how often.
  int64_t countRows() const {
    int64_t count = 1;
    for (unsigned dim : rows)
      count *= extentOf(dim);
    return count;
  }
  int64_t countCopies() const {
    DimMask others = cascade.rows;
    for (unsigned dim : rows)
      others &= ~(DimMask(1) << dim);
    return toCount(body.getPoints(others));
  }
  int64_t countTiles(const Tiling &tiling) const {
    return llvm::divideCeil(countRows(), tiling.rows) * countCopies();
  }
  /// What everything takes on its way from and to memory: the more where so
  /// many copies are under way that each finds rows of memory closed.
  KernelTime getTimes(const KernelCost &cost, const Tiling &tiling) const;
  /// The same of one tile, while all multiprocessors have one.
  double getTileTraffic(const Tiling &tiling) const;
  /// Elements of a tile that has all of `dim`.
  int64_t getTile(unsigned dim) const {
    return std::max(kLeastWidth, nextPowerOfTwo(extentOf(dim)));
  }
  double getWidth(unsigned dim) const {
    return static_cast<double>(getTile(dim));
  }

  const KernelBody &body;
  const TargetInfo &target;
  CascadeBody cascade;
  SmallVector<WalkProduct, 2> inner, outer;
  /// The dimensions that tiles are of: one of the rows' and that of the
  /// columns.
  unsigned row = 0, column = 0;
  /// Dimensions, side by side in all tensors, that rows of a tile run through:
  /// the last one is `row`.
  SmallVector<unsigned> rows;
  PreparedOperands prepared;
  SmallVector<PricedLimit, 2> limits;
  /// Bytes of an element of each vector along the walk.
  SmallVector<double> vectorBytes;
  /// What is computed of each element of a step within the limits.
  OpCost elementCost;
};
} // namespace

/// Slices whose rows alternate. More are no better: the blocks at work together
/// are of so many slices by then.
static constexpr int64_t kGroups[] = {2, 4, 8, 16};
/// Tiles up to which the time of each is counted: of more the last ones weigh
/// little.
static constexpr int64_t kMaxCounted = 4096;
/// Blocks that share a walk, at most: each reads what all have added up.
static constexpr int64_t kMaxSplit = 32;
/// Registers of a thread for what other blocks have of few rows, at most.
static constexpr int64_t kMostGathered = 144;
/// Columns of results, and elements that are contracted in a step, at most.
static constexpr int64_t kMaxWidth = 256;

std::optional<Contraction> CascadeScheduler::match(unsigned id) const {
  const BodyInstance &instance = body.getInstances()[id];
  const ComputeGraph &graph = body.getGraph();
  return matchContraction(
      cast<linalg::LinalgOp>(body.getNode(instance).op),
      [&](unsigned loop) {
        auto dim = dyn_cast<AffineDimExpr>(instance.loops[loop]);
        return dim ? dim.getPosition() : 0;
      },
      [&](Value tensor) {
        return llvm::any_of(body.getInputs(), [&](const BodyAccess &access) {
          return graph.getValue(access.value).ssa == tensor;
        });
      });
}

bool CascadeScheduler::findProducts() {
  auto add = [&](ArrayRef<unsigned> instances,
                 SmallVectorImpl<WalkProduct> &products) {
    for (unsigned id : instances) {
      if (body.getNode(body.getInstances()[id]).kind != NodeKind::Contraction)
        continue;
      std::optional<Contraction> sum = match(id);
      if (!sum)
        return false;
      products.push_back({*sum, id});
    }
    return true;
  };
  return add(cascade.inner, inner) && add(cascade.members, outer);
}

/// The dimensions of `dims` with more than one element.
static SmallVector<unsigned> getLong(ArrayRef<unsigned> dims,
                                     const KernelBody &body) {
  return llvm::filter_to_vector(
      dims, [&](unsigned dim) { return body.getExtents()[dim] > 1; });
}

/// The same of those that `coords` are.
static SmallVector<unsigned> getLong(ArrayRef<AffineExpr> coords,
                                     const KernelBody &body) {
  SmallVector<unsigned> dims;
  for (AffineExpr coord : coords)
    if (auto dim = dyn_cast<AffineDimExpr>(coord))
      dims.push_back(dim.getPosition());
  return getLong(dims, body);
}

/// The dimensions of `mask`, in order.
static SmallVector<unsigned> getDimsOf(DimMask mask) {
  SmallVector<unsigned> dims;
  for (; mask; mask &= mask - 1)
    dims.push_back(llvm::countr_zero(mask));
  return dims;
}

/// How often the walked dimension is walked.
static int64_t countWalks(const CascadeBody &cascade, const KernelBody &body) {
  return toCount(body.getPoints(cascade.getRepeated()));
}

bool CascadeScheduler::findTiledDims() {
  SmallVector<unsigned> walked = getLong(getDimsOf(cascade.reduced), body);
  SmallVector<unsigned> all = getLong(outer.front().sum.rows, body);
  SmallVector<unsigned> columns = getLong(outer.front().sum.columns, body);
  if (all.empty() || columns.size() != 1)
    return false;
  auto isNarrow = [&](unsigned dim) {
    return extentOf(dim) <= kMaxWidth && body.isStatic(dim);
  };
  // Products have rows on the left.
  for (WalkProduct &product : inner) {
    SmallVector<unsigned> depths = getLong(product.sum.contracted, body);
    if (getLong(product.sum.rows, body) != all ||
        getLong(product.sum.columns, body) != walked || depths.size() != 1 ||
        !isNarrow(depths.front()))
      return false;
    product.depth = depths.front();
  }
  for (WalkProduct &product : outer) {
    if (getLong(product.sum.rows, body) != all ||
        getLong(product.sum.columns, body) != columns ||
        getLong(product.sum.contracted, body) != walked)
      return false;
    product.depth = cascade.walked;
  }
  rows = findTiledRows(all);
  row = rows.back();
  column = columns.front();
  // Where the columns come first, they are the rows of what is computed: what
  // passes from product to product would be on the right.
  return isNarrow(column) && row < column;
}

SmallVector<unsigned>
CascadeScheduler::findTiledRows(ArrayRef<unsigned> all) const {
  // Limits are along one dimension.
  if (!cascade.limits.empty())
    return {all.back()};
  SmallVector<SmallVector<unsigned>> tensors;
  for (const BodyAccess &access : body.getInputs())
    tensors.push_back(getLong(access.coords, body));
  for (const BodyOutput &output : body.getOutputs())
    tensors.push_back(getLong(output.coords, body));
  return getMergeableDims(all, tensors,
                          [&](unsigned dim) { return extentOf(dim); });
}

int64_t CascadeScheduler::getResident(const Tiling &tiling) const {
  // The assembler takes what registers it can have to compute operands: that
  // several blocks have room for them must not rest on it.
  if (tiling.rows < kGroupRows || prepared.areOfSteps())
    return 1;
  // Where registers move from warps that load to others a block has all.
  int64_t sums = tiling.rows * static_cast<int64_t>(getWidth(column)) +
                 tiling.rows * tiling.steps;
  int64_t threads = tiling.warpgroups * kWarpgroupWarps * kWarpThreads;
  if (tiling.warpgroups > 1 && sums >= kLeastMovedSums * threads)
    return 1;
  KernelShape shape = getShape(tiling);
  auto held = static_cast<int64_t>(prepared.countHeldRegisters(
      tiling.getTile(), static_cast<double>(threads)));
  shape.registers = std::max(shape.registers,
                             std::min(target.fitted.cascades.registers + held,
                                      getRegisterLimit(shape.threads, target)));
  return std::max<int64_t>(1, computeOccupancy(shape, target).blocksPerSM);
}

int64_t CascadeScheduler::countPlaces(const Tiling &tiling) const {
  return target.numSMs * getResident(tiling);
}

bool CascadeScheduler::canMultiply() const {
  const ComputeGraph &graph = body.getGraph();
  auto canFeed = [&](const WalkProduct &product, unsigned side) {
    bool isInner = llvm::is_contained(cascade.inner, product.instance);
    ProductDims dims;
    dims.rows = rows;
    dims.columns = {isInner ? cascade.walked : column};
    dims.depth = product.depth;
    const ContractionOperand &operand = product.sum.operands[side];
    if (operand.element.getIntOrFloatBitWidth() != 16)
      return false;
    // Left of the last ones is what a step gives.
    if (!isInner && side == 0)
      return true;
    if (const PreparedOperand *own = prepared.get(product.instance, side))
      return prepared.hasCopies(*own);
    // Two products may read one tensor, each with its own dimensions.
    auto dimsOf = [&](Value tensor) {
      SmallVector<unsigned> read;
      for (const BodyAccess &access : body.getInputs())
        if (graph.getValue(access.value).ssa == tensor &&
            (read.empty() || access.instance == product.instance))
          read = getLong(access.coords, body);
      return read;
    };
    return operand.direct &&
           !findOperandObstacle(product.sum, side, dims, dimsOf);
  };
  if (!target.hasWarpgroups)
    return false;
  for (const auto &products : {inner, outer})
    for (const WalkProduct &product : products)
      if (!isMadeByWarps(product.sum, target) || !canFeed(product, 0) ||
          !canFeed(product, 1))
        return false;
  return true;
}

/// Tables say where operands' rows lie.
static bool hasLookups(ArrayRef<WalkProduct> products) {
  return llvm::any_of(products, [](const WalkProduct &product) {
    return llvm::any_of(product.sum.operands,
                        [](const ContractionOperand &operand) {
                          return operand.lookup.has_value();
                        });
  });
}

/// Registers of a thread that multiplies: more warps have fewer.
static int64_t getMostRegisters(int64_t warpgroups, const TargetInfo &target) {
  if (warpgroups == 1)
    return target.maxRegistersPerThread;
  return getMovedRegisters(warpgroups * kWarpgroupWarps, /*holdsOperands=*/true)
      .consumer;
}

/// By warpgroups alone: single warps take longer for one walk than for two
/// products (docs/performance.md).
SmallVector<CascadeScheduler::Tiling> CascadeScheduler::getTilings() const {
  SmallVector<Tiling> tilings;
  if (!canMultiply())
    return tilings;
  // One product beside the exponentials of the next step.
  int64_t canSkew = inner.size() == 1 && outer.size() == 1 &&
                    countWalks(cascade, body) == 1 && !cascade.storesSteps &&
                    !prepared.areOfSteps();
  for (int64_t skew = canSkew; skew >= 0 && tilings.empty(); --skew)
    for (int64_t groups : {3, 2, 1})
      for (int64_t steps : {128, 64, 32})
        // A tile is a power of two: each of three has one.
        addTilings({groups * kGroupRows, steps, groups,
                    groups == 3 ? 1 : groups, skew},
                   tilings);
  // Where operands of steps are computed, the walk waits for what is done in
  // them rather than for memory: few rows are the instructions' columns.
  if (prepared.areOfSteps() && extentOf(column) >= kGroupRows)
    for (int64_t rows : {8, 16, 32})
      if (countRows() <= rows) {
        for (int64_t steps : {128, 64})
          addTilings({rows, steps, 1, 1}, tilings);
        break;
      }
  return tilings;
}

void CascadeScheduler::addTilings(Tiling tiling,
                                  SmallVectorImpl<Tiling> &tilings) const {
  // Those that read the same stages would each compute them.
  if (prepared.areOfSteps() && tiling.together != tiling.warpgroups)
    return;
  for (bool isPersistent : {false, true}) {
    tiling.isPersistent = isPersistent;
    auto fits = [&] {
      return getShape(tiling).sharedBytes <= target.maxSharedPerBlock;
    };
    tiling.stages = prepared.areOfSteps() ? kPreparedStages : kStages;
    if (!fits())
      tiling.stages = kStages;
    if (!fits() ||
        countRegisters(tiling) > getMostRegisters(tiling.warpgroups, target) ||
        (isPersistent && getShape(tiling).blocks <= countPlaces(tiling)))
      continue;
    tilings.push_back(tiling);
    if (!isPersistent)
      addSplits(tiling, tilings);
  }
}

/// Registers of a thread for what `split` blocks have of few `rows`, which are
/// columns, of `width`: a lane has a quarter of the rows, of which it gets what
/// all have reduced, besides its elements of the block's share.
static int64_t countGathered(const KernelBody &body, const CascadeBody &cascade,
                             int64_t rows, int64_t width, int64_t split) {
  int64_t reductions = llvm::count_if(cascade.members, [&](unsigned member) {
    return body.getNode(body.getInstances()[member]).kind ==
           NodeKind::Reduction;
  });
  int64_t share = std::max(kLeastSharedColumns, width / split);
  return split * (rows * reductions / 4 +
                  rows * share / (kWarpgroupWarps * kWarpThreads));
}

void CascadeScheduler::addSplits(Tiling tiling,
                                 SmallVectorImpl<Tiling> &tilings) const {
  // Rows of one tile together, and threads have parts of its columns; how many
  // blocks there are is known.
  bool isStatic = true;
  for (unsigned dim = 0; dim < body.getExtents().size(); ++dim)
    isStatic &= !(cascade.rows & (DimMask(1) << dim)) || body.isStatic(dim);
  if (tiling.together != tiling.warpgroups || !isStatic ||
      countWalks(cascade, body) > 1 || cascade.storesSteps ||
      getWidth(column) < 2 * kLeastSharedColumns)
    return;
  // All run at the same time, and have something to do.
  auto hasRegisters = [&] {
    return tiling.rows >= kGroupRows ||
           countGathered(body, cascade, tiling.rows, getTile(column),
                         tiling.split) <= kMostGathered;
  };
  for (tiling.split = 2;
       getShape(tiling).blocks <= countPlaces(tiling) &&
       tiling.split <= kMaxSplit && hasRegisters() &&
       tiling.split * tiling.steps <= extentOf(cascade.walked);
       tiling.split *= 2)
    tilings.push_back(tiling);
}

LoopSchedule CascadeScheduler::makeSchedule(const Tiling &tiling) const {
  LoopSchedule schedule(Strategy::Contraction, body.getExtents().size());
  schedule.warps = tiling.together * kWarpgroupWarps;
  schedule.products = {MmaKind::Wgmma, tiling.stages, tiling.skew, tiling.group,
                       tiling.warpgroups / tiling.together};
  if (tiling.isPersistent)
    schedule.products->blocks = countPlaces(tiling);
  schedule.products->split = tiling.split;
  for (unsigned dim : ArrayRef(rows).drop_back())
    schedule[dim].kind = AxisKind::Merged;
  schedule[row].tile = tiling.rows;
  schedule[row].descending = tiling.descending;
  for (unsigned dim : getDimsOf(cascade.getRepeated()))
    schedule[dim].kind = AxisKind::Loop;
  schedule[cascade.walked].kind = AxisKind::Sequential;
  schedule[cascade.walked].tile = tiling.steps;
  schedule[cascade.walked].limited = isLimited(tiling);
  schedule[column].tile = getTile(column);
  for (const WalkProduct &product : inner) {
    schedule[product.depth].kind = AxisKind::Full;
    schedule[product.depth].tile = getTile(product.depth);
  }
  return schedule;
}

/// Bytes of an element of a step in vectors along the walk, of which all rows
/// have one number, that copies bring where rows lie side by side in memory.
static SmallVector<double> getBytesOfVectors(const KernelBody &body,
                                             DimMask rows, unsigned walked) {
  SmallVector<double> bytes;
  llvm::SmallDenseSet<unsigned> seen;
  for (const BodyAccess &access : body.getInputs()) {
    if (access.coords.empty())
      continue;
    auto last = dyn_cast<AffineDimExpr>(access.coords.back());
    if (last && last.getPosition() == walked && !(access.mask & rows) &&
        body.getNode(body.getInstances()[access.instance]).kind ==
            NodeKind::Pointwise &&
        seen.insert(access.value).second)
      bytes.push_back(body.getGraph().getValue(access.value).elementBytes);
  }
  return bytes;
}

int64_t CascadeScheduler::countRegisters(const Tiling &tiling) const {
  // The results so far, what the step gives, and what the last one gave, which
  // is rounded.
  double each = getWidth(column) * static_cast<double>(outer.size()) +
                static_cast<double>(tiling.steps) *
                    (static_cast<double>(inner.size()) + tiling.skew / 2.0);
  // A thread has a quarter of each vector, two of eight, where those are not
  // used up before others are needed: of two steps at a time, one masked.
  int64_t ofVectors = 0;
  if (tiling.skew && isLimited(tiling))
    for (double bytes : vectorBytes)
      ofVectors += static_cast<int64_t>(static_cast<double>(tiling.steps) *
                                        bytes / (4 * sizeof(float)));
  // Where the operands of each tile are computed of.
  int64_t ofPlaces = tiling.isPersistent ? prepared.countHeldPlaces() : 0;
  auto threads =
      static_cast<double>(tiling.warpgroups * kWarpgroupWarps * kWarpThreads);
  double rows = static_cast<double>(tiling.rows) / threads;
  // An operand of a step is computed beside the sums and the weights.
  double preparing =
      rows * (getWidth(column) * static_cast<double>(outer.size()) +
              static_cast<double>(tiling.steps) / 2) +
      prepared.countStepRegisters(tiling.getTile(), threads);
  preparing = std::max(preparing,
                       prepared.countHeldRegisters(tiling.getTile(), threads) +
                           PreparedOperands::kBetween);
  return target.fitted.cascades.registers + ofVectors + ofPlaces +
         static_cast<int64_t>(
             std::max(rows * each, prepared.areOfSteps() ? preparing : 0));
}

/// Bytes of each element of a step that copies bring beside the operands of
/// products: of what scores are changed by, a bias, where its rows in memory
/// are as tensor copies take them.
static double countBytesOfScores(const KernelBody &body, unsigned row,
                                 unsigned walked) {
  double bytes = 0;
  DimMask tile = (DimMask(1) << row) | (DimMask(1) << walked);
  for (const BodyAccess &access : body.getInputs()) {
    if ((access.mask & tile) != tile)
      continue;
    Type type = body.getGraph().getValue(access.value).ssa.getType();
    Type element = getElementTypeOrSelf(type);
    // A bit is a byte in memory.
    double bits = element.isInteger(1)     ? 8
                  : element.isIntOrFloat() ? element.getIntOrFloatBitWidth()
                                           : 0;
    auto last = dyn_cast<AffineDimExpr>(access.coords.back());
    if (last && bits >= 8 && bits <= 32 &&
        static_cast<int64_t>(bits * body.getExtents()[last.getPosition()]) %
                (8 * kCopyGranule) ==
            0)
      bytes += bits / 8;
  }
  return bytes;
}

double CascadeScheduler::countCopiedBytes(const Tiling &tiling) const {
  double bytes = static_cast<double>(tiling.rows) *
                 countBytesOfScores(body, row, cascade.walked);
  // Products that contract either dimension of a tile read it together; one
  // that runs a step behind keeps its own.
  llvm::SmallDenseMap<Value, double> widths;
  auto add = [&](const WalkProduct &product, double width) {
    if (const PreparedOperand *own = prepared.get(product.instance, 1)) {
      bytes += prepared.countSourceBytes(tiling.getTile(), *own);
      return;
    }
    const ContractionOperand &operand = product.sum.operands[1];
    width *= operand.element.getIntOrFloatBitWidth() / 8.0;
    double &known = widths[operand.tensor];
    bytes += tiling.skew ? width : std::max(width - known, 0.0);
    known = std::max(known, width);
  };
  for (const WalkProduct &product : inner)
    add(product, getWidth(product.depth));
  for (const WalkProduct &product : outer)
    add(product, getWidth(column));
  bytes *= static_cast<double>(tiling.steps);
  // Each in a buffer of its own.
  for (double ofElement : vectorBytes)
    bytes += std::max(static_cast<double>(tiling.steps) * ofElement,
                      static_cast<double>(kBufferBytes));
  return bytes;
}

KernelShape CascadeScheduler::getShape(const Tiling &tiling) const {
  KernelShape shape;
  int64_t threads = tiling.warpgroups * kWarpgroupWarps * kWarpThreads;
  // Warps that load beside those that multiply.
  shape.threads = threads + kWarpgroupWarps * kWarpThreads;
  double rows = static_cast<double>(tiling.rows);
  shape.blocks = countTiles(tiling) * tiling.split;
  // Warps that load give registers to the others.
  shape.registers =
      std::min(countRegisters(tiling), getRegisterLimit(shape.threads, target));
  // The queries stay, keys and values pass. What is computed has one place.
  double kept = prepared.countBytes(tiling.getTile());
  for (const WalkProduct &product : inner)
    kept += rows * getWidth(product.depth) *
            product.sum.operands[0].element.getIntOrFloatBitWidth() / 8.0 *
            static_cast<double>(tiling.isPersistent &&
                                        product.sum.operands[0].direct
                                    ? kSideStages
                                    : 1);
  // Weights that are columns, and what blocks that share a walk exchange.
  if (tiling.rows < kGroupRows) {
    kept += rows * static_cast<double>(tiling.steps * sizeof(uint16_t));
    if (tiling.split > 1)
      kept += rows * getWidth(column) * sizeof(float);
  }
  double passing =
      static_cast<double>(tiling.stages) * countCopiedBytes(tiling);
  // Results of a step and of the block leave through tiles of their own, or the
  // queries'.
  double leaving = 0;
  for (const BodyOutput &output : body.getOutputs()) {
    const GraphValue &value = body.getGraph().getValue(output.value);
    Type element = getElementTypeOrSelf(value.ssa.getType());
    bool isLikeQueries = llvm::any_of(inner, [&](const WalkProduct &product) {
      return product.sum.operands[0].direct &&
             product.sum.operands[0].element == element &&
             getWidth(column) == getWidth(product.depth);
    });
    if (output.mask & cascade.reduced)
      leaving += rows * static_cast<double>(tiling.steps) * value.elementBytes;
    else if ((output.mask & cascade.columns) &&
             (tiling.isPersistent || !isLikeQueries))
      leaving += rows * getWidth(column) * value.elementBytes;
  }
  shape.sharedBytes =
      static_cast<int64_t>(kept + passing + leaving) + kSharedReserve;
  shape.bytesInFlightPerThread = passing / static_cast<double>(shape.threads);
  return shape;
}

double CascadeScheduler::getSeconds(const Tiling &tiling,
                                    double instructions) const {
  return getIssueSeconds(static_cast<double>(tiling.rows * tiling.steps) *
                             instructions,
                         target.fitted.cascades.issueClocks, target);
}

std::pair<double, double>
CascadeScheduler::getStepSeconds(const Tiling &tiling) const {
  double perSM = 1.0 / static_cast<double>(target.numSMs);
  double rows = static_cast<double>(std::max(tiling.rows, kLeastColumns)),
         steps = static_cast<double>(tiling.steps);
  double flops = 0;
  for (const WalkProduct &product : inner)
    flops += 2 * rows * steps * getWidth(product.depth);
  flops +=
      2 * rows * steps * getWidth(column) * static_cast<double>(outer.size());
  double rate = target.fitted.rates.tensorFlopsPerSecond;
  OpCost each = elementCost;
  // Results so far are repaired.
  each.instructions +=
      getWidth(column) * static_cast<double>(outer.size()) / steps;
  double special = static_cast<double>(tiling.rows) * steps * each.sfu /
                   (target.sfuPerSecond() * perSM);
  double others = std::max(getSeconds(tiling, each.instructions), special);
  // Warps have parts of each row, which they reduce together.
  if (tiling.rows < kGroupRows)
    for (unsigned member : cascade.members)
      if (body.getNode(body.getInstances()[member]).kind == NodeKind::Reduction)
        others += target.fitted.cascades.stepSeconds;
  return {flops / (rate * perSM), others};
}

void CascadeScheduler::addTraffic(const Tiling &tiling,
                                  KernelCost &cost) const {
  const ComputeGraph &graph = body.getGraph();
  SmallVector<double> touches = getFirstTouches(body);
  double read = getShares(tiling).second;
  DimMask walkedBit = DimMask(1) << cascade.walked;
  // Blocks that run together walk the same keys and values: what all copy is
  // part of their steps.
  for (auto [access, touched] : llvm::zip(body.getInputs(), touches)) {
    if (access.mask & walkedBit)
      touched *= read;
    cost.accesses.push_back({touched, touched, /*reuseDistance=*/0, 1, false});
  }
  for (const BodyOutput &output : body.getOutputs()) {
    double bytes = body.getStoredElements(output) *
                   graph.getValue(output.value).elementBytes;
    cost.accesses.push_back({bytes, bytes, 0, 1, true});
  }
}

//===----------------------------------------------------------------------===//
// Walks that are limited
//===----------------------------------------------------------------------===//

/// What `symbol` is where sizes are those to price with; nothing for positions
/// that the run knows, and for elements of tensors.
static std::optional<int64_t> getTypical(Value symbol,
                                         const ComputeGraph &graph) {
  auto size = symbol.getDefiningOp<tensor::DimOp>();
  std::optional<int64_t> dim = size ? size.getConstantIndex() : std::nullopt;
  if (!dim)
    return std::nullopt;
  auto value = llvm::find_if(graph.getValues(), [&](const GraphValue &value) {
    return value.ssa == size.getSource();
  });
  if (value == graph.getValues().end())
    return std::nullopt;
  return value->shape[*dim];
}

void CascadeScheduler::findLimits() {
  unsigned numDims = body.getExtents().size();
  for (AffineExpr limit : cascade.limits) {
    PricedLimit priced;
    priced.linear = *getLinear(limit, numDims, cascade.limitSymbols.size());
    priced.scalars = 0;
    for (auto [factor, symbol] :
         llvm::zip_equal(priced.linear.symbols, cascade.limitSymbols)) {
      if (factor == 0)
        continue;
      std::optional<int64_t> value = getTypical(symbol.value, body.getGraph());
      if (!value)
        priced.scalars = std::nullopt;
      else if (priced.scalars)
        *priced.scalars += factor * *value;
    }
    limits.push_back(std::move(priced));
  }
}

WalkRange CascadeScheduler::getRange(const Tiling &tiling,
                                     int64_t first) const {
  int64_t extent = extentOf(cascade.walked);
  WalkRange range{0, extent};
  for (const PricedLimit &limit : limits) {
    if (!limit.scalars)
      continue;
    // The most that all but the walked dimension can add.
    int64_t most = limit.linear.number + *limit.scalars;
    for (auto [dim, factor] : llvm::enumerate(limit.linear.factors)) {
      if (dim == cascade.walked || factor == 0)
        continue;
      int64_t begin = dim == row ? first : 0;
      int64_t width = dim == row ? tiling.rows : extentOf(dim);
      most += factor * (factor > 0 ? begin + width - 1 : begin);
    }
    int64_t factor = limit.linear.factors[cascade.walked];
    if (factor < 0)
      range.end =
          std::min(range.end, llvm::divideFloorSigned(most, -factor) + 1);
    else
      range.begin =
          std::max(range.begin, llvm::divideCeilSigned(-most, factor));
  }
  range.begin = std::min(range.begin, extent) / tiling.steps * tiling.steps;
  range.end = std::max(range.end, range.begin);
  return range;
}

SmallVector<int64_t> CascadeScheduler::countSteps(const Tiling &tiling) const {
  SmallVector<int64_t> steps;
  for (int64_t first = 0; first < countRows(); first += tiling.rows) {
    WalkRange range = getRange(tiling, first);
    steps.push_back(countWalks(cascade, body) *
                    llvm::divideCeil(range.end - range.begin, tiling.steps));
  }
  return steps;
}

std::pair<double, double>
CascadeScheduler::getShares(const Tiling &tiling) const {
  int64_t extent = extentOf(cascade.walked), made = 0;
  WalkRange all{extent, 0};
  SmallVector<int64_t> steps = countSteps(tiling);
  for (auto [i, own] : llvm::enumerate(steps)) {
    made += own;
    WalkRange range = getRange(tiling, static_cast<int64_t>(i) * tiling.rows);
    if (own == 0)
      continue;
    all.begin = std::min(all.begin, range.begin);
    all.end = std::max(all.end, range.end);
  }
  double whole = static_cast<double>(static_cast<int64_t>(steps.size()) *
                                     countWalks(cascade, body) *
                                     llvm::divideCeil(extent, tiling.steps));
  return {static_cast<double>(made) / whole,
          static_cast<double>(std::max<int64_t>(all.end - all.begin, 0)) /
              static_cast<double>(extent)};
}

bool CascadeScheduler::isLimited(const Tiling &tiling) const {
  // What a run's sizes and positions leave is not known before it.
  bool isKnown = llvm::all_of(limits, [&](const PricedLimit &limit) {
    return limit.scalars &&
           llvm::all_of(limit.linear.symbols,
                        [](int64_t factor) { return !factor; });
  });
  isKnown &= body.isStatic(row) && body.isStatic(cascade.walked);
  return !limits.empty() && (!isKnown || getShares(tiling).first < 1);
}

int64_t CascadeScheduler::countSlices() const {
  DimMask before = cascade.rows & ((DimMask(1) << row) - 1);
  // Blocks of other dimensions differ faster than rows.
  DimMask after = (cascade.rows | cascade.columns) & ~before;
  bool alternate =
      column > row && after == (DimMask(1) << row | DimMask(1) << column);
  return alternate ? countCopies() : 1;
}

void CascadeScheduler::visitTiles(const Tiling &tiling, int64_t tiles,
                                  function_ref<void(int64_t)> visit) const {
  int64_t copies = countCopies(), slices = countSlices();
  for (int64_t copy = 0; copy < copies; copy += slices)
    for (int64_t slice = 0; slice < slices; slice += tiling.group)
      for (int64_t tile = 0; tile < tiles; ++tile)
        for (int64_t i = slice; i < std::min(slice + tiling.group, slices); ++i)
          visit(tiling.descending ? tiles - 1 - tile : tile);
}

double CascadeScheduler::getExchangeSeconds(const Tiling &tiling) const {
  const MmaConstants &fitted = target.fitted.mma;
  double bytes = static_cast<double>(tiling.rows) * getWidth(column) *
                 static_cast<double>(outer.size() * sizeof(float));
  return fitted.apartSeconds +
         bytes / (fitted.apartBytesPerClock * target.clockHz);
}

double CascadeScheduler::getBlockSeconds(const Tiling &tiling) const {
  const CascadeConstants &fitted = target.fitted.cascades;
  double step = getStepTime(tiling);
  double around =
      tiling.isPersistent ? fitted.tileSeconds : fitted.blockSeconds;
  SmallVector<double> seconds;
  double sum = 0;
  // Steps that a limit crosses compute the mask.
  double mask = getSeconds(tiling, countMaskInstructions(body, cascade.walked));
  int64_t crossed = static_cast<int64_t>(limits.size()) *
                    llvm::divideCeil(tiling.rows, tiling.steps);
  around += prepared.getHeldSeconds(tiling.getTile());
  if (tiling.split > 1)
    around += getExchangeSeconds(tiling);
  // The first copies wait for where their rows lie; later ones are behind
  // others.
  if (!tiling.isPersistent && (hasLookups(inner) || hasLookups(outer)))
    around += target.fitted.rates.dramLatencySeconds;
  for (int64_t all : countSteps(tiling)) {
    int64_t steps = llvm::divideCeil(all, tiling.split);
    seconds.push_back(static_cast<double>(steps) * step +
                      static_cast<double>(std::min(steps, crossed)) * mask +
                      around);
    sum += seconds.back();
  }
  auto tiles = static_cast<int64_t>(seconds.size());
  // Blocks that share a walk have one place together.
  int64_t places = countPlaces(tiling) / tiling.split;
  int64_t copies = countCopies();
  double longest = *llvm::max_element(seconds);
  if (longest == *llvm::min_element(seconds)) {
    // While all places are taken memory may be slower than they are.
    double whole = std::max(longest, getTileTraffic(tiling));
    int64_t rounds = tiles * copies / places, rest = tiles * copies % places;
    return static_cast<double>(rounds) * whole + (rest ? longest : 0);
  }
  if (tiles * copies > kMaxCounted)
    return sum * static_cast<double>(copies) / static_cast<double>(places) +
           longest / 2;
  if (tiling.isPersistent) {
    // Every other round goes back.
    std::vector<double> ends(places);
    int64_t number = 0, all = tiles * copies;
    visitTiles(tiling, tiles, [&](int64_t tile) {
      int64_t place = number % places, round = number / places;
      bool isBack =
          tiling.descending && round % 2 == 1 && (round + 1) * places <= all;
      ends[isBack ? places - 1 - place : place] += seconds[tile];
      ++number;
    });
    return *llvm::max_element(ends) * fitted.dealtShare;
  }
  // Each block begins where one ends first.
  std::priority_queue<double, std::vector<double>, std::greater<>> ends;
  double last = 0;
  visitTiles(tiling, tiles, [&](int64_t tile) {
    double begin = 0;
    if (static_cast<int64_t>(ends.size()) == places) {
      begin = ends.top();
      ends.pop();
    }
    double end = begin + seconds[tile];
    ends.push(end);
    last = std::max(last, end);
  });
  return last;
}

KernelTime CascadeScheduler::getTimes(const KernelCost &cost,
                                      const Tiling &tiling) const {
  const CascadeConstants &fitted = target.fitted.cascades;
  KernelShape shape = getShape(tiling);
  int64_t resident = std::min<int64_t>(
      getResident(tiling), llvm::divideCeil(shape.blocks, target.numSMs));
  double bytes =
      static_cast<double>(tiling.stages * resident) * countCopiedBytes(tiling);
  KernelTime times = estimateTime(cost, shape, target);
  times.memory *=
      1 + fitted.crowdedShare * std::max(0.0, bytes / fitted.bytesUnderWay - 1);
  return times;
}

double CascadeScheduler::getTileTraffic(const Tiling &tiling) const {
  KernelCost cost;
  addTraffic(tiling, cost);
  double seconds = getTimes(cost, tiling).memory;
  int64_t places = countPlaces(tiling) / tiling.split;
  return seconds * static_cast<double>(places) /
         static_cast<double>(countTiles(tiling));
}

/// Of `count` slices one after the other, of the dimensions `slices`, those
/// that `access` tells apart.
static int64_t countDistinct(const KernelBody &body, DimMask slices,
                             const BodyAccess &access, int64_t count) {
  for (unsigned dim = body.getExtents().size(); dim-- > 0;) {
    DimMask mask = DimMask(1) << dim;
    if (!(slices & mask))
      continue;
    if (access.mask & mask)
      return count;
    count = llvm::divideCeil(count, toCount(body.getPoints(mask)));
  }
  return 1;
}

CascadeScheduler::Tiling CascadeScheduler::orderBlocks(Tiling tiling) const {
  if (!isLimited(tiling))
    return tiling;
  SmallVector<int64_t> steps = countSteps(tiling);
  tiling.descending = steps.back() > steps.front();
  Tiling best = tiling;
  double least = getBlockSeconds(tiling);
  DimMask walked = DimMask(1) << cascade.walked;
  DimMask slices = cascade.rows & ((DimMask(1) << row) - 1);
  for (int64_t group : kGroups) {
    // What blocks that alternate read has to stay in the L2 cache.
    double bytes = 0;
    for (const BodyAccess &access : body.getInputs())
      if (access.mask & walked)
        bytes +=
            body.getPoints(access.mask & ~cascade.rows) *
            body.getGraph().getValue(access.value).elementBytes *
            static_cast<double>(countDistinct(body, slices, access, group));
    if (group > countSlices() ||
        2 * bytes > static_cast<double>(target.l2Bytes))
      break;
    tiling.group = group;
    double seconds = getBlockSeconds(tiling);
    if (seconds < least) {
      least = seconds;
      best = tiling;
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

/// Seconds of a step of all warpgroups that a multiprocessor has. Each waits
/// for its first product and for its arithmetic, beside which its second
/// product runs where there is a skew, and partly for what the others do
/// meanwhile.
double CascadeScheduler::getStepTime(const Tiling &tiling) const {
  const CascadeConstants &fitted = target.fitted.cascades;
  auto [products, others] = getStepSeconds(tiling);
  auto own = static_cast<double>(tiling.warpgroups);
  double groups = static_cast<double>(getResident(tiling)) * own;
  products /= own;
  others /= own;
  double step =
      (tiling.skew ? products / 2 : products) + others + fitted.stepSeconds +
      (groups - 1) *
          (fitted.productsWait * products + fitted.arithmeticWait * others);
  if (isLimited(tiling))
    step += fitted.limitedSeconds;
  step += prepared.getExposedSeconds(tiling.getTile(), products * own) *
          (1 + fitted.arithmeticWait *
                   static_cast<double>(getResident(tiling) - 1));
  double copies = groups / own * countCopiedBytes(tiling) *
                  static_cast<double>(target.numSMs) /
                  fitted.copyBytesPerSecond;
  return std::max({step, groups * products, copies});
}

KernelEstimate CascadeScheduler::price(const Tiling &tiling) const {
  KernelEstimate estimate;
  estimate.shape = getShape(tiling);
  double share = estimate.walkedShare = getShares(tiling).first;
  for (const auto &products : {inner, outer})
    for (const WalkProduct &product : products)
      estimate.cost.tensorFlops +=
          2 * share *
          body.getPoints(body.getInstances()[product.instance].mask);
  addTraffic(tiling, estimate.cost);
  estimate.time = getTimes(estimate.cost, tiling);
  // Copies run beside the steps.
  estimate.time.total =
      std::max(estimate.time.memory,
               target.fitted.mma.startSeconds + getBlockSeconds(tiling));
  estimate.mma = MmaConfig();
  estimate.mma->rows = tiling.rows;
  estimate.mma->columns = extentOf(column);
  estimate.mma->depth = tiling.steps;
  estimate.mma->warps = tiling.warpgroups * kWarpgroupWarps;
  estimate.mma->stages = tiling.stages;
  return estimate;
}

std::vector<PricedSchedule> CascadeScheduler::run() {
  std::vector<PricedSchedule> priced;
  if (cascade.problem != CascadeProblem::None || !findProducts() ||
      !findTiledDims())
    return priced;
  prepared.find(inner, outer, row, column);
  findLimits();
  vectorBytes = getBytesOfVectors(body, DimMask(1) << row, cascade.walked);
  elementCost = getStepElementCost(body, cascade, prepared);
  if (!limits.empty())
    elementCost.instructions -= countMaskInstructions(body, cascade.walked);
  for (const Tiling &any : getTilings()) {
    Tiling tiling = orderBlocks(any);
    priced.push_back({makeSchedule(tiling), price(tiling)});
  }
  return priced;
}

std::vector<PricedSchedule>
mlir::fusion::getCascadeSchedules(const KernelBody &body,
                                  const TargetInfo &target) {
  std::vector<PricedSchedule> priced = CascadeScheduler(body, target).run();
  llvm::stable_sort(priced,
                    [](const PricedSchedule &a, const PricedSchedule &b) {
                      return a.estimate.seconds() < b.estimate.seconds();
                    });
  return priced;
}
