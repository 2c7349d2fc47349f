//===- PipelineLoads.cpp - Starts loads of products ahead -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that turns the loads of products into copies
// that run several iterations ahead (LoopPipeliner.h). A perfect nest of loops
// becomes one loop first.
//
//===----------------------------------------------------------------------===//

#include "LoopPipeliner.h"

#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_PIPELINELOADSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-pipeline-loads"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

namespace {
class PipelineLoadsPass
    : public tile::impl::PipelineLoadsPassBase<PipelineLoadsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    std::optional<PipelineAttr> pipeline = program.getPipeline();
    bool ofProducts = pipeline && pipeline->getKind() == MmaKind::MmaSync &&
                      pipeline->getStages() > 1;
    SmallVector<scf::ForOp> products, walks, rounds;
    program.getBody().walk([&](scf::ForOp loop) {
      if (loop->removeAttr(kLoadAheadAttrName))
        rounds.push_back(loop);
      if (loop->hasAttr(kNumStagesAttrName))
        walks.push_back(loop);
      else if (ofProducts && !loadsOfProducts(loop).empty())
        products.push_back(loop);
    });
    unsigned warps = program.getNumWarps();
    for (scf::ForOp loop : rounds)
      LoopPipeliner(loop, /*stages=*/1, warps, /*sharedBytes=*/0)
          .runIntoRegisters();
    if (products.empty() && walks.empty())
      return;
    std::optional<int64_t> sharedLimit =
        fusion::getSharedLimit(program, sharedMemoryLimitBytes);
    if (!sharedLimit)
      return signalPassFailure();
    for (scf::ForOp loop : products)
      LoopPipeliner(flattenNest(loop), pipeline->getStages(), warps,
                    *sharedLimit, pipeline->getMbarriers())
          .run();
    for (scf::ForOp loop : walks) {
      auto stages = cast<IntegerAttr>(loop->removeAttr(kNumStagesAttrName));
      LoopPipeliner(flattenNest(loop), stages.getInt(), warps, *sharedLimit)
          .runByThreads();
    }
  }
};
} // namespace
