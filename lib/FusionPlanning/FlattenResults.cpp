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
#include "fusion/Analysis/DataMoves.h"
#include "fusion/Analysis/IterationSpace.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Analysis/OpKeys.h"
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
  explicit ResultFlattener(KernelOp kernel);

private:
  void chooseClasses() override;
  bool mayStay(OpOperand &operand) override;
  bool splitsIndices() const override { return true; }
  bool isReadAnywhere(Value value) const;

  /// What computes or moves elements one by one, and reads nothing else.
  SmallPtrSet<Operation *, 8> elementwise;
};
} // namespace

ResultFlattener::ResultFlattener(KernelOp kernel) : KernelCollapser(kernel) {
  for (Operation &op : kernel.getBlock()) {
    auto computed = dyn_cast<linalg::GenericOp>(op);
    if (!isDataMove(&op) && !(computed && computed.getNumReductionLoops() == 0))
      continue;
    auto read = computed ? ValueRange(computed.getInputs())
                         : ValueRange(op.getOperands());
    if (llvm::all_of(read, [&](Value value) { return isReadAnywhere(value); }))
      elementwise.insert(&op);
  }
}

/// What the kernel is given lies where it does, and what is computed or moved
/// element by element is so wherever it is read, by whatever expressions.
bool ResultFlattener::isReadAnywhere(Value value) const {
  Operation *producer = value.getDefiningOp();
  return !producer || elementwise.contains(producer) ||
         !isa<RankedTensorType>(value.getType());
}

bool ResultFlattener::mayStay(OpOperand &operand) {
  return cast<linalg::LinalgOp>(operand.getOwner()).isDpsInput(&operand) &&
         isReadAnywhere(operand.get());
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

/// Lets `result`, of an operation that moves elements, be that of one computed
/// element by element: its loops may become one, which asks for what is moved
/// at quotients and remainders.
static linalg::GenericOp copyMoved(OpOperand &result) {
  Value moved = result.get();
  auto type = cast<RankedTensorType>(moved.getType());
  OpBuilder b(result.getOwner());
  Value empty = tensor::EmptyOp::create(b, moved.getLoc(), type.getShape(),
                                        type.getElementType());
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(
      b, moved.getLoc(), type, moved, empty, {identity, identity}, loops,
      [](OpBuilder &b, Location loc, ValueRange elements) {
        linalg::YieldOp::create(b, loc, elements.front());
      });
  result.set(copy.getResult(0));
  return copy;
}

/// Gives `kernel` one loop for all dimensions of its results; false, and
/// nothing is changed, where they stay.
static bool flattenResults(KernelOp kernel) {
  SmallVector<linalg::GenericOp> copies;
  for (OpOperand &result : kernel.getYield()->getOpOperands())
    if (isDataMove(result.get().getDefiningOp()))
      copies.push_back(copyMoved(result));
  if (ResultFlattener(kernel).run())
    return true;
  for (linalg::GenericOp copy : copies) {
    Operation *empty = copy.getOutputs().front().getDefiningOp();
    copy.getResult(0).replaceAllUsesWith(copy.getInputs().front());
    copy.erase();
    empty->erase();
  }
  return false;
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
    (void)visitFunctions(getOperation(), [&](FunctionOpInterface func) {
      SymbolicShapes shapes(func);
      OpKeyMemory<bool> known;
      func->walk([&](KernelOp kernel) {
        if (kernel.getScheduleAttr())
          return;
        auto pays = [&] {
          FailureOr<IterationSpace> space =
              IterationSpace::get(kernel.getBody(), shapes);
          if (failed(space))
            return false;
          KernelBody body = KernelBody::getWhole(space->getGraph());
          return body.getProblem() == BodyProblem::None &&
                 !body.has(NodeKind::Contraction) && isFasterFlat(body, *chip);
        };
        std::optional<OpKey> key = getKernelKey(kernel);
        if ((key ? known.get(std::move(*key), pays) : pays()) &&
            flattenResults(kernel))
          remarkFlat(kernel);
      });
      return success();
    });
  }
};
} // namespace
