//===- LowerToTile.cpp - Emits tile programs for kernels ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that emits one tile program for each scheduled
// kernel.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"
#include "fusion/Analysis/CostModel.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Analysis/OpKeys.h"
#include "fusion/Codegen/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_LOWERTOTILEPASS
#include "fusion/Codegen/Passes.h.inc"
} // namespace mlir::fusion

#define DEBUG_TYPE "fusion-codegen-lower-to-tile"

using namespace mlir;
using namespace mlir::fusion;

/// True when `op` divides indices that come from elements of tensors, which may
/// be negative: as unsigned numbers these have other remainders in 32 bits than
/// in the 64 that an index has.
static bool dividesData(Operation *op) {
  if (!isa<arith::RemUIOp, arith::DivUIOp, arith::CeilDivUIOp, arith::ShRUIOp>(
          op) ||
      !op->getResult(0).getType().isIndex())
    return false;
  SmallVector<Operation *> worklist{op};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (isa<arith::IndexCastOp>(next))
      return true;
    for (Value operand : next->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        if (operand.getType().isIndex())
          worklist.push_back(producer);
  }
  return false;
}

/// True for what computes an index that may be larger than those it is of.
static bool multipliesIndices(Operation *op) {
  return op->getNumResults() == 1 && op->getResult(0).getType().isIndex() &&
         !op->hasTrait<OpTrait::ConstantLike>() &&
         !isa<linalg::IndexOp, arith::AddIOp, arith::SubIOp, arith::IndexCastOp,
              tensor::DimOp>(op);
}

/// 32 when every index and every linear element offset of the kernel fits in a
/// signed 32-bit integer, whatever block it is computed in; else 64.
static int64_t chooseIndexBits(KernelOp kernel) {
  // What contractions that feed each other have between them is no tensor in
  // memory, and has no offsets.
  bool isWalk =
      llvm::any_of(kernel.getScheduleAttr().getAxes(), [](AxisAttr axis) {
        return axis.getKind() == AxisKind::Sequential;
      });
  bool hasSteps =
      isWalk && kernel.getScheduleAttr().getStrategy() == Strategy::Contraction;
  auto fits = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return true;
    if (!tensor.hasStaticShape())
      return false;
    // Tiles round each size up to a power of two, at most doubling it.
    int64_t elements = 1;
    for (int64_t size : tensor.getShape())
      if (llvm::MulOverflow(elements, std::max<int64_t>(size, 1), elements))
        return false;
    return elements < (int64_t(1) << 30);
  };
  bool small = llvm::all_of(kernel.getInputs().getTypes(), fits) &&
               llvm::all_of(kernel.getResultTypes(), fits);
  auto hasSmallSizes = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || llvm::all_of(tensor.getShape(), [](int64_t size) {
      return !ShapedType::isDynamic(size) && size < (int64_t(1) << 30);
    });
  };
  kernel.getBlock().walk([&](Operation *op) {
    small &= !dividesData(op);
    small &= hasSteps ? llvm::all_of(op->getResultTypes(), hasSmallSizes) &&
                            !multipliesIndices(op)
                      : llvm::all_of(op->getResultTypes(), fits);
  });
  return small ? 32 : 64;
}

/// Blocks that a multiprocessor was taken to hold at a time when the kernel was
/// priced: registers are limited to that where they are few enough, so that
/// none are spilled for it; or where more blocks than there are
/// multiprocessors, `together`, wait for each other; or where there are no more
/// in all, `blocks`. None where ptxas is to decide.
static std::optional<int64_t>
getResidentBlocks(KernelOp kernel, AffineExpr blocks, uint64_t together) {
  EstimateAttr estimate = kernel.getEstimateAttr();
  ScheduleAttr schedule = kernel.getScheduleAttr();
  FailureOr<TargetInfo> target = resolveTarget(kernel);
  if (failed(target))
    return std::nullopt;
  if (together > static_cast<uint64_t>(target->numSMs))
    return static_cast<int64_t>(llvm::divideCeil(together, target->numSMs));
  if (!estimate || schedule.getStrategy() != Strategy::Reduction ||
      llvm::any_of(schedule.getAxes(),
                   [](AxisAttr axis) { return axis.getStrip() > 1; }))
    return std::nullopt;
  // ptxas leaves room for a second block of many threads, and may spill for it,
  // though none comes.
  auto number = dyn_cast<AffineConstantExpr>(blocks);
  if (number && number.getValue() <= target->numSMs)
    return 1;
  KernelShape shape;
  shape.threads = schedule.getWarps() * kWarpThreads;
  shape.registers = estimate.getRegisters() + cost::kRegisterError;
  // While a block waits for its threads, another computes.
  if (computeOccupancy(shape, *target).blocksPerSM > 1)
    return 2;
  return std::nullopt;
}

/// Every block owns a tile of the dimensions that results have and nothing
/// reduces. A result that lacks one would be written by each block along it, so
/// that what one iteration space has is done for the product of two; but where
/// a tile has all of it.
static LogicalResult checkResults(KernelOp kernel,
                                  const IterationSpace &space) {
  ArrayRef<AxisAttr> axes = kernel.getScheduleAttr().getAxes();
  for (auto [id, dim] : llvm::enumerate(space.getDims())) {
    std::optional<int64_t> extent = dim.getStaticExtent();
    if (!dim.root || dim.reduction || dim.scan ||
        (extent && *extent <= axes[id].getTile()))
      continue;
    for (auto [number, value] : llvm::enumerate(kernel.getStoredValues())) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      bool has =
          type && llvm::any_of(llvm::seq<unsigned>(0, type.getRank()),
                               [&, id = id, value = value](unsigned i) {
                                 return space.getDimOfTensor(value, i) == id;
                               });
      if (!has)
        return kernel.emitError("FUS-3126: result #")
               << number << " lacks the kernel's iteration dimension " << id
               << ", which another result has; compute results of different "
                  "shapes in kernels of their own";
    }
  }
  return success();
}

namespace {
class LowerToTilePass
    : public fusion::impl::LowerToTilePassBase<LowerToTilePass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    for (auto func :
         llvm::make_early_inc_range(module.getOps<FunctionOpInterface>())) {
      if (isa<tile::ProgramOp>(func))
        continue;
      SymbolicShapes shapes(func);
      OpKeyMemory<FailureOr<FlatSymbolRefAttr>> known;
      WalkResult walk = func->walk([&](KernelOp kernel) {
        auto lowerOwn = [&] { return lower(kernel, shapes, symbols); };
        // Kernels that are alike run one program.
        std::optional<OpKey> key = getKernelKey(kernel);
        FailureOr<FlatSymbolRefAttr> program =
            key ? known.get(std::move(*key), lowerOwn) : lowerOwn();
        if (failed(program))
          return WalkResult::interrupt();
        kernel->setAttr("program", *program);
        return WalkResult::advance();
      });
      if (walk.wasInterrupted())
        return signalPassFailure();
    }
  }

private:
  /// The program of `kernel`, which is in `symbols` from then on.
  FailureOr<FlatSymbolRefAttr> lower(KernelOp kernel, SymbolicShapes &shapes,
                                     SymbolTable &symbols) {
    ScheduleAttr schedule = kernel.getScheduleAttr();
    if (!schedule)
      return kernel.emitError("FUS-3100: kernel has no schedule; run the "
                              "schedule phase first");
    FailureOr<IterationSpace> space =
        IterationSpace::get(kernel.getBody(), shapes);
    if (failed(space))
      return kernel.emitError("FUS-3101: a size of the kernel depends on data");
    if (schedule.getAxes().size() != space->getNumDims())
      return kernel.emitError("FUS-3113: schedule has ")
             << schedule.getAxes().size() << " axes, the kernel has "
             << space->getNumDims() << " iteration dimensions";
    if (failed(checkResults(kernel, *space)))
      return failure();
    OpBuilder builder(kernel->getParentOfType<FunctionOpInterface>());
    builder.setInsertionPointToEnd(getOperation().getBody());
    TileEmitter emitter(kernel, schedule, *space, shapes, builder);
    FailureOr<tile::ProgramOp> program =
        emitter.emit(kernel.getKernelName(), chooseIndexBits(kernel));
    if (failed(program))
      return failure();
    // The module's table renames a program whose name is taken.
    program->getOperation()->remove();
    StringAttr name = symbols.insert(*program);
    program->setGridAttr(AffineMapAttr::get(
        AffineMap::get(0, shapes.getSymbols().size(), emitter.getGridSize())));
    program->setSizeArgumentsAttr(builder.getDenseI64ArrayAttr(
        SmallVector<int64_t>(emitter.getSymbolArguments())));
    if (std::optional<int64_t> blocks = getResidentBlocks(
            kernel, emitter.getGridSize(), program->getTogether().value_or(1)))
      program->setResident(*blocks);
    return FlatSymbolRefAttr::get(name);
  }
};
} // namespace
