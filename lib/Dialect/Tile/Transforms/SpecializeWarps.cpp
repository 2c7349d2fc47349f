//===- SpecializeWarps.cpp - Gives warps the roles of a pipeline ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the split of a program into producers, which only start
// copies, and a consumer, which multiplies and computes.
//
//===----------------------------------------------------------------------===//

#include "ConsumerGroups.h"
#include "RoleWriters.h"
#include "fusion/Analysis/MmaCost.h"
#include "fusion/Analysis/ModuleTarget.h"
#include "fusion/Analysis/MovedRegisters.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_SPECIALIZEWARPSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-specialize-warps"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// Erases what nothing uses, innermost and last first.
static void eraseDead(Region &region) {
  SmallVector<Operation *> ops;
  region.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

SmallVector<Operation *> tile::splitPrologue(ProgramOp program) {
  SmallVector<Operation *> rest;
  llvm::SmallPtrSet<Operation *, 16> moved;
  for (Operation &op : program.getBody().front().without_terminator()) {
    bool stays =
        op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
        llvm::none_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
        llvm::none_of(op.getOperands(), [&](Value operand) {
          return moved.contains(operand.getDefiningOp());
        });
    // What the program reserves itself lives through all roles.
    if (stays || isa<AllocOp>(op))
      continue;
    moved.insert(&op);
    rest.push_back(&op);
  }
  return rest;
}

/// Products in tf32 ignore the last bits of what is in shared memory: copies of
/// their operands, and of nothing else, round instead.
static void roundOperands(RoleContext &common) {
  llvm::SmallPtrSet<Value, 4> others;
  RolePlan &plan = common.plan;
  auto mapOf = [&](Value view, const TensorCopy &copy) {
    return common.maps.lookup(RoleContext::keyOf(view, copy));
  };
  std::vector<std::pair<Operation *, TensorCopy>> operands(
      plan.contraction.loads.begin(), plan.contraction.loads.end());
  for (SideRing &ring : plan.sideRings)
    for (auto &[load, copy] : ring.loads) {
      if (ring.isOperand())
        operands.push_back({load, copy});
      else
        others.insert(mapOf(cast<LoadOp>(load).getView(), copy));
    }
  for (auto &[load, copy] : operands) {
    Value map = mapOf(cast<LoadOp>(load).getView(), copy);
    bool isOperand = llvm::all_of(load->getUsers(), [](Operation *user) {
      auto dot = dyn_cast<DotOp>(user);
      return dot && dot.getTf32();
    });
    if (isOperand && !others.contains(map))
      map.getDefiningOp()->setAttr(kTF32MapAttrName,
                                   UnitAttr::get(map.getContext()));
  }
}

/// Makes the tensor maps and rings; and, by `buffers`, the consumer's buffers.
static void emitCommon(OpBuilder &builder, OpBuilder &buffers, Location loc,
                       RoleContext &common) {
  auto makeMap = [&](Value view, const TensorCopy &copy) {
    Value &map = common.maps[RoleContext::keyOf(view, copy)];
    DenseI64ArrayAttr strides;
    if (copy.im2col)
      strides = builder.getDenseI64ArrayAttr(copy.strides);
    if (!map)
      map = TensorMapOp::create(builder, view.getLoc(), copy.map, view, strides,
                                copy.im2col);
  };
  RolePlan &plan = common.plan;
  for (auto &[load, copy] : plan.contraction.loads)
    makeMap(cast<LoadOp>(load).getView(), copy);
  auto makeRing = [&](RingType type, bool multicast = false,
                      IntegerAttr groups = nullptr) {
    return MakeRingOp::create(builder, loc, type, /*offset=*/IntegerAttr(),
                              multicast, /*by_threads=*/false, groups);
  };
  IntegerAttr readers;
  if (plan.contraction.rowGroups)
    readers = builder.getI64IntegerAttr(plan.groups);
  common.rings.push_back(
      {makeRing(plan.getMainRing(), plan.contraction.hasMulticast(), readers),
       {}});
  for (auto [number, side] : llvm::enumerate(plan.sideRings)) {
    RoleRing ring{makeRing(plan.getSideRing(number), /*multicast=*/false,
                           side.isApart ? readers : nullptr),
                  {}};
    for (auto &[load, copy] : side.loads) {
      makeMap(cast<LoadOp>(load).getView(), copy);
      ring.loads.insert(load);
    }
    common.rings.push_back(ring);
  }
  if (plan.takesTurns())
    common.turns = makeRing(plan.getTurnRing(builder.getContext()));
  for (auto &[operand, buffer] : plan.contraction.stored)
    common.stored[operand] =
        AllocOp::create(buffers, loc, buffer, IntegerAttr());
  for (Staging &staging : plan.stagings) {
    SmallVector<Value> stagings;
    if (staging.held) {
      for (auto &[store, copy] : staging.stores)
        makeMap(cast<StoreOp>(store).getView(), copy);
      continue;
    }
    for (int64_t i = 0; i < staging.numBuffers; ++i)
      stagings.push_back(
          AllocOp::create(buffers, loc, staging.buffer, IntegerAttr()));
    for (auto [number, pair] : llvm::enumerate(staging.stores)) {
      makeMap(cast<StoreOp>(pair.first).getView(), pair.second);
      common.staging[pair.first] = stagings[number % stagings.size()];
    }
  }
  roundOperands(common);
}

/// Warps beside the consumer's, and the register budgets when they move:
/// producers need few, so that the warps with accumulators can have more than
/// an even share of the 64 Ki registers, and most where operands are beside
/// these.
static void setWarps(ProgramOp program, SpecializeOp specialize,
                     unsigned numProducers, int64_t accumulators,
                     bool holdsOperands) {
  Builder builder(program.getContext());
  int64_t extra = numProducers;
  int64_t groups = specialize.getGroups();
  int64_t consumers = groups * program.getNumWarps();
  if (accumulators >= fusion::kLeastMovedSums &&
      (consumers == 8 || consumers == 12 || consumers == 16)) {
    extra = 4;
    fusion::MovedRegisters moved =
        fusion::getMovedRegisters(consumers, holdsOperands);
    specialize.setRegisters(ArrayRef<int64_t>{moved.producer, moved.consumer});
  }
  extra += consumers - program.getNumWarps();
  program.setExtraWarpsAttr(builder.getI64IntegerAttr(extra));
}

/// Rewrites `program` as `common.plan` says.
static void specialize(ProgramOp program, RoleContext &common) {
  int64_t accumulators = 0;
  bool holdsOperands = false;
  for (Product &product : common.contraction().products) {
    accumulators += product.dot.getType().getNumElements();
    holdsOperands |= (product.computedA && !product.isStoredA()) ||
                     (product.computedB && !product.isStoredB());
  }
  accumulators /= program.getNumWarps() * fusion::kWarpThreads;
  Location loc = program.getLoc();
  SmallVector<Operation *> rest = splitPrologue(program);
  Block &body = program.getBody().front();
  OpBuilder builder(body.getTerminator());
  unsigned numProducers = 1 + common.plan.sideRings.size();
  auto op = SpecializeOp::create(builder, loc, DenseI64ArrayAttr(),
                                 common.groups(), IntegerAttr(), numProducers);
  builder.setInsertionPoint(op);
  // Several groups have buffers of their own.
  auto buffers = OpBuilder::atBlockEnd(&op.getConsumer().emplaceBlock());
  emitCommon(builder, common.groups() > 1 ? buffers : builder, loc, common);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto makeState = [&](Region &region) {
    Block *block = region.empty() ? &region.emplaceBlock() : &region.front();
    return RoleState{OpBuilder::atBlockEnd(block),
                     {},
                     SmallVector<Value>(common.rings.size(), zero)};
  };
  // The roles are written from a block that holds what they share out.
  Block source;
  for (Operation *moved : rest)
    moved->moveBefore(&source, source.end());
  llvm::replace(common.contraction().blocks, &body, &source);

  RoleState consumer = makeState(op.getConsumer());
  writeConsumer(common, consumer, source);
  if (!common.plan.stagings.empty())
    AsyncStoreWaitOp::create(consumer.builder, loc);
  for (unsigned ring = 0; ring < numProducers; ++ring) {
    Region &region = op.getProducers()[ring];
    RoleState producer = makeState(region);
    writeProducer(common, ring, producer, source);
    eraseDead(region);
  }
  eraseDead(op.getConsumer());
  for (Operation *dead : llvm::reverse(rest))
    dead->erase();
  setWarps(program, op, numProducers, accumulators, holdsOperands);
}

namespace {
class SpecializeWarpsPass
    : public tile::impl::SpecializeWarpsPassBase<SpecializeWarpsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    std::optional<PipelineAttr> pipeline = program.getPipeline();
    if (!pipeline || pipeline->getKind() != MmaKind::Wgmma)
      return;
    foldBoundsMasks(program);
    std::optional<Refusal> refusal;
    FailureOr<ContractionPlan> contraction = planContraction(program, refusal);
    if (failed(contraction)) {
      report(refusal->name, refusal->loc,
             "FUS-" + std::to_string(refusal->number) + ": " + refusal->text +
                 "; the products are made warp by warp");
      program.setPipelineAttr(PipelineAttr::get(
          &getContext(), MmaKind::MmaSync, pipeline->getStages(),
          pipeline->getColumns(), /*groups=*/1, pipeline->getMbarriers(),
          pipeline->getSkew()));
      return;
    }
    RoleContext common;
    common.plan.contraction = std::move(*contraction);
    common.plan.stages = std::clamp<int64_t>(pipeline->getStages(), 2, 32);
    planGroups(pipeline->getGroups(), common);
    hoistSmallLoads(program, common.plan.contraction);
    planHeldOperands(common.plan);
    if (pipeline->getSkew())
      planApartOperand(common.plan);
    planTransposedOperands(common.plan.contraction);
    planEpilogue(program, common.plan);
    int64_t wanted = common.plan.stages;
    std::optional<int64_t> sharedLimit =
        fusion::getSharedLimit(program, sharedMemoryLimitBytes);
    if (!sharedLimit)
      return signalPassFailure();
    FailureOr<fusion::TargetInfo> target = fusion::resolveTarget(program);
    if (failed(target))
      return signalPassFailure();
    if (failed(fitSharedMemory(program, common.plan, *sharedLimit, *target))) {
      reportTooLarge(program, common.plan, *sharedLimit);
      return signalPassFailure();
    }
    if (common.plan.stages != wanted)
      report("fewer-stages", program.getLoc(),
             "FUS-3215: " + std::to_string(wanted) +
                 " stages do not fit shared memory; the ring has " +
                 std::to_string(common.plan.stages));
    specialize(program, common);
  }

private:
  /// Decides how many groups take turns: those wanted, or one.
  void planGroups(int64_t wanted, RoleContext &common) {
    ContractionPlan &contraction = common.plan.contraction;
    bool inCluster = getOperation().getCluster().value_or(1) > 1;
    bool isShared = contraction.findRowGroups() != nullptr;
    if (isShared && wanted > 1 && !inCluster &&
        contraction.countRowGroups() == wanted) {
      common.plan.groups = wanted;
      return;
    }
    contraction.dropRowGroups();
    if (wanted <= 1)
      return;
    std::string whyNot = "the blocks of a cluster share a contraction";
    FailureOr<TileWalk> walk = failure();
    if (isShared)
      whyNot = "those that have rows of a tile differ in what they contract";
    else if (!inCluster)
      walk = findTileWalk(common.plan.contraction, whyNot);
    if (failed(walk)) {
      report("one-group", getOperation().getLoc(),
             "FUS-3217: one group of warps walks the tiles: " + whyNot);
      return;
    }
    common.walk = *walk;
    common.plan.groups = wanted;
  }

  void report(StringRef name, Location loc, const std::string &text) {
    auto opts = remark::RemarkOpts::name(name)
                    .category("fusion-tile")
                    .function(getOperation().getName());
    if (auto remark = remark::missed(loc, opts))
      remark << text;
  }

  void reportTooLarge(ProgramOp program, RolePlan &plan, int64_t sharedLimit) {
    BufferType largest;
    Operation *load = nullptr;
    for (auto &[op, copy] : plan.contraction.loads)
      if (!largest || copy.buffer.getLayout().getShared().sizeInBytes() >
                          largest.getLayout().getShared().sizeInBytes()) {
        largest = copy.buffer;
        load = op;
      }
    std::string tile;
    llvm::raw_string_ostream os(tile);
    llvm::interleave(largest.getShape(), os, "x");
    os << "x" << largest.getElementType();
    load->emitError("FUS-3216: a ring of two stages, ")
        << plan.getSharedBytes() << " bytes, exceeds the " << sharedLimit
        << " bytes of shared memory of a block; its largest buffer is the "
        << tile << " tile loaded here: choose a smaller tile in the schedule";
  }
};
} // namespace
