//===- Phases.cpp - The phases and their pipelines ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the table of phases and the pipeline of each.
//
//===----------------------------------------------------------------------===//

#include "fusion/Pipelines/Phases.h"
#include "fusion/Codegen/Passes.h"
#include "fusion/Conversion/MathExpansion/Passes.h"
#include "fusion/Conversion/TileToNVVM/Passes.h"
#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"
#include "fusion/Pipelines/AcceptFunctions.h"
#include "fusion/Pipelines/Passes.h"
#include "fusion/Preprocessing/Pipeline.h"
#include "fusion/Scheduling/Passes.h"
#include "fusion/Target/PTX/Passes.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr PhaseInfo kPhases[] = {
#define FUSION_PHASE(enumerator, name, sentence)                               \
  {Phase::enumerator, name, sentence},
#include "fusion/Pipelines/Phases.def"
};

ArrayRef<PhaseInfo> fusion::getPhases() { return kPhases; }

std::optional<Phase> fusion::findPhase(StringRef name) {
  for (const PhaseInfo &info : kPhases)
    if (info.name == name)
      return info.phase;
  return std::nullopt;
}

std::string fusion::getDumpName(const PhaseInfo &info) {
  return llvm::formatv("{0,0+2}-{1}.mlir",
                       static_cast<unsigned>(info.phase) + 1, info.name)
      .str();
}

void fusion::printPhases(raw_ostream &os) {
  for (const PhaseInfo &info : kPhases)
    os << llvm::left_justify(info.name, 10) << info.description << "\n";
}

//===----------------------------------------------------------------------===//
// The pipelines
//===----------------------------------------------------------------------===//

void fusion::buildPlanPipeline(OpPassManager &manager,
                               const PhaseOptions &options) {
  FormKernelsPassOptions planOptions;
  planOptions.target = options.target;
  planOptions.representativeSize = options.representativeSize;
  planOptions.fuse = options.fuse;
  planOptions.fastNumerics = options.fastNumerics;
  planOptions.largestValue = options.largestValue;
  planOptions.opaqueFloats = options.opaqueFloats;
  planOptions.demandedBy = options.demandedBy;
  planOptions.printLedger = options.printLedger;
  manager.addPass(createFormKernelsPass(planOptions, options.planObserver));
  manager.addPass(createRaiseViewsPass());
  manager.addPass(createCollapseDimsPass());
  manager.addPass(createFlattenResultsPass({options.target}));
}

void fusion::buildSchedulePipeline(OpPassManager &manager,
                                   const PhaseOptions &options) {
  SelectSchedulesPassOptions scheduleOptions;
  scheduleOptions.target = options.target;
  scheduleOptions.representativeSize = options.representativeSize;
  manager.addPass(createSelectSchedulesPass(scheduleOptions));
  if (!options.fuse)
    return;
  PackLaunchesPassOptions launchOptions;
  launchOptions.target = options.target;
  launchOptions.representativeSize = options.representativeSize;
  manager.addPass(createPackLaunchesPass(launchOptions));
}

void fusion::buildTilePipeline(OpPassManager &manager,
                               const PhaseOptions &options) {
  manager.addPass(createLowerToTilePass());
  manager.addPass(createMergeProgramsPass());
  OpPassManager &programs = manager.nest<tile::ProgramOp>();
  programs.addPass(createCanonicalizerPass());
  programs.addPass(createCSEPass());
  // What is fused else differs from what is not.
  if (!options.opaqueFloats) {
    programs.addPass(tile::createContractExponentsPass({options.fastNumerics}));
    programs.addPass(tile::createChainSumsPass());
  }
  programs.addPass(createLoopInvariantCodeMotionPass());
  programs.addPass(tile::createFuseWalksPass());
  programs.addPass(tile::createShrinkLoadsPass());
  programs.addPass(tile::createSplitEpiloguePass());
  programs.addPass(tile::createSpecializeWarpsPass());
  programs.addPass(tile::createSkewProductsPass());
  programs.addPass(tile::createOverlapProductsPass());
  programs.addPass(tile::createGuardMasksPass());
  programs.addPass(tile::createSplitMaskedWalksPass());
  programs.addPass(tile::createSinkBehindProductsPass());
  programs.addPass(tile::createPrepareAheadPass());
  programs.addPass(createCSEPass());
  programs.addPass(tile::createAssignLayoutsPass());
  // Conversions and broadcasts that came out equal.
  programs.addPass(createCSEPass());
  programs.addPass(tile::createJoinAccessesPass());
  programs.addPass(tile::createPipelineLoadsPass());
  programs.addPass(createCanonicalizerPass());
  programs.addPass(createCSEPass());
  programs.addPass(tile::createLowerExchangesPass());
  programs.addPass(tile::createPublishAheadPass());
  programs.addPass(tile::createAllocateSharedMemoryPass());
  programs.addPass(tile::createPlaceBarriersPass());
}

void fusion::buildGpuPipeline(OpPassManager &manager,
                              const PhaseOptions &options) {
  TileToNVVMPassOptions lowering;
  lowering.plainFactors = options.opaqueFloats;
  manager.addPass(createTileToNVVMPass(lowering));
  manager.addPass(createPackKernelsPass());
  manager.addPass(createCheckLimitsPass());
}

void fusion::buildPtxPipeline(OpPassManager &manager,
                              const PhaseOptions &options) {
  manager.addPass(createSplitKernelsPass());
  OpPassManager &kernels = manager.nest<gpu::GPUModuleOp>();
  ExpandMathPassOptions math;
  math.fast = options.fastNumerics;
  math.alone = options.opaqueFloats;
  kernels.addPass(createExpandMathPass(math));
  kernels.addNestedPass<LLVM::LLVMFuncOp>(createCSEPass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createLowerToLLVMPass());
  if (options.opaqueFloats)
    kernels.addPass(createOpaqueFloatsPass());
  EmitPTXPassOptions emit;
  emit.lineInfo = options.lineInfo;
  kernels.addPass(createEmitPTXPass(emit));
}

void fusion::buildPhasePipeline(Phase phase, OpPassManager &manager,
                                const PhaseOptions &options) {
  // Every phase is for one chip, whichever passes look at it. One function
  // alone does not say for which its module is.
  bool isOfModules = manager.getOpAnchorName() == ModuleOp::getOperationName();
  if (phase != Phase::Package && isOfModules)
    manager.addPass(createSetTargetPass({options.target}));
  switch (phase) {
  case Phase::Input:
    return buildInputPipeline(manager);
  case Phase::Plan:
    return buildPlanPipeline(manager, options);
  case Phase::Schedule:
    return buildSchedulePipeline(manager, options);
  case Phase::Tile:
    return buildTilePipeline(manager, options);
  case Phase::Gpu:
    return buildGpuPipeline(manager, options);
  case Phase::Ptx:
    return buildPtxPipeline(manager, options);
  case Phase::Package:
    return;
  }
}

void fusion::buildPhases(Phase first, Phase last, OpPassManager &manager,
                         const PhaseOptions &options) {
  auto build = [](Phase first, Phase last, OpPassManager &manager,
                  const PhaseOptions &options) {
    for (const PhaseInfo &info : kPhases)
      if (info.phase >= first && info.phase <= last)
        buildPhasePipeline(info.phase, manager, options);
  };
  if (!options.partial || first > Phase::Schedule)
    return build(first, last, manager, options);
  // Later phases are of kernels, wherever they are.
  Phase lastOfFunctions = std::min(last, Phase::Schedule);
  manager.addPass(createSetTargetPass({options.target}));
  manager.addPass(createAcceptFunctionsPass(
      [first, lastOfFunctions, options, build](OpPassManager &functions) {
        build(first, lastOfFunctions, functions, options);
      }));
  build(Phase::Tile, last, manager, options);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
/// The options of named pipelines, as text.
struct TextualOptions : PassPipelineOptions<TextualOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("chip to compile for; the module's fusion.target when "
                     "empty")};
  Option<bool> fastNumerics{*this, "fast-numerics",
                            llvm::cl::desc("declared roundings may be dropped"),
                            llvm::cl::init(false)};
  Option<int64_t> representativeSize{
      *this, "representative-size",
      llvm::cl::desc("elements that a dynamic dimension is priced for"),
      llvm::cl::init(1024)};
  Option<int64_t> largestValue{
      *this, "largest-value",
      llvm::cl::desc("bytes of the largest value that kernels may store for "
                     "contractions; 0: any"),
      llvm::cl::init(kLargestValue)};
  Option<bool> partial{
      *this, "partial",
      llvm::cl::desc("functions that are refused stay as they are, with a "
                     "remark"),
      llvm::cl::init(false)};
  Option<bool> lineInfo{*this, "line-info",
                        llvm::cl::desc("tell profilers the program's lines"),
                        llvm::cl::init(false)};

  PhaseOptions get() const {
    PhaseOptions options;
    options.target = target;
    options.fastNumerics = fastNumerics;
    options.lineInfo = lineInfo;
    options.partial = partial;
    options.largestValue = largestValue;
    options.representativeSize = representativeSize;
    return options;
  }
};
} // namespace

static void registerPipeline(const Twine &name, const Twine &description,
                             Phase first, Phase last) {
  PassPipelineRegistration<TextualOptions>(
      StringRef(name.str()), StringRef(description.str()),
      [first, last](OpPassManager &manager, const TextualOptions &options) {
        buildPhases(first, last, manager, options.get());
      });
}

void fusion::registerPhasePipelines() {
  for (const PhaseInfo &info : kPhases) {
    if (info.phase == Phase::Package)
      continue;
    if (info.phase != Phase::Input)
      registerPipeline("fusion-" + info.name, info.description, info.phase,
                       info.phase);
    registerPipeline("fusion-to-" + info.name,
                     "All phases up to " + info.name + ".", Phase::Input,
                     info.phase);
  }
}
