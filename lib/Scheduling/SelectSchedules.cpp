//===- SelectSchedules.cpp - Chooses the schedule of every kernel ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that writes a schedule on every kernel.
//
//===----------------------------------------------------------------------===//

#include "ContractionSchedule.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Analysis/OpKeys.h"
#include "fusion/Analysis/Reductions.h"
#include "fusion/Scheduling/Passes.h"
#include "fusion/Scheduling/SelectSchedule.h"
#include "fusion/Support/Counts.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include <cmath>

namespace mlir::fusion {
#define GEN_PASS_DEF_SELECTSCHEDULESPASS
#include "fusion/Scheduling/Passes.h.inc"
} // namespace mlir::fusion

#define DEBUG_TYPE "fusion-schedule-select"

using namespace mlir;
using namespace mlir::fusion;

/// Says which scans of `kernel` keep it from being scanned by many threads.
static void remarkSequentialScans(FunctionOpInterface func, KernelOp kernel) {
  for (auto scan : kernel.getBlock().getOps<ScanOp>()) {
    if (matchScanCombiner(scan.getCombiner().front()))
      continue;
    auto remark = remark::missed(scan.getLoc(),
                                 remark::RemarkOpts::name("sequential-scan")
                                     .category("fusion-schedule")
                                     .function(func.getName()));
    if (remark)
      remark << "the combination is not known to be associative: each thread "
                "walks the scanned dimension element by element";
  }
}

/// Says how much of a walk a mask of positions, or of data, leaves to
/// `schedule`.
static void remarkLimitedWalk(FunctionOpInterface func, KernelOp kernel,
                              ScheduleAttr schedule,
                              const KernelEstimate &priced) {
  ArrayRef<AxisAttr> axes = schedule.getAxes();
  const AxisAttr *limited =
      llvm::find_if(axes, [](AxisAttr axis) { return axis.getLimited(); });
  if (limited == axes.end())
    return;
  auto remark =
      remark::passed(kernel.getLoc(), remark::RemarkOpts::name("limited-walk")
                                          .category("fusion-schedule")
                                          .function(func.getName()));
  if (!remark)
    return;
  if (limited->getKind() == AxisKind::Loop)
    remark << "data say which elements of the walk count";
  else if (priced.walkedShare == 1)
    remark << "a mask of positions that the run knows leaves a part of the "
              "steps";
  else
    remark << "a mask of positions leaves " +
                  std::to_string(std::lround(100 * priced.walkedShare)) +
                  " % of the steps";
}

/// `estimate` with what `priced`, a schedule of loops, takes and needs.
EstimateAttr fusion::predictFor(EstimateAttr estimate,
                                const KernelEstimate &priced) {
  return EstimateAttr::get(
      estimate.getContext(), roundToNanoseconds(priced.seconds() * 1e6),
      estimate.getDramBytes(), estimate.getFlops(), priced.shape.registers,
      priced.shape.sharedBytes, estimate.getSavedBytes(),
      estimate.getSavedLaunches());
}

EstimateAttr fusion::predictFor(KernelOp kernel, const IterationSpace &space,
                                const RankedSchedule &choice,
                                const ScheduleLimits &limits) {
  EstimateAttr estimate = kernel.getEstimateAttr();
  if (!estimate)
    return estimate;
  return choice.estimate
             ? predictFor(estimate, *choice.estimate)
             : predictFor(estimate, kernel, space, choice.schedule, limits);
}

namespace {
class SelectSchedulesPass
    : public fusion::impl::SelectSchedulesPassBase<SelectSchedulesPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    FailureOr<TargetInfo> chip = resolveTarget(getOperation(), target);
    if (failed(chip))
      return signalPassFailure();
    ScheduleLimits limits;
    limits.target = &*chip;
    limits.typicalExtent = std::max<int64_t>(representativeSize, 2);
    if (failed(visitFunctions(getOperation(), [&](FunctionOpInterface func) {
          return scheduleFunction(func, limits);
        })))
      signalPassFailure();
  }

private:
  struct Selection {
    ScheduleAttr schedule;
    std::optional<KernelEstimate> priced;
    /// What the kernel's own estimate becomes; null where it has none.
    EstimateAttr predicted;
  };

  LogicalResult scheduleFunction(FunctionOpInterface func,
                                 const ScheduleLimits &limits) {
    SymbolicShapes shapes(func);
    OpKeyMemory<FailureOr<Selection>> known;
    WalkResult walk = func->walk([&](KernelOp kernel) {
      if (kernel.getScheduleAttr())
        return WalkResult::advance();
      auto selectOwn = [&] { return select(kernel, shapes, limits); };
      // Kernels that are alike have one schedule; but each scan is remarked.
      std::optional<OpKey> key;
      if (kernel.getBlock().getOps<ScanOp>().empty())
        key = getKernelKey(kernel);
      FailureOr<Selection> selection =
          key ? known.get(std::move(*key), selectOwn) : selectOwn();
      if (failed(selection))
        return WalkResult::interrupt();
      kernel.setScheduleAttr(selection->schedule);
      if (selection->predicted)
        kernel.setEstimateAttr(selection->predicted);
      remarkSequentialScans(func, kernel);
      if (selection->priced)
        remarkLimitedWalk(func, kernel, selection->schedule,
                          *selection->priced);
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }

  FailureOr<Selection> select(KernelOp kernel, SymbolicShapes &shapes,
                              const ScheduleLimits &limits) {
    FailureOr<IterationSpace> space =
        IterationSpace::get(kernel.getBody(), shapes, {limits.typicalExtent});
    if (failed(space))
      return kernel.emitError("FUS-3101: a size of the kernel depends on data");
    FailureOr<std::vector<RankedSchedule>> schedules =
        getSchedules(kernel, *space, limits);
    if (failed(schedules))
      return failure();
    size_t number = std::min<size_t>(candidate, schedules->size() - 1);
    RankedSchedule &choice = (*schedules)[number];
    EstimateAttr predicted = predictFor(kernel, *space, choice, limits);
    return Selection{choice.schedule, std::move(choice.estimate), predicted};
  }
};
} // namespace
