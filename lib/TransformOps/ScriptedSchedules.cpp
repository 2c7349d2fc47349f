//===- ScriptedSchedules.cpp - Schedules that a script asks for -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the choice of a schedule that is as a script asks: the
// first of the ranked ones that is, or the first with the sizes that are asked
// for.
//
//===----------------------------------------------------------------------===//

#include "ScriptedSchedules.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Pipelines/AcceptFunctions.h"
#include "fusion/Scheduling/SelectSchedule.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fusion;

std::string ScheduleRequest::str() const {
  SmallVector<std::string> words;
  if (exactly)
    words.push_back(llvm::formatv("{0}", exactly).str());
  if (!tileSizes.empty())
    words.push_back(
        llvm::formatv("tile_sizes = [{0:$[, ]}]",
                      llvm::make_range(tileSizes.begin(), tileSizes.end()))
            .str());
  if (warps)
    words.push_back("warps = " + std::to_string(*warps));
  if (stages)
    words.push_back("stages = " + std::to_string(*stages));
  return words.empty() ? "any schedule" : llvm::join(words, " ");
}

/// Chunks of what `schedule` walks that are in flight or in use at once.
static int64_t getStages(ScheduleAttr schedule) {
  if (MmaAttr mma = schedule.getMma())
    return mma.getStages();
  int64_t stages = 1;
  for (AxisAttr axis : schedule.getAxes())
    stages = std::max(stages, axis.getStages());
  return stages;
}

static bool isAsAsked(ScheduleAttr schedule, const ScheduleRequest &request) {
  auto hasTile = [](auto pair) {
    auto [axis, tile] = pair;
    return tile == 0 || axis.getTile() == tile;
  };
  return (request.tileSizes.empty() ||
          llvm::all_of(llvm::zip_equal(schedule.getAxes(), request.tileSizes),
                       hasTile)) &&
         request.warps.value_or(schedule.getWarps()) == schedule.getWarps() &&
         request.stages.value_or(getStages(schedule)) == getStages(schedule);
}

/// Refuses what no schedule of a kernel can be, before there are any.
static LogicalResult checkRequest(KernelOp kernel, const IterationSpace &space,
                                  const ScheduleRequest &request) {
  auto check = [&](size_t number, const Twine &what) -> LogicalResult {
    if (number == space.getNumDims())
      return success();
    return emitCodedError(kernel.getLoc(), ErrorCode::ScriptSchedule,
                          what + " of " + Twine(number) + " dimensions for '" +
                              kernel.getKernelName() + "', which has " +
                              Twine(space.getNumDims()),
                          "give one for each iteration dimension");
  };
  if (!request.tileSizes.empty() &&
      failed(check(request.tileSizes.size(), "tile sizes")))
    return failure();
  return request.exactly ? check(request.exactly.getAxes().size(), "a schedule")
                         : success();
}

/// Whether a schedule that differs from `known` in sizes alone does what
/// `known` does: blocks cover the dimensions in the same way, and what one
/// tile, or a group of blocks, has to have whole is as large.
static bool coversLike(ScheduleAttr schedule, ScheduleAttr known) {
  auto isLike = [](auto pair) {
    auto [axis, like] = pair;
    bool isFree = axis.isWalked() || axis.getKind() == AxisKind::Grid;
    return axis.getKind() == like.getKind() &&
           (isFree || axis.getTile() == like.getTile()) &&
           axis.getSplit() == like.getSplit() &&
           axis.getCluster() == like.getCluster();
  };
  auto getKind = [](ScheduleAttr attr) {
    return attr.getMma() ? std::optional(attr.getMma().getKind())
                         : std::nullopt;
  };
  return schedule.getStrategy() == known.getStrategy() &&
         getKind(schedule) == getKind(known) &&
         llvm::all_of(llvm::zip_equal(schedule.getAxes(), known.getAxes()),
                      isLike);
}

/// `known` with what is asked for in the place of what it has; null where that
/// is no schedule, or is one of other parts of the dimensions.
static ScheduleAttr adapt(ScheduleAttr known, const ScheduleRequest &request) {
  MLIRContext *context = known.getContext();
  // Their tiles are those of instructions.
  if (known.getMma() || request.stages)
    return nullptr;
  SmallVector<AxisAttr> axes(known.getAxes());
  for (auto [axis, tile] : llvm::zip(axes, request.tileSizes)) {
    if (tile == 0 || tile == axis.getTile())
      continue;
    axis = AxisAttr::getChecked(
        [&] { return emitError(UnknownLoc::get(context)); }, context,
        axis.getKind(), tile, axis.getWarps(), axis.getVector(),
        axis.getStrip(), axis.getSteps(), axis.getSplit(), axis.getCluster(),
        axis.getStages(), axis.getLimited(), axis.getDescending(),
        axis.getParted());
    if (!axis)
      return nullptr;
  }
  auto adapted = ScheduleAttr::getChecked(
      [&] { return emitError(UnknownLoc::get(context)); }, context,
      known.getStrategy(), ArrayRef<AxisAttr>(axes),
      request.warps.value_or(known.getWarps()), MmaAttr());
  return adapted && coversLike(adapted, known) ? adapted : nullptr;
}

/// `schedule` as one of `known`, with its price, or without one.
static RankedSchedule rank(ScheduleAttr schedule,
                           ArrayRef<RankedSchedule> known) {
  auto found = llvm::find_if(known, [&](const RankedSchedule &ranked) {
    return ranked.schedule == schedule;
  });
  return found != known.end() ? *found : RankedSchedule{schedule, std::nullopt};
}

/// The schedule that is as asked: of `schedules`, the fastest first, or the
/// fastest adapted.
static FailureOr<RankedSchedule> choose(KernelOp kernel,
                                        ArrayRef<RankedSchedule> schedules,
                                        const ScheduleRequest &request) {
  ScheduleAttr fastest = schedules.front().schedule;
  if (request.exactly) {
    if (llvm::any_of(schedules, [&](const RankedSchedule &known) {
          return coversLike(request.exactly, known.schedule);
        }))
      return rank(request.exactly, schedules);
    return emitCodedError(
        kernel.getLoc(), ErrorCode::ScriptSchedule,
        llvm::formatv("no schedule of '{0}' covers its dimensions as the one "
                      "asked for does; the fastest is {1}",
                      kernel.getKernelName(), fastest)
            .str(),
        "change sizes of one that fusion-schedule-select writes");
  }
  for (const RankedSchedule &known : schedules)
    if (isAsAsked(known.schedule, request))
      return known;
  // Why one is no schedule is not what is wrong.
  std::vector<Diagnostic> unused;
  ScheduleAttr adapted;
  (void)collectDiagnostics(kernel.getContext(), unused, [&] {
    for (const RankedSchedule &known : schedules)
      if (!adapted)
        adapted = adapt(known.schedule, request);
    return success();
  });
  if (adapted)
    return rank(adapted, schedules);
  return emitCodedError(
      kernel.getLoc(), ErrorCode::ScriptSchedule,
      llvm::formatv("no schedule of '{0}' has {1}; it has {2}, the fastest is "
                    "{3}",
                    kernel.getKernelName(), request.str(), schedules.size(),
                    fastest)
          .str());
}

LogicalResult fusion::scheduleAsAsked(KernelOp kernel,
                                      const ScheduleRequest &request) {
  FailureOr<TargetInfo> chip = resolveTarget(kernel);
  if (failed(chip))
    return failure();
  auto func = kernel->getParentOfType<FunctionOpInterface>();
  SymbolicShapes shapes(func);
  ScheduleLimits limits;
  limits.target = &*chip;
  FailureOr<IterationSpace> space =
      IterationSpace::get(kernel.getBody(), shapes, {limits.typicalExtent});
  if (failed(space))
    return kernel.emitError("FUS-3101: a size of the kernel depends on data");
  if (failed(checkRequest(kernel, *space, request)))
    return failure();
  FailureOr<std::vector<RankedSchedule>> schedules =
      getSchedules(kernel, *space, limits);
  if (failed(schedules))
    return failure();
  FailureOr<RankedSchedule> choice = choose(kernel, *schedules, request);
  if (failed(choice))
    return failure();
  if (EstimateAttr predicted = predictFor(kernel, *space, *choice, limits))
    kernel.setEstimateAttr(predicted);
  kernel.setScheduleAttr(choice->schedule);
  // That of a launch was predicted for another one.
  kernel.removeLaunchAttr();
  auto remark = remark::passed(kernel.getLoc(),
                               remark::RemarkOpts::name("scripted-schedule")
                                   .category("fusion-schedule")
                                   .function(func.getName()));
  if (remark)
    remark << "asked for by a script: " + request.str();
  return success();
}
