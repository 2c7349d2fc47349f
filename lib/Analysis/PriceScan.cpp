//===- PriceScan.cpp - The price of kernels that scan ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pricing of scans, whose blocks walk rows in the
// tiles that scheduling gives them.
//
//===----------------------------------------------------------------------===//

#include "BodyPricer.h"
#include "fusion/Analysis/ScanTiles.h"
#include "fusion/Support/Counts.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::pricing;

void Pricer::priceScan() {
  double scanned = std::max(1.0, body.getPoints(body.getReducedMask()));
  double outer = std::max(1.0, body.getPoints(outerMask));
  bool alongMemory = !(outerMask & (DimMask(1) << fast));
  double columns =
      alongMemory ? 1
                  : std::max(1.0, static_cast<double>(body.getExtents()[fast]));
  ScanSizes sizes;
  sizes.scanned = toCount(scanned);
  sizes.columns = toCount(columns);
  sizes.rows = toCount(outer / columns);
  SmallVector<ScanOp> scans;
  for (const BodyInstance &instance : body.getInstances())
    if (const GraphNode &node = body.getNode(instance);
        node.kind == NodeKind::Scan)
      scans.push_back(cast<ScanOp>(node.op));
  describeStates(scans, sizes);
  double narrowest = 8, bytes = 0;
  for (const Stream &stream : streams) {
    narrowest = std::min(narrowest, stream.elementBytes);
    bytes = std::max(bytes, stream.elementBytes);
  }
  sizes.narrowestElement = std::max<int64_t>(1, toCount(narrowest));
  ScanTiles tiles = chooseScanTiles(sizes, target);

  double block = static_cast<double>(tiles.columns * tiles.rows);
  double threads = static_cast<double>(tiles.warps * target.warpSize);
  double blocks = ceilDiv(columns, static_cast<double>(tiles.columns)) *
                  ceilDiv(outer / columns, static_cast<double>(tiles.rows)) *
                  static_cast<double>(tiles.split);
  double perThread = static_cast<double>(tiles.elements()) / threads;
  KernelCost cost;
  auto getCopies = [&](DimMask mask) {
    return std::max(1.0, body.getPoints(outerMask & ~mask) / block);
  };
  addSweep(cost, getCopies);
  cost.reductionSteps = 1;
  // Blocks that walk together exchange totals in each round; but for the first,
  // the traffic of another goes on meanwhile.
  if (tiles.split > 1) {
    double rounds =
        ceilDiv(scanned, static_cast<double>(tiles.scanned * tiles.split));
    double moved = cost.uniqueBytes() / rounds / target.dramBytesPerSecond;
    cost.gridSteps =
        1 + (rounds - 1) * std::max(0.0, 1 - moved / cost::kGridStepSeconds);
  }
  // What warps tell each other in each step.
  if (tiles.warps > 1)
    cost.sharedBytes += 2 * static_cast<double>(sizes.stateBytes) * scanned *
                        outer / std::max(1.0, perThread);
  KernelShape shape;
  shape.threads = tiles.warps * target.warpSize;
  shape.blocks = toCount(blocks);
  shape.registers = getRegisters(std::max(1.0, perThread), 0);
  shape.sharedBytes = 4 * sizes.stateBytes * tiles.warps;
  // One element a step leaves threads without columns idle.
  shape.bytesInFlightPerThread = sizes.stateBytes
                                     ? getBytesInFlight(perThread)
                                     : bytes * std::min(1.0, perThread);
  keep(cost, shape, std::min(block, outer), /*onChip=*/false);
}
