//===- FlattenResults.cpp - Results walked as they lie in memory ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that lets kernels walk their results as they
// lie in memory, by one loop over all of their dimensions. Tiles are powers of
// two along each dimension: of rows of 76 elements a block has some that are
// none, and rows that begin anywhere are written element by element.
//
//===----------------------------------------------------------------------===//

#include "KernelCollapser.h"
#include "fusion/Analysis/IterationSpace.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/FusionPlanning/Passes.h"
#include "fusion/Scheduling/LoopSchedule.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_FLATTENRESULTSPASS
#include "fusion/FusionPlanning/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// Lets all dimensions of a kernel's results fall together, whatever dimensions
/// the kernel's operands have.
class ResultFlattener : public KernelCollapser {
public:
  using KernelCollapser::KernelCollapser;

private:
  void chooseClasses() override;
  bool mayStay(OpOperand &operand) override;
  bool splitsIndices() const override { return true; }
};
} // namespace

/// What the kernel is given lies where it does, and what is computed or moved
/// element by element is so wherever it is read.
bool ResultFlattener::mayStay(OpOperand &operand) {
  if (!cast<linalg::LinalgOp>(operand.getOwner()).isDpsInput(&operand))
    return false;
  Operation *producer = operand.get().getDefiningOp();
  if (!producer)
    return true;
  auto computed = dyn_cast<linalg::GenericOp>(producer);
  return (computed && computed.getNumReductionLoops() == 0) ||
         isa<tensor::PadOp, tensor::ConcatOp, tensor::ExtractSliceOp>(producer);
}

void ResultFlattener::chooseClasses() {
  llvm::SmallBitVector stays = compressClasses();
  llvm::SmallBitVector chosen(classes.getNumClasses());
  for (Value result : kernel.getYield().getValues()) {
    auto type = cast<RankedTensorType>(result.getType());
    for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
      chosen.set(classes[getBoundary(result, dim)]);
  }
  if (chosen.anyCommon(stays))
    chosen.reset();
  letFall(chosen);
}

static void remarkFlat(KernelOp kernel) {
  auto func = kernel->getParentOfType<FunctionOpInterface>();
  auto remark =
      remark::passed(kernel.getLoc(), remark::RemarkOpts::name("flat-results")
                                          .category("fusion-plan")
                                          .function(func.getName()));
  if (remark)
    remark << "one loop walks the results as they lie in memory";
}

namespace {
class FlattenResultsPass
    : public mlir::fusion::impl::FlattenResultsPassBase<FlattenResultsPass> {
public:
  using Base::Base;
  void runOnOperation() override {
    FailureOr<TargetInfo> chip = resolveTarget(getOperation(), target);
    if (failed(chip))
      return signalPassFailure();
    for (auto func : getOperation().getOps<FunctionOpInterface>()) {
      SymbolicShapes shapes(func);
      func->walk([&](KernelOp kernel) {
        if (kernel.getScheduleAttr())
          return;
        FailureOr<IterationSpace> space =
            IterationSpace::get(kernel.getBody(), shapes);
        if (failed(space))
          return;
        KernelBody body = KernelBody::getWhole(space->getGraph());
        if (body.getProblem() == BodyProblem::None &&
            !body.has(NodeKind::Contraction) && isFasterFlat(body, *chip) &&
            ResultFlattener(kernel).run())
          remarkFlat(kernel);
      });
    }
  }
};
} // namespace
