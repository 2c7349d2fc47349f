//===- OutlineOffloads.cpp - Functions of what runs on the GPU ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the outlining of what is to be offloaded: of regions
// that are marked, and of runs of ops that the compiler takes.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/HostLowering/Passes.h"
#include "fusion/Preprocessing/Pipeline.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_OUTLINEOFFLOADSPASS
#include "fusion/HostLowering/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

static bool isPassed(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return !tensor.getEncoding();
  return type.isIntOrIndexOrFloat();
}

//===----------------------------------------------------------------------===//
// One function
//===----------------------------------------------------------------------===//

namespace {
/// Moves ops of one block into a function.
class Outliner {
public:
  Outliner(ArrayRef<Operation *> ops, Location loc)
      : ops(ops.begin(), ops.end()), loc(loc) {}

  /// Makes the function `name` and calls it at `builder`.
  FailureOr<func::CallOp> run(OpBuilder &builder, StringRef name,
                              SymbolTable &symbols);

private:
  bool isInside(Operation *op) const { return op && ops.contains(op); }
  bool followsFromSizes(Value value) const;
  void copyInside(Value value);
  LogicalResult findInputs();
  void findOutputs();

  llvm::SetVector<Operation *> ops;
  Location loc;
  llvm::SetVector<Value> inputs, outputs;
  /// Ops outside that are computed inside too, in order.
  llvm::SetVector<Operation *> copies;
};
} // namespace

/// Whether `value` is made of constants and of sizes of tensors. An input that
/// says a size of another input would hide that they agree.
bool Outliner::followsFromSizes(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || isInside(op))
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return isPassed(value.getType());
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return isPassed(dim.getSource().getType()) &&
           followsFromSizes(dim.getIndex());
  return isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) &&
         value.getType().isIntOrIndex() && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return followsFromSizes(operand); });
}

void Outliner::copyInside(Value value) {
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    if (followsFromSizes(operand))
      copyInside(operand);
    else if (!isInside(operand.getDefiningOp()))
      inputs.insert(operand);
  copies.insert(op);
}

LogicalResult Outliner::findInputs() {
  LogicalResult result = success();
  for (Operation *op : ops)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *place = operand.getParentBlock()->getParentOp();
        bool isLocal =
            op->isAncestor(place) || isInside(operand.getDefiningOp());
        if (isLocal)
          continue;
        if (followsFromSizes(operand)) {
          copyInside(operand);
        } else if (isPassed(operand.getType())) {
          inputs.insert(operand);
        } else {
          emitCodedError(inner->getLoc(), ErrorCode::OffloadCapture,
                         "an offloaded region reads a value of type " +
                             llvm::formatv("{0}", operand.getType()).str() +
                             " from outside");
          result = failure();
        }
      }
    });
  return result;
}

void Outliner::findOutputs() {
  for (Operation *op : ops)
    for (Value value : op->getResults())
      for (Operation *user : value.getUsers()) {
        while (user->getBlock() != op->getBlock() && user->getParentOp())
          user = user->getParentOp();
        if (!isInside(user))
          outputs.insert(value);
      }
}

FailureOr<func::CallOp> Outliner::run(OpBuilder &builder, StringRef name,
                                      SymbolTable &symbols) {
  findOutputs();
  if (failed(findInputs()))
    return failure();
  for (Value output : outputs)
    if (!isa<RankedTensorType>(output.getType()) || !isPassed(output.getType()))
      return emitCodedError(output.getLoc(), ErrorCode::OffloadCapture,
                            "an offloaded region gives a value of type " +
                                llvm::formatv("{0}", output.getType()).str());
  auto type =
      builder.getFunctionType(ValueRange(inputs.getArrayRef()).getTypes(),
                              ValueRange(outputs.getArrayRef()).getTypes());
  auto func = func::FuncOp::create(loc, name, type);
  func.setPrivate();
  func->setAttr(FusionDialect::kOffloadAttrName, builder.getUnitAttr());
  symbols.insert(func);
  Block *body = func.addEntryBlock();
  OpBuilder inside = OpBuilder::atBlockBegin(body);
  IRMapping mapping;
  for (auto [input, argument] : llvm::zip_equal(inputs, body->getArguments()))
    mapping.map(input, argument);
  for (Operation *copy : copies)
    inside.clone(*copy, mapping);
  for (Operation *op : ops)
    inside.clone(*op, mapping);
  func::ReturnOp::create(inside, loc,
                         llvm::map_to_vector(outputs, [&](Value output) {
                           return mapping.lookup(output);
                         }));
  auto call = func::CallOp::create(builder, loc, func, inputs.getArrayRef());
  for (auto [output, result] : llvm::zip_equal(outputs, call.getResults()))
    Value(output).replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  return call;
}

//===----------------------------------------------------------------------===//
// What is outlined
//===----------------------------------------------------------------------===//

namespace {
class OffloadFinder {
public:
  explicit OffloadFinder(ModuleOp module) : module(module), symbols(module) {}

  LogicalResult outlineRegions();
  LogicalResult outlineRuns();

private:
  LogicalResult outlineRegion(scf::ExecuteRegionOp region);
  LogicalResult outlineRunsOf(Block &block);
  /// Outlines `run`, if it computes anything, in front of `next`.
  LogicalResult outlineRun(ArrayRef<Operation *> run, Operation *next);
  std::string getName(Operation *place);

  ModuleOp module;
  SymbolTable symbols;
  /// Functions outlined so far, by the function that they come from.
  llvm::StringMap<unsigned> counts;
};
} // namespace

std::string OffloadFinder::getName(Operation *place) {
  StringRef of = "module";
  if (auto func = place->getParentOfType<FunctionOpInterface>())
    of = func.getName();
  while (true) {
    std::string name = (of + "_offload_" + Twine(counts[of]++)).str();
    if (!symbols.lookup(name))
      return name;
  }
}

LogicalResult OffloadFinder::outlineRegion(scf::ExecuteRegionOp region) {
  if (!region.getRegion().hasOneBlock())
    return emitCodedError(region.getLoc(), ErrorCode::OffloadCapture,
                          "an offloaded region branches between blocks",
                          "write the region as one block");
  // Its ops become those of the block around it.
  Block &block = region.getRegion().front();
  auto yield = cast<scf::YieldOp>(block.getTerminator());
  region.replaceAllUsesWith(yield.getOperands());
  yield.erase();
  auto ops = llvm::map_to_vector(block, [](Operation &op) { return &op; });
  std::string name = getName(region);
  region->getBlock()->getOperations().splice(region->getIterator(),
                                             block.getOperations());
  OpBuilder builder(region);
  Location loc = region.getLoc();
  if (failed(Outliner(ops, loc).run(builder, name, symbols)))
    return failure();
  region.erase();
  return success();
}

LogicalResult OffloadFinder::outlineRegions() {
  SmallVector<scf::ExecuteRegionOp> regions;
  module.walk([&](scf::ExecuteRegionOp region) {
    if (region->hasAttr(FusionDialect::kOffloadAttrName))
      regions.push_back(region);
  });
  for (scf::ExecuteRegionOp region : regions)
    if (failed(outlineRegion(region)))
      return failure();
  return success();
}

/// Whether `op` makes tensors of tensors, in a way that the compiler knows.
static bool makesTensors(Operation *op) {
  return op->getNumResults() > 0 && !op->hasTrait<OpTrait::ConstantLike>() &&
         llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
         canCompile(op);
}

/// Whether `op` is worth a kernel: not only a shape or a constant.
static bool computes(Operation *op) {
  return !isa<tensor::EmptyOp, tensor::CastOp, tensor::ExpandShapeOp,
              tensor::CollapseShapeOp, tensor::SplatOp, linalg::FillOp>(op);
}

LogicalResult OffloadFinder::outlineRun(ArrayRef<Operation *> run,
                                        Operation *next) {
  if (llvm::none_of(run, computes))
    return success();
  OpBuilder builder(next);
  return Outliner(run, run.back()->getLoc())
      .run(builder, getName(next), symbols);
}

/// Other ops end the run where they read a result of it. All else stays where
/// it is, and what the run reads is there before its end.
LogicalResult OffloadFinder::outlineRunsOf(Block &block) {
  SmallVector<Operation *> run;
  llvm::SmallPtrSet<Operation *, 16> inRun;
  auto readsRun = [&](Operation *op) {
    return op
        ->walk([&](Operation *inner) {
          bool reads = llvm::any_of(inner->getOperands(), [&](Value value) {
            return inRun.contains(value.getDefiningOp());
          });
          return reads ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (makesTensors(&op)) {
      run.push_back(&op);
      inRun.insert(&op);
      continue;
    }
    // Sizes of what the run makes are computed from those of what it reads.
    if (run.empty() || !readsRun(&op))
      continue;
    if (failed(outlineRun(run, &op)))
      return failure();
    run.clear();
    inRun.clear();
  }
  return success();
}

LogicalResult OffloadFinder::outlineRuns() {
  SmallVector<Block *> blocks;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func->hasAttr(FusionDialect::kOffloadAttrName))
      func.walk([&](Block *block) {
        // Regions of ops that are taken whole belong to those.
        Operation *parent = block->getParentOp();
        if (!isa<linalg::LinalgOp>(parent) && !makesTensors(parent))
          blocks.push_back(block);
      });
  for (Block *block : blocks)
    if (failed(outlineRunsOf(*block)))
      return failure();
  return success();
}

LogicalResult fusion::outlineOffloads(ModuleOp module, bool findAll) {
  OffloadFinder finder(module);
  if (failed(finder.outlineRegions()))
    return failure();
  return findAll ? finder.outlineRuns() : success();
}

namespace {
struct OutlineOffloadsPass
    : public fusion::impl::OutlineOffloadsPassBase<OutlineOffloadsPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(outlineOffloads(getOperation(), findAll)))
      signalPassFailure();
  }
};
} // namespace
