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
#include "SimplifyMaps.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"
#include "fusion/Support/Hardware.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <map>

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_SPLITEPILOGUEPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-split-epilogue"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

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
/// The dimension of a tile that columns of the accumulator run along, and how
/// many of them one step is: more than one where they were reduced in granules.
struct Columns {
  static constexpr int64_t kUnclear = -1;
  int64_t dim = kUnclear;
  int64_t unit = 1;

  bool operator==(const Columns &other) const {
    return dim == other.dim && unit == other.unit;
  }
  /// Part of the keys of maps.
  std::pair<int64_t, int64_t> key() const { return {dim, unit}; }
};

/// For each value that depends on an accumulator, the dimension that is the
/// accumulator's columns.
class ColumnDims {
public:
  explicit ColumnDims(const ContractionPlan &plan) {
    for (Product product : plan.products)
      add(product.dot.getResult(), {product.swapped ? 0 : 1});
    while (!worklist.empty())
      propagate(worklist.pop_back_val());
  }

  /// None when the value has no such dimension, or it is not clear which.
  std::optional<Columns> lookup(Value value) const {
    auto it = dims.find(value);
    if (it == dims.end() || it->second.dim == Columns::kUnclear)
      return std::nullopt;
    return it->second;
  }

  /// True for a value that is computed from an accumulator.
  bool isOfSums(Value value) const { return dims.contains(value); }

private:
  void add(Value value, Columns columns) {
    auto [it, isNew] = dims.try_emplace(value, columns);
    if (!isNew && it->second == columns)
      return;
    if (!isNew && it->second.dim == Columns::kUnclear)
      return;
    if (!isNew)
      it->second = Columns();
    worklist.push_back(value);
  }
  void propagate(Value value);

  DenseMap<Value, Columns> dims;
  SmallVector<Value> worklist;
};
} // namespace

/// Elements of a tile of `shape` that one step along `dim` passes.
static int64_t getStep(ArrayRef<int64_t> shape, int64_t dim) {
  int64_t step = 1;
  for (int64_t size : shape.drop_front(dim + 1))
    step *= size;
  return step;
}

/// Where columns along a dimension of a tile of `from` lie in the tile of `to`
/// that it is reshaped to or from: they must be the higher part of a dimension.
static std::optional<Columns> reshape(Columns columns, ArrayRef<int64_t> from,
                                      ArrayRef<int64_t> to) {
  int64_t step = getStep(from, columns.dim);
  for (int64_t dim = 0, rank = to.size(); dim < rank; ++dim) {
    int64_t other = getStep(to, dim);
    if (to[dim] == 1 || other * to[dim] != step * from[columns.dim])
      continue;
    if (other % step == 0)
      return Columns{dim, columns.unit * (other / step)};
    if (step % other == 0 && columns.unit % (step / other) == 0)
      return Columns{dim, columns.unit / (step / other)};
  }
  return std::nullopt;
}

void ColumnDims::propagate(Value value) {
  Columns columns = dims.lookup(value);
  bool unclear = columns.dim == Columns::kUnclear;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    Columns moved = columns;
    if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
        loop && isa<scf::YieldOp>(user)) {
      add(loop.getResult(use.getOperandNumber()), columns);
    } else if (auto next = dyn_cast<scf::ForOp>(user)) {
      add(next.getTiedLoopRegionIterArg(&use), columns);
      add(next.getTiedLoopResult(&use), columns);
    } else if (auto collect = dyn_cast<CollectOp>(user)) {
      add(collect.getResult(use.getOperandNumber()), columns);
    } else if (auto sum = dyn_cast<GridReduceOp>(user)) {
      add(sum.getResult(use.getOperandNumber()), columns);
    } else if (auto gather = dyn_cast<GridGatherOp>(user)) {
      add(gather.getResult(use.getOperandNumber()), columns);
    } else if (auto broadcast = dyn_cast<BroadcastOp>(user)) {
      if (!unclear)
        moved.dim = broadcast.getDims()[columns.dim];
      add(broadcast.getResult(), moved);
    } else if (auto reduce = dyn_cast<ReduceOp>(user)) {
      int64_t reduced = reduce.getDim();
      if (reduced == columns.dim)
        continue;
      if (!unclear && reduced < columns.dim)
        --moved.dim;
      for (Value result : reduce.getResults())
        add(result, moved);
    } else if (auto op = dyn_cast<ReshapeOp>(user)) {
      std::optional<Columns> there;
      if (!unclear)
        there = reshape(columns, getTileShape(value.getType()),
                        getTileShape(op.getType()));
      add(op.getResult(), there.value_or(Columns()));
    } else if (isa<SliceOp, ClusterReduceOp, ConvertLayoutOp, ExchangeOp>(
                   user) ||
               isElementwise(user)) {
      add(user->getResult(0), columns);
    }
  }
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

namespace {
/// Stores that are split, and how their values are rebuilt for a chunk.
/// Reductions along the columns are sweeps of their own: what a sweep has
/// computed of a chunk the next ones go on with, in place of the sums.
class EpilogueSplitter {
public:
  EpilogueSplitter(ProgramOp program, const ContractionPlan &plan,
                   int64_t columns)
      : program(program), plan(plan), dims(plan), columns(columns),
        builder(program) {}

  void run();

private:
  /// The dimension along which `store` is split, if it is.
  std::optional<Columns> splitDim(StoreOp store) const;
  /// Where the columns that `reduce` combines lie, if it is split.
  std::optional<Columns> splitDim(ReduceOp reduce) const;
  /// Adds the stores of what chunks are computed from anyway to `stores`.
  void addSharingStores(SmallVector<StoreOp> &stores);
  /// True when a chunk of `value` has a tile in common with those visited.
  bool sharesChunks(Value value, Columns at) const;
  /// Finds the reductions that are split, all in one block.
  void findSweeps(ArrayRef<StoreOp> stores);
  /// Replaces `reduce` by the combination of what it gives for each chunk.
  void splitReduce(ReduceOp reduce);
  /// Finds the values that exist whole whatever is split.
  void findWholeValues(ArrayRef<StoreOp> stores);
  void visit(Value value, Columns at);
  bool hasChunks(Operation *op, Columns at) const;
  /// Finds the values that are whole in the layout of the sums.
  void findHeldValues();
  /// True when a chunk of `value` is computed from chunks of its operands.
  bool isRebuilt(Value value) const;

  /// The chunk of `value` that starts at column `start`.
  Value chunk(Value value, Columns at);
  Value rebuild(Value value, Columns at);
  Value rebuildExchange(ExchangeOp op, Columns at);
  Value rebuildLoad(LoadOp load, Type type, ValueRange indices, AffineMap map);
  Type chunkType(Type type, Columns at) const;
  AffineMap shift(AffineMap map, Columns at) const;
  void splitBlock(ArrayRef<StoreOp> stores);

  ProgramOp program;
  const ContractionPlan &plan;
  ColumnDims dims;
  int64_t columns;
  OpBuilder builder;
  /// Start of the chunk that is built, along the column dimension.
  int64_t start = 0;
  using Key = std::pair<Value, std::pair<int64_t, int64_t>>;
  /// By start: what is exchanged between chunks is computed once.
  DenseMap<int64_t, DenseMap<Key, Value>> chunks;
  DenseSet<Key> visited;
  /// The loads of the chunks so far.
  SmallVector<LoadOp> loads;
  /// In program order; and by their starts, the chunks that they have computed.
  SmallVector<ReduceOp> sweeps;
  /// Where stores of other values than sums are split.
  DenseMap<Operation *, Columns> sharing;
  std::map<int64_t, DenseMap<Key, Value>> kept;
  /// Operations whose results are needed whole.
  llvm::SmallPtrSet<Operation *, 32> whole;
  SmallVector<Operation *> wholeRoots;
  /// Whole values whose chunks are registers, though of no sum.
  DenseSet<Value> held;
};
} // namespace

std::optional<Columns> EpilogueSplitter::splitDim(StoreOp store) const {
  if (auto it = sharing.find(store); it != sharing.end())
    return it->second;
  std::optional<Columns> at = dims.lookup(store.getValue());
  ArrayRef<int64_t> shape = getTileShape(store.getValue().getType());
  // A row of column sums is small: nothing is gained by parts of it.
  if (!at || shape.size() < 2 || shape[at->dim] * at->unit <= columns ||
      columns % at->unit != 0)
    return std::nullopt;
  return at;
}

std::optional<Columns> EpilogueSplitter::splitDim(ReduceOp reduce) const {
  if (reduce.getInputs().size() != 1 || reduce.getWithinWarp() ||
      !isTile(reduce.getResult(0)))
    return std::nullopt;
  Value input = reduce.getInputs().front();
  std::optional<Columns> at = dims.lookup(input);
  ArrayRef<int64_t> shape = getTileShape(input.getType());
  // One operation, which combines whole tiles as well.
  Block &combiner = reduce.getCombiner().front();
  if (!at || at->dim != static_cast<int64_t>(reduce.getDim()) ||
      shape[at->dim] * at->unit <= columns || columns % at->unit != 0 ||
      !llvm::hasSingleElement(combiner.without_terminator()) ||
      !combiner.front().hasTrait<OpTrait::Elementwise>() ||
      combiner.front().getOperands() != combiner.getArguments())
    return std::nullopt;
  return at;
}

void EpilogueSplitter::findSweeps(ArrayRef<StoreOp> stores) {
  Block *block = nullptr;
  program.getBody().walk([&](ReduceOp reduce) {
    if (!splitDim(reduce) || (block && reduce->getBlock() != block))
      return;
    // What a sweep computes must be there for the stores.
    for (StoreOp store : stores)
      if (Operation *op = reduce->getBlock()->findAncestorOpInBlock(*store))
        if (reduce->isBeforeInBlock(op)) {
          block = reduce->getBlock();
          sweeps.push_back(reduce);
          return;
        }
  });
}

/// True for what costs nothing to have whole and in parts.
static bool isCheap(Operation *op) {
  return isa<SplatOp, BroadcastOp, IndexOp, arith::ConstantOp>(op);
}

bool EpilogueSplitter::isRebuilt(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op || (plan.isKeptNarrow(op) && dims.isOfSums(value)))
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    return dense && dense.isSplat();
  }
  if (isCheap(op))
    return true;
  if (isa<ReduceOp, ReshapeOp, ExchangeOp, RepeatOp>(op))
    return op->getNumResults() == 1 && !whole.contains(op);
  // What lies elsewhere than the sums is computed again: no register of theirs
  // has a chunk of it.
  return (isElementwise(op) || isa<LoadOp>(op)) &&
         (!whole.contains(op) ||
          (!dims.isOfSums(value) && !held.contains(value)));
}

/// Where the columns of `op`'s result lie in its operand number `number`, if
/// that has any.
static std::optional<Columns> getOperandColumns(Operation *op, unsigned number,
                                                Columns at) {
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    auto it = llvm::find(broadcast.getDims(), at.dim);
    if (it == broadcast.getDims().end())
      return std::nullopt;
    return Columns{it - broadcast.getDims().begin(), at.unit};
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (static_cast<int64_t>(reduce.getDim()) <= at.dim)
      ++at.dim;
    return at;
  }
  if (auto repeat = dyn_cast<RepeatOp>(op)) {
    if (static_cast<int64_t>(repeat.getDim()) == at.dim)
      at.unit <<= repeat.getLog2Factor();
    return at;
  }
  if (auto reshaped = dyn_cast<ReshapeOp>(op))
    return reshape(at, getTileShape(reshaped.getType()),
                   getTileShape(reshaped.getValue().getType()));
  return at;
}

/// False where a chunk is less than what one element is repeated for, or made
/// from elements that are no chunk.
bool EpilogueSplitter::hasChunks(Operation *op, Columns at) const {
  if (!isa<RepeatOp, ReshapeOp>(op))
    return true;
  std::optional<Columns> there = getOperandColumns(op, 0, at);
  return there && columns % there->unit == 0;
}

/// Follows what a chunk of `value` would be made from, down to values that
/// have no such dimension or cannot be rebuilt: these are needed whole.
void EpilogueSplitter::visit(Value value, Columns at) {
  if (!visited.insert({value, at.key()}).second)
    return;
  Operation *op = value.getDefiningOp();
  if (!isRebuilt(value)) {
    if (op)
      wholeRoots.push_back(op);
    return;
  }
  if (!hasChunks(op, at)) {
    wholeRoots.push_back(op);
    return;
  }
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isTile(operand.get()))
      continue;
    if (auto there = getOperandColumns(op, operand.getOperandNumber(), at))
      visit(operand.get(), *there);
    else if (Operation *producer = operand.get().getDefiningOp())
      wholeRoots.push_back(producer);
  }
}

bool EpilogueSplitter::sharesChunks(Value value, Columns at) const {
  SmallVector<std::pair<Value, Columns>> worklist{{value, at}};
  DenseSet<Key> seen;
  while (!worklist.empty()) {
    auto [next, there] = worklist.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!isRebuilt(next) || !hasChunks(op, there) ||
        !seen.insert({next, there.key()}).second)
      continue;
    if (!isCheap(op) && visited.contains({next, there.key()}))
      return true;
    for (OpOperand &operand : op->getOpOperands())
      if (isTile(operand.get()))
        if (auto of = getOperandColumns(op, operand.getOperandNumber(), there))
          worklist.push_back({operand.get(), *of});
  }
  return false;
}

void EpilogueSplitter::addSharingStores(SmallVector<StoreOp> &stores) {
  auto findColumns = [&](StoreOp store) -> std::optional<Columns> {
    Value value = store.getValue();
    if (!isTile(value) || dims.isOfSums(value))
      return std::nullopt;
    ArrayRef<int64_t> shape = getTileShape(value.getType());
    for (int64_t dim = 0, rank = shape.size(); rank > 1 && dim < rank; ++dim)
      if (shape[dim] > columns && sharesChunks(value, {dim}))
        return Columns{dim};
    return std::nullopt;
  };
  // Each that is added may be what another one shares.
  for (bool changed = true; changed;) {
    changed = false;
    program.getBody().walk([&](StoreOp store) {
      if (llvm::is_contained(stores, store))
        return;
      std::optional<Columns> at = findColumns(store);
      if (!at)
        return;
      sharing[store] = *at;
      stores.push_back(store);
      visit(store.getValue(), *at);
      changed = true;
    });
  }
}

void EpilogueSplitter::findHeldValues() {
  SmallVector<Operation *> worklist;
  for (Operation *op : whole)
    if (isElementwise(op) && dims.isOfSums(op->getResult(0)))
      worklist.push_back(op);
  while (!worklist.empty())
    for (Value operand : worklist.pop_back_val()->getOperands())
      if (held.insert(operand).second)
        if (Operation *op = operand.getDefiningOp(); op && isElementwise(op))
          worklist.push_back(op);
}

void EpilogueSplitter::findWholeValues(ArrayRef<StoreOp> stores) {
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
    if (llvm::is_contained(sweeps, op) || !whole.insert(op).second)
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        wholeRoots.push_back(producer);
  }
  findHeldValues();
}

Type EpilogueSplitter::chunkType(Type type, Columns at) const {
  SmallVector<int64_t> shape(getTileShape(type));
  shape[at.dim] = columns / at.unit;
  return getTileType(shape, getTileElementType(type));
}

AffineMap EpilogueSplitter::shift(AffineMap map, Columns at) const {
  if (start == 0)
    return map;
  AffineExpr position = getAffineDimExpr(at.dim, map.getContext());
  return map.replace(position, position + start / at.unit, map.getNumDims(),
                     map.getNumSymbols());
}

Value EpilogueSplitter::rebuild(Value value, Columns at) {
  Operation *op = value.getDefiningOp();
  Location loc = value.getLoc();
  Type type = chunkType(value.getType(), at);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return arith::ConstantOp::create(
        builder, loc,
        cast<DenseElementsAttr>(constant.getValue())
            .resizeSplat(cast<ShapedType>(type)));
  if (auto splat = dyn_cast<SplatOp>(op))
    return SplatOp::create(builder, loc, type, splat.getValue());
  if (auto index = dyn_cast<IndexOp>(op))
    return IndexOp::create(builder, loc, type, index.getSymbols(),
                           simplifyMap(shift(index.getMap(), at),
                                       getTileShape(type), index.getSymbols()));
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    Value operand = broadcast.getValue();
    if (auto there = getOperandColumns(op, 0, at))
      operand = chunk(operand, *there);
    return BroadcastOp::create(builder, loc, type, operand,
                               broadcast.getDims());
  }
  if (auto load = dyn_cast<LoadOp>(op)) {
    SmallVector<Value> indices;
    for (Value index : load.getIndices())
      indices.push_back(chunk(index, at));
    return rebuildLoad(load, type, indices,
                       simplifyMap(shift(load.getMap(), at), getTileShape(type),
                                   load.getSymbols()));
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return ReshapeOp::create(
        builder, loc, type,
        chunk(reshape.getValue(), *getOperandColumns(op, 0, at)));
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return RepeatOp::create(
        builder, loc, type,
        chunk(repeat.getValue(), *getOperandColumns(op, 0, at)),
        repeat.getDim());
  if (auto exchange = dyn_cast<ExchangeOp>(op))
    return rebuildExchange(exchange, at);
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    Value operand =
        chunk(reduce.getInputs().front(), *getOperandColumns(op, 0, at));
    auto part = ReduceOp::create(builder, loc, TypeRange(type), operand,
                                 reduce.getDim(), reduce.getWithinWarp());
    IRMapping mapping;
    reduce.getCombiner().cloneInto(&part.getCombiner(), mapping);
    return part.getResult(0);
  }
  OperationState state(loc, op->getName());
  for (Value operand : op->getOperands())
    state.addOperands(isTile(operand) ? chunk(operand, at) : operand);
  state.addTypes(type);
  state.addAttributes(op->getAttrs());
  return builder.create(state)->getResult(0);
}

/// Chunks that read the same elements, as both halves of a rotated pair read
/// those of the angle, load them once.
Value EpilogueSplitter::rebuildLoad(LoadOp load, Type type, ValueRange indices,
                                    AffineMap map) {
  auto part =
      LoadOp::create(builder, load.getLoc(), type, load.getView(),
                     load.getSymbols(), indices, map, load.getChecked());
  for (LoadOp other : loads)
    if (OperationEquivalence::isEquivalentTo(
            part, other, OperationEquivalence::IgnoreLocations)) {
      part.erase();
      return other.getResult();
    }
  loads.push_back(part);
  return part.getResult();
}

/// The bits of the mask that lie within a chunk exchange its elements; the
/// others say which chunk that is.
Value EpilogueSplitter::rebuildExchange(ExchangeOp op, Columns at) {
  int64_t inside = op.getMask(), own = start;
  if (static_cast<int64_t>(op.getDim()) == at.dim) {
    inside &= columns / at.unit - 1;
    start ^= (op.getMask() - inside) * at.unit;
  }
  Value value = chunk(op.getValue(), at);
  start = own;
  if (!inside)
    return value;
  return ExchangeOp::create(builder, op.getLoc(), value.getType(), value,
                            op.getDim(), inside);
}

Value EpilogueSplitter::chunk(Value value, Columns at) {
  Key key{value, at.key()};
  if (Value known = chunks[start].lookup(key))
    return known;
  auto before = kept.find(start);
  if (before != kept.end())
    if (Value known = before->second.lookup(key))
      return known;
  Value result;
  if (isRebuilt(value)) {
    result = rebuild(value, at);
  } else {
    SmallVector<int64_t> offsets(getTileShape(value.getType()).size(), 0);
    offsets[at.dim] = start / at.unit;
    result = SliceOp::create(builder, value.getLoc(),
                             chunkType(value.getType(), at), value, offsets);
    // Taken apart here, and not where all of it was put together.
    if (Operation *op = value.getDefiningOp(); op && plan.isKeptNarrow(op))
      result = PinOp::create(builder, value.getLoc(), result.getType(), result);
  }
  chunks[start][key] = result;
  return result;
}

void EpilogueSplitter::splitReduce(ReduceOp reduce) {
  Location loc = reduce.getLoc();
  Value input = reduce.getInputs().front();
  Columns at = *splitDim(reduce);
  int64_t end = getTileShape(input.getType())[at.dim] * at.unit;
  builder.setInsertionPoint(reduce);
  Value whole;
  for (start = 0; start < end; start += columns) {
    chunks.clear();
    loads.clear();
    Value part = chunk(input, at);
    auto partial = ReduceOp::create(builder, loc, reduce.getResultTypes(), part,
                                    reduce.getDim(), reduce.getWithinWarp());
    IRMapping mapping;
    reduce.getCombiner().cloneInto(&partial.getCombiner(), mapping);
    for (auto &[first, values] : chunks)
      for (auto &[key, value] : values)
        kept[first][key] = value;
    if (!whole) {
      whole = partial.getResult(0);
      continue;
    }
    Operation &combine = reduce.getCombiner().front().front();
    OperationState state(loc, combine.getName(), {whole, partial.getResult(0)},
                         whole.getType(), combine.getAttrs());
    whole = builder.create(state)->getResult(0);
  }
  reduce.getResult(0).replaceAllUsesWith(whole);
}

void EpilogueSplitter::splitBlock(ArrayRef<StoreOp> stores) {
  auto widthOf = [&](StoreOp store) {
    Columns at = *splitDim(store);
    return getTileShape(store.getValue().getType())[at.dim] * at.unit;
  };
  int64_t end = 0;
  for (StoreOp store : stores)
    end = std::max(end, widthOf(store));
  // Chunks that exchange elements follow each other and share what they need;
  // others would keep it in registers for too long.
  int64_t together = columns;
  program.getBody().walk([&](ExchangeOp op) {
    std::optional<Columns> at = dims.lookup(op.getResult());
    if (at && at->dim == static_cast<int64_t>(op.getDim()))
      together = std::max<int64_t>(
          together, llvm::PowerOf2Ceil(op.getMask() + 1) * at->unit);
  });
  builder.setInsertionPoint(stores.back());
  for (start = 0; start < end; start += columns) {
    if (start % together == 0) {
      chunks.clear();
      loads.clear();
    }
    for (StoreOp store : stores) {
      if (start >= widthOf(store))
        continue;
      Columns at = *splitDim(store);
      Value part = chunk(store.getValue(), at);
      StoreOp::create(builder, store.getLoc(), part, store.getView(),
                      store.getSymbols(), shift(store.getMap(), at),
                      store.getChecked());
    }
  }
}

void EpilogueSplitter::run() {
  SmallVector<StoreOp> stores;
  program.getBody().walk<WalkOrder::PreOrder>([&](StoreOp store) {
    if (splitDim(store))
      stores.push_back(store);
  });
  if (stores.empty())
    return;
  findSweeps(stores);
  for (StoreOp store : stores)
    visit(store.getValue(), *splitDim(store));
  for (ReduceOp sweep : sweeps)
    visit(sweep.getInputs().front(), *splitDim(sweep));
  addSharingStores(stores);
  findWholeValues(stores);
  llvm::MapVector<Block *, SmallVector<StoreOp>> blocks;
  program.getBody().walk<WalkOrder::PreOrder>([&](StoreOp store) {
    if (llvm::is_contained(stores, store))
      blocks[store->getBlock()].push_back(store);
  });
  // What is there as a whole is reduced as a whole.
  for (ReduceOp sweep : sweeps)
    if (isRebuilt(sweep.getInputs().front()))
      splitReduce(sweep);
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
  constexpr int64_t kRowsOfGroup = 64;
  int64_t groups = program.getNumWarps() / fusion::kWarpgroupWarps;
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
