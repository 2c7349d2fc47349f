//===- KernelEstimate.cpp - The price of a kernel body --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pricing of a body: one function for each form of
// kernel (pointwise, rows, contraction), each trying a few shapes. The formulas
// are those of docs/CostModel.md.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/KernelEstimate.h"
#include "fusion/Analysis/BodyProduct.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// A tile passed between two layouts through shared memory is written and read
/// once, with some loss at the edges.
constexpr double kTransposeFactor = 1.1;
/// The largest number of elements of one tensor that a thread loads at once.
constexpr double kMaxVector = 8;
/// Rows of an operand tile that a contraction stages at a time, and how many
/// tiles are in flight.
constexpr int64_t kContractionDepth = 32;
constexpr int64_t kContractionStages = 2;
/// Choices of the dimension that neighbouring threads follow.
constexpr unsigned kMaxFastDims = 3;
/// Edge of the square of results that one thread computes from registers, and
/// of the one that a warp group computes by tensor core instructions.
constexpr double kRegisterTile = 8;
constexpr double kTensorTile = 96;
/// Share of the rate of warpgroups' products that single warps reach.
constexpr double kWarpProductRate = 0.6;

/// What pricing needs of one tensor read or written, beside the access.
struct Stream {
  double elementBytes;
  /// Elements asked for, counting each point of the access's dimensions.
  double points;
  /// The part of the tensor's bytes that this access brings in for the first
  /// time.
  double uniqueBytes;
  DimMask mask;
  double factor;
  /// Passes through shared memory to change its layout.
  bool transposed;
  unsigned instance;
  bool isWrite;
};

/// Prices one body along one choice of the dimension that neighbouring threads
/// follow.
class Pricer {
public:
  Pricer(const KernelBody &body, const TargetInfo &target, unsigned fast,
         const BodyProduct *product);

  KernelEstimate price();

private:
  void pricePointwise();
  void priceRows();
  void priceRowsWith(int64_t threads, double rows, bool onChip);
  void priceContraction();
  void priceContractionWith(int64_t tileM, int64_t tileN, int64_t threads,
                            const MmaConfig *config = nullptr);

  /// How the fast dimension moves through the tensor of an access: bytes moved
  /// for each byte used, and whether its layout changes on the way.
  std::pair<double, bool> getFactor(ArrayRef<AffineExpr> coords,
                                    const GraphValue &value) const;
  /// True when the products of `node` run on tensor cores. Products that differ
  /// share no tile, and are made by plain arithmetic.
  bool onTensorCores(const GraphNode &node) const {
    return node.kind == NodeKind::Contraction && node.perPoint.fp64 == 0 &&
           (!product->obstacle || product->byWarps);
  }
  void addArithmetic(KernelCost &cost, const BodyInstance &instance,
                     double points) const;
  void addStream(KernelCost &cost, const Stream &stream, double copies,
                 double sweeps, double reuseDistance) const;
  /// Registers of the widest point when each thread holds `elements` of a
  /// value along the fast dimension, and `kept` more.
  int64_t getRegisters(double elements, double kept) const;
  double getBytesInFlight(double elements) const;
  void keep(const KernelCost &cost, const KernelShape &shape,
            double blockElements, bool onChip);

  const KernelBody &body;
  const TargetInfo &target;
  unsigned fast;
  /// Only for bodies with a contraction.
  const BodyProduct *product;
  DimMask outerMask = 0;
  SmallVector<Stream> streams;
  /// Registers of one element of the widest point, and of values that the fast
  /// dimension does not touch.
  double liveVector = 0;
  double liveScalar = 0;
  KernelEstimate best;
};
} // namespace

static double ceilDiv(double a, double b) { return std::ceil(a / b); }

static double popcount(uint64_t bits) {
  return static_cast<double>(llvm::popcount(bits));
}

//===----------------------------------------------------------------------===//
// Facts about the body
//===----------------------------------------------------------------------===//

/// Bytes of the tensors that `body` touches: for each read, the bytes that it
/// brings in beyond what earlier reads of the same tensor did.
static SmallVector<double> getFirstTouches(const KernelBody &body) {
  const ComputeGraph &graph = body.getGraph();
  SmallVector<double> result;
  DenseMap<unsigned, double> left;
  ArrayRef<BodyAccess> inputs = body.getInputs();
  for (unsigned i = 0; i < inputs.size(); ++i) {
    const BodyAccess &access = inputs[i];
    const GraphValue &value = graph.getValue(access.value);
    unsigned base = graph.getBase(access.value);
    auto [it, isNew] = left.try_emplace(base, value.bytes());
    // The same elements again cost nothing.
    bool repeated =
        llvm::any_of(inputs.take_front(i), [&](const BodyAccess &earlier) {
          return earlier.value == access.value &&
                 earlier.coords == access.coords;
        });
    double bytes = repeated ? 0
                            : std::min(it->second, body.getPoints(access.mask) *
                                                       value.elementBytes);
    it->second -= bytes;
    result.push_back(bytes);
  }
  return result;
}

double mlir::fusion::getUniqueBytes(const KernelBody &body) {
  double bytes = 0;
  for (double touched : getFirstTouches(body))
    bytes += touched;
  for (const BodyOutput &output : body.getOutputs())
    bytes += body.getGraph().getValue(output.value).bytes();
  return bytes;
}

/// The change of `expr` when dimension `position` grows by one, where that is
/// known and the same everywhere; splits by division count as their quotient.
static double getSlope(AffineExpr expr, unsigned position) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() == position ? 1 : 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  double left = getSlope(binary.getLHS(), position);
  double right = getSlope(binary.getRHS(), position);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  double factor = constant ? static_cast<double>(constant.getValue()) : 1;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return left + right;
  case AffineExprKind::Mul:
    return left * factor;
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    return factor ? left / factor : left;
  default:
    return left;
  }
}

/// True when `expr` is known only at run time.
static bool isUnknown(AffineExpr expr) {
  bool unknown = false;
  expr.walk([&](AffineExpr part) { unknown |= isa<AffineSymbolExpr>(part); });
  return unknown;
}

std::pair<double, bool> Pricer::getFactor(ArrayRef<AffineExpr> coords,
                                          const GraphValue &value) const {
  double stride = value.elementBytes, fastStride = 0;
  DimMask innermost = 0;
  DimMask fastBit = DimMask(1) << fast;
  for (unsigned d = coords.size(); d-- > 0;) {
    if (value.shape[d] == 1)
      continue;
    DimMask mask = body.getMask(coords[d]);
    bool isInnermost = stride == value.elementBytes;
    if (isInnermost)
      innermost = mask;
    if (mask & fastBit) {
      // A gather: neighbours may lie anywhere.
      if (isUnknown(coords[d]))
        fastStride += std::max(stride, cost::kSectorBytes);
      else
        fastStride += std::abs(getSlope(coords[d], fast)) * stride;
    }
    stride *= static_cast<double>(value.shape[d]);
  }
  double factor = coalescingFactor(fastStride, value.elementBytes);
  // Another dimension runs along memory: a tile of both goes through shared
  // memory, so that reads and writes are both in order.
  if (factor > kTransposeFactor && innermost && !(innermost & fastBit))
    return {kTransposeFactor, true};
  return {factor, false};
}

Pricer::Pricer(const KernelBody &body, const TargetInfo &target, unsigned fast,
               const BodyProduct *product)
    : body(body), target(target), fast(fast), product(product) {
  best.time.total = std::numeric_limits<double>::infinity();
  const ComputeGraph &graph = body.getGraph();
  SmallVector<double> touches = getFirstTouches(body);
  for (auto [access, touched] : llvm::zip(body.getInputs(), touches)) {
    const GraphValue &value = graph.getValue(access.value);
    auto [factor, transposed] = getFactor(access.coords, value);
    streams.push_back({value.elementBytes, body.getPoints(access.mask), touched,
                       access.mask, factor, transposed, access.instance,
                       false});
  }
  for (const BodyOutput &output : body.getOutputs()) {
    const GraphValue &value = graph.getValue(output.value);
    auto [factor, transposed] = getFactor(output.coords, value);
    streams.push_back({value.elementBytes, value.elements(), value.bytes(),
                       output.mask, factor, transposed, output.instance, true});
    outerMask |= output.mask;
  }
  outerMask &= ~body.getReducedMask();

  // The live ranges of the values of one element: from the instance that
  // computes it to the last that reads it.
  ArrayRef<BodyInstance> instances = body.getInstances();
  SmallVector<int64_t> lastUse(instances.size());
  for (auto [i, instance] : llvm::enumerate(instances)) {
    lastUse[i] = i;
    for (unsigned producer : instance.producers)
      lastUse[producer] = i;
  }
  SmallVector<LiveValue> vectors, scalars;
  auto add = [&](int64_t begin, int64_t end, double bytes, DimMask mask) {
    double registers = std::max(1.0, bytes / 4);
    bool isVector = mask & (DimMask(1) << fast);
    (isVector ? vectors : scalars).push_back({begin, end, registers});
  };
  for (auto [i, instance] : llvm::enumerate(instances)) {
    const TensorWrite &write = body.getNode(instance).writes.front();
    // A reduction's result has no reduced dimension left.
    add(i, lastUse[i], graph.getValue(write.value).elementBytes,
        instance.outerMask);
  }
  for (const Stream &stream : streams)
    if (!stream.isWrite)
      add(stream.instance, stream.instance, stream.elementBytes, stream.mask);
  int64_t none = estimateRegisters({}, 0);
  liveVector = static_cast<double>(estimateRegisters(vectors, 0) - none);
  liveScalar = static_cast<double>(estimateRegisters(scalars, 0) - none);
}

int64_t Pricer::getRegisters(double elements, double kept) const {
  LiveValue live = {0, 0, liveVector * elements + liveScalar + kept};
  return estimateRegisters(live, streams.size());
}

double Pricer::getBytesInFlight(double elements) const {
  double bytes = 0;
  for (const Stream &stream : streams)
    if (!stream.isWrite)
      bytes += stream.elementBytes * elements;
  // A thread waits for at most a few 16-byte loads.
  return std::clamp(bytes, 4.0, 64.0);
}

void Pricer::addArithmetic(KernelCost &cost, const BodyInstance &instance,
                           double points) const {
  const GraphNode &node = body.getNode(instance);
  if (onTensorCores(node)) {
    double rate =
        product->obstacle && hasWarpgroups(target) ? kWarpProductRate : 1;
    cost.tensorFlops += node.perPoint.fp32 * points / rate;
    return;
  }
  cost.fp32Flops += node.perPoint.fp32 * points;
  cost.fp64Flops += node.perPoint.fp64 * points;
  cost.sfuOps += node.perPoint.sfu * points;
}

void Pricer::addStream(KernelCost &cost, const Stream &stream, double copies,
                       double sweeps, double reuseDistance) const {
  double requested = stream.points * stream.elementBytes * copies * sweeps;
  cost.accesses.push_back({stream.uniqueBytes,
                           std::max(requested, stream.uniqueBytes),
                           reuseDistance, stream.factor, stream.isWrite});
  if (stream.transposed)
    cost.sharedBytes += 2 * requested;
}

void Pricer::keep(const KernelCost &cost, const KernelShape &shape,
                  double blockElements, bool onChip) {
  KernelTime time = estimateTime(cost, shape, target);
  // Of two shapes that are about as fast, the one with fewer registers.
  double margin = shape.registers < best.shape.registers ? 1.01 : 0.99;
  if (std::isinf(best.time.total) || time.total < margin * best.time.total)
    best = {cost, shape, time, blockElements, onChip, {}, {}, false};
}

//===----------------------------------------------------------------------===//
// Pointwise bodies
//===----------------------------------------------------------------------===//

void Pricer::pricePointwise() {
  double points = std::max(1.0, body.getPoints(outerMask));
  double fastExtent =
      outerMask & (DimMask(1) << fast) ? body.getExtents()[fast] : 1;
  for (int64_t threads : {128, 256})
    for (double vector = 1; vector <= kMaxVector; vector *= 2) {
      double tile = static_cast<double>(threads) * vector;
      double tileFast = std::min(tile, fastExtent);
      double tileRows = tile / tileFast;
      // A value without the fast dimension is computed again in each tile along
      // it, one with the fast dimension only in each tile of rows.
      auto getCopies = [&](DimMask mask) {
        double rest = body.getPoints(outerMask & ~mask);
        bool hasFast = mask & (DimMask(1) << fast);
        double shared = hasFast ? tileRows : tileFast;
        return std::max(1.0, rest / shared);
      };
      KernelCost cost;
      for (const BodyInstance &instance : body.getInstances())
        addArithmetic(cost, instance,
                      body.getPoints(instance.mask) * getCopies(instance.mask));
      for (const Stream &stream : streams)
        addStream(cost, stream, stream.isWrite ? 1 : getCopies(stream.mask), 1,
                  stream.uniqueBytes);
      KernelShape shape;
      shape.threads = threads;
      shape.blocks = static_cast<int64_t>(ceilDiv(points, tile));
      shape.registers = getRegisters(vector, 0);
      shape.bytesInFlightPerThread = getBytesInFlight(vector);
      keep(cost, shape, std::min(tile, points), false);
    }
}

//===----------------------------------------------------------------------===//
// Reductions and scans: rows
//===----------------------------------------------------------------------===//

void Pricer::priceRowsWith(int64_t threads, double rows, bool onChip) {
  double reduced = body.getPoints(body.getReducedMask());
  double outer = std::max(1.0, body.getPoints(outerMask));
  double numThreads = static_cast<double>(threads);
  double blocks = ceilDiv(outer, rows);

  // What a row needs in more than one sweep stays in registers, or is read
  // again.
  double kept = 0, rowBytes = 0;
  for (const Stream &stream : streams) {
    if (stream.isWrite || !(stream.mask & body.getReducedMask()))
      continue;
    uint64_t sweeps = body.getInstances()[stream.instance].sweeps;
    rowBytes += stream.elementBytes;
    if (onChip && llvm::popcount(sweeps) > 1 && stream.uniqueBytes > 0)
      kept +=
          std::max(1.0, stream.elementBytes / 4) * rows * reduced / numThreads;
  }
  double perThread = std::max(1.0, rows * reduced / numThreads);
  double vector = std::min(kMaxVector, perThread);
  double residentBlocks =
      std::min(blocks, 2 * static_cast<double>(target.numSMs));
  double reuseDistance = rowBytes * rows * reduced * residentBlocks;

  KernelCost cost;
  auto getCopies = [&](DimMask mask) {
    double rest = body.getPoints(outerMask & ~mask);
    return std::max(1.0, rest / rows);
  };
  unsigned levels = 0;
  for (const BodyInstance &instance : body.getInstances()) {
    bool isRow = instance.mask & body.getReducedMask();
    double sweeps = onChip || !isRow ? 1 : popcount(instance.sweeps);
    addArithmetic(cost, instance,
                  body.getPoints(instance.mask) * getCopies(instance.mask) *
                      std::max(1.0, sweeps));
    if (body.getNode(instance).kind != NodeKind::Pointwise)
      levels = std::max(levels, instance.level + 1);
  }
  for (const Stream &stream : streams) {
    bool isRow = stream.mask & body.getReducedMask();
    double sweeps = onChip || !isRow || stream.isWrite
                        ? 1
                        : popcount(body.getInstances()[stream.instance].sweeps);
    Stream adjusted = stream;
    // Blocks narrower than a sector along memory waste part of it.
    if (isRow && (outerMask & (DimMask(1) << fast)) && stream.factor == 1 &&
        stream.mask & (DimMask(1) << fast))
      adjusted.factor =
          std::max(1.0, cost::kSectorBytes / (rows * stream.elementBytes));
    addStream(cost, adjusted, stream.isWrite ? 1 : getCopies(stream.mask),
              std::max(1.0, sweeps),
              isRow ? reuseDistance : stream.uniqueBytes);
  }
  cost.reductionSteps = levels;
  // Partial results of the warps.
  double warps = numThreads / static_cast<double>(target.warpSize);
  cost.sharedBytes += 8 * warps * rows * levels * blocks;

  KernelShape shape;
  shape.threads = threads;
  shape.blocks = static_cast<int64_t>(blocks);
  shape.registers = getRegisters(vector, kept);
  shape.sharedBytes = static_cast<int64_t>(4 * warps * std::min(rows, 128.0));
  shape.bytesInFlightPerThread =
      getBytesInFlight(onChip ? std::min(perThread, 16.0) : vector);
  keep(cost, shape, std::min(rows, outer), onChip);
}

void Pricer::priceRows() {
  double reduced = std::max(1.0, body.getPoints(body.getReducedMask()));
  double outer = std::max(1.0, body.getPoints(outerMask));
  bool alongMemory = !(outerMask & (DimMask(1) << fast));
  for (int64_t threads : {128, 256, 512, 1024}) {
    SmallVector<double> choices;
    if (alongMemory) {
      // Enough rows to give each thread a few elements.
      double wanted = 4 * static_cast<double>(threads) / reduced;
      choices.push_back(std::min(
          outer, std::max(1.0, std::exp2(std::floor(std::log2(wanted))))));
    } else {
      // Neighbouring threads follow the rows: several, to fill sectors.
      for (double rows : {8, 32, 128})
        choices.push_back(std::min(rows, outer));
    }
    for (double rows : choices) {
      if (rows * reduced <= static_cast<double>(kMaxElementsOnChip))
        priceRowsWith(threads, rows, /*onChip=*/true);
      priceRowsWith(threads, rows, /*onChip=*/false);
    }
  }
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

void Pricer::priceContractionWith(int64_t tileM, int64_t tileN, int64_t threads,
                                  const MmaConfig *config) {
  // The dimensions of the result that only the left operand has, only the
  // right one has, and both have.
  ArrayRef<BodyInstance> instances = body.getInstances();
  const BodyInstance *root =
      llvm::find_if(instances, [&](const BodyInstance &instance) {
        return body.getNode(instance).kind == NodeKind::Contraction;
      });
  const GraphNode &rootNode = body.getNode(*root);
  SmallVector<DimMask> operandMasks;
  for (const TensorRead &read : rootNode.reads) {
    DimMask mask = 0;
    for (AffineExpr coord : composeCoords(read.coords, root->loops))
      mask |= body.getMask(coord);
    if (mask & body.getReducedMask(*root))
      operandMasks.push_back(mask & root->outerMask);
  }
  DimMask left = 0, right = 0;
  if (operandMasks.size() >= 2) {
    left = operandMasks[0] & ~operandMasks[1];
    right = operandMasks[1] & ~operandMasks[0];
  }
  if (config) {
    left = product->rows;
    right = product->columns;
  }
  double m = body.getPoints(left), n = body.getPoints(right);
  double batch = body.getPoints(root->outerMask & ~(left | right));
  double depth = body.getPoints(body.getReducedMask(*root));
  double tm = static_cast<double>(tileM), tn = static_cast<double>(tileN);
  double blocks = batch * ceilDiv(m, tm) * ceilDiv(n, tn);
  double padding = ceilDiv(m, tm) * tm / m * ceilDiv(n, tn) * tn / n;

  // `before` is the arithmetic on operands.
  KernelCost cost, before;
  // An operand is brought in once for each tile of the result along dimensions
  // that it does not have; so is what a prologue computes.
  auto getCopies = [&](DimMask mask) {
    double copies = 1;
    if (!(mask & right))
      copies *= ceilDiv(n, tn);
    if (!(mask & left))
      copies *= ceilDiv(m, tm);
    return copies * body.getPoints(root->outerMask & ~(left | right | mask));
  };
  double accumulators = 0;
  for (const BodyInstance &instance : instances) {
    bool contracts = body.getNode(instance).kind == NodeKind::Contraction;
    bool prologue = !contracts &&
                    (instance.mask & ~root->outerMask & body.getReducedMask());
    // Copies bring the zeros around an image along.
    if (config && prologue && isa<tensor::PadOp>(body.getNode(instance).op))
      continue;
    double points = body.getPoints(instance.mask);
    addArithmetic(prologue ? before : cost, instance,
                  points * (contracts  ? padding
                            : prologue ? getCopies(instance.mask)
                                       : 1));
    if (!contracts)
      continue;
    accumulators += tm * tn / static_cast<double>(threads);
    // Fragments go through shared memory: written once, read by every thread
    // that needs them.
    double elementBytes = onTensorCores(rootNode) ? 2 : 4;
    double reuse = onTensorCores(rootNode) ? kTensorTile : kRegisterTile;
    cost.sharedBytes +=
        elementBytes * blocks * depth * ((tm + tn) + 2 * tm * tn / reuse);
  }
  double stagedBytes = 0;
  for (const Stream &stream : streams) {
    // The result's own dimensions may be reduced by the epilogue.
    bool isOperand = stream.mask & body.getReducedMask() & ~root->outerMask;
    if (!isOperand) {
      addStream(cost, stream, 1, 1, stream.uniqueBytes);
      continue;
    }
    stagedBytes = std::max(stagedBytes, stream.elementBytes);
    // The blocks that run together form a square of tiles and walk the depth
    // side by side: within it an operand comes from L2, from one square to the
    // next it may have to be read again.
    double copies = getCopies(stream.mask);
    double square =
        std::sqrt(std::min(blocks, 2 * static_cast<double>(target.numSMs)));
    double squares = std::max(1.0, copies / square);
    addStream(cost, stream, squares, 1, stream.uniqueBytes);
    Stream again = stream;
    again.uniqueBytes = 0;
    addStream(cost, again, copies - squares, 1, /*reuseDistance=*/0);
  }
  cost.fp32Flops += before.fp32Flops;
  cost.fp64Flops += before.fp64Flops;
  cost.sfuOps += before.sfuOps;
  KernelShape shape;
  shape.threads = threads;
  shape.blocks = static_cast<int64_t>(blocks);
  if (config) {
    shape.registers = getMmaRegisters(product->problem, *config);
    shape.sharedBytes = getMmaSharedBytes(product->problem, *config);
    KernelTime time = estimateTime(cost, shape, target);
    // Warps that issue products compute operands in between.
    time.total = getMmaSeconds(product->problem, *config, target) +
                 before.fp32Flops / target.fp32FlopsPerSecond +
                 before.fp64Flops / target.fp64FlopsPerSecond +
                 before.sfuOps / target.sfuPerSecond();
    best = {cost, shape, time, tm * tn, false, *config, std::nullopt, false};
    return;
  }
  cost.tensorFlops /= product->warpShare;
  // The epilogue works on a few accumulators at a time.
  double chunk = std::min(kMaxVector, tm * tn / static_cast<double>(threads));
  shape.registers = getRegisters(chunk, accumulators + 2 * kRegisterTile);
  // Accumulators that do not fit are touched in every step along the depth.
  double spilled =
      std::max<double>(0, shape.registers - target.maxRegistersPerThread);
  cost.sharedBytes += cost::kSpillBytes * spilled *
                      static_cast<double>(threads) * blocks *
                      ceilDiv(depth, kContractionDepth);
  shape.sharedBytes =
      static_cast<int64_t>(stagedBytes * static_cast<double>(tileM + tileN) *
                           kContractionDepth * kContractionStages);
  shape.bytesInFlightPerThread =
      std::min(64.0, stagedBytes * (tm + tn) * kContractionDepth /
                         static_cast<double>(threads));
  keep(cost, shape, tm * tn, false);
}

void Pricer::priceContraction() {
  if (!product->obstacle) {
    SmallVector<MmaConfig> configs = getWgmmaConfigs(product->problem, target);
    if (!configs.empty()) {
      const MmaConfig &config = configs.front();
      return priceContractionWith(config.rows, config.columns,
                                  config.warps * target.warpSize, &config);
    }
  }
  for (auto [tileM, tileN] :
       {std::pair(128, 256), std::pair(256, 128), std::pair(128, 128),
        std::pair(128, 64), std::pair(64, 128), std::pair(64, 64),
        std::pair(32, 64), std::pair(64, 32), std::pair(32, 32),
        std::pair(16, 32), std::pair(16, 16)})
    for (int64_t threads : {128, 256})
      priceContractionWith(tileM, tileN, threads);
  best.obstacle = product->obstacle.value_or(TensorCoreObstacle::NoTile);
  best.byWarps = product->byWarps;
}

KernelEstimate Pricer::price() {
  if (body.has(NodeKind::Contraction))
    priceContraction();
  else if (body.getReducedMask())
    priceRows();
  else
    pricePointwise();
  return best;
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

/// The dimension that runs along the memory of the tensor at `coords`, if one
/// does.
static std::optional<unsigned> getInnermostDim(const KernelBody &body,
                                               ArrayRef<AffineExpr> coords) {
  for (AffineExpr coord : llvm::reverse(coords)) {
    DimMask mask = body.getMask(coord);
    if (!mask)
      continue;
    if (auto dim = dyn_cast<AffineDimExpr>(coord))
      return dim.getPosition();
    return std::nullopt;
  }
  return std::nullopt;
}

KernelEstimate mlir::fusion::estimateKernel(const KernelBody &body,
                                            const TargetInfo &target) {
  // Neighbouring threads follow the innermost dimension of one of the largest
  // tensors, whichever is fastest.
  const ComputeGraph &graph = body.getGraph();
  double largest = 0;
  for (const BodyOutput &output : body.getOutputs())
    largest = std::max(largest, graph.getValue(output.value).bytes());
  for (const BodyAccess &access : body.getInputs())
    largest = std::max(largest, graph.getValue(access.value).bytes());
  SmallVector<unsigned> candidates;
  auto add = [&](unsigned value, ArrayRef<AffineExpr> coords) {
    if (graph.getValue(value).bytes() < largest / 2 ||
        candidates.size() == kMaxFastDims)
      return;
    std::optional<unsigned> dim = getInnermostDim(body, coords);
    if (dim && !llvm::is_contained(candidates, *dim))
      candidates.push_back(*dim);
  };
  for (const BodyOutput &output : body.getOutputs())
    add(output.value, output.coords);
  for (const BodyAccess &access : body.getInputs())
    add(access.value, access.coords);
  if (candidates.empty())
    candidates.push_back(0);

  BodyProduct product;
  if (body.has(NodeKind::Contraction)) {
    product = getBodyProduct(body, target);
    if (!product.obstacle && !hasWarpgroups(target))
      product.obstacle = TensorCoreObstacle::Chip;
  }
  KernelEstimate best;
  best.time.total = std::numeric_limits<double>::infinity();
  for (unsigned fast : candidates) {
    KernelEstimate estimate = Pricer(body, target, fast, &product).price();
    if (estimate.time.total < best.time.total)
      best = std::move(estimate);
  }
  return best;
}
