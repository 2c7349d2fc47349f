//===- PriceContraction.cpp - The price of kernels with products ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pricing of contractions: on tensor cores by the
// model of their schedules, otherwise by tiles of results.
//
//===----------------------------------------------------------------------===//

#include "BodyPricer.h"
#include "fusion/Support/Counts.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::pricing;

/// Rows of an operand tile that a contraction stages at a time, and how many
/// tiles are in flight.
static constexpr int64_t kContractionDepth = 32;
static constexpr int64_t kContractionStages = 2;
/// An accumulator in local memory is loaded and stored in each step.
static constexpr double kSpillBytesAStep = 8;

void Pricer::priceContractionWith(int64_t tileM, int64_t tileN, int64_t threads,
                                  const MmaConfig *config) {
  const WarpProductConstants &fitted = target.fitted.warpProducts;
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
    double reuse =
        onTensorCores(rootNode) ? fitted.tensorTile : fitted.registerTile;
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
  shape.blocks = toCount(blocks);
  if (config) {
    shape.registers = getMmaRegisters(product->problem, *config);
    shape.sharedBytes = getMmaSharedBytes(product->problem, *config);
    KernelTime time = estimateTime(cost, shape, target);
    // Warps that issue products compute operands in between.
    time.total = getMmaSeconds(product->problem, *config, target) +
                 before.fp32Flops / target.fp32FlopsPerSecond +
                 before.fp64Flops / target.fp64FlopsPerSecond +
                 before.sfuOps / target.sfuPerSecond();
    best = {cost, shape, time, *config, std::nullopt, false};
    return;
  }
  cost.tensorFlops /= product->warpShare;
  // The epilogue works on a few accumulators at a time.
  double chunk = std::min(kMaxVector, tm * tn / static_cast<double>(threads));
  shape.registers = getRegisters(chunk, accumulators + 2 * fitted.registerTile);
  // Accumulators that do not fit are touched in every step along the depth.
  double spilled =
      std::max<double>(0, shape.registers - target.maxRegistersPerThread);
  cost.sharedBytes += kSpillBytesAStep * spilled *
                      static_cast<double>(threads) * blocks *
                      ceilDiv(depth, kContractionDepth);
  shape.sharedBytes =
      static_cast<int64_t>(stagedBytes * static_cast<double>(tileM + tileN) *
                           kContractionDepth * kContractionStages);
  shape.bytesInFlightPerThread =
      std::min(64.0, stagedBytes * (tm + tn) * kContractionDepth /
                         static_cast<double>(threads));
  double steps = ceilDiv(depth, kContractionDepth);
  auto op = cast<linalg::LinalgOp>(rootNode.op);
  bool isWindow = llvm::any_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return !map.isProjectedPermutation(/*allowZeroInResults=*/true);
  });
  bool shares = !isWindow && std::min(m, n) <= fitted.fewRows;
  double sharing = shares ? static_cast<double>(threads / target.warpSize) : 1;
  keep(cost, shape, ceilDiv(steps, sharing) * fitted.stepSeconds);
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
