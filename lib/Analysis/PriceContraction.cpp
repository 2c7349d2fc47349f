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
#include "fusion/Analysis/FewRowsCost.h"
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

/// The tiles of a contraction's result.
struct pricing::ContractionTiles {
  const BodyInstance *root;
  /// The dimensions of the result that only the left operand has, and only the
  /// right one has.
  DimMask left = 0, right = 0;
  /// Sizes of the result, and of what is contracted.
  double m, n, depth;
  /// Sizes of a tile, and threads of a block that makes one.
  double tileM, tileN, threads;
  double blocks;

  /// How often an operand with the dimensions of `mask` is brought in: once for
  /// each tile of the result along dimensions that it does not have; so is what
  /// a prologue computes.
  double getCopies(DimMask mask, const KernelBody &body) const {
    double copies = 1;
    if (!(mask & right))
      copies *= ceilDiv(n, tileN);
    if (!(mask & left))
      copies *= ceilDiv(m, tileM);
    return copies * body.getPoints(root->outerMask & ~(left | right | mask));
  }
};

ContractionTiles Pricer::tileContraction(int64_t tileM, int64_t tileN,
                                         int64_t threads,
                                         const MmaConfig *config) const {
  ContractionTiles tiles;
  tiles.root =
      llvm::find_if(body.getInstances(), [&](const BodyInstance &instance) {
        return body.getNode(instance).kind == NodeKind::Contraction;
      });
  const BodyInstance &root = *tiles.root;
  SmallVector<DimMask> operandMasks;
  for (const TensorRead &read : body.getNode(root).reads) {
    DimMask mask = 0;
    for (AffineExpr coord : composeCoords(read.coords, root.loops))
      mask |= body.getMask(coord);
    if (mask & body.getReducedMask(root))
      operandMasks.push_back(mask & root.outerMask);
  }
  if (operandMasks.size() >= 2) {
    tiles.left = operandMasks[0] & ~operandMasks[1];
    tiles.right = operandMasks[1] & ~operandMasks[0];
  }
  if (config) {
    tiles.left = product->rows;
    tiles.right = product->columns;
  } else if (product->byWarps) {
    tiles.left = getDimMask(product->dims.rows);
    tiles.right = getDimMask(product->dims.columns);
  }
  tiles.m = body.getPoints(tiles.left);
  tiles.n = body.getPoints(tiles.right);
  tiles.depth = body.getPoints(body.getReducedMask(root));
  tiles.tileM = static_cast<double>(tileM);
  tiles.tileN = static_cast<double>(tileN);
  tiles.threads = static_cast<double>(threads);
  double batch = body.getPoints(root.outerMask & ~(tiles.left | tiles.right));
  tiles.blocks =
      batch * ceilDiv(tiles.m, tiles.tileM) * ceilDiv(tiles.n, tiles.tileN);
  return tiles;
}

double Pricer::addInstances(const ContractionTiles &tiles, bool isAsync,
                            KernelCost &cost, KernelCost &before) const {
  const WarpProductConstants &fitted = target.fitted.warpProducts;
  double tm = tiles.tileM, tn = tiles.tileN;
  double padding =
      ceilDiv(tiles.m, tm) * tm / tiles.m * ceilDiv(tiles.n, tn) * tn / tiles.n;
  bool onTensor = onTensorCores(body.getNode(*tiles.root));
  double accumulators = 0;
  for (const BodyInstance &instance : body.getInstances()) {
    bool contracts = body.getNode(instance).kind == NodeKind::Contraction;
    bool prologue = !contracts && (instance.mask & ~tiles.root->outerMask &
                                   body.getReducedMask());
    // Copies bring the zeros around an image along.
    if (isAsync && prologue && isa<tensor::PadOp>(body.getNode(instance).op))
      continue;
    double points = body.getPoints(instance.mask);
    addArithmetic(prologue ? before : cost, instance,
                  points * (contracts  ? padding
                            : prologue ? tiles.getCopies(instance.mask, body)
                                       : 1));
    if (!contracts)
      continue;
    accumulators += tm * tn / tiles.threads;
    // Fragments go through shared memory: written once, read by every thread
    // that needs them.
    double elementBytes = onTensor ? 2 : 4;
    double reuse = onTensor ? fitted.tensorTile : fitted.registerTile;
    cost.sharedBytes += elementBytes * tiles.blocks * tiles.depth *
                        ((tm + tn) + 2 * tm * tn / reuse);
  }
  return accumulators;
}

double Pricer::addOperands(const ContractionTiles &tiles,
                           KernelCost &cost) const {
  double stagedBytes = 0;
  for (const Stream &stream : streams) {
    // The result's own dimensions may be reduced by the epilogue.
    bool isOperand =
        stream.mask & body.getReducedMask() & ~tiles.root->outerMask;
    if (!isOperand) {
      addStream(cost, stream, 1, 1, stream.uniqueBytes);
      continue;
    }
    stagedBytes = std::max(stagedBytes, stream.elementBytes);
    // The blocks that run together form a square of tiles and walk the depth
    // side by side: within it an operand comes from L2, from one square to the
    // next it may have to be read again.
    double copies = tiles.getCopies(stream.mask, body);
    double square = std::sqrt(
        std::min(tiles.blocks, 2 * static_cast<double>(target.numSMs)));
    double squares = std::max(1.0, copies / square);
    addStream(cost, stream, squares, 1, stream.uniqueBytes);
    Stream again = stream;
    again.uniqueBytes = 0;
    addStream(cost, again, copies - squares, 1, /*reuseDistance=*/0);
  }
  return stagedBytes;
}

void Pricer::keepAsync(const MmaConfig &config, const KernelCost &cost,
                       const KernelCost &before, KernelShape shape) {
  shape.registers = getMmaRegisters(product->problem, config);
  shape.sharedBytes = getMmaSharedBytes(product->problem, config, target);
  KernelTime time = estimateTime(cost, shape, target);
  // Warps that issue products compute operands in between.
  time.total = getMmaSeconds(product->problem, config, target) +
               before.fp32Flops / target.fp32FlopsPerSecond() +
               before.fp64Flops / target.fp64FlopsPerSecond() +
               before.sfuOps / target.sfuPerSecond();
  best = {cost, shape, time, config, std::nullopt, false};
}

void Pricer::keepByThreads(const ContractionTiles &tiles, double accumulators,
                           double stagedBytes, KernelCost cost,
                           KernelShape shape) {
  const WarpProductConstants &fitted = target.fitted.warpProducts;
  double tm = tiles.tileM, tn = tiles.tileN;
  cost.tensorFlops /= product->warpShare;
  // The epilogue works on a few accumulators at a time.
  double chunk = std::min(kMaxVector, tm * tn / tiles.threads);
  shape.registers = getRegisters(chunk, accumulators + 2 * fitted.registerTile);
  // Accumulators that do not fit are touched in every step along the depth.
  double spilled =
      std::max<double>(0, shape.registers - target.maxRegistersPerThread);
  double steps = ceilDiv(tiles.depth, kContractionDepth);
  cost.sharedBytes += target.fitted.kernels.spillBytesOfStep * spilled *
                      tiles.threads * tiles.blocks * steps;
  shape.sharedBytes = static_cast<int64_t>(
      stagedBytes * (tm + tn) * kContractionDepth * kContractionStages);
  shape.bytesInFlightPerThread =
      std::min(target.fitted.kernels.mostInFlight,
               stagedBytes * (tm + tn) * kContractionDepth / tiles.threads);
  auto op = cast<linalg::LinalgOp>(body.getNode(*tiles.root).op);
  bool isWindow = llvm::any_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return !map.isProjectedPermutation(/*allowZeroInResults=*/true);
  });
  bool shares = !isWindow && std::min(tiles.m, tiles.n) <= fitted.fewRows;
  double sharing =
      shares ? static_cast<double>(shape.threads / kWarpThreads) : 1;
  keep(cost, shape, ceilDiv(steps, sharing) * fitted.stepSeconds);
}

void Pricer::priceContractionWith(int64_t tileM, int64_t tileN, int64_t threads,
                                  const MmaConfig *config) {
  ContractionTiles tiles = tileContraction(tileM, tileN, threads, config);
  // `before` is the arithmetic on operands.
  KernelCost cost, before;
  double accumulators =
      addInstances(tiles, /*isAsync=*/config != nullptr, cost, before);
  double stagedBytes = addOperands(tiles, cost);
  cost.fp32Flops += before.fp32Flops;
  cost.fp64Flops += before.fp64Flops;
  cost.sfuOps += before.sfuOps;
  KernelShape shape;
  shape.threads = threads;
  shape.blocks = toCount(tiles.blocks);
  if (config)
    keepAsync(*config, cost, before, shape);
  else
    keepByThreads(tiles, accumulators, stagedBytes, cost, shape);
}

void Pricer::priceFewRows(const MmaConfig &config) {
  const MmaProblem &problem = product->problem;
  KernelCost cost;
  for (const Stream &stream : streams)
    addStream(cost, stream, 1, 1, stream.uniqueBytes);
  for (const BodyInstance &instance : body.getInstances())
    addArithmetic(cost, instance, body.getPoints(instance.mask));
  KernelShape shape;
  shape.threads = config.warps * kWarpThreads;
  shape.blocks = llvm::divideCeil(problem.rows, config.rows) *
                 llvm::divideCeil(problem.columns, config.columns) *
                 problem.batch;
  shape.registers = getMmaSyncRegisters(problem, config, config.warps);
  shape.sharedBytes = getFewRowsSharedBytes(problem, config);
  KernelTime time = estimateTime(cost, shape, target);
  // What the larger operand is computed from, other warps load meanwhile.
  double arithmetic = cost.fp32Flops / target.fp32FlopsPerSecond() +
                      cost.fp64Flops / target.fp64FlopsPerSecond() +
                      cost.sfuOps / target.sfuPerSecond();
  time.total = std::max(getFewRowsSeconds(problem, config, target),
                        target.fitted.fewRows.startSeconds + arithmetic);
  best = {cost, shape, time, std::nullopt, std::nullopt, false};
}

void Pricer::priceContraction() {
  if (configs.fewFirst) {
    priceFewRows(configs.few.front());
    best.obstacle = product->obstacle.value_or(TensorCoreObstacle::FewRows);
    best.byWarps = true;
    return;
  }
  if (!configs.groups.empty()) {
    const MmaConfig &config = configs.groups.front();
    return priceContractionWith(config.rows, config.columns,
                                config.warps * kWarpThreads, &config);
  }
  if (product->byWarps) {
    MmaConfig config = getMmaSyncConfig(product->problem, target);
    priceContractionWith(config.rows, config.columns,
                         config.warps * kWarpThreads);
  } else {
    priceByThreads();
  }
  best.obstacle = product->obstacle.value_or(TensorCoreObstacle::NoTile);
  best.byWarps = product->byWarps;
}

void Pricer::priceByThreads() {
  for (auto [tileM, tileN] :
       {std::pair(128, 256), std::pair(256, 128), std::pair(128, 128),
        std::pair(128, 64), std::pair(64, 128), std::pair(64, 64),
        std::pair(32, 64), std::pair(64, 32), std::pair(32, 32),
        std::pair(16, 32), std::pair(16, 16)})
    for (int64_t threads : {128, 256})
      priceContractionWith(tileM, tileN, threads);
}
