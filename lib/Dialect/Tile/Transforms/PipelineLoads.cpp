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

namespace mlir::tile {
#define GEN_PASS_DEF_PIPELINELOADSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

#define DEBUG_TYPE "tile-pipeline-loads"

using namespace mlir;
using namespace mlir::tile;

namespace {
class PipelineLoadsPass
    : public tile::impl::PipelineLoadsPassBase<PipelineLoadsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    std::optional<PipelineAttr> pipeline = program.getPipeline();
    if (!pipeline || pipeline->getKind() != MmaKind::MmaSync ||
        pipeline->getStages() < 2)
      return;
    std::optional<int64_t> sharedLimit =
        fusion::getSharedLimit(program, sharedMemoryLimitBytes);
    if (!sharedLimit)
      return signalPassFailure();
    SmallVector<scf::ForOp> loops;
    program.getBody().walk([&](scf::ForOp loop) {
      if (!loadsOfProducts(loop).empty())
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      LoopPipeliner(flattenNest(loop), *pipeline, program.getNumWarps(),
                    *sharedLimit)
          .run();
  }
};
} // namespace
