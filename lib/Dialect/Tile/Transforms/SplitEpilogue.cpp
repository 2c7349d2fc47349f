//===- SplitEpilogue.cpp - Chunks of columns after a contraction ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the split of what follows a contraction into chunks of
// the accumulator's columns.
//
//===----------------------------------------------------------------------===//

#include "RolePlan.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::tile {
#define GEN_PASS_DEF_SPLITEPILOGUEPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

#define DEBUG_TYPE "tile-split-epilogue"

using namespace mlir;
using namespace mlir::tile;

static bool isTile(Value value) {
  return isa<RankedTensorType>(value.getType());
}

/// True for an operation that computes each element of its one result from the
/// elements of its operands at the same place.
static bool isElementwise(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() ||
      !op->hasTrait<OpTrait::Elementwise>() || !isTile(op->getResult(0)))
    return false;
  ArrayRef<int64_t> shape = getTileShape(op->getResult(0).getType());
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return !isTile(operand) || getTileShape(operand.getType()) == shape;
  });
}

//===----------------------------------------------------------------------===//
// Which dimension is the accumulator's
//===----------------------------------------------------------------------===//

namespace {
/// For each value that depends on an accumulator, the dimension that is the
/// accumulator's columns.
class ColumnDims {
public:
  static constexpr int64_t kUnclear = -1;

  explicit ColumnDims(const ContractionPlan &plan) {
    for (Product product : plan.products)
      add(product.dot.getResult(), product.swapped ? 0 : 1);
    while (!worklist.empty())
      propagate(worklist.pop_back_val());
  }

  /// None when the value has no such dimension, or it is not clear which.
  std::optional<int64_t> lookup(Value value) const {
    auto it = dims.find(value);
    if (it == dims.end() || it->second == kUnclear)
      return std::nullopt;
    return it->second;
  }

private:
  void add(Value value, int64_t dim) {
    auto [it, isNew] = dims.try_emplace(value, dim);
    if (!isNew && it->second == dim)
      return;
    if (!isNew && it->second == kUnclear)
      return;
    if (!isNew)
      it->second = kUnclear;
    worklist.push_back(value);
  }
  void propagate(Value value);

  DenseMap<Value, int64_t> dims;
  SmallVector<Value> worklist;
};
} // namespace

void ColumnDims::propagate(Value value) {
  int64_t dim = dims.lookup(value);
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
        loop && isa<scf::YieldOp>(user)) {
      add(loop.getResult(use.getOperandNumber()), dim);
    } else if (auto broadcast = dyn_cast<BroadcastOp>(user)) {
      add(broadcast.getResult(),
          dim == kUnclear ? dim : broadcast.getDims()[dim]);
    } else if (auto reduce = dyn_cast<ReduceOp>(user)) {
      int64_t reduced = reduce.getDim();
      if (reduced == dim)
        continue;
      for (Value result : reduce.getResults())
        add(result, dim != kUnclear && reduced < dim ? dim - 1 : dim);
    } else if (isa<SliceOp, ClusterReduceOp, ConvertLayoutOp>(user) ||
               isElementwise(user)) {
      add(user->getResult(0), dim);
    }
  }
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

namespace {
/// Stores that are split, and how their values are rebuilt for a chunk.
class EpilogueSplitter {
public:
  EpilogueSplitter(ProgramOp program, const ContractionPlan &plan,
                   int64_t columns)
      : program(program), dims(plan), columns(columns), builder(program) {}

  void run();

private:
  /// The dimension along which `store` is split, if it is.
  std::optional<int64_t> splitDim(StoreOp store) const;
  /// Finds the values that exist whole whatever is split.
  void findWholeValues(ArrayRef<StoreOp> stores);
  void visit(Value value, int64_t dim);
  /// True when a chunk of `value` is computed from chunks of its operands.
  bool isRebuilt(Value value) const;

  /// The chunk of `value` that starts at `start` along `dim`.
  Value chunk(Value value, int64_t dim);
  Value rebuild(Value value, int64_t dim);
  Type chunkType(Type type, int64_t dim) const;
  AffineMap shift(AffineMap map, int64_t dim) const;
  void splitBlock(ArrayRef<StoreOp> stores);

  ProgramOp program;
  ColumnDims dims;
  int64_t columns;
  OpBuilder builder;
  /// Start of the chunk that is built, along the column dimension.
  int64_t start = 0;
  DenseMap<std::pair<Value, int64_t>, Value> chunks;
  DenseSet<std::pair<Value, int64_t>> visited;
  /// Operations whose results are needed whole.
  llvm::SmallPtrSet<Operation *, 32> whole;
  SmallVector<Operation *> wholeRoots;
};
} // namespace

std::optional<int64_t> EpilogueSplitter::splitDim(StoreOp store) const {
  std::optional<int64_t> dim = dims.lookup(store.getValue());
  ArrayRef<int64_t> shape = getTileShape(store.getValue().getType());
  // A row of column sums is small: nothing is gained by parts of it.
  if (!dim || shape.size() < 2 || shape[*dim] <= columns)
    return std::nullopt;
  return dim;
}

/// True for what costs nothing to have whole and in parts.
static bool isCheap(Operation *op) {
  return isa<SplatOp, BroadcastOp, IndexOp, arith::ConstantOp>(op);
}

bool EpilogueSplitter::isRebuilt(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    return dense && dense.isSplat();
  }
  if (isCheap(op))
    return true;
  return (isElementwise(op) || isa<LoadOp>(op)) && !whole.contains(op);
}

/// Follows what a chunk of `value` would be made from, down to values that
/// have no such dimension or cannot be rebuilt: these are needed whole.
void EpilogueSplitter::visit(Value value, int64_t dim) {
  if (!visited.insert({value, dim}).second)
    return;
  Operation *op = value.getDefiningOp();
  if (!isRebuilt(value)) {
    if (op)
      wholeRoots.push_back(op);
    return;
  }
  for (Value operand : op->getOperands()) {
    auto broadcast = dyn_cast<BroadcastOp>(op);
    if (!isTile(operand)) {
      continue;
    }
    if (!broadcast) {
      visit(operand, dim);
      continue;
    }
    auto it = llvm::find(broadcast.getDims(), dim);
    if (it != broadcast.getDims().end())
      visit(operand, it - broadcast.getDims().begin());
    else if (Operation *producer = operand.getDefiningOp())
      wholeRoots.push_back(producer);
  }
}

void EpilogueSplitter::findWholeValues(ArrayRef<StoreOp> stores) {
  for (StoreOp store : stores)
    visit(store.getValue(), *splitDim(store));
  program.getBody().walk([&](Operation *op) {
    if (isa<LoadOp>(op) || llvm::is_contained(stores, op))
      return;
    // Of loops and the like everything is kept.
    if (op->getNumRegions() || op->hasTrait<OpTrait::IsTerminator>() ||
        !isMemoryEffectFree(op))
      if (!isa<ReduceOp>(op) && !isa<YieldOp>(op))
        wholeRoots.push_back(op);
  });
  while (!wholeRoots.empty()) {
    Operation *op = wholeRoots.pop_back_val();
    if (!whole.insert(op).second)
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        wholeRoots.push_back(producer);
  }
}

Type EpilogueSplitter::chunkType(Type type, int64_t dim) const {
  SmallVector<int64_t> shape(getTileShape(type));
  shape[dim] = columns;
  return getTileType(shape, getTileElementType(type));
}

AffineMap EpilogueSplitter::shift(AffineMap map, int64_t dim) const {
  if (start == 0)
    return map;
  AffineExpr position = getAffineDimExpr(dim, map.getContext());
  return map.replace(position, position + start, map.getNumDims(),
                     map.getNumSymbols());
}

Value EpilogueSplitter::rebuild(Value value, int64_t dim) {
  Operation *op = value.getDefiningOp();
  Location loc = value.getLoc();
  Type type = chunkType(value.getType(), dim);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return arith::ConstantOp::create(
        builder, loc,
        cast<DenseElementsAttr>(constant.getValue())
            .resizeSplat(cast<ShapedType>(type)));
  if (auto splat = dyn_cast<SplatOp>(op))
    return SplatOp::create(builder, loc, type, splat.getValue());
  if (auto index = dyn_cast<IndexOp>(op))
    return IndexOp::create(builder, loc, type, index.getSymbols(),
                           shift(index.getMap(), dim));
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    auto it = llvm::find(broadcast.getDims(), dim);
    Value operand = broadcast.getValue();
    if (it != broadcast.getDims().end())
      operand = chunk(operand, it - broadcast.getDims().begin());
    return BroadcastOp::create(builder, loc, type, operand,
                               broadcast.getDims());
  }
  if (auto load = dyn_cast<LoadOp>(op)) {
    SmallVector<Value> indices;
    for (Value index : load.getIndices())
      indices.push_back(chunk(index, dim));
    return LoadOp::create(builder, loc, type, load.getView(), load.getSymbols(),
                          indices, shift(load.getMap(), dim),
                          load.getChecked());
  }
  OperationState state(loc, op->getName());
  for (Value operand : op->getOperands())
    state.addOperands(isTile(operand) ? chunk(operand, dim) : operand);
  state.addTypes(type);
  state.addAttributes(op->getAttrs());
  return builder.create(state)->getResult(0);
}

Value EpilogueSplitter::chunk(Value value, int64_t dim) {
  if (Value known = chunks.lookup({value, dim}))
    return known;
  Value result;
  if (isRebuilt(value)) {
    result = rebuild(value, dim);
  } else {
    SmallVector<int64_t> offsets(getTileShape(value.getType()).size(), 0);
    offsets[dim] = start;
    result = SliceOp::create(builder, value.getLoc(),
                             chunkType(value.getType(), dim), value, offsets);
  }
  chunks[{value, dim}] = result;
  return result;
}

void EpilogueSplitter::splitBlock(ArrayRef<StoreOp> stores) {
  int64_t end = 0;
  for (StoreOp store : stores)
    end = std::max(end,
                   getTileShape(store.getValue().getType())[*splitDim(store)]);
  builder.setInsertionPoint(stores.back());
  for (start = 0; start < end; start += columns) {
    chunks.clear();
    for (StoreOp store : stores) {
      int64_t dim = *splitDim(store);
      if (start >= getTileShape(store.getValue().getType())[dim])
        continue;
      Value part = chunk(store.getValue(), dim);
      StoreOp::create(builder, store.getLoc(), part, store.getView(),
                      store.getSymbols(), shift(store.getMap(), dim),
                      store.getChecked());
    }
  }
}

void EpilogueSplitter::run() {
  llvm::MapVector<Block *, SmallVector<StoreOp>> blocks;
  SmallVector<StoreOp> stores;
  program.getBody().walk<WalkOrder::PreOrder>([&](StoreOp store) {
    if (!splitDim(store))
      return;
    blocks[store->getBlock()].push_back(store);
    stores.push_back(store);
  });
  if (stores.empty())
    return;
  findWholeValues(stores);
  for (auto &[block, members] : blocks)
    splitBlock(members);
  for (StoreOp store : stores)
    store.erase();
  // What only the whole stores needed.
  SmallVector<Operation *> ops;
  program.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

/// True when each warpgroup holds all columns of its rows of the sums, so that
/// a chunk of columns is a part of every thread's registers.
static bool holdsWholeColumns(ProgramOp program, const ContractionPlan &plan) {
  constexpr int64_t kRowsOfGroup = 64, kWarpsOfGroup = 4;
  int64_t groups = program.getNumWarps() / kWarpsOfGroup;
  return llvm::all_of(plan.products, [&](Product product) {
    ArrayRef<int64_t> shape = getTileShape(product.dot.getType());
    return shape[product.swapped ? 1 : 0] >= kRowsOfGroup * groups;
  });
}

namespace {
class SplitEpiloguePass
    : public tile::impl::SplitEpiloguePassBase<SplitEpiloguePass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    std::optional<PipelineAttr> pipeline = program.getPipeline();
    if (!pipeline || pipeline->getKind() != MmaKind::Wgmma ||
        pipeline->getColumns() <= 0 ||
        !llvm::isPowerOf2_64(pipeline->getColumns()))
      return;
    foldBoundsMasks(program);
    // Parts of other accumulators are not a matter of registers alone.
    std::optional<Refusal> refusal;
    FailureOr<ContractionPlan> plan = planContraction(program, refusal);
    if (succeeded(plan) && holdsWholeColumns(program, *plan))
      EpilogueSplitter(program, *plan, pipeline->getColumns()).run();
  }
};
} // namespace
