//===- KernelEstimate.cpp - The price of a kernel body --------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pricing of a body with a contraction, by a few
// shapes. The formulas are those of docs/CostModel.md. Bodies without are
// priced by their schedules (fusion/Scheduling/LoopSchedule.h).
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/KernelEstimate.h"
#include "BodyPricer.h"
#include <algorithm>
#include <limits>

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::pricing;

/// Choices of the dimension that neighbouring threads follow.
static constexpr unsigned kMaxFastDims = 3;

//===----------------------------------------------------------------------===//
// Facts about the body
//===----------------------------------------------------------------------===//

bool mlir::fusion::readSame(const KernelBody &body, const BodyAccess &a,
                            const BodyAccess &b) {
  // A dimension of one element is a loop of its own for each operation.
  auto isFirst = [&](AffineExpr coord) {
    return coord == 0 || (isa<AffineDimExpr>(coord) && !body.getMask(coord));
  };
  return a.value == b.value &&
         llvm::all_of(llvm::zip_equal(a.coords, b.coords), [&](auto pair) {
           auto [ofA, ofB] = pair;
           return ofA == ofB || (isFirst(ofA) && isFirst(ofB));
         });
}

SmallVector<double> mlir::fusion::getFirstTouches(const KernelBody &body) {
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
          return readSame(body, earlier, access);
        });
    double bytes = repeated ? 0
                            : std::min(it->second,
                                       body.getPoints(access.mask) *
                                           getShare(access.parts, access.mask) *
                                           value.elementBytes);
    it->second -= bytes;
    result.push_back(bytes);
  }
  return result;
}

static double getStoredBytes(const KernelBody &body, const BodyOutput &output) {
  return body.getStoredElements(output) *
         body.getGraph().getValue(output.value).elementBytes;
}

double mlir::fusion::getUniqueBytes(const KernelBody &body) {
  double bytes = 0;
  for (double touched : getFirstTouches(body))
    bytes += touched;
  for (const BodyOutput &output : body.getOutputs())
    bytes += getStoredBytes(body, output);
  return bytes;
}

double mlir::fusion::getSlope(AffineExpr expr, unsigned position) {
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

bool mlir::fusion::isKnownAtRunTime(AffineExpr expr) {
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
      if (isKnownAtRunTime(coords[d]))
        fastStride += std::max(stride, cost::kSectorBytes);
      else
        fastStride += std::abs(getSlope(coords[d], fast)) * stride;
    }
    stride *= static_cast<double>(value.shape[d]);
  }
  double factor = coalescingFactor(fastStride, value.elementBytes);
  // Another dimension runs along memory: a tile of both goes through shared
  // memory, so that reads and writes are both in order.
  double transposed = target.fitted.kernels.transposeFactor;
  if (factor > transposed && innermost && !(innermost & fastBit))
    return {transposed, true};
  return {factor, false};
}

Pricer::Pricer(const KernelBody &body, const TargetInfo &target, unsigned fast,
               const BodyProduct *product, const ProductConfigs &configs)
    : body(body), target(target), fast(fast), product(product),
      configs(configs) {
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
    streams.push_back({value.elementBytes, body.getStoredElements(output),
                       getStoredBytes(body, output), output.mask, factor,
                       transposed, output.instance, true});
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
  return std::clamp(bytes, 4.0, target.fitted.kernels.mostInFlight);
}

void Pricer::addArithmetic(KernelCost &cost, const BodyInstance &instance,
                           double points) const {
  const GraphNode &node = body.getNode(instance);
  if (onTensorCores(node)) {
    double rate = product->obstacle ? target.fitted.rates.warpProductShare : 1;
    cost.tensorFlops += 2 * node.perPoint.instructions * points / rate;
    return;
  }
  cost.fp32Flops += 2 * node.perPoint.instructions * points;
  cost.fp64Flops += 2 * node.perPoint.doubles * points;
  cost.sfuOps += node.perPoint.sfu * points;
}

void Pricer::addStream(KernelCost &cost, const Stream &stream, double copies,
                       double sweeps, double reuseDistance) const {
  double requested = stream.points * stream.elementBytes * copies * sweeps;
  cost.accesses.push_back(
      {stream.uniqueBytes, std::max(requested, stream.uniqueBytes),
       reuseDistance, stream.factor, /*lineFactor=*/1, stream.isWrite});
  if (stream.transposed)
    cost.sharedBytes += 2 * requested;
}

void Pricer::keep(const KernelCost &cost, const KernelShape &shape,
                  double blockSeconds) {
  KernelTime time = estimateTime(cost, shape, target);
  double work = time.total - target.fitted.rates.launchSeconds -
                target.fitted.rates.dramLatencySeconds;
  time.total = target.fitted.mma.startSeconds +
               std::max(work, std::ceil(time.waves) * blockSeconds);
  // Of two shapes that are about as fast, the one with fewer registers.
  double alike = target.fitted.kernels.alike;
  double margin = shape.registers < best.shape.registers ? alike : 2 - alike;
  if (std::isinf(best.time.total) || time.total < margin * best.time.total)
    best = {cost, shape, time, {}, {}, false};
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

KernelEstimate Pricer::price() {
  priceContraction();
  return best;
}

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

/// The price of the products `product` of `body`, which tensor cores can make
/// by `configs`.
static KernelEstimate estimateProduct(const KernelBody &body,
                                      const BodyProduct &product,
                                      const ProductConfigs &configs,
                                      const TargetInfo &target) {
  // Neighbouring threads follow the innermost dimension of one of the largest
  // tensors, whichever is fastest.
  const ComputeGraph &graph = body.getGraph();
  double largest = 0;
  for (const BodyOutput &output : body.getOutputs())
    largest = std::max(largest, getStoredBytes(body, output));
  for (const BodyAccess &access : body.getInputs())
    largest = std::max(largest, graph.getValue(access.value).bytes());
  SmallVector<unsigned> candidates;
  auto add = [&](double bytes, ArrayRef<AffineExpr> coords) {
    if (bytes < largest / 2 || candidates.size() == kMaxFastDims)
      return;
    std::optional<unsigned> dim = getInnermostDim(body, coords);
    if (dim && !llvm::is_contained(candidates, *dim))
      candidates.push_back(*dim);
  };
  for (const BodyOutput &output : body.getOutputs())
    add(getStoredBytes(body, output), output.coords);
  for (const BodyAccess &access : body.getInputs())
    add(graph.getValue(access.value).bytes(), access.coords);
  if (candidates.empty())
    candidates.push_back(0);

  KernelEstimate best;
  best.time.total = std::numeric_limits<double>::infinity();
  for (unsigned fast : candidates) {
    KernelEstimate estimate =
        Pricer(body, target, fast, &product, configs).price();
    if (estimate.time.total < best.time.total)
      best = std::move(estimate);
  }
  return best;
}

KernelEstimate mlir::fusion::estimateContraction(const KernelBody &body,
                                                 const TargetInfo &target) {
  BodyProduct product = getBodyProduct(body, target);
  if (!product.obstacle && !target.hasWarpgroups)
    product.obstacle = TensorCoreObstacle::Chip;
  ProductConfigs configs;
  if (!product.sums.empty())
    configs = getProductConfigs(product, target);
  return estimateProduct(body, product, configs, target);
}

std::optional<KernelEstimate>
mlir::fusion::estimateRowProduct(const KernelBody &body,
                                 const TargetInfo &target) {
  std::optional<BodyProduct> product = getRowProduct(body, target);
  if (!product)
    return std::nullopt;
  ProductConfigs configs = getProductConfigs(*product, target);
  if (!configs.fewFirst)
    return std::nullopt;
  // Nothing kept it from warpgroups: it is a sum along rows to planning.
  KernelEstimate estimate = estimateProduct(body, *product, configs, target);
  estimate.obstacle.reset();
  estimate.byWarps = false;
  return estimate;
}

KernelEstimate
mlir::fusion::estimateTogether(ArrayRef<const KernelEstimate *> kernels,
                               const TargetInfo &target) {
  KernelEstimate all;
  all.shape.blocks = all.shape.threads = all.shape.registers = 0;
  all.cost.aheadShare = 1;
  double inFlight = 0, longest = 0;
  for (const KernelEstimate *kernel : kernels) {
    const KernelCost &cost = kernel->cost;
    KernelCost &sum = all.cost;
    llvm::append_range(sum.accesses, cost.accesses);
    sum.fp32Flops += cost.fp32Flops;
    sum.fp64Flops += cost.fp64Flops;
    sum.tensorFlops += cost.tensorFlops;
    sum.sfuOps += cost.sfuOps;
    sum.sharedBytes += cost.sharedBytes;
    sum.sweptBytes += cost.sweptBytes;
    sum.sweptOfBlock = std::max(sum.sweptOfBlock, cost.sweptOfBlock);
    sum.keptInL1 &= cost.keptInL1;
    sum.reductionSteps = std::max(sum.reductionSteps, cost.reductionSteps);
    sum.gridSteps = std::max(sum.gridSteps, cost.gridSteps);
    sum.clusterSteps = std::max(sum.clusterSteps, cost.clusterSteps);
    sum.aheadShare = std::min(sum.aheadShare, cost.aheadShare);
    const KernelShape &shape = kernel->shape;
    all.shape.blocks += shape.blocks;
    all.shape.threads = std::max(all.shape.threads, shape.threads);
    all.shape.registers = std::max(all.shape.registers, shape.registers);
    all.shape.sharedBytes = std::max(all.shape.sharedBytes, shape.sharedBytes);
    inFlight +=
        static_cast<double>(shape.blocks) * shape.bytesInFlightPerThread;
    longest = std::max(longest, kernel->seconds());
  }
  all.shape.bytesInFlightPerThread =
      inFlight / static_cast<double>(std::max<int64_t>(1, all.shape.blocks));
  all.time = estimateTime(all.cost, all.shape, target);
  // The few blocks of one are not faster for those of others beside them.
  all.time.total = std::max(all.time.total, longest);
  return all;
}
