//===- PriceLoops.cpp - The price of kernels without products -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pricing of pointwise bodies, and of reductions,
// which walk rows.
//
//===----------------------------------------------------------------------===//

#include "BodyPricer.h"
#include "fusion/Analysis/ReductionSplit.h"
#include "fusion/Support/Counts.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::pricing;

/// Elements that a thread computes on at a time of those that it keeps: of what
/// ptxas gave kernels that keep 25 to 100 (sm_90a, 2026-11-23).
static constexpr double kKeptVector = 4;

static double popcount(uint64_t bits) {
  return static_cast<double>(llvm::popcount(bits));
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
      addSweep(cost, getCopies);
      KernelShape shape;
      shape.threads = threads;
      shape.blocks = toCount(ceilDiv(points, tile));
      shape.registers = getRegisters(vector, 0);
      shape.bytesInFlightPerThread = getBytesInFlight(vector);
      keep(cost, shape, std::min(tile, points), false);
    }
}

//===----------------------------------------------------------------------===//
// Reductions: rows
//===----------------------------------------------------------------------===//

void Pricer::priceRowsWith(int64_t threads, double rows, double split,
                           bool onChip) {
  // Of one block; `split` of them have what is reduced together.
  double reduced = std::max(1.0, body.getPoints(body.getReducedMask()) / split);
  double outer = std::max(1.0, body.getPoints(outerMask));
  double numThreads = static_cast<double>(threads);
  double blocks = ceilDiv(outer, rows) * split;

  // What a row needs in more than one sweep stays in registers, or is read
  // again.
  double kept = 0, rowBytes = 0;
  DenseMap<unsigned, uint64_t> sweepsOf;
  for (auto [access, stream] : llvm::zip(body.getInputs(), streams)) {
    if (!(stream.mask & body.getReducedMask()))
      continue;
    rowBytes += stream.elementBytes;
    uint64_t &sweeps = sweepsOf[access.value];
    bool wasKept = llvm::popcount(sweeps) > 1;
    sweeps |= body.getInstances()[stream.instance].sweeps;
    if (onChip && !wasKept && llvm::popcount(sweeps) > 1)
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
    // What an earlier sweep read is in registers.
    if (onChip && isRow && !stream.isWrite && stream.uniqueBytes == 0)
      continue;
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
  cost.gridSteps = split > 1 ? levels : 0;
  // Partial results of the warps.
  double warps = numThreads / static_cast<double>(target.warpSize);
  cost.sharedBytes += 8 * warps * rows * levels * blocks;

  KernelShape shape;
  shape.threads = threads;
  shape.blocks = toCount(blocks);
  // What is kept is computed on a few elements at a time.
  shape.registers =
      getRegisters(kept > 0 ? std::min(vector, kKeptVector) : vector, kept);
  shape.sharedBytes = static_cast<int64_t>(4 * warps * std::min(rows, 128.0));
  shape.bytesInFlightPerThread =
      getBytesInFlight(onChip ? std::min(perThread, 16.0) : vector);
  keep(cost, shape, std::min(rows, outer), onChip);
}

void Pricer::priceRows() {
  bool combinable =
      llvm::all_of(body.getInstances(), [&](const BodyInstance &instance) {
        const GraphNode &node = body.getNode(instance);
        auto op = dyn_cast<linalg::LinalgOp>(node.op);
        return node.kind == NodeKind::Pointwise || (op && isCombinable(op));
      });
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
      double elements = rows * reduced, groups = ceilDiv(outer, rows);
      if (elements <= static_cast<double>(kMaxElementsOnChip))
        priceRowsWith(threads, rows, /*split=*/1, /*onChip=*/true);
      if (elements > static_cast<double>(kMaxShareElements) && combinable) {
        // Fewer elements where several values are kept of each.
        for (int64_t share = kMaxShareElements; share >= kMaxShareElements / 4;
             share /= 2) {
          double split = ceilDiv(elements, static_cast<double>(share));
          if (split <= static_cast<double>(kMaxSplit) &&
              fitsExchange(groups, static_cast<int64_t>(split),
                           2 * static_cast<int64_t>(rows)))
            priceRowsWith(threads, rows, split, /*onChip=*/true);
        }
      }
      priceRowsWith(threads, rows, /*split=*/1, /*onChip=*/false);
      int64_t split = getWalkSplit(groups, elements, target);
      if (split > 1 && combinable)
        priceRowsWith(threads, rows, static_cast<double>(split),
                      /*onChip=*/false);
    }
  }
}
