//===- PrintPrices.cpp - Prints what schedules are predicted to cost ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that prints the schedules of kernels without
// products, with the terms of their prices and how each follows the constants
// of the chip. The constants are changed one by one, and the model is asked
// again: nothing here knows its formulas.
//
//===----------------------------------------------------------------------===//

#include "LoopFamilies.h"
#include "fusion/Analysis/IterationSpace.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Scheduling/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/JSON.h"
#include <cmath>

namespace mlir::fusion {
#define GEN_PASS_DEF_PRINTPRICESPASS
#include "fusion/Scheduling/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// By how much a constant is changed to see what follows it.
static constexpr double kStep = 1e-3;

/// Of a term's change, over that of the constant, what is rounding.
static constexpr double kLeastSlope = 1e-4;

namespace {
/// A term of a time, and its value.
struct Term {
  StringLiteral name;
  double value;
};
} // namespace

static SmallVector<Term> getTerms(const KernelTime &time) {
  return {{"launch", time.launch}, {"memory", time.memory},
          {"fp32", time.fp32},     {"fp64", time.fp64},
          {"sfu", time.sfu},       {"shared", time.shared},
          {"hidden", time.hidden}, {"overlap", time.overlap}};
}

/// What has no slope: a block more or less on a multiprocessor.
static bool isOfSameShape(const KernelEstimate &a, const KernelEstimate &b) {
  return a.shape.registers == b.shape.registers &&
         a.shape.sharedBytes == b.shape.sharedBytes &&
         a.shape.blocks == b.shape.blocks &&
         a.time.occupancy.blocksPerSM == b.time.occupancy.blocksPerSM;
}

/// The terms of `estimate`, of `schedule`, each with its relative change for
/// that of each constant that it depends on.
static llvm::json::Object getTerms(const KernelBody &body,
                                   const LoopSchedule &schedule,
                                   const KernelEstimate &estimate,
                                   const TargetInfo &target) {
  SmallVector<Term> terms = getTerms(estimate.time);
  SmallVector<llvm::json::Object> slopes(terms.size());
  target.fitted.visit([&](StringRef group, StringRef name, double value) {
    TargetInfo changed = target;
    // What is a whole number is a size or a limit.
    if (llvm::Error error =
            changed.fitted.set(group, name, value * (1 + kStep))) {
      llvm::consumeError(std::move(error));
      return;
    }
    LoopFacts facts(body, changed);
    KernelEstimate other = priceSchedule(facts, schedule);
    if (!isOfSameShape(estimate, other))
      return;
    for (auto [term, after, own] :
         llvm::zip(terms, getTerms(other.time), slopes)) {
      double slope = term.value > 0 ? std::log(after.value / term.value) /
                                          std::log1p(kStep)
                                    : 0;
      if (std::abs(slope) > kLeastSlope)
        own[(group + "." + name).str()] = slope;
    }
  });
  llvm::json::Object result;
  for (auto [term, own] : llvm::zip(terms, slopes))
    if (term.value > 0)
      result[term.name] =
          llvm::json::Object{{"value", term.value}, {"slopes", std::move(own)}};
  return result;
}

/// What is known of `priced`, a schedule of `body`.
static llvm::json::Object toJson(const KernelBody &body,
                                 const PricedSchedule &priced,
                                 const TargetInfo &target) {
  std::string schedule;
  llvm::raw_string_ostream(schedule)
      << priced.schedule.toAttr(body.getGraph().getContext());
  const KernelEstimate &estimate = priced.estimate;
  return llvm::json::Object{
      {"schedule", schedule},
      {"seconds", estimate.seconds()},
      {"bytes", estimate.bytes()},
      {"blocks", estimate.shape.blocks},
      {"threads", estimate.shape.threads},
      {"registers", estimate.shape.registers},
      {"waves", estimate.time.waves},
      {"terms", getTerms(body, priced.schedule, estimate, target)}};
}

namespace {
class PrintPricesPass
    : public fusion::impl::PrintPricesPassBase<PrintPricesPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    FailureOr<TargetInfo> chip = resolveTarget(getOperation(), target);
    if (failed(chip))
      return signalPassFailure();
    if (failed(visitFunctions(getOperation(), [&](FunctionOpInterface func) {
          SymbolicShapes shapes(func);
          return failure(func->walk([&](KernelOp kernel) {
                               return WalkResult(print(kernel, shapes, *chip));
                             })
                             .wasInterrupted());
        })))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  LogicalResult print(KernelOp kernel, SymbolicShapes &shapes,
                      const TargetInfo &chip) {
    FailureOr<IterationSpace> space =
        IterationSpace::get(kernel.getBody(), shapes, {representativeSize});
    if (failed(space))
      return failure();
    KernelBody body = KernelBody::getWhole(space->getGraph());
    llvm::json::Array schedules;
    if (body.getProblem() == BodyProblem::None &&
        !body.has(NodeKind::Contraction))
      for (const PricedSchedule &priced : getLoopSchedules(body, chip))
        schedules.push_back(toJson(body, priced, chip));
    llvm::json::Object object{{"kernel", kernel.getKernelName().str()},
                              {"chip", StringRef(chip.name)},
                              {"schedules", std::move(schedules)}};
    llvm::outs() << llvm::json::Value(std::move(object)) << "\n";
    return success();
  }
};
} // namespace
