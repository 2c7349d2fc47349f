//===- RingByProducer.cpp - Loads of products by the copy engine ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the way to walk a ring in which a warp of its own does
// nothing but start copies by the tensor copy engine:
//
//   the producer: wait until the stage is free; start its copies
//   the others: wait until it is full; read it; say so; multiply
//
// No thread that multiplies spends instructions on copies, and reads of shared
// memory do not queue behind them.
//
//===----------------------------------------------------------------------===//

#include "LoopPipeliner.h"
#include "RolePlan.h"
#include "RoleWriters.h"
#include "fusion/Analysis/MmaCost.h"
#include "fusion/Analysis/ModuleTarget.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fusion::tile;

/// Whether `value` is computed from arguments, constants and induction
/// variables alone: then it stands before the roles, or a producer computes it.
static bool isPlainScalar(Value value) {
  if (!isScalarComputable(value))
    return false;
  Operation *op = value.getDefiningOp();
  return !op || (isMemoryEffectFree(op) &&
                 llvm::all_of(op->getOperands(), isPlainScalar));
}

/// Whether a producer can make the copy; else why not.
static FailureOr<TensorCopy> planTensorCopy(LoadOp load, std::string &whyNot) {
  FailureOr<TensorCopy> copy = getTensorCopy(Access::of(load), whyNot);
  if (failed(copy))
    return failure();
  if (!llvm::all_of(load.getSymbols(), isPlainScalar)) {
    whyNot = "its coordinates depend on what is loaded";
    return failure();
  }
  return copy;
}

bool LoopPipeliner::wantsProducer(ArrayRef<LoadOp> loads) {
  if (loads.empty() || !unpacksOnce())
    return false;
  LoadOp largest = *llvm::max_element(loads, [](LoadOp a, LoadOp b) {
    return getViewBits(a) < getViewBits(b);
  });
  bool isPacked = llvm::any_of(largest->getUsers(), [](Operation *user) {
    if (auto convert = dyn_cast<ConvertLayoutOp>(user))
      return llvm::any_of(convert->getUsers(), llvm::IsaPred<RepeatOp>);
    return isa<RepeatOp>(user);
  });
  int64_t rows = std::numeric_limits<int64_t>::max();
  for (auto dot : loop.getBody()->getOps<DotOp>())
    for (int64_t size : getTileShape(dot.getType()).drop_front())
      rows = std::min(rows, size);
  FailureOr<fusion::TargetInfo> target = fusion::resolveTarget(loop);
  if (failed(target))
    return false;
  const fusion::FewRowsConstants &fitted = target->fitted.fewRows;
  return isPacked ? rows <= fitted.producedPackedRows
                  : rows <= fitted.producedRows &&
                        isContiguous(Access::of(largest), 0);
}

bool LoopPipeliner::planProduced(ArrayRef<LoadOp> loads,
                                 SmallVectorImpl<LoadOp> &others) {
  auto bitsOf = [](LoadOp load) {
    auto type = cast<RankedTensorType>(load.getType());
    Type element = type.getElementType();
    return type.getNumElements() *
           (element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 8);
  };
  // Small tiles, factors of groups, may stay with those who use them.
  int64_t largest = 0;
  for (LoadOp load : loads)
    largest = std::max(largest, bitsOf(load));
  auto refuse = [&](LoadOp load, const Twine &whyNot) {
    auto opts = remark::RemarkOpts::name("producer-load")
                    .category("fusion-tile")
                    .function(loop->getParentOfType<ProgramOp>().getName());
    if (auto remark = remark::missed(load.getLoc(), opts))
      remark << ("FUS-3211: the copy engine cannot load an operand: " + whyNot +
                 "; warps copy it themselves")
                    .str();
    copies.clear();
    others.clear();
    return false;
  };
  std::optional<APInt> trips = loop.getStaticTripCount();
  bool isCounted = isa<ProgramOp>(loop->getParentOp()) &&
                   isPlainScalar(loop.getLowerBound()) &&
                   isPlainScalar(loop.getUpperBound()) &&
                   isPlainScalar(loop.getStep());
  if (!isCounted)
    return refuse(loads.front(), "a producer cannot count the loops around it");
  for (LoadOp load : loads) {
    std::string whyNot;
    FailureOr<TensorCopy> copy = planTensorCopy(load, whyNot);
    if (succeeded(copy)) {
      copies.push_back({load, CopyPlan(), nullptr, *copy});
      continue;
    }
    if (bitsOf(load) * fusion::kLittle > largest)
      return refuse(load, whyNot);
    if (!getOnlyUse(load) || !trips || trips->isZero())
      return refuse(load, "a small tile beside it cannot be loaded ahead");
    others.push_back(load);
  }
  // What comes from memory is asked for before what comes from L2.
  llvm::stable_sort(copies, [&](const Copied &a, const Copied &b) {
    return getViewBits(a.load) > getViewBits(b.load);
  });
  return true;
}

void LoopPipeliner::takeTurnsWithProducer() {
  auto program = loop->getParentOfType<ProgramOp>();
  ContractionPlan plan;
  plan.blocks = {loop.getBody()};
  hoistSmallLoads(program, plan);
  SmallVector<Operation *> rest = splitPrologue(program);
  Block &body = program.getBody().front();
  rewriter.setInsertionPoint(body.getTerminator());
  SmallVector<Type> buffers;
  SmallVector<Value> maps;
  for (Copied &copy : copies) {
    buffers.push_back(copy.tensor.buffer);
    maps.push_back(TensorMapOp::create(rewriter, copy.load.getView().getLoc(),
                                       copy.tensor.map, copy.load.getView(),
                                       DenseI64ArrayAttr(), Im2ColAttr()));
  }
  ring = MakeRingOp::create(
      rewriter, loc, RingType::get(rewriter.getContext(), stages, buffers),
      /*offset=*/IntegerAttr(), /*multicast=*/false, /*by_threads=*/false,
      /*groups=*/IntegerAttr());
  auto roles =
      SpecializeOp::create(rewriter, loc, DenseI64ArrayAttr(), /*groups=*/1,
                           IntegerAttr(), /*producersCount=*/1);
  program.setExtraWarpsAttr(rewriter.getI64IntegerAttr(1));

  // The producer, while the loop still says where the loads begin.
  Value zero;
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(roles);
    zero = constant(0);
    rewriter.createBlock(&roles.getProducers().front());
    scf::ForOp::create(
        rewriter, loc, loop.getLowerBound(), loop.getUpperBound(),
        loop.getStep(), ValueRange{zero},
        [&](OpBuilder &builder, Location loc, Value at, ValueRange carried) {
          Value position = carried.front();
          IRMapping mapping;
          mapping.map(loop.getInductionVar(), at);
          SmallVector<SmallVector<Value>> starts;
          for (Copied &copy : copies) {
            SmallVector<Value> symbols;
            for (Value symbol : copy.load.getSymbols())
              symbols.push_back(computeAhead(builder, symbol, loop, mapping));
            starts.push_back(
                emitCoordinates(builder, loc, copy.tensor.starts, symbols));
          }
          auto stage = AcquireOp::create(builder, loc, buffers, ring, position);
          for (auto [i, copy] : llvm::enumerate(copies))
            AsyncLoadOp::create(builder, copy.load.getLoc(), maps[i], starts[i],
                                stage.getResult(i), ring, position,
                                copy.tensor.dims, /*offsets=*/ValueRange(),
                                /*multicast=*/false, /*along=*/IntegerAttr());
          scf::YieldOp::create(builder, loc,
                               ValueRange{emitNext(builder, loc, position)});
        });
  }
  Block &consumer = roles.getConsumer().emplaceBlock();
  for (Operation *op : rest)
    op->moveBefore(&consumer, consumer.end());

  Value position = carry(zero, [&](OpBuilder &builder, Value now) {
    return emitNext(builder, loc, now);
  });
  // Behind the loads of the next iteration, which need no stage.
  Operation *first = copies.front().load;
  for (Copied &copy : copies)
    if (copy.load->isBeforeInBlock(first))
      first = copy.load;
  rewriter.setInsertionPoint(first);
  auto stage = WaitOp::create(rewriter, loc, buffers, ring, position);
  for (auto [i, copy] : llvm::enumerate(copies))
    readBuffer(copy.load, [&, i = i] { return stage.getResult(i); });
  eraseLoads();
  for (Operation &op : *loop.getBody())
    if (isa<LocalLoadOp>(op))
      rewriter.setInsertionPointAfter(&op);
  ReleaseOp::create(rewriter, loc, ring, position);
}
