//===- LayoutGroups.cpp - Tiles that share one layout ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the groups: which operations tie values together, and
// what is noted of each.
//
//===----------------------------------------------------------------------===//

#include "LayoutGroups.h"
#include "fusion/Dialect/Tile/Transforms/BitDealer.h"
#include "fusion/Dialect/Tile/Transforms/DotLayouts.h"
#include "fusion/Dialect/Tile/Transforms/LayoutVotes.h"
#include "fusion/Support/Hardware.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

void LayoutGroups::joinValues(Operation *op) {
  auto joinPairs = [&](ValueRange values, ValueRange results) {
    for (auto [value, result] : llvm::zip(values, results))
      join(value, result);
  };
  auto joinAll = [&](ValueRange values) {
    for (Value value : values)
      join(value, values.front());
  };
  TypeSwitch<Operation *>(op)
      .Case([&](scf::ForOp loop) {
        joinPairs(loop.getInitArgs(), loop.getRegionIterArgs());
        joinPairs(loop.getRegionIterArgs(), loop.getYieldedValues());
        joinPairs(loop.getYieldedValues(), loop.getResults());
      })
      .Case([&](scf::IfOp branch) {
        for (Region *region : branch.getRegions())
          if (!region->empty())
            joinPairs(region->front().getTerminator()->getOperands(),
                      branch.getResults());
      })
      .Case([&](LoadOp load) {
        for (Value indices : load.getIndices())
          join(indices, load.getResult());
      })
      .Case([&](ReduceOp reduce) {
        joinAll(reduce.getInputs());
        joinAll(reduce.getResults());
      })
      .Case([&](ScanOp scan) {
        joinAll(scan.getInputs());
        joinPairs(scan.getInputs(), scan.getResults());
        joinAll(scan.getTotals());
        for (Value init : scan.getInits())
          join(init, scan.getTotals().front());
      })
      .Case([&](ExchangeOp exchange) {
        join(exchange.getValue(), exchange.getResult());
      })
      .Case([&](PinOp pin) { join(pin.getValue(), pin.getResult()); })
      .Case<DotOp, MmaAsyncOp>(
          [&](auto product) { join(product.getAcc(), product.getResult()); })
      .Case<MmaWaitOp, CollectOp>([&](auto passes) {
        joinPairs(passes.getValues(), passes.getResults());
      })
      .Case([&](PanelReduceOp panel) {
        joinPairs(panel.getValues(), panel.getResults());
        joinAll(panel.getValues());
      })
      .Case([&](PanelPublishOp publish) { joinAll(publish.getValues()); })
      .Case([&](PanelScanOp scan) {
        // What is read lies where it was written.
        for (auto publish : scan->getBlock()->getOps<PanelPublishOp>())
          if (publish.getOffset() == scan.getOffset())
            join(publish.getValues().front(), scan.getInits().front());
        for (ValueRange states :
             {ValueRange(scan.getInits()), ValueRange(scan.getBefore()),
              ValueRange(scan.getTotals())})
          for (Value state : states)
            join(state, scan.getInits().front());
      })
      .Default([&](Operation *other) {
        if (!isa_and_nonnull<TileDialect>(other->getDialect()) &&
            other->getNumRegions() == 0 && other->getNumResults() == 1)
          for (Value operand : other->getOperands())
            join(operand, other->getResult(0));
      });
}

void LayoutGroups::makeGroups(ArrayRef<Value> values) {
  for (Value value : values) {
    void *leader = *classes.findLeader(value.getAsOpaquePointer());
    auto [it, inserted] = numbers.try_emplace(leader, groups.size());
    if (inserted) {
      LayoutGroup group;
      group.shape = llvm::to_vector(getTileShape(value.getType()));
      group.reduced.resize(group.shape.size());
      group.reducedAtLast.resize(group.shape.size());
      group.scanned.resize(group.shape.size());
      groups.push_back(std::move(group));
    }
    groups[it->second].values.push_back(value);
  }
}

void LayoutGroups::noteAccess(Value accessed, const Access &access) {
  if (isTile(accessed))
    of(accessed).accesses.push_back(access);
}

/// The dimensions of its inputs that `reduce` and what reduces its results
/// again leave none of.
static llvm::SmallBitVector findReduced(ReduceOp reduce) {
  unsigned rank = getTileShape(reduce.getInputs().front().getType()).size();
  llvm::SmallBitVector reduced(rank);
  auto dims = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  while (reduce) {
    reduced.set(dims[reduce.getDim()]);
    dims.erase(dims.begin() + reduce.getDim());
    ReduceOp again = nullptr;
    for (Operation *user : reduce.getResults().front().getUsers())
      if (auto next = dyn_cast<ReduceOp>(user))
        again = next;
    reduce = again;
  }
  return reduced;
}

/// Of each dimension of what `reshape` gives, the operand's dimension that it
/// is a part of; nothing where it joins dimensions.
static std::optional<SmallVector<unsigned>> findSplitDims(ReshapeOp reshape) {
  SmallVector<unsigned> dims;
  ArrayRef<int64_t> parts = getTileShape(reshape.getType());
  for (auto [dim, size] :
       llvm::enumerate(getTileShape(reshape.getValue().getType()))) {
    int64_t have = 1;
    for (; have < size && dims.size() < parts.size(); dims.push_back(dim))
      have *= parts[dims.size()];
    if (have != size)
      return std::nullopt;
  }
  return dims;
}

bool LayoutGroups::carries(scf::ForOp loop, const LayoutGroup &group) {
  return loop && llvm::any_of(loop.getRegionIterArgs(), [&](Value carried) {
           return isTile(carried) && &of(carried) == &group;
         });
}

bool LayoutGroups::isInSteps(Operation *op) {
  auto loop = op->getParentOfType<scf::ForOp>();
  return loop && llvm::any_of(loop.getRegionIterArgs(), [&](Value carried) {
           return isTile(carried) && of(carried).isReducedInSteps;
         });
}

/// One layout for all products into an accumulator, or none.
static void addProduct(LayoutGroup &group,
                       std::optional<LinearLayout> fragment) {
  if (!group.isAccumulator)
    group.fragment = fragment;
  else if (group.fragment != fragment)
    group.fragment = std::nullopt;
  group.isAccumulator = true;
}

void LayoutGroups::noteReduction(ReduceOp reduce) {
  Value input = reduce.getInputs().front();
  LayoutGroup &group = of(input);
  group.reduced.set(reduce.getDim());
  group.numReduced += reduce.getNumResults();
  group.reducedAtLast |= findReduced(reduce);
  group.isReducedInSteps |=
      carries(reduce->getParentOfType<scf::ForOp>(), group);
  // Where threads reduce what they have of a tile before they share it, the
  // tile was cut into parts.
  auto reshape = input.getDefiningOp<ReshapeOp>();
  std::optional<SmallVector<unsigned>> dims;
  if (reshape)
    dims = findSplitDims(reshape);
  if (!dims)
    return;
  LayoutGroup &source = of(reshape.getValue());
  for (unsigned part : group.reducedAtLast.set_bits())
    source.reduced.set((*dims)[part]);
  source.reducedAtLast |= source.reduced;
}

void LayoutGroups::noteUse(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case(
          [&](LoadOp load) { noteAccess(load.getResult(), Access::of(load)); })
      .Case([&](StoreOp store) {
        noteAccess(store.getValue(), Access::of(store));
      })
      .Case([&](ReduceOp reduce) { noteReduction(reduce); })
      .Case([&](ScanOp scan) {
        LayoutGroup &group = of(scan.getInputs().front());
        group.reduced.set(scan.getDim());
        group.scanned.set(scan.getDim());
        group.scans.push_back(scan);
      })
      .Case([&](DotOp dot) {
        addProduct(of(dot.getResult()), getDotAccumulatorLayout(dot));
      })
      .Case([&](MmaAsyncOp mma) {
        addProduct(of(mma.getResult()),
                   getWgmmaAccumulatorLayout(getTileShape(mma.getType()),
                                             numWarps, mma.getSwapped()));
      });
}

LayoutGroups::LayoutGroups(ProgramOp program)
    : numWarps(program.getNumWarps()) {
  SmallVector<Value> values;
  auto add = [&](ValueRange added) {
    llvm::append_range(values, llvm::make_filter_range(added, isTile));
  };
  program.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      add(region.getArguments());
    add(op->getResults());
  });
  for (Value value : values)
    classes.insert(value.getAsOpaquePointer());
  program.getBody().walk([&](Operation *op) { joinValues(op); });
  makeGroups(values);
  program.getBody().walk([&](Operation *op) { noteUse(op); });
}

std::optional<LinearLayout> LayoutGroups::getOperandLayout(OpOperand &use) {
  if (auto dot = dyn_cast<DotOp>(use.getOwner())) {
    const auto &fragment = of(dot.getResult()).fragment;
    if (fragment && use.getOperandNumber() < 2)
      return getDotOperandLayout(dot, use.getOperandNumber(), *fragment);
  } else if (auto mma = dyn_cast<MmaAsyncOp>(use.getOwner())) {
    if (use.getOperandNumber() < 2)
      return getWgmmaOperandALayout(
          getTileShape(use.get().getType()),
          getTileElementType(use.get().getType()).getIntOrFloatBitWidth() / 8,
          numWarps);
  }
  return std::nullopt;
}

LinearLayout tile::getLayoutOfParts(const LinearLayout &part,
                                    ArrayRef<int64_t> shape) {
  auto order = llvm::to_vector(llvm::reverse(
      llvm::seq<unsigned>(0, static_cast<unsigned>(shape.size()))));
  return part.extendTo(shape, order);
}

LinearLayout tile::getSharedOutLayout(const LinearLayout &layout,
                                      ArrayRef<int64_t> share,
                                      int64_t numWarps) {
  if (layout.getPart(share))
    return layout;
  unsigned rank = share.size();
  return getLayoutOfParts(
      getBlockedLayout(share, orderByMemory({}, rank, /*fastest=*/rank - 1),
                       /*vector=*/1, numWarps, llvm::SmallBitVector(rank)),
      layout.shape());
}

std::optional<LinearLayout> tile::getBufferLayout(const LayoutGroup &group,
                                                  int64_t numWarps) {
  for (Value value : group.values)
    for (Operation *user : value.getUsers()) {
      auto store = dyn_cast<LocalStoreOp>(user);
      if (!store)
        continue;
      const SharedLayout &shared =
          store.getBuffer().getType().getLayout().getShared();
      unsigned rank = group.shape.size(), fastest = rank - 1;
      for (unsigned dim = 0; dim < rank; ++dim)
        if (group.shape[dim] > 1 &&
            shared.offsetBasis(dim, 0) == shared.elementBytes())
          fastest = dim;
      int64_t vector = fusion::kMaxAccessBytes / shared.elementBytes();
      return getBlockedLayout(group.shape, orderByMemory({}, rank, fastest),
                              std::min(vector, group.shape[fastest]), numWarps,
                              llvm::SmallBitVector(rank));
    }
  return std::nullopt;
}
